/* One rank's part of an exchange, and the ways to perform it.
 *
 * An iteration performs one exchange after the other, each in its own way. An exchange consists of phases; in a phase a
 * rank has messages to send and to receive, each an Edge. Buffers lie one after the other in two arenas of the exchange,
 * one for sends and one for receives. Of many ranks, a plan made by Python (plan.c) says who sends what to whom and when
 * threads are ready (exchange.c); two ranks exchange one buffer, one way (approach.c).
 *
 * plan.c reads a plan, ways.c finds ways by their names, which pt2pt.c and rma.c implement; workers.c computes and sends,
 * waiting.c says how ranks wait.
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
    int bin;
} Job;

typedef struct {
    bool receives_first; /* a sweep: what comes from upstream is there before the threads compute */
    int sends, receives;
    Edge *send, *receive;
    MPI_Request *requests; /* of receives, then of sends; `parts` of each edge */
    int *from, *to;        /* of RMA: the peers, each once */
    int from_count, to_count;
    MPI_Group from_group, to_group; /* of RMA */
    MPI_Request *opened;            /* of RMA: "exposed" from the receivers, to_count of them */
} Phase;

typedef struct {
    _Alignas(64) Job *sent; /* the jobs this thread sent in this phase */
    int sent_count;
    double last; /* when its last partition was ready */
} Worker;

typedef struct Exchange {
    Run *run;
    const Bench *bench;
    const struct ExchangeWay *way;
    int threads, theta, partitions; /* partitions: of all threads */
    int bins;                       /* transport partitions */
    int received_in;                /* partitions of a buffer at its receiver; 0: as many as at its sender */
    Share *shares;                  /* by tag; NULL: every thread owns a part of every buffer */
    int share_count;
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
    atomic_int *missing; /* by job: its user partitions that are not ready */
    Worker *team;
    int handles;
    MPI_Comm *communicators;
    MPI_Win *windows;
    atomic_bool is_open;
    omp_lock_t opening;
    double interior; /* share of a thread's computing that neither makes what is sent nor needs what comes */
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
    return e->way->windows_per_bin ? e->phases * e->bins : 0;
}

/* An edge's place in the pattern of its sender: both ends know phase and tag. */
static inline size_t place(const Exchange *e, int phase, const Edge *edge)
{
    return ((size_t)(e->before + phase) * (size_t)e->most_tags + (size_t)edge->tag) << 33;
}

/* Where the n-th of so many parts of a buffer begins. */
static inline size_t offset_of(const Edge *edge, int part, int parts)
{
    return edge->bytes / (size_t)parts * (size_t)part;
}

static inline size_t part_bytes(const Exchange *e, const Edge *edge)
{
    return edge->bytes / (size_t)e->parts;
}

static inline char *part_at(const Exchange *e, const Edge *edge, char *arena, int part)
{
    return arena + edge->at + offset_of(edge, part, e->parts);
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

/* plan.c: reads FOLDER/NAME.plan and NAME.ready, with the ways that the point names. False with a reason; the same on all
 * ranks. */
bool plan_read(Exchanges *all, Run *run, char reason[MAX_REASON]);

/* ways.c: the way of that name, of `length` characters; NULL: there is none. */
const ExchangeWay *way_named(const char *name, size_t length);
/* Sets `way` and `bins` of an exchange, 0 for as many as partitions; false if the point names no way. */
bool exchange_choose(Exchange *e, int number);

/* workers.c: the threads that compute and send. Collective. */
void exchange_open(Exchange *e);
void exchange_close(Exchange *e);
/* Before a phase: no partition is ready. */
void exchange_reset(Exchange *e);
/* One thread's computing: its partitions become ready `ready` seconds after `start`, or at once if NULL. */
void exchange_compute(Exchange *e, int thread, double start, const double *ready);

/* waiting.c. Collective: whether threads spin while they compute, and whether ranks nap while they wait; alike on all
 * ranks. */
void choose_waiting(const Exchanges *all, Run *run);
/* First in each thread of a team of so many. */
void exchange_enter(const Exchange *e, int threads);
/* Between two looks of a rank that waits since then and shares its core. */
void let_others_run(const Exchange *e, double since);
void exchange_wait(const Exchange *e, int count, MPI_Request *requests);

#endif
