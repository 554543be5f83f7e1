/* The template of gillis2023, Fig. 3 (doi 10.1145/3605573.3605599): start, barrier, compute and mark ready, barrier,
 * wait. An exchange of two ranks by one of its seven approaches (Tables 1 and 2): rank 0 sends, rank 1 receives.
 *
 * time  = from rank 0's start to the completion on rank 1, less the longest computing time of a thread (Section 2.1)
 * total = the same with the computing time
 * delay = that computing time as it really was (sleeping overshoots)
 * after = from the moment the last partition was ready to the completion on rank 1. Without the start and the first
 *         barrier, which threads leave one after the other
 *
 * lists.ready_s: when each user partition of a repeat was ready, on rank 0's clock from start, a row per repeat for the
 * first MAX_LISTED repeats after the warm-up: as measured, for a prediction of that very repeat.
 *
 * Departures from the paper: one thread receives, and answers its completion with a zero-byte message, of which half a
 * zero-byte round trip is taken off, because the ranks share no clock; RMA "many" has a window per user partition, which
 * is the paper's window per thread when there is one partition per thread; rank 1 does not poll MPI_Parrived.
 */
#include "exchange/state.h"

#include <math.h>
#include <string.h>

enum { TAG_DONE = 32000, MAX_PARTITIONS = 65536, MAX_LISTED = 64, MAX_PER_REPEAT = 256 };

typedef struct {
    Exchange exchange;
    double *listed; /* when partitions were ready in the first listed_rows repeats, seconds since their start */
    long listed_rows;
} State;

static const Parameter parameters[] = {
    {"approach", WORD, "part", "part|single|many|rma-single-active|rma-many-active|rma-single-passive|rma-many-passive"},
    {"bytes", INTEGER, "1048576", "1 to 1073741824"}, /* the whole buffer */
    {"threads", INTEGER, "4", "1 to 1024"},
    {"theta", INTEGER, "1", "1 to 4096"},         /* user partitions per thread */
    {"delay_s", REAL, "0", "0 to 100"},           /* the last user partition is late by this */
    {"ready_s", REAL_LIST, "", "comma-separated seconds, one per user partition, >= 0"}, /* instead of delay_s */
    END_OF_PARAMETERS,
};

/* The paper's bulk is a persistent send. */
static const ExchangeWay *way_of(const Run *run)
{
    const char *name = run_is(run, "approach", "single") ? "persistent" : run_word(run, "approach");
    return way_named(name, strlen(name));
}

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    int partitions = run_integer(run, "threads") * run_integer(run, "theta");
    int bytes = run_integer(run, "bytes"), listed = run_reals(run, "ready_s", NULL, 0);
    if (way_of(run)->partitioned && !PREADY_HAS_PARTITIONED) {
        snprintf(reason, MAX_REASON, "%s", NO_PARTITIONED);
        return REFUSED_UNSUPPORTED;
    }
    if (partitions > MAX_PARTITIONS) {
        snprintf(reason, MAX_REASON, "threads * theta = %d is not valid: at most %d", partitions, MAX_PARTITIONS);
    } else if (way_of(run)->windows_per_bin && partitions > MAX_WINDOWS) {
        snprintf(reason, MAX_REASON, "threads * theta = %d is not valid: at most %d windows", partitions, MAX_WINDOWS);
    } else if (bytes % partitions != 0) {
        snprintf(reason, MAX_REASON, "bytes = %d is not valid: a multiple of threads * theta = %d", bytes, partitions);
    } else if (listed != 0 && listed != partitions) {
        snprintf(reason, MAX_REASON, "ready_s has %d times: one per user partition, %d", listed, partitions);
    } else if (listed != 0 && run_real(run, "delay_s") > 0) {
        snprintf(reason, MAX_REASON, "delay_s and ready_s exclude each other");
    } else {
        return NULL;
    }
    return REFUSED_ERROR;
}

static void setup(Run *run)
{
    State *s = run->state;
    Exchange *e = &s->exchange;
    bool sends = run->bench->sends;
    Edge *edge = memory_of(run, sizeof *edge);
    *edge = (Edge){.peer = run->bench->peer, .bytes = (size_t)run_integer(run, "bytes")};
    e->run = run;
    e->bench = run->bench;
    e->way = way_of(run);
    e->threads = run_integer(run, "threads");
    e->theta = run_integer(run, "theta");
    e->partitions = e->threads * e->theta;
    e->bins = e->partitions;
    e->phases = e->iterations = e->most_tags = 1;
    e->phase = memory_of(run, sizeof *e->phase);
    *e->phase = sends ? (Phase){.sends = 1, .send = edge} : (Phase){.receives = 1, .receive = edge};
    e->out = run->out.at;
    e->in = run->in.at;
    e->in_bytes = run->in.bytes;
    e->computing = SLEEPING;
    e->master_receives = !sends;
    e->ready = memory_of(run, (size_t)e->partitions * sizeof *e->ready);
    if (run_reals(run, "ready_s", e->ready, e->partitions) == 0) {
        e->ready[e->partitions - 1] = run_real(run, "delay_s");
    }
    s->listed_rows = e->partitions <= MAX_PER_REPEAT ? MAX_LISTED : 0;
    s->listed = memory_of(run, (size_t)s->listed_rows * (size_t)e->partitions * sizeof *s->listed);
    exchange_open(e);
}

/* When partitions were ready, from the start; `released` after it, they began to compute. */
static void list_ready(State *s, double released)
{
    const Exchange *e = &s->exchange;
    long row = e->run->iteration - WARMUP;
    for (int i = 0; row >= 0 && row < s->listed_rows && i < e->partitions; i++) {
        s->listed[row * e->partitions + i] = e->moments[i] + released;
    }
}

static void send_once(State *s, double *values)
{
    Exchange *e = &s->exchange;
    double start = 0, released = 0, computed = 0, last = 0;
    exchange_reset(e);
#pragma omp parallel num_threads(e->threads)
    {
        int thread = omp_get_thread_num();
        exchange_enter(e, e->threads);
#pragma omp barrier /* every thread is awake before the clock starts */
        if (thread == 0) {
            start = now_s();
            call(e->way->begin_sends, e);
            released = now_s();
        }
#pragma omp barrier
        exchange_compute(e, thread, released, e->ready);
    } /* ends with a barrier */
    call(e->way->join, e);
    call(e->way->wait_sends, e);
    receive_empty(1, TAG_DONE, e->bench->data);
    double end = now_s();
    for (int i = 0; i < e->partitions; i++) {
        computed = e->ready[i] > 0 ? fmax(computed, e->moments[i]) : computed;
        last = fmax(last, e->moments[i]);
    }
    list_ready(s, released - start);
    /* rank 0's clock from start to the answer, less the answer's way back */
    values[1] = end - start - e->run->half_round_trip_s;
    values[0] = values[1] - computed;
    values[2] = computed;
    values[3] = end - released - last - e->run->half_round_trip_s;
}

static void receive_once(Exchange *e)
{
    call(e->way->begin_receives, e);
    call(e->way->wait_receives, e);
    send_empty(0, TAG_DONE, e->bench->data);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    if (run->bench->sends) {
        send_once(s, values);
    } else {
        receive_once(&s->exchange);
    }
}

static void conclude(Run *run, const Samples *samples)
{
    State *s = run->state;
    long rows = samples->count < s->listed_rows ? samples->count : s->listed_rows;
    run_list(run, "ready_s", s->listed, rows, s->exchange.partitions);
}

static void teardown(Run *run)
{
    State *s = run->state;
    exchange_close(&s->exchange);
}

static const Measurement approach = {
    .name = "approach",
    .parameters = parameters,
    .quantities = {"time", "total", "delay", "after"},
    .flags = THREADED,
    .state = sizeof(State),
    .buffer = {"bytes"},
    .refuse = refuse,
    .setup = setup,
    .repeat = repeat,
    .conclude = conclude,
    .teardown = teardown,
};

MEASUREMENT(approach)
