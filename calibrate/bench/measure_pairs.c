/* How one adapter serves several ranks of a node: k ranks of one node each send a window of messages to a rank of their
 * own on another, all at once. Of 2 n ranks the first n are on the one node and the others on the other; rank i sends to
 * rank n + i.
 *
 * window = from the first of the k senders' starts to the last answer, less one answer's way back. Senders share a node,
 *          so one clock.
 *
 * Whoever takes no part sleeps. `sharing`: how many of the ranks that do share a core with another.
 */
#include "bench.h"

#include <stdlib.h>
#include <time.h>

enum { PINGS = 31, PING_WARMUP = 5, ROOT = 0 };
static const long NAP_NS = 1000000;

static const Parameter parameters[] = {
    {"pairs", INTEGER, "1", "1 to 4096"},
    {"bytes", INTEGER, "8", "1 to 1073741824"},
    {"window", INTEGER, "64", "1 to 4096"},
    END_OF_PARAMETERS,
};

/* Of those that take part; senders come first. */
typedef struct {
    MPI_Comm comm;
    int rank, pairs, peer;
    bool sends;
    int bytes, window;
    char *buffer;
    MPI_Request *requests;
} Team;

typedef struct {
    int again, checking;
} Go;

static double half_round_trip(const Team *t)
{
    double samples[PINGS];
    for (int i = -PING_WARMUP; i < PINGS; i++) {
        double start = now_s();
        if (t->sends) {
            MPI_Send(NULL, 0, MPI_BYTE, t->peer, 0, t->comm);
            MPI_Recv(NULL, 0, MPI_BYTE, t->peer, 0, t->comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, t->peer, 0, t->comm, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, t->peer, 0, t->comm);
        }
        if (i >= 0) {
            samples[i] = now_s() - start;
        }
    }
    return 0.5 * summarise(samples, PINGS).min;
}

/* One window of every pair; of a sender, when it began and when it had its answer. */
static void exchange_windows(const Team *t, double *start, double *end)
{
    size_t bytes = (size_t)t->bytes;
    for (int i = 0; !t->sends && i < t->window; i++) {
        MPI_Irecv(t->buffer + (size_t)i * bytes, t->bytes, MPI_BYTE, t->peer, i, t->comm, &t->requests[i]);
    }
    MPI_Barrier(t->comm);
    *start = now_s();
    for (int i = 0; t->sends && i < t->window; i++) {
        MPI_Isend(t->buffer + (size_t)i * bytes, t->bytes, MPI_BYTE, t->peer, i, t->comm, &t->requests[i]);
    }
    MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE);
    if (t->sends) {
        MPI_Recv(NULL, 0, MPI_BYTE, t->peer, t->window, t->comm, MPI_STATUS_IGNORE);
        *end = now_s();
    } else {
        MPI_Send(NULL, 0, MPI_BYTE, t->peer, t->window, t->comm);
    }
}

/* One sample; the time is the root's alone. False, on the root, after a payload mismatch of any pair. */
static bool sample(const Team *t, Run *run, bool checking, double *time)
{
    size_t all = (size_t)t->bytes * (size_t)t->window;
    int sender = t->sends ? t->rank : t->peer, right = 1, everywhere = 1;
    if (checking && t->sends) {
        payload_fill(run, t->buffer, all, sender, 0);
    } else if (checking) {
        payload_spoil(t->buffer, all);
    }
    double start = 0, end = 0;
    exchange_windows(t, &start, &end);
    if (checking && !t->sends) {
        right = payload_right(run, t->buffer, all, sender, 0);
    }
    run->iteration++;
    /* receivers' clocks are another node's: their places hold what decides nothing */
    double mine[2] = {t->sends ? -start : -1e300, t->sends ? end : -1e300}, latest[2];
    MPI_Reduce(mine, latest, 2, MPI_DOUBLE, MPI_MAX, ROOT, t->comm);
    MPI_Reduce(&right, &everywhere, 1, MPI_INT, MPI_MIN, ROOT, t->comm);
    *time = latest[1] + latest[0] - run->half_round_trip_s;
    return t->rank != ROOT || everywhere == 1;
}

static void follow(const Team *t, Run *run)
{
    double unused;
    for (Go go; MPI_Bcast(&go, (int)sizeof go, MPI_BYTE, ROOT, t->comm), go.again;) {
        sample(t, run, go.checking, &unused);
    }
}

static bool lead(const Team *t, Run *run, bool checking, double *time)
{
    Go go = {.again = 1, .checking = checking};
    MPI_Bcast(&go, (int)sizeof go, MPI_BYTE, ROOT, t->comm);
    return sample(t, run, checking, time);
}

static bool tight(const double *samples, long count, double half_width)
{
    Summary s = summarise(samples, count);
    return s.median > 0 && (s.high - s.low) / 2 <= half_width * s.median; /* false while low and high are NaN */
}

/* Ranks at work here for each core they have together, above one of each. */
static void derive_sharing(Run *run, const Team *t)
{
    int here, cores = binding_here(&here);
    double working = (double)here * 2 * t->pairs / run->bench->ranks; /* all nodes have as many of the ranks */
    run_derive(run, "cores", cores);
    run_derive(run, "sharing", working > cores ? working - cores : 0);
}

static int drive(const Team *t, Run *run)
{
    long warmup = run_integer(run, "warmup"), least = run_integer(run, "min_repeats"), count = 0;
    long most = run_integer(run, "max_repeats");
    double budget = run_real(run, "budget_s"), half_width = run_real(run, "half_width"), last;
    double *kept = allocate((size_t)most * sizeof *kept), *warm = allocate((size_t)warmup * sizeof *warm);
    bool right = true;
    for (long i = 0; i < warmup; i++) {
        right = lead(t, run, i == 0, &warm[i]) && right;
    }
    double begun = now_s();
    while (right && count < most && (count < least || now_s() < begun + budget)) {
        if ((count >= least && tight(kept, count, half_width)) || (count > 0 && now_s() > begun + 10 * budget)) {
            break;
        }
        lead(t, run, false, &kept[count++]);
    }
    right = right && lead(t, run, true, &last);
    Go stop = {.again = 0};
    MPI_Bcast(&stop, (int)sizeof stop, MPI_BYTE, ROOT, t->comm);
    if (right) {
        Samples samples = {.count = count, .warmup_count = warmup, .quantities = 1, .inner = 1};
        samples.values[0] = kept;
        samples.warmup[0] = warm;
        double messages = (double)t->pairs * t->window / summarise(kept, count).median;
        run_derive(run, "messages_per_s", messages);
        run_derive(run, "bytes_per_s", messages * t->bytes);
        derive_sharing(run, t);
        record_samples(run, &samples);
    } else {
        record_refusal(run, REFUSED_ERROR, "payload mismatch: what arrived is not what was sent");
    }
    free(warm);
    free(kept);
    return right ? 0 : 1;
}

static int take_part(Run *run, MPI_Comm comm, int pairs)
{
    Team t = {.comm = comm, .pairs = pairs, .bytes = (int)run_integer(run, "bytes"),
              .window = (int)run_integer(run, "window")};
    int status = 0;
    MPI_Comm_rank(comm, &t.rank);
    t.sends = t.rank < pairs;
    t.peer = t.sends ? t.rank + pairs : t.rank - pairs;
    t.buffer = allocate((size_t)t.bytes * (size_t)t.window);
    t.requests = calloc((size_t)t.window, sizeof *t.requests);
    run->half_round_trip_s = half_round_trip(&t);
    if (t.rank == ROOT) {
        status = drive(&t, run);
    } else {
        follow(&t, run);
    }
    free(t.requests);
    free(t.buffer);
    return status;
}

/* Nobody polls who has nothing to do: the cores belong to the others. */
static void wait_asleep(MPI_Request *request)
{
    const struct timespec some = {.tv_sec = 0, .tv_nsec = NAP_NS};
    for (int done = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done;) {
        nanosleep(&some, NULL);
    }
}

static int whole(Run *run)
{
    const Bench *b = run->bench;
    long pairs = run_integer(run, "pairs"), half = b->ranks / 2;
    if (b->ranks % 2 != 0 || pairs > half ||
        run_integer(run, "bytes") * run_integer(run, "window") > 1L << 30) {
        char reason[MAX_REASON];
        snprintf(reason, sizeof reason, "pairs = %ld of %d ranks, or bytes * window above 1 GiB: at most %ld pairs, of an "
                 "even number of ranks", pairs, b->ranks, half);
        record_refusal(run, REFUSED_ERROR, reason);
        return 2;
    }
    bool member = b->rank % half < pairs;
    MPI_Comm comm;
    MPI_Comm_split(b->data, member ? 0 : MPI_UNDEFINED, b->rank, &comm);
    int status = 0;
    MPI_Request over;
    if (member) {
        status = take_part(run, comm, (int)pairs);
        MPI_Comm_free(&comm);
    }
    MPI_Ibarrier(b->control, &over);
    wait_asleep(&over);
    return status;
}

static const Measurement pairs = {
    .name = "pairs",
    .summary = "time of windows of messages that several ranks of a node send at once, each to a rank of another node",
    .parameters = parameters,
    .quantities = {"window"},
    .whole = whole,
};

MEASUREMENT(pairs)
