// How an MPI call is wrapped: under its own name for C, and under its PMPI name, which the Fortran bindings call.
//
// Only the outermost call counts: libraries call their own functions, and other tools may interpose, too.
#pragma once

#include "next.h"
#include "peers.h"
#include "requests.h"
#include "store.h"

#include <mpi.h>

#if MPI_VERSION >= 4
#define HAVE_LARGE_COUNTS
#endif
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAVE_MPI_4_CALLS // Open MPI 5 has them without large counts: partitioned, persistent collectives, Isendrecv
#endif

#define TEXT_OF(x) #x
#define NUMBER(count) ((count) > 0 ? (uint64_t)(count) : 0) // MPI refuses a negative one

// The note, the last argument, makes the records: `t0` and `t1` are the call's begin and end, `rc` its result, `at` the
// place of the call.
#define WRAP_AS(symbol, parameters, arguments, before, ...)                                                            \
    EXPORT int symbol parameters                                                                                       \
    {                                                                                                                  \
        static __typeof__(&symbol) next;                                                                               \
        if (SELDOM(next == NULL))                                                                                      \
            next = (__typeof__(&symbol))next_symbol(TEXT_OF(symbol));                                                  \
        if (self.depth > 0 || !recording() || !mpi_runs)                                                               \
            return next arguments;                                                                                     \
        const void *const at = __builtin_return_address(0);                                                            \
        (void)at;                                                                                                      \
        self.depth++;                                                                                                  \
        before;                                                                                                        \
        const int64_t t0 = now();                                                                                      \
        const int rc = next arguments;                                                                                 \
        const int64_t t1 = now();                                                                                      \
        self.mpi_ns += t1 - t0;                                                                                        \
        __VA_ARGS__;                                                                                                   \
        self.depth--;                                                                                                  \
        return rc;                                                                                                     \
    }

#define WRAP_BEFORE(name, parameters, arguments, before, ...)                                                          \
    WRAP_AS(MPI_##name, parameters, arguments, before, __VA_ARGS__)                                                    \
    WRAP_AS(PMPI_##name, parameters, arguments, before, __VA_ARGS__)

#define WRAP(name, parameters, arguments, ...) WRAP_BEFORE(name, parameters, arguments, (void)0, __VA_ARGS__)

// One record of this call.
#define NOTE(kind, who, what) store_record(KIND_##kind, store_site(at, SITE_RETURN), who, what, t0, t1)

// The same with the callers of the place: Fortran's bindings and an application's own helpers send and wait for their
// callers.
#define CALLED_AT callers_site(at, __builtin_frame_address(0))
#define NOTE_CALLED(kind, who, what) store_record(KIND_##kind, CALLED_AT, who, what, t0, t1)

// The same of a call that returns a request, which completes later.
#define NOTE_STARTED(kind, who, what) requests_follow(*request, NOTE_CALLED(kind, who, what))

// The record of a message, with the address of its data.
static inline struct record *with_buffer(struct record *record, const void *buf)
{
    if (record != NULL)
        record->buffer = (uint64_t)(uintptr_t)buf;
    return record;
}
#define NOTE_SENT(kind, who, what) with_buffer(NOTE_CALLED(kind, who, what), buf)
#define NOTE_POSTED(kind, who, what) requests_follow(*request, NOTE_SENT(kind, who, what))
