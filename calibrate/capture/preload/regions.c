// Parallel regions: each thread's shares, one for every stretch between two barriers.
#include "regions.h"

#include <stdatomic.h>

bool regions_from_ompt;

static atomic_int regions;

int32_t region_new(void)
{
    return atomic_fetch_add_explicit(&regions, 1, memory_order_relaxed) & INT32_MAX;
}

void share_begin(int32_t region, unsigned in_team)
{
    self.region = region + 1;
    self.in_team = (uint16_t)in_team;
    self.phase = 0;
    self.tasks = false;
    self.inner = 0;
    share_phase_begin();
}

void share_phase_end(uint16_t site, int64_t at)
{
    const unsigned phase = (self.phase & (SHARE_TASKS - 1)) | (self.tasks ? SHARE_TASKS : 0);
    store_record(KIND_SHARE, site, self.region - 1, format_parts(self.in_team, phase, self.mpi_ns - self.phase_mpi_ns),
                 self.phase_start, at);
    self.phase++;
    self.tasks = false;
}

void share_phase_begin(void)
{
    self.phase_mpi_ns = self.mpi_ns;
    self.phase_start = now();
}
