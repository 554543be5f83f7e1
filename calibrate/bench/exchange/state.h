/* One rank's part of an exchange, and the ways to perform it.
 *
 * An iteration performs one exchange after the other, each in its own way. An exchange consists of phases; in a phase a
 * rank has messages to send and to receive, each an Edge. Buffers lie one after the other in two arenas of the exchange,
 * one for sends and one for receives. Of many ranks, a plan made by Python (plan.c) says who sends what to whom and when
 * threads are ready (exchange.c); two ranks exchange one buffer, one way (approach.c).
 *
 * Order of includes, each of those before it: core/bench.h, core/team.h, state.h, waiting.h, consume.h, workers.h; ways.h
 * and jobs.h after state.h, plan.h after them. pt2pt.c and rma.c include none later than waiting.h.
 */
#ifndef PREADY_STATE_H
#define PREADY_STATE_H

#include "core/bench.h"

#include <omp.h>
#include <stdatomic.h>

enum { MAX_WINDOWS = 256 };

typedef struct {
    int peer, tag;
    size_t bytes;
    size_t at;    /* where in this rank's arena */
    size_t there; /* of a message to send: where in the receiver's arena */
} Edge;

/* Threads that own a part of the buffers with one tag, in order, and the peer's threads that receive these parts. */
typedef struct {
    int count;
    int *from, *to;
} Share;

/* Messages that wait for the same user partitions. */
typedef struct {
    int first, count; /* of the phase's sends */
    int bin, needed;
} Job;

typedef struct {
    bool receives_first; /* a sweep: what comes from upstream is there before the threads compute */
    int sends, receives;
    Edge *send, *receive;
    int jobs;
    Job *job;
    int *waiting_from, *waiting; /* the jobs that wait for user partition p: from waiting_from[p] to [p + 1] */
    MPI_Request *requests; /* of receives, then of sends; `parts` of each edge */
    int *from, *to;        /* the peers, each once */
    int from_count, to_count;
    MPI_Group from_group, to_group; /* of RMA */
    MPI_Group *alone;               /* of RMA with shares: the peer of each receive, then of each send */
    MPI_Request *opened;            /* of RMA: "exposed" from the receivers, to_count of them */
} Phase;

typedef struct {
    _Alignas(64) int *sent; /* the jobs this thread sent in this phase */
    int sent_count;
    double last; /* when its last partition was ready */
} Worker;

/* Of each thread that works on what a rank receives, for each user partition. */
typedef struct {
    int threads; /* 0: nobody does */
    double time_s, byte_s;
} Work;

typedef struct Exchange {
    Run *run;
    const Bench *bench;
    const struct ExchangeWay *way;
    int threads, theta, partitions; /* partitions: of all threads */
    int bins;                       /* transport partitions */
    int received_in;                /* partitions of a buffer at its receiver; 0: as many as at its sender */
    long *before_partition;         /* by user partition, what goes before it of a buffer, in units; then of all */
    Share *shares;                  /* by tag; NULL: every thread owns a part of every buffer */
    int share_count, most_jobs;
    int parts;                      /* messages per edge: bins or 1 */
    int phases, iterations;
    int before;    /* phases of the exchanges before this one */
    int most_tags; /* tags of edges are below */
    Phase *phase, *now;
    int step; /* of `now` in `phase` */
    char *out, *in;
    size_t out_bytes, in_bytes;
    double *ready; /* per iteration, phase and user partition: seconds after the start of the phase */
    double *moments; /* per phase and user partition: when it really was, in this iteration */
    Waiting computing;
    bool naps; /* while it waits: ranks share cores */
    bool master_receives; /* though threads complete their own messages elsewhere: of a receiver with one thread */
    atomic_int *missing;
    Worker *team;
    int handles;
    MPI_Comm *communicators;
    MPI_Win *windows;
    atomic_bool is_open;
    omp_lock_t opening;
    Work work;
    double interior; /* share of a thread's computing that neither makes what is sent nor needs what comes */
    bool checking;                  /* a partition's bytes are looked at instead, as soon as it is there */
    atomic_int *there, *untaken;    /* by message: is it, and how many of its user partitions nobody works on yet */
    atomic_int still_computing;     /* threads that have partitions left */
    atomic_int all_untaken, misread; /* misread: the edge of a partition that was there with other bytes; or -1 */
} Exchange;

/* NULL members do nothing. */
typedef struct ExchangeWay {
    bool partitioned;                                /* needs MPI 4.0 */
    bool splits;                                     /* a message per bin; else one after the threads have joined */
    bool boundary_first;                             /* the interior is computed behind the sends */
    bool communicators;                              /* one per thread */
    bool windows_per_bin;                            /* RMA "many" */
    bool passive;                                    /* RMA: a lock for the whole run */
    void (*init)(Exchange *e);                       /* collective */
    void (*begin_receives)(Exchange *e);             /* master */
    void (*wait_receives)(Exchange *e);              /* master */
    void (*begin_sends)(Exchange *e);                /* master, before the threads compute */
    void (*ready)(Exchange *e, const Job *job);      /* the thread that made it complete */
    void (*thread_done)(Exchange *e, int thread);    /* each thread after its last partition: it completes its own */
    void (*join)(Exchange *e);                       /* master, after the threads have joined */
    void (*test)(Exchange *e);                       /* master, between parts of the interior */
    void (*wait_sends)(Exchange *e);                 /* master */
    bool (*arrived)(Exchange *e, int edge, int bin); /* is that part of a receive there? NULL: none tells */
    void (*free)(Exchange *e);                       /* collective */
} ExchangeWay;

/* What an iteration performs, in order. */
typedef struct {
    Exchange *each;
    int count;
} Exchanges;

static inline void call(void (*act)(Exchange *e), Exchange *e)
{
    if (act != NULL) {
        act(e);
    }
}

/* Windows that an exchange by windows per bin takes; 0 of other ways. */
static inline int windows_per_bin(const Exchange *e)
{
    return e->way->windows_per_bin ? e->phases * e->bins * (e->shares == NULL ? 1 : e->share_count) : 0;
}

static inline bool consumes_early(const Exchange *e)
{
    return e->work.threads > 0 && e->way->arrived != NULL;
}

/* An edge's place in the pattern of its sender: both ends know phase and tag. */
static inline size_t place(const Exchange *e, int phase, const Edge *edge)
{
    return ((size_t)(e->before + phase) * (size_t)e->most_tags + (size_t)edge->tag) << 33;
}

/* Where the n-th of so many parts of a buffer begins: parts are as large as their user partitions. */
static inline size_t offset_of(const Exchange *e, const Edge *edge, int part, int parts)
{
    if (e->before_partition == NULL) {
        return edge->bytes / (size_t)parts * (size_t)part;
    }
    size_t unit = edge->bytes / (size_t)e->before_partition[e->partitions];
    return unit * (size_t)e->before_partition[(long)part * e->partitions / parts];
}

static inline size_t part_bytes(const Exchange *e, const Edge *edge, int part)
{
    return offset_of(e, edge, part + 1, e->parts) - offset_of(e, edge, part, e->parts);
}

static inline char *part_at(const Exchange *e, const Edge *edge, char *arena, int part)
{
    return arena + edge->at + offset_of(e, edge, part, e->parts);
}

/* Whose part it is: contiguous, like the partitions of a thread. */
static inline int sending_thread(const Exchange *e, const Edge *edge, int part)
{
    const Share *share = e->shares == NULL ? NULL : &e->shares[edge->tag];
    return share == NULL ? (int)((long)part * e->threads / e->parts)
                         : share->from[(long)part * share->count / e->parts];
}

static inline int receiving_thread(const Exchange *e, const Edge *edge, int part)
{
    return e->shares == NULL ? sending_thread(e, edge, part)
                             : e->shares[edge->tag].to[(long)part * e->shares[edge->tag].count / e->parts];
}

#endif
