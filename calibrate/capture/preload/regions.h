// Parallel regions, for gomp.c and ompt.c.
#pragma once

#include "store.h"

extern bool regions_from_ompt; // OMPT is used; libgomp's entry points are passed on

int32_t region_new(void);
void share_begin(int32_t region, unsigned in_team);
void share_phase_end(uint16_t site, int64_t at); // a barrier inside the region is reached
void share_phase_begin(void);                    // and left

static inline bool in_share(void)
{
    return self.region > 0 && self.inner == 0 && store_on;
}
