/* How one adapter serves several ranks of a node: k ranks of one node each send a window of messages to a rank of their
 * own on another, all at once. Of 2 n ranks the first n are on the one node and the others on the other; rank i sends to
 * rank n + i.
 *
 * window = from the first of the k senders' starts to the last answer, less one answer's way back. Senders share a node,
 *          so one clock.
 *
 * The other ranks sleep. `sharing`: how many of the ranks that take part share a core with another.
 */
#include "core/bench.h"

#include <math.h>
#include <time.h>

static const long NAP_NS = 1000000;

typedef struct {
    int bytes, window;
    MPI_Request *requests;
} State;

static const Parameter parameters[] = {
    {"pairs", INTEGER, "1", "1 to 4096"},
    {"bytes", INTEGER, "8", "1 to 1073741824"},
    {"window", INTEGER, "64", "1 to 4096"},
    END_OF_PARAMETERS,
};

static void setup(Run *run)
{
    State *s = run->state;
    s->bytes = run_integer(run, "bytes");
    s->window = run_integer(run, "window");
    s->requests = memory_of(run, (size_t)s->window * sizeof *s->requests);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    double start, end;
    if (!b->sends) {
        post_messages(b, run->buffer, s->bytes, s->window, 0, b->data, s->requests);
    }
    MPI_Barrier(b->data);
    start = now_s();
    if (b->sends) {
        post_messages(b, run->buffer, s->bytes, s->window, 0, b->data, s->requests);
    }
    MPI_Waitall(s->window, s->requests, MPI_STATUSES_IGNORE);
    answer(b, s->window, b->data);
    end = now_s();
    /* receivers' clocks are another node's: they take no part in the maximum */
    double mine[2] = {b->sends ? -start : -HUGE_VAL, b->sends ? end : -HUGE_VAL}, latest[2];
    MPI_Reduce(mine, latest, 2, MPI_DOUBLE, MPI_MAX, 0, b->data);
    if (b->rank == 0) {
        values[0] = latest[1] + latest[0] - run->half_round_trip_s;
    }
}

static void conclude(Run *run, const Samples *samples)
{
    State *s = run->state;
    double messages = run_integer(run, "pairs") * (double)s->window / summarise(samples->values[0], samples->count).median;
    run_derive(run, "messages_per_s", messages);
    run_derive(run, "bytes_per_s", messages * s->bytes);
}

/* Of the ranks that take part, how many there are on this host beyond one for each core. */
static void derive_sharing(Run *run, int pairs)
{
    int here, cores = binding_here(&here);
    double working = (double)here * 2 * pairs / run->bench->ranks; /* all nodes have as many of the ranks */
    run_derive(run, "cores", cores);
    run_derive(run, "sharing", fmax(working - cores, 0));
}

/* Polls seldom: the cores belong to the others. */
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
    int pairs = run_integer(run, "pairs"), half = b->ranks / 2, status = 0;
    if (b->ranks % 2 != 0 || pairs > half || (long)run_integer(run, "bytes") * run_integer(run, "window") > 1L << 30) {
        char reason[MAX_REASON];
        snprintf(reason, sizeof reason, "pairs = %d of %d ranks, or bytes * window above 1 GiB: at most %d pairs, of an "
                 "even number of ranks", pairs, b->ranks, half);
        return record_refusal(run, REFUSED_ERROR, reason);
    }
    derive_sharing(run, pairs);
    bool member = b->rank % half < pairs;
    Bench team = *b;
    MPI_Request over;
    MPI_Comm_split(b->data, member ? 0 : MPI_UNDEFINED, b->rank, &team.data);
    if (member) { /* senders come first */
        MPI_Comm_rank(team.data, &team.rank);
        MPI_Comm_dup(team.data, &team.control);
        team.ranks = 2 * pairs;
        team.sends = team.rank < pairs;
        team.peer = team.sends ? team.rank + pairs : team.rank - pairs;
        run->bench = &team;
        status = take_samples(run);
        run->bench = b;
        MPI_Comm_free(&team.data);
        MPI_Comm_free(&team.control);
    }
    MPI_Ibarrier(b->control, &over);
    wait_asleep(&over);
    return status;
}

static const Measurement pairs = {
    .name = "pairs",
    .parameters = parameters,
    .quantities = {"window"},
    .state = sizeof(State),
    .buffer = {"bytes", "window"},
    .setup = setup,
    .repeat = repeat,
    .conclude = conclude,
    .whole = whole,
};

MEASUREMENT(pairs)
