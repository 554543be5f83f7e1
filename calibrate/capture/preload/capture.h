// Declarations that the parts of the library share; none is visible to the program.
#pragma once

#include "format.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define SELDOM(x) __builtin_expect(!!(x), 0)

// ---- store.c: the file --------------------------------------------------------------------------------------------

struct thread_state {
    struct record *next, *limit; // where the next record goes
    bool registered;
    bool full;       // no space left: records are only counted
    uint32_t number; // of the thread
    int depth;       // of wrapped MPI calls; only the outermost counts
    int64_t mpi_ns;  // time in MPI so far
    // OpenMP: the current region of this thread.
    int64_t phase_start, phase_mpi_ns;
    int32_t region; // its number; -1 outside of regions
    uint16_t in_team, phase;
    bool tasks; // explicit tasks were created in this share
    int inner;  // nested regions
};
extern _Thread_local struct thread_state self __attribute__((tls_model("initial-exec")));

extern bool store_on; // recording
extern struct header *store_header;

static inline int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void store_prepare(void);              // reads the environment once, before anything else
bool store_open(void);                 // creates the file at the first event; false if nothing can be recorded
void store_name_rank(int rank);        // names the file after the rank
void store_forget(void);               // in a child process: leave the parent's file
void store_text(int offset, int room, const char *text);
uint16_t store_site(const void *address, uint32_t kind);
uint16_t store_place(const void *address, uint32_t kind, uint16_t caller);
void store_record_slow(enum kind kind, uint16_t site, int32_t who, uint64_t what, int64_t start, int64_t end);

static inline bool recording(void)
{
    return __builtin_expect(store_on, 1) && (store_header != NULL || store_open());
}

static inline void store_record(enum kind kind, uint16_t site, int32_t who, uint64_t what, int64_t start, int64_t end)
{
    if (SELDOM(self.next == self.limit)) {
        store_record_slow(kind, site, who, what, start, end);
        return;
    }
    struct record *const r = self.next++;
    r->start = start - store_header->started_ns;
    r->end = end - store_header->started_ns;
    r->site = site;
    r->who = who;
    r->what = what;
    __atomic_store_n(&r->kind, (uint16_t)kind, __ATOMIC_RELEASE);
}

// ---- callers.c: who called ----------------------------------------------------------------------------------

uint16_t callers_site(const void *at, const void *frame); // the place of a call with its callers

// ---- next.c: the functions behind our wrappers --------------------------------------------------------------

typedef void function_t(void);
function_t *next_symbol(const char *name); // NULL if not found
void *data_symbol(const char *name);

// ---- regions.c: shared by gomp.c and ompt.c ----------------------------------------------------------------

extern bool regions_from_ompt; // OMPT is used; libgomp's entry points are passed on

int32_t region_new(void);
void share_begin(int32_t region, unsigned in_team);
void share_phase_end(uint16_t site, int64_t at); // a barrier inside the region is reached
void share_phase_begin(void);                    // and left

static inline bool in_share(void)
{
    return self.region >= 0 && self.inner == 0 && store_on;
}
