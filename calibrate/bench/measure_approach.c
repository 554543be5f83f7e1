/* The template of gillis2023, Fig. 3 (doi 10.1145/3605573.3605599): start, barrier, compute and mark ready, barrier,
 * wait. Rank 0 sends, rank 1 receives.
 *
 * time  = from rank 0's start to the completion on rank 1, less the longest computing time of a thread (Section 2.1)
 * total = the same with the computing time
 * delay = that computing time as it really was (sleeping overshoots)
 * after = from the moment the last partition was ready to the completion on rank 1. Without the start and the first
 *         barrier, whose threads wake one after the other: what is left when the last partition is there
 *
 * lists.ready_s: when each user partition of a repeat was ready, on rank 0's clock from start, a row per repeat for the
 * first MAX_LISTED repeats after the warm-up. What threads really did, for a prediction of that very repeat.
 *
 * Departures from the paper: rank 1 answers its completion with a zero-byte message and half a zero-byte round trip is
 * taken off, because the ranks share no clock; RMA "many" has a window per transport partition, which is the paper's
 * window per thread when there is one partition per thread; transport partitions are contiguous groups of user
 * partitions, sent by the thread that completes the group.
 */
#include "approach.h"
#include "team.h"

#include <math.h>
#include <string.h>

enum { TAG_DONE = 32000, MAX_PARTITIONS = 65536, MAX_WINDOWS = 256, MAX_LISTED = 64, MAX_PER_REPEAT = 256 };

static const struct {
    const char *name;
    const Way *way;
} ways[] = {
#define WAY(variable, name) {name, &way_##variable},
#include "approaches.def"
#undef WAY
};

#define WAY(variable, name) "|" name
static const char names[] = /* with a | before each */
#include "approaches.def"
    ;
#undef WAY

static const Parameter parameters[] = {
    {"approach", WORD, "part", names + 1},
    {"bytes", INTEGER, "1048576", "1 to 1073741824"}, /* the whole buffer */
    {"threads", INTEGER, "4", "1 to 1024"},
    {"theta", INTEGER, "1", "1 to 4096"},               /* user partitions per thread */
    {"transport", INTEGER, "0", "0 to 65536"},          /* messages; 0: one per user partition */
    {"receive_threads", INTEGER, "0", "0 to 1024"},     /* 0: as many as send, as in the paper */
    {"communicators", INTEGER, "0", "0 to 1024"},       /* for "many"; 0: one per sending thread */
    {"delay_s", REAL, "0", "0 to 100"},                 /* the last user partition is late by this */
    {"ready_s", REAL_LIST, "", "comma-separated seconds, one per user partition, >= 0"}, /* instead of delay_s */
    {"delay_by", WORD, "sleep", "sleep|spin"},
    {"wait", WORD, "thread", "thread|master"},
    {"parrived", INTEGER, "0", "0 to 1"},
    END_OF_PARAMETERS,
};

static const Way *way_of(const Run *run)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (run_is(run, "approach", ways[i].name)) {
            return ways[i].way;
        }
    }
    return NULL;
}

static long or_else(const Run *run, const char *name, long otherwise)
{
    long value = run_integer(run, name);
    return value == 0 ? otherwise : value;
}

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    long partitions = run_integer(run, "threads") * run_integer(run, "theta");
    long bins = or_else(run, "transport", partitions), bytes = run_integer(run, "bytes");
    int listed = run_reals(run, "ready_s", NULL, 0);
    const Way *way = way_of(run);
    if (way == NULL || (way->partitioned && !PREADY_HAS_PARTITIONED)) {
        snprintf(reason, MAX_REASON, "%s", NO_PARTITIONED);
        return REFUSED_UNSUPPORTED;
    }
    if (partitions > MAX_PARTITIONS) {
        snprintf(reason, MAX_REASON, "threads * theta = %ld is not valid: at most %d", partitions, MAX_PARTITIONS);
        return REFUSED_ERROR;
    }
    if (bytes % partitions != 0) {
        snprintf(reason, MAX_REASON, "bytes = %ld is not valid: a multiple of threads * theta = %ld", bytes, partitions);
        return REFUSED_ERROR;
    }
    if (partitions % bins != 0) {
        snprintf(reason, MAX_REASON, "transport = %ld is not valid: a divisor of threads * theta = %ld", bins, partitions);
        return REFUSED_ERROR;
    }
    if (listed != 0 && listed != partitions) {
        snprintf(reason, MAX_REASON, "ready_s has %d times: one per user partition, %ld", listed, partitions);
        return REFUSED_ERROR;
    }
    if (listed != 0 && run_real(run, "delay_s") > 0) {
        snprintf(reason, MAX_REASON, "delay_s and ready_s exclude each other");
        return REFUSED_ERROR;
    }
    if (strncmp(run_word(run, "approach"), "rma-many", 8) == 0 && bins > MAX_WINDOWS) {
        snprintf(reason, MAX_REASON, "transport = %ld is not valid: at most %d windows", bins, MAX_WINDOWS);
        return REFUSED_ERROR;
    }
    return NULL;
}

static void setup(Run *run)
{
    Transfer *t = run->state = calloc(1, sizeof *t);
    t->run = run;
    t->bench = run->bench;
    t->way = way_of(run);
    t->sender = run->bench->rank == 0;
    int senders = (int)run_integer(run, "threads");
    t->threads = t->sender ? senders : (int)or_else(run, "receive_threads", senders);
    t->theta = (int)run_integer(run, "theta");
    t->partitions = senders * t->theta;
    t->bins = (int)or_else(run, "transport", t->partitions);
    t->partitions_per_bin = t->partitions / t->bins;
    t->bytes = (size_t)run_integer(run, "bytes");
    t->bin_bytes = t->bytes / (size_t)t->bins;
    t->waiting = waiting_of(run_word(run, "delay_by"));
    t->wait_in_thread = run_is(run, "wait", "thread");
    t->poll_arrival = run_integer(run, "parrived") == 1;
    t->buffer = allocate(t->bytes);
    t->ready = allocate((size_t)t->partitions * sizeof *t->ready);
    t->ready_at = allocate((size_t)t->partitions * sizeof *t->ready_at);
    t->missing = allocate((size_t)t->bins * sizeof *t->missing);
    t->team = allocate((size_t)t->threads * sizeof *t->team);
    for (int i = 0; i < t->threads; i++) {
        t->team[i].sent = allocate((size_t)t->theta * sizeof(int));
    }
    t->listed_rows = t->partitions <= MAX_PER_REPEAT ? MAX_LISTED : 0;
    t->listed = allocate((size_t)t->listed_rows * (size_t)t->partitions * sizeof *t->listed);
    if (run_reals(run, "ready_s", t->ready, t->partitions) == 0) {
        t->ready[t->partitions - 1] = run_real(run, "delay_s");
    }
    if (t->way->init != NULL) {
        t->way->init(t);
    }
}

static void prepare(Run *run)
{
    Transfer *t = run->state;
    if (t->sender) {
        payload_fill(run, t->buffer, t->bytes, 0, 0);
    } else {
        payload_spoil(t->buffer, t->bytes);
    }
}

/* One thread's computing: each of its partitions becomes ready at its time, or as soon after as the thread gets there.
 * Times count from when the team was let go. On a core that threads share, one that begins late, since others send
 * already, would otherwise compute late by that, which no thread with a core of its own does. */
static void compute(Transfer *t, int thread)
{
    Thread *self = &t->team[thread];
    double begun = t->released, done = begun;
    self->sent_count = 0;
    for (int k = 0; k < t->theta; k++) {
        int partition = thread * t->theta + k, bin = partition / t->partitions_per_bin;
        if (t->ready[partition] > 0) {
            wait_until(begun + t->ready[partition], t->waiting, t->bench->data);
            done = now_s();
        }
        t->ready_at[partition] = now_s();
        if (atomic_fetch_sub(&t->missing[bin], 1) == 1) {
            self->sent[self->sent_count++] = bin;
            if (t->way->ready != NULL) {
                t->way->ready(t, bin);
            }
        }
    }
    self->computed_s = done - begun;
    if (t->way->thread_done != NULL) {
        t->way->thread_done(t, thread);
    }
}

static void list_ready(const Transfer *t, double start)
{
    long row = t->run->iteration - run_integer(t->run, "warmup");
    for (int i = 0; row >= 0 && row < t->listed_rows && i < t->partitions; i++) {
        t->listed[row * t->partitions + i] = t->ready_at[i] - start;
    }
}

static void send_once(Transfer *t, double *values)
{
    double start = 0, end;
    for (int bin = 0; bin < t->bins; bin++) {
        atomic_store(&t->missing[bin], t->partitions_per_bin);
    }
#pragma omp parallel num_threads(t->threads)
    {
        int thread = omp_get_thread_num();
        team_check(t->threads);
#pragma omp barrier /* every thread is awake before the clock starts */
        if (thread == 0) {
            start = now_s();
            if (t->way->start != NULL) {
                t->way->start(t);
            }
            t->released = now_s();
        }
#pragma omp barrier
        compute(t, thread);
    } /* ends with a barrier */
    if (t->way->finish != NULL) {
        t->way->finish(t);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_DONE, t->bench->data, MPI_STATUS_IGNORE);
    end = now_s();
    double computed = 0, last = 0;
    for (int i = 0; i < t->threads; i++) {
        computed = fmax(computed, t->team[i].computed_s);
    }
    for (int i = 0; i < t->partitions; i++) {
        last = fmax(last, t->ready_at[i]);
    }
    list_ready(t, start);
    /* rank 0's clock from start to the answer, less the answer's way back */
    values[1] = end - start - t->run->half_round_trip_s;
    values[0] = values[1] - computed;
    values[2] = computed;
    values[3] = end - last - t->run->half_round_trip_s;
}

static void receive_once(Transfer *t)
{
#pragma omp parallel num_threads(t->threads)
    {
        int thread = omp_get_thread_num();
        team_check(t->threads);
        if (thread == 0 && t->way->start != NULL) {
            t->way->start(t);
        }
#pragma omp barrier
        if (t->way->receive != NULL) {
            t->way->receive(t, thread);
        }
    }
    if (t->way->finish != NULL) {
        t->way->finish(t);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_DONE, t->bench->data);
}

static void repeat(Run *run, int inner, double *values)
{
    (void)inner;
    Transfer *t = run->state;
    if (t->sender) {
        send_once(t, values);
    } else {
        receive_once(t);
    }
}

static bool verify(Run *run)
{
    Transfer *t = run->state;
    return t->sender || payload_right(run, t->buffer, t->bytes, 0, 0);
}

static void conclude(Run *run, const Samples *samples)
{
    Transfer *t = run->state;
    run_list(run, "ready_s", t->listed, samples->count < t->listed_rows ? samples->count : t->listed_rows, t->partitions);
}

static void teardown(Run *run)
{
    Transfer *t = run->state;
    if (t->way->free != NULL) {
        t->way->free(t);
    }
    free(t->requests);
    free(t->communicators);
    free(t->windows);
    for (int i = 0; i < t->threads; i++) {
        free(t->team[i].sent);
    }
    free(t->team);
    free(t->missing);
    free(t->ready);
    free(t->ready_at);
    free(t->listed);
    free(t->buffer);
    free(t);
}

static const Measurement approach = {
    .name = "approach",
    .summary = "one buffer from a team of threads by one of the ways of gillis2023, threads ready at given times",
    .parameters = parameters,
    .quantities = {"time", "total", "delay", "after"},
    .flags = THREADED,
    .refuse = refuse,
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .conclude = conclude,
    .teardown = teardown,
};

MEASUREMENT(approach)
