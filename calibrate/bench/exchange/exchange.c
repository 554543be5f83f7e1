/* The exchanges of a step among all ranks as an application performs them: iteration after iteration without a barrier,
 * so that a delay travels from rank to rank. Threads are ready when the plan says, which are the model's own draws.
 *
 * iteration      = from a rank's start of an iteration to its end, mean over the ranks
 * communication  = the iteration less the computing: from the last ready partition (of each phase) to the end
 *
 * lists.ranks_s, a row per iteration: for each rank when it began, how long it computed, and when it ended; in seconds
 * on that rank's clock since all ranks began together. Then, where there are several exchanges, for each rank how long
 * it computed in each of them, and when it ended it.
 *
 * Before the timed iterations and after them one is checked: every byte of every buffer.
 *
 * `cores`: of this rank's host, over its ranks' threads. How ranks wait: waiting.c.
 */
#include "exchange/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS = 3, FIELDS_OF_EACH = 2 };

#define WAY(variable, name) "|" name
static const char names[] = /* with a | before each */
#include "exchange/ways.def"
    ;
#undef WAY

static const Parameter parameters[] = {
    {"approach", WORD, "single", names + 1},
    {"plan", NAME, "", "letters, digits, . _ -"}, /* files NAME.plan and NAME.ready in the folder */
    {"transport", INTEGER, "0", "0 to 65536"},    /* messages per buffer; 0: one per user partition */
    {"ways", NAME, "", "letters, digits, . _ -"}, /* of each exchange, where they differ: ways.c */
    END_OF_PARAMETERS,
};

/* ---- one iteration ---------------------------------------------------------------------------------------------- */

/* Each thread's interior, after the sends, in parts between which the master tests; returns how long the last took. */
static double compute_interior(Exchange *e, const double *ready)
{
    const double begun = now_s();
    const int parts = e->way->test != NULL ? 16 : 1;
    double last = begun;
#pragma omp parallel num_threads(e->threads) reduction(max : last)
    {
        const int thread = omp_get_thread_num();
        exchange_enter(e, e->threads);
        for (int part = 1; part <= parts; part++) {
            const double until = begun + e->interior * ready[(thread + 1) * e->theta - 1] * part / parts;
            wait_until(until, e->computing, e->bench->data);
            if (thread == 0) {
                call(e->way->test, e);
            }
        }
        last = now_s();
    }
    return last - begun;
}

/* One phase; returns how long the threads computed. `ready` NULL: all partitions at once. */
static double perform(Exchange *e, const double *ready)
{
    exchange_reset(e);
    call(e->way->begin_receives, e);
    double start = now_s(), last = 0, interior = 0;
    if (e->now->receives_first) {
        call(e->way->wait_receives, e);
        start = now_s();
    }
    call(e->way->begin_sends, e);
#pragma omp parallel num_threads(e->threads)
    {
        exchange_enter(e, e->threads);
        exchange_compute(e, omp_get_thread_num(), start, ready);
    }
    call(e->way->join, e);
    if (e->way->boundary_first && ready != NULL) {
        interior = compute_interior(e, ready);
    }
    if (!e->now->receives_first) {
        call(e->way->wait_receives, e);
    }
    call(e->way->wait_sends, e);
    for (int i = 0; i < e->threads; i++) {
        last = fmax(last, e->team[i].last);
    }
    return last - start + interior;
}

/* One exchange; returns how long the threads computed in all its phases. */
static double perform_all(Exchange *e, long iteration, bool ready_at_once)
{
    double computed = 0;
    for (e->step = 0; e->step < e->phases; e->step++) {
        e->now = &e->phase[e->step];
        size_t row = ((size_t)iteration * (size_t)e->phases + (size_t)e->step) * (size_t)e->partitions;
        computed += perform(e, ready_at_once ? NULL : e->ready + row);
    }
    return computed;
}

/* ---- checking --------------------------------------------------------------------------------------------------- */

typedef struct {
    int rank, from, phase;
} Wrong;

static const Wrong NOTHING = {.rank = -1};

static void fill(Exchange *e)
{
    for (int p = 0; p < e->phases; p++) {
        for (int i = 0; i < e->phase[p].sends; i++) {
            const Edge *s = &e->phase[p].send[i];
            payload_fill(e->run, e->out + s->at, s->bytes, e->bench->rank, place(e, p, s));
        }
    }
    payload_spoil(e->in, e->in_bytes);
}

static Wrong look(const Exchange *e)
{
    for (int p = 0; p < e->phases; p++) {
        for (int i = 0; i < e->phase[p].receives; i++) {
            const Edge *r = &e->phase[p].receive[i];
            if (!payload_right(e->run, e->in + r->at, r->bytes, r->peer, place(e, p, r))) {
                return (Wrong){e->bench->rank, r->peer, e->before + p};
            }
        }
    }
    return NOTHING;
}

static Wrong check(const Exchanges *step)
{
    const Bench *b = step->each->bench;
    Wrong mine = NOTHING, found = mine, *all = memory_of(step->each->run, (size_t)b->ranks * sizeof mine);
    for (int k = 0; k < step->count; k++) {
        fill(&step->each[k]);
    }
    MPI_Barrier(b->control);
    for (int k = 0; k < step->count; k++) {
        perform_all(&step->each[k], 0, true);
    }
    for (int k = 0; k < step->count && mine.rank < 0; k++) {
        mine = look(&step->each[k]);
    }
    MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, b->control);
    for (int i = b->ranks - 1; i >= 0; i--) {
        found = all[i].rank >= 0 ? all[i] : found;
    }
    return found;
}

/* ---- all iterations --------------------------------------------------------------------------------------------- */

/* Of one rank and iteration, FIELDS for the whole, then as many as these for each of several exchanges. */
static size_t fields(const Exchanges *step)
{
    return FIELDS + (step->count > 1 ? (size_t)step->count * FIELDS_OF_EACH : 0);
}

/* `all` is [rank][iteration][field]. */
static void record(Run *run, const Exchanges *step, const double *all)
{
    size_t n = (size_t)step->each->iterations, ranks = (size_t)run->bench->ranks, width = fields(step);
    double *iteration = memory_of(run, n * sizeof(double)), *communication = memory_of(run, n * sizeof(double));
    double *rows = memory_of(run, n * ranks * width * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double *whole = rows + i * ranks * width, *each = whole + ranks * FIELDS;
        for (size_t r = 0; r < ranks; r++) {
            const double *one = all + (r * n + i) * width;
            memcpy(whole + r * FIELDS, one, FIELDS * sizeof(double));
            memcpy(each + r * (width - FIELDS), one + FIELDS, (width - FIELDS) * sizeof(double));
            iteration[i] += (one[2] - one[0]) / (double)ranks;
            communication[i] += (one[2] - one[0] - one[1]) / (double)ranks;
        }
    }
    Samples samples = {.count = (long)n, .quantities = 2, .inner = 1};
    samples.values[0] = iteration;
    samples.values[1] = communication;
    run_list(run, "ranks_s", rows, (long)n, (long)(ranks * width));
    record_samples(run, &samples);
}

static void time_one(const Exchanges *step, long i, double zero, double *into)
{
    double *each = into + FIELDS;
    into[0] = now_s() - zero;
    into[1] = 0;
    for (int k = 0; k < step->count; k++) {
        double computed = perform_all(&step->each[k], i, false);
        into[1] += computed;
        into[2] = now_s() - zero;
        if (step->count > 1) {
            *each++ = computed;
            *each++ = into[2];
        }
    }
}

/* Rank 0 gets every rank's times, [rank][iteration][field]; the others NULL. */
static double *time_all(Run *run, const Exchanges *step)
{
    const Bench *b = step->each->bench;
    long iterations = step->each->iterations;
    size_t mine = (size_t)iterations * fields(step);
    double *own = memory_of(run, mine * sizeof(double)), *all = NULL;
    if (b->rank == 0) {
        all = memory_of(run, mine * (size_t)b->ranks * sizeof(double));
    }
    MPI_Barrier(b->control);
    double zero = now_s();
    for (long i = 0; i < iterations; i++) {
        time_one(step, i, zero, own + (size_t)i * fields(step));
    }
    MPI_Gather(own, (int)mine, MPI_DOUBLE, all, (int)mine, MPI_DOUBLE, 0, b->control);
    return all;
}

static int say_wrong(Run *run, Wrong wrong, const char *when)
{
    char reason[MAX_REASON];
    snprintf(reason, sizeof reason, "wrong bytes: rank %d received from rank %d what was not sent, in phase %d of the "
             "checked iteration %s the timed ones", wrong.rank, wrong.from, wrong.phase, when);
    record_refusal(run, REFUSED_ERROR, reason);
    return 1;
}

/* Why the exchanges cannot be performed here; NULL: they can. */
static const char *unable(const Exchanges *step, char reason[MAX_REASON])
{
    long windows = 0;
    for (int k = 0; k < step->count; k++) {
        const Exchange *e = &step->each[k];
        if (e->way->partitioned && !PREADY_HAS_PARTITIONED) {
            return NO_PARTITIONED;
        }
        if (e->threads > 1 && e->way->ready != NULL && e->bench->thread_level < MPI_THREAD_MULTIPLE) {
            return NO_THREADS;
        }
        if (e->shares != NULL && e->way->windows_per_bin && !e->way->passive) {
            return "a window has one epoch at a time, and with a thread grid each message of a bin is another thread's";
        }
        windows += windows_per_bin(e);
    }
    if (windows > MAX_WINDOWS) {
        snprintf(reason, MAX_REASON, "transport × exchanges of an iteration = %ld: at most %d windows", windows,
                 MAX_WINDOWS);
        return reason;
    }
    return NULL;
}

static int perform_checked(Run *run, Exchanges *step)
{
    const char *when = "before";
    choose_waiting(step, run);
    for (int k = 0; k < step->count; k++) {
        Exchange *e = &step->each[k];
        e->out = memory_of(run, e->out_bytes);
        e->in = memory_of(run, e->in_bytes);
        exchange_open(e);
    }
    Wrong wrong = check(step);
    if (wrong.rank < 0) {
        double *all = time_all(run, step);
        run->iteration++; /* another pattern */
        wrong = check(step);
        when = "after";
        if (wrong.rank < 0 && all != NULL) {
            record(run, step, all);
        }
    }
    for (int k = 0; k < step->count; k++) {
        exchange_close(&step->each[k]);
    }
    return wrong.rank < 0 ? 0 : say_wrong(run, wrong, when);
}

static int whole(Run *run)
{
    Exchanges step = {NULL, 0};
    char reason[MAX_REASON] = "";
    if (!plan_read(&step, run, reason)) {
        return record_refusal(run, REFUSED_ERROR, reason);
    }
    const char *why = unable(&step, reason);
    return why == NULL ? perform_checked(run, &step) : record_refusal(run, REFUSED_UNSUPPORTED, why);
}

static const Measurement exchange = {
    .name = "exchange",
    .parameters = parameters,
    .quantities = {"iteration", "communication"},
    .flags = LOCAL, /* no half round trip */
    .whole = whole,
};

MEASUREMENT(exchange)
