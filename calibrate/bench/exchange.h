/* One rank's part of the exchanges among many ranks, and the ways to send them.
 *
 * An iteration performs one exchange after the other, each in its own way. An exchange consists of phases; in a phase a
 * rank has messages to send and to receive, each an Edge. Buffers lie one after the other in two arenas of the exchange,
 * one for what is sent and one for what is received. Who talks to whom, how much, and when threads are ready is read
 * from a plan (exchange_plan.c), which Python has made.
 */
#ifndef PREADY_EXCHANGE_H
#define PREADY_EXCHANGE_H

#include "bench.h"

#include <omp.h>
#include <stdatomic.h>

typedef struct {
    int peer, tag;
    size_t bytes;
    size_t at;    /* where in this rank's arena */
    size_t there; /* of a message to send: where in the receiver's arena */
} Edge;

typedef struct {
    bool receives_first; /* a sweep: what comes from upstream is there before the threads compute */
    int sends, receives;
    Edge *send, *receive;
    MPI_Request *requests; /* of receives, then of sends; `parts` of each edge, or one */
    int *from, *to;        /* the peers, each once */
    int from_count, to_count;
    MPI_Group from_group, to_group; /* of RMA */
    MPI_Request *opened;            /* of RMA: the receivers' go-aheads, to_count of them */
} Phase;

typedef struct {
    _Alignas(64) int *sent; /* the bins this thread sent in this phase */
    int sent_count;
    double last; /* when its last partition was ready */
} Worker;

typedef struct Exchange {
    const Run *run;
    const Bench *bench;
    const struct ExchangeWay *way;
    int threads, theta, partitions; /* partitions: of all threads */
    int bins, per_bin;              /* transport partitions, and user partitions in each */
    int parts;                      /* requests per edge: bins or 1 */
    int phases, iterations;
    int before;    /* phases of the exchanges before this one */
    int most_tags; /* tags of edges are below */
    Phase *phase, *now;
    int step; /* of `now` in `phase` */
    char *out, *in;
    size_t out_bytes, in_bytes;
    double *ready; /* per iteration, phase and user partition: seconds after the start of the phase */
    Waiting computing;
    bool naps;           /* wait with naps: fewer cores than ranks */
    bool wait_in_thread; /* a thread completes its own messages, or the master all of them */
    atomic_int *missing;
    Worker *team;
    int handles;
    MPI_Comm *communicators;
    MPI_Win *windows;
    atomic_bool is_open;
    omp_lock_t opening;
} Exchange;

/* NULL members do nothing. */
typedef struct ExchangeWay {
    bool partitioned;                                /* needs MPI 4.0 */
    bool splits;                                     /* a message per bin; else one after the threads have joined */
    bool windows_per_bin;                            /* of each phase */
    void (*init)(Exchange *e);                       /* collective */
    void (*begin_receives)(Exchange *e);             /* master */
    void (*wait_receives)(Exchange *e);              /* master */
    void (*begin_sends)(Exchange *e);                /* master, before the threads compute */
    void (*ready)(Exchange *e, int bin);             /* the thread that made the bin complete: to every peer */
    void (*thread_done)(Exchange *e, int thread);    /* each thread after its last partition */
    void (*join)(Exchange *e);                       /* master, after the threads have joined */
    void (*wait_sends)(Exchange *e);                 /* master */
    void (*free)(Exchange *e);                       /* collective */
} ExchangeWay;

#define WAY(variable, name) extern const ExchangeWay exchange_##variable;
#include "exchange_ways.def"
#undef WAY

/* What an iteration performs, in order. */
typedef struct {
    Exchange *each;
    int count;
} Exchanges;

/* exchange_plan.c: reads FOLDER/NAME.plan and NAME.ready, with the ways that the point names. False with a reason; the
 * same on all ranks. */
bool plan_read(Exchanges *all, const Run *run, char reason[MAX_REASON]);
void plan_free(Exchanges *all);

/* exchange_ways.c: sets `way` and `bins` of an exchange, 0 for as many as partitions; false if the point says none. */
bool exchange_choose(Exchange *e, int number);

/* measure_exchange.c */
void nap(void);
void exchange_wait(const Exchange *e, int count, MPI_Request *requests);

static inline char *bin_of(const Exchange *e, const Edge *edge, char *arena, int bin)
{
    return arena + edge->at + edge->bytes / (size_t)e->bins * (size_t)bin;
}

/* Whose bin it is: contiguous, like the partitions of a thread. */
static inline int thread_of(const Exchange *e, int bin)
{
    return (int)((long)bin * e->threads / e->bins);
}

#endif
