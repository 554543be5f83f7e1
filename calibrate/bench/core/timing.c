/* The one timing loop. Every sample of a measurement without `whole` is taken here.
 *
 * One sample:  rank 0 -> the others  GO   (again? how often? checked?)
 *              all                   fill and spoil the buffers, if checked
 *              the others -> rank 0  READY
 *              all                   repeat                             <- the only timed part
 *              all                   compare the buffers, if checked
 *              the others -> rank 0  what they measured, and whether their bytes were right
 *
 * Rank 1 sends READY immediately before it enters `repeat`, so when rank 0 enters, its peer is at most half a round
 * trip of control traffic ahead and about to post its receives.
 */
#include "core/bench.h"

#include <math.h>
#include <string.h>

enum { TAG_GO = 1, TAG_READY = 2, TAG_REPORT = 3 };
static const double HALF_WIDTH = 0.05; /* enough once (high - low) / 2 / median is below */
enum { PINGS = 31, PING_WARMUP = 5, MAX_INNER = 1000, LAST_CALL = 10 };
static const double INNER_TARGET_S = 20e-6; /* 1000 times a typical clock step */

typedef struct {
    int inner;
    bool again, checking;
} Go;

typedef struct {
    double values[MAX_QUANTITIES];
    bool right;
} Report;

static const Report UNKNOWN = {.values = {NAN, NAN, NAN, NAN}};

/* Between rank 0 and its peer. The fastest, not the median: it is taken off round trips, and a disturbance of just
 * these few milliseconds would otherwise make all times of the point too short, even negative. */
static double half_round_trip(const Bench *b)
{
    double samples[PINGS];
    if (b->rank != 0 && b->peer != 0) {
        return NAN;
    }
    for (int i = -PING_WARMUP; i < PINGS; i++) {
        double start = now_s();
        ping_empty(b->rank == 0, b->peer, 0, b->data);
        if (i >= 0) {
            samples[i] = now_s() - start;
        }
    }
    return 0.5 * summarise(samples, PINGS).min;
}

static void prepare(Run *run)
{
    if (!run->checking) {
        return;
    }
    payload_fill(run, run->out.at, run->out.bytes, run->bench->rank, 0);
    payload_spoil(run->in.at, run->in.bytes);
    if (run->measurement->prepare != NULL) {
        run->measurement->prepare(run);
    }
}

static bool verified(Run *run)
{
    if (!run->checking) {
        return true;
    }
    bool right = payload_right(run, run->in.at, run->in.bytes, run->bench->peer, 0);
    return right && (run->measurement->verify == NULL || run->measurement->verify(run));
}

/* The others' half of the loop: repeat until told to stop. */
static void follow(Run *run)
{
    const Bench *b = run->bench;
    for (;;) {
        Go go;
        MPI_Recv(&go, (int)sizeof go, MPI_BYTE, 0, TAG_GO, b->control, MPI_STATUS_IGNORE);
        if (!go.again) {
            return;
        }
        Report report = UNKNOWN;
        run->checking = go.checking;
        run->inner = go.inner;
        prepare(run);
        send_empty(0, TAG_READY, b->control);
        run->measurement->repeat(run, report.values);
        report.right = verified(run);
        run->iteration++;
        MPI_Send(&report, (int)sizeof report, MPI_BYTE, 0, TAG_REPORT, b->control);
    }
}

static int others(const Run *run)
{
    return run->measurement->flags & LOCAL ? 0 : run->bench->ranks - 1;
}

static void tell_all(const Run *run, Go go)
{
    for (int rank = 1; rank <= others(run); rank++) {
        MPI_Send(&go, (int)sizeof go, MPI_BYTE, rank, TAG_GO, run->bench->control);
    }
}

/* Rank 0's half of one sample. False after a payload mismatch. */
static bool lead(Run *run, bool checking, double values[MAX_QUANTITIES])
{
    const Bench *b = run->bench;
    Report own = UNKNOWN, report;
    run->checking = checking;
    tell_all(run, (Go){.again = true, .inner = run->inner, .checking = checking});
    prepare(run);
    for (int rank = 1; rank <= others(run); rank++) {
        receive_empty(rank, TAG_READY, b->control);
    }
    run->measurement->repeat(run, own.values);
    bool right = verified(run);
    run->iteration++;
    for (int rank = 1; rank <= others(run); rank++) {
        MPI_Recv(&report, (int)sizeof report, MPI_BYTE, rank, TAG_REPORT, b->control, MPI_STATUS_IGNORE);
        right = right && report.right;
        for (int q = 0; q < MAX_QUANTITIES; q++) {
            own.values[q] = isnan(own.values[q]) ? report.values[q] : own.values[q];
        }
    }
    memcpy(values, own.values, sizeof own.values);
    return right;
}

static bool tight(const double *samples, long count)
{
    Summary s = summarise(samples, count);
    return s.median > 0 && (s.high - s.low) / 2 <= HALF_WIDTH * s.median; /* false while low and high are NaN */
}

/* How often a repeat of this time is done back to back inside one sample. */
static int inner_for(const Run *run, double time)
{
    return run->measurement->flags & INNER ? (int)fmin(ceil(INNER_TARGET_S / time), MAX_INNER) : 1;
}

/* Is it time to stop, with `count` samples taken since `begun`? */
static bool enough(const Run *run, const double *samples, long count, double begun, long *next_look)
{
    double budget = run_real(run, "budget_s"), elapsed = now_s() - begun;
    if (count >= run_integer(run, "max_repeats")) {
        return true;
    }
    if (count < run_integer(run, "min_repeats")) {
        return count >= 1 && elapsed >= LAST_CALL * budget; /* such a point gives what it has */
    }
    if (elapsed >= budget) {
        return true;
    }
    if (count < *next_look) {
        return false;
    }
    *next_look = count + count / 10 + 1; /* sorting must not become the work */
    return tight(samples, count);
}

static int drive(Run *run)
{
    long most = run_integer(run, "max_repeats"), next_look = 0;
    double one[MAX_QUANTITIES] = {0};
    Samples samples = {.count = 0};
    bool right = true;
    for (; run->measurement->quantities[samples.quantities] != NULL; samples.quantities++) {
        samples.values[samples.quantities] = memory_of(run, (size_t)most * sizeof(double));
    }
    run->inner = 1;
    for (long i = 0; i < WARMUP; i++) {
        right = lead(run, i == 0, one) && right;
        for (int q = 0; q < samples.quantities; q++) {
            samples.warmup[q][i] = one[q];
        }
    }
    run->inner = inner_for(run, one[0]);
    double begun = now_s();
    while (right && !enough(run, samples.values[0], samples.count, begun, &next_look)) {
        lead(run, false, one);
        for (int q = 0; q < samples.quantities; q++) {
            samples.values[q][samples.count] = one[q];
        }
        samples.count++;
    }
    samples.inner = run->inner;
    run->inner = 1;
    right = right && lead(run, true, one); /* the steady state is checked too, not only the first iteration */
    tell_all(run, (Go){.again = false});
    if (!right) {
        record_refusal(run, REFUSED_ERROR, "payload mismatch: what arrived is not what was sent");
        return 1;
    }
    if (run->measurement->conclude != NULL) {
        run->measurement->conclude(run, &samples);
    }
    record_samples(run, &samples);
    return 0;
}

/* The product of the parameters that say how large the buffer is; 0 without any. */
static double buffer_bytes(const Run *run)
{
    const char *const *factor = run->measurement->buffer;
    double product = *factor != NULL;
    for (; *factor != NULL; factor++) {
        product *= run_integer(run, *factor);
    }
    return product;
}

int take_samples(Run *run)
{
    const Measurement *m = run->measurement;
    const Bench *b = run->bench;
    int status = 0;
    if (m->flags & LOCAL) {
        if (b->rank != 0) {
            return 0;
        }
    } else {
        run->half_round_trip_s = half_round_trip(b);
    }
    run->state = memory_of(run, m->state);
    if (*m->buffer != NULL) {
        buffer_of(run, (size_t)buffer_bytes(run));
    }
    if (m->setup != NULL) {
        m->setup(run);
    }
    if (b->rank == 0) {
        status = drive(run);
    } else {
        follow(run);
    }
    if (m->teardown != NULL) {
        m->teardown(run);
    }
    return status;
}

/* NULL, or why this point is not measured, as `refuse` of a measurement. */
static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    const Measurement *m = run->measurement;
    if (!PREADY_HAS_PARTITIONED && (m->flags & PARTITIONED)) {
        snprintf(reason, MAX_REASON, "%s", NO_PARTITIONED);
        return REFUSED_UNSUPPORTED;
    }
    if ((m->flags & THREADED) && run->bench->thread_level < MPI_THREAD_MULTIPLE && run_integer(run, "threads") > 1) {
        snprintf(reason, MAX_REASON, "%s", NO_THREADS);
        return REFUSED_UNSUPPORTED;
    }
    if (buffer_bytes(run) > 1L << 30) {
        for (int i = 0; m->buffer[i] != NULL; i++) {
            strcat(strcat(reason, i > 0 ? " * " : ""), m->buffer[i]);
        }
        strcat(reason, " is above 1 GiB, the memory this measurement may take");
        return REFUSED_ERROR;
    }
    return m->refuse == NULL ? NULL : m->refuse(run, reason);
}

int measure_point(Run *run)
{
    char reason[MAX_REASON] = "";
    if (run->measurement->whole != NULL) {
        return run->measurement->whole(run);
    }
    const char *refused = refuse(run, reason);
    return refused == NULL ? take_samples(run) : record_refusal(run, refused, reason);
}
