// What is recorded and where, for every other part of the library; nothing of it is visible to the program.
//
// Order of includes, each of those before it: format.h, store.h, regions.h; next.h, peers.h and requests.h need none of
// ours; mpi_wrap.h comes after all but regions.h.
#pragma once

#include "format.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define SELDOM(x) __builtin_expect(!!(x), 0)

struct thread_state {
    struct record *next, *limit; // where the next record goes
    struct record *polled;       // the last record, if it is of a call that completes requests
    bool registered;
    bool full;       // no space left: records are only counted
    uint32_t number; // of the thread
    int depth;       // of wrapped MPI calls; only the outermost counts
    int64_t mpi_ns;  // time in MPI so far
    // OpenMP: the current region of this thread.
    int64_t phase_start, phase_mpi_ns;
    int32_t region; // its number + 1; 0 outside of regions
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
void store_cpus(void);                 // CPUs of all threads, in the header
uint16_t store_site(const void *address, uint32_t kind);
uint16_t store_place(const void *address, uint32_t kind, uint16_t caller);
uint16_t callers_site(const void *at, const void *frame); // the place of a call with its callers
struct record *store_record_slow(enum kind kind, uint16_t site, int32_t who, uint64_t what, int64_t start, int64_t end);

static inline bool recording(void)
{
    return !SELDOM(!store_on) && (store_header != NULL || store_open());
}

// The record, complete at its end; NULL if there is no space.
static inline struct record *store_record(enum kind kind, uint16_t site, int32_t who, uint64_t what, int64_t start,
                                          int64_t end)
{
    if (SELDOM(self.next == self.limit))
        return store_record_slow(kind, site, who, what, start, end);
    struct record *const r = self.next++;
    r->start = start - store_header->started_ns;
    r->end = r->done = end - store_header->started_ns;
    r->site = site;
    r->who = who;
    r->what = what;
    __atomic_store_n(&r->kind, (uint16_t)kind, __ATOMIC_RELEASE);
    return r;
}
