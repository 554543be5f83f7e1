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

/* Threads that own a part of the buffers with one tag, in order, and those across that receive these parts. */
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
    MPI_Request *requests; /* of receives, then of sends; `parts` of each edge, or one */
    int *from, *to;        /* the peers, each once */
    int from_count, to_count;
    MPI_Group from_group, to_group; /* of RMA */
    MPI_Group *alone;               /* of RMA with shares: the peer of each receive, then of each send */
    MPI_Request *opened;            /* of RMA: the receivers' go-aheads, to_count of them */
} Phase;

typedef struct {
    _Alignas(64) int *sent; /* the jobs this thread sent in this phase */
    int sent_count;
    double last; /* when its last partition was ready */
} Worker;

/* How ranks wait: NAPPING and YIELDING where they share cores. */
typedef enum { POLLING, YIELDING, NAPPING } Patience;

typedef struct Exchange {
    const Run *run;
    const Bench *bench;
    const struct ExchangeWay *way;
    int threads, theta, partitions; /* partitions: of all threads */
    int bins;                       /* transport partitions */
    Share *shares;                  /* by tag; NULL: every thread owns a part of every buffer */
    int share_count, most_jobs;
    int parts;                      /* requests per edge: bins or 1 */
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
    Patience patience;
    bool wait_in_thread; /* a thread completes its own messages, or the master all of them */
    atomic_int *missing;
    Worker *team;
    double core_wait; /* seconds that the master waited for a core while it waited for messages */
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
    void (*ready)(Exchange *e, const Job *job);      /* the thread that made it complete */
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

/* exchange_jobs.c: jobs of every phase; false if the transport partitions do not divide what threads own of a buffer. */
bool jobs_make(Exchange *e);
void jobs_free(Exchange *e);

/* exchange_ways.c: sets `way` and `bins` of an exchange, 0 for as many as partitions; false if the point says none. */
bool exchange_choose(Exchange *e, int number);

/* exchange_rma.c: windows of a phase where each bin has its own. */
int windows_of_phase(const Exchange *e);

/* measure_exchange.c */
void let_others_run(const Exchange *e, double since);
void exchange_wait(const Exchange *e, int count, MPI_Request *requests);

static inline char *bin_of(const Exchange *e, const Edge *edge, char *arena, int bin)
{
    return arena + edge->at + edge->bytes / (size_t)e->bins * (size_t)bin;
}

/* Whose bin it is: contiguous, like the partitions of a thread. */
static inline int sending_thread(const Exchange *e, const Edge *edge, int bin)
{
    const Share *share = e->shares == NULL ? NULL : &e->shares[edge->tag];
    return share == NULL ? (int)((long)bin * e->threads / e->bins)
                         : share->from[(long)bin * share->count / e->bins];
}

static inline int receiving_thread(const Exchange *e, const Edge *edge, int bin)
{
    return e->shares == NULL ? sending_thread(e, edge, bin)
                             : e->shares[edge->tag].to[(long)bin * e->shares[edge->tag].count / e->bins];
}

#endif
