/* One buffer sent by a team of threads, and the seven ways of gillis2023 to send it (Tables 1 and 2). */
#ifndef PREADY_APPROACH_H
#define PREADY_APPROACH_H

#include "bench.h"

#include <stdatomic.h>

/* Written by its own thread only, on a cache line of its own. */
typedef struct {
    _Alignas(64) double computed_s; /* how long this thread's computing took */
    int *sent;                      /* the bins it sent in this repeat, at most theta */
    int sent_count;
} Thread;

typedef struct Transfer {
    const Run *run;
    const Bench *bench;
    const struct Way *way;
    bool sender;
    char *buffer;
    int threads;                   /* of this rank */
    int theta, partitions;         /* user partitions per sending thread, in total */
    int bins, partitions_per_bin;  /* transport partitions: contiguous, equal */
    size_t bin_bytes, bytes;
    double released;               /* when the threads may start to compute, on this rank's clock */
    double *ready;                 /* per user partition, seconds after that */
    double *ready_at;              /* per user partition, when it was in this repeat, on this rank's clock */
    double *listed;                /* ready_at of the first listed_rows repeats, seconds since their start */
    long listed_rows;
    Waiting waiting;
    bool wait_in_thread;           /* complete a message in the thread that sent it (Table 1), or in the master */
    bool poll_arrival;             /* receiver: poll MPI_Parrived (Table 2), or only wait */
    atomic_int *missing;           /* per bin: user partitions not ready yet */
    Thread *team;

    int handles;                   /* how many of what the way uses: */
    MPI_Request *requests;
    MPI_Comm *communicators;
    MPI_Win *windows;
    MPI_Group peer_group;
} Transfer;

/* One column of Tables 1 and 2. NULL members do nothing. Each is called on both ranks and looks at transfer->sender. */
typedef struct Way {
    bool partitioned; /* needs MPI 4.0 */
    void (*init)(Transfer *t);
    void (*start)(Transfer *t);                   /* master, before the first barrier */
    void (*receive)(Transfer *t, int thread);     /* receiver: each thread, between the barriers */
    void (*ready)(Transfer *t, int bin);          /* sender: the thread that made the bin complete */
    void (*thread_done)(Transfer *t, int thread); /* sender: each thread after its last partition */
    void (*finish)(Transfer *t);                  /* master, after the second barrier */
    void (*free)(Transfer *t);
} Way;

#define WAY(variable, name) extern const Way way_##variable;
#include "approaches.def"
#undef WAY

static inline char *bin_at(const Transfer *t, int bin)
{
    return t->buffer + (size_t)bin * t->bin_bytes;
}

/* Whose bin it is on the receiver; and which communicator carries it. Contiguous, like the partitions of a thread. */
static inline int share_of(const Transfer *t, int bin, int shares)
{
    return (int)((long)bin * shares / t->bins);
}

#endif
