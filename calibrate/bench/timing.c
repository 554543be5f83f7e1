/* The one timing loop. Every measurement's samples are taken here.
 *
 * One sample:  rank 0 -> rank 1  GO   (again? how often? checked?)
 *              both              prepare, if checked
 *              rank 1 -> rank 0  READY
 *              both              repeat                             <- the only timed part
 *              both              verify, if checked
 *              rank 1 -> rank 0  what rank 1 measured, and whether its bytes were right
 *
 * Rank 1 sends READY immediately before it enters `repeat`, so when rank 0 enters, its peer is at most half a round
 * trip of control traffic ahead and about to post its receives.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_GO = 1, TAG_READY = 2, TAG_REPORT = 3 };
enum { PINGS = 31, PING_WARMUP = 5, MAX_INNER = 1000 };
static const double INNER_TARGET_S = 20e-6; /* 1000 times a typical clock step */

typedef struct {
    int again, inner, checking;
} Go;

typedef struct {
    double values[MAX_QUANTITIES];
    double right;
} Report;

/* The fastest, not the middle one: it is taken off round trips, and what disturbs the machine for just these few
 * milliseconds would otherwise make everything in the point too fast, even below zero. */
static double half_round_trip(const Bench *b)
{
    double samples[PINGS];
    for (int i = -PING_WARMUP; i < PINGS; i++) {
        double start = now_s();
        if (b->rank == 0) {
            MPI_Send(NULL, 0, MPI_BYTE, b->peer, 0, b->data);
            MPI_Recv(NULL, 0, MPI_BYTE, b->peer, 0, b->data, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, b->peer, 0, b->data, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, b->peer, 0, b->data);
        }
        if (i >= 0) {
            samples[i] = now_s() - start;
        }
    }
    return 0.5 * summarise(samples, PINGS).min;
}

static bool verified(Run *run)
{
    return !run->checking || run->measurement->verify == NULL || run->measurement->verify(run);
}

static void prepare(Run *run)
{
    if (run->checking && run->measurement->prepare != NULL) {
        run->measurement->prepare(run);
    }
}

/* Rank 1's half of the loop: does as told until told to stop. */
static void follow(Run *run)
{
    const Bench *b = run->bench;
    for (;;) {
        Go go;
        MPI_Recv(&go, (int)sizeof go, MPI_BYTE, b->peer, TAG_GO, b->control, MPI_STATUS_IGNORE);
        if (!go.again) {
            return;
        }
        Report report = {.values = {NAN, NAN, NAN, NAN}, .right = 1};
        run->checking = go.checking != 0;
        prepare(run);
        MPI_Send(NULL, 0, MPI_BYTE, b->peer, TAG_READY, b->control);
        run->measurement->repeat(run, go.inner, report.values);
        report.right = verified(run);
        run->iteration++;
        MPI_Send(&report, (int)sizeof report, MPI_BYTE, b->peer, TAG_REPORT, b->control);
    }
}

/* Rank 0's half of one sample. False after a payload mismatch. */
static bool lead(Run *run, int inner, bool checking, double values[MAX_QUANTITIES])
{
    const Bench *b = run->bench;
    bool local = run->measurement->flags & LOCAL;
    double pause = run_real(run, "pause_s");
    if (pause > 0) {
        wait_until(now_s() + pause, SLEEPING, b->control);
    }
    for (int q = 0; q < MAX_QUANTITIES; q++) {
        values[q] = NAN;
    }
    run->checking = checking;
    Report report = {.values = {NAN, NAN, NAN, NAN}, .right = 1};
    if (!local) {
        Go go = {.again = 1, .inner = inner, .checking = checking};
        MPI_Send(&go, (int)sizeof go, MPI_BYTE, b->peer, TAG_GO, b->control);
    }
    prepare(run);
    if (!local) {
        MPI_Recv(NULL, 0, MPI_BYTE, b->peer, TAG_READY, b->control, MPI_STATUS_IGNORE);
    }
    run->measurement->repeat(run, inner, values);
    bool right = verified(run);
    run->iteration++;
    if (!local) {
        MPI_Recv(&report, (int)sizeof report, MPI_BYTE, b->peer, TAG_REPORT, b->control, MPI_STATUS_IGNORE);
    }
    for (int q = 0; q < MAX_QUANTITIES; q++) {
        if (isnan(values[q])) {
            values[q] = report.values[q];
        }
    }
    return right && report.right == 1;
}

static bool tight(const double *samples, long count, double half_width)
{
    Summary s = summarise(samples, count);
    return s.median > 0 && (s.high - s.low) / 2 <= half_width * s.median; /* false while low and high are NaN */
}

static int drive(Run *run)
{
    long warmup = run_integer(run, "warmup"), least = run_integer(run, "min_repeats");
    long most = run_integer(run, "max_repeats"), count = 0, next_look = least;
    double budget = run_real(run, "budget_s"), half_width = run_real(run, "half_width");
    double one[MAX_QUANTITIES], *kept[MAX_QUANTITIES], *warm[MAX_QUANTITIES];
    int quantities = 0, inner = 1;
    bool right = true, fixed = run->measurement->flags & FIXED_COUNT;
    while (run->measurement->quantities[quantities] != NULL) {
        kept[quantities] = allocate((size_t)most * sizeof(double));
        warm[quantities] = allocate((size_t)warmup * sizeof(double));
        quantities++;
    }
    for (long i = 0; i < warmup; i++) {
        right = lead(run, 1, i == 0, one) && right;
        for (int q = 0; q < quantities; q++) {
            warm[q][i] = one[q];
        }
    }
    /* a pause is meant before every exchange: none back to back then */
    if ((run->measurement->flags & INNER) && one[0] > 0 && one[0] < INNER_TARGET_S && run_real(run, "pause_s") == 0) {
        inner = (int)ceil(INNER_TARGET_S / one[0]);
        inner = inner > MAX_INNER ? MAX_INNER : inner;
    }
    double end = now_s() + budget;
    while (right && count < most) {
        if (count >= least && now_s() >= end) {
            break;
        }
        if (!fixed && count >= next_look) {
            if (tight(kept[0], count, half_width)) {
                break;
            }
            next_look = count + count / 10 + 1; /* sorting must not become the work */
        }
        lead(run, inner, false, one);
        for (int q = 0; q < quantities; q++) {
            kept[q][count] = one[q];
        }
        count++;
        /* A point that cannot even take its minimum in ten budgets gives what it has. */
        if (now_s() >= end + 9 * budget && count >= 1) {
            break;
        }
    }
    right = right && lead(run, 1, true, one); /* the steady state is checked too, not only the first iteration */
    if (!(run->measurement->flags & LOCAL)) {
        Go stop = {.again = 0, .inner = 0, .checking = 0};
        MPI_Send(&stop, (int)sizeof stop, MPI_BYTE, run->bench->peer, TAG_GO, run->bench->control);
    }
    if (right) {
        Samples samples = {.count = count, .warmup_count = warmup, .quantities = quantities, .inner = inner};
        for (int q = 0; q < quantities; q++) {
            samples.values[q] = kept[q];
            samples.warmup[q] = warm[q];
        }
        if (run->measurement->conclude != NULL) {
            run->measurement->conclude(run, &samples);
        }
        record_samples(run, &samples);
    } else {
        record_refusal(run, "error", "payload mismatch: what arrived is not what was sent");
    }
    for (int q = 0; q < quantities; q++) {
        free(kept[q]);
        free(warm[q]);
    }
    return right ? 0 : 1;
}

int measure_point(Run *run)
{
    const Measurement *m = run->measurement;
    const Bench *b = run->bench;
    char reason[MAX_REASON] = "";
    const char *refused = NULL;
    int status = 0;
    if (m->whole != NULL) {
        return m->whole(run);
    }
    if (!PREADY_HAS_PARTITIONED && (m->flags & PARTITIONED)) {
        refused = REFUSED_UNSUPPORTED;
        snprintf(reason, sizeof reason, "%s", NO_PARTITIONED);
    } else if ((m->flags & THREADED) && b->thread_level < MPI_THREAD_MULTIPLE && run_integer(run, "threads") > 1) {
        refused = REFUSED_UNSUPPORTED;
        snprintf(reason, sizeof reason, "%s", NO_THREADS);
    } else if (m->refuse != NULL) {
        refused = m->refuse(run, reason);
    }
    if (refused != NULL) {
        record_refusal(run, refused, reason);
        return strcmp(refused, REFUSED_ERROR) == 0 ? 2 : 0;
    }
    if (!(m->flags & LOCAL)) {
        run->half_round_trip_s = half_round_trip(b);
    }
    if (m->setup != NULL && (!(m->flags & LOCAL) || b->rank == 0)) {
        m->setup(run);
    }
    if (b->rank == 0) {
        status = drive(run);
    } else if (!(m->flags & LOCAL)) {
        follow(run);
    }
    if (m->teardown != NULL && (!(m->flags & LOCAL) || b->rank == 0)) {
        m->teardown(run);
    }
    return status;
}
