/* Does a message move while a rank computes outside MPI?
 *
 * Both post their operation, then rank `who` computes, then both wait.
 *
 * exposed = from rank 0's start to completion on rank 1, less the computing: about 0 if the message moved meanwhile,
 *           about baseline_s if it did not
 * total   = the same with the computing
 * compute = the computing as it really was, the longer of the two ranks; each on its own clock
 *
 * Computing takes twice as long as the same transfer without it, derived.baseline_s.
 */
#include "core/bench.h"

#include <math.h>

enum { TRIES = 7, TAG_DONE = 1, TAG_PLAN = 2 };

typedef struct {
    int bytes;
    int who;
    double compute, baseline;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "1048576", "0 to 1073741824"},
    {"who", WORD, "receiver", "receiver|sender"},
    END_OF_PARAMETERS,
};

/* values[1]: total (rank 0), values[2]: computing (each rank its own) */
static void transfer(Run *run, double compute, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    MPI_Request request;
    double start = now_s(), computed = 0;
    post_messages(b, run->buffer, s->bytes, 1, 0, b->data, &request);
    if (b->rank == s->who && compute > 0) {
        double begun = now_s();
        wait_until(begun + compute, SPINNING, b->control);
        computed = now_s() - begun;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (b->rank == 1) {
        MPI_Send(&computed, 1, MPI_DOUBLE, 0, TAG_DONE, b->data);
        return;
    }
    double theirs;
    MPI_Recv(&theirs, 1, MPI_DOUBLE, 1, TAG_DONE, b->data, MPI_STATUS_IGNORE);
    /* rank 0's clock to the answer, less the answer's way back; the computing is two durations, one per clock */
    values[1] = now_s() - start - run->half_round_trip_s;
    values[2] = fmax(computed, theirs);
    values[0] = values[1] - values[2];
}

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state;
    double tries[TRIES], values[3];
    s->bytes = run_integer(run, "bytes");
    s->who = run_is(run, "who", "receiver");
    for (int i = 0; i < TRIES; i++) {
        transfer(run, 0, values);
        tries[i] = values[1];
    }
    if (b->rank == 0) {
        s->baseline = summarise(tries, TRIES).median;
        s->compute = 2 * s->baseline;
        run_derive(run, "baseline_s", s->baseline);
        MPI_Send(&s->compute, 1, MPI_DOUBLE, 1, TAG_PLAN, b->control);
    } else {
        MPI_Recv(&s->compute, 1, MPI_DOUBLE, 0, TAG_PLAN, b->control, MPI_STATUS_IGNORE);
    }
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    transfer(run, s->compute, values);
}

static const Measurement overlap = {
    .name = "overlap",
    .parameters = parameters,
    .quantities = {"exposed", "total", "compute"},
    .state = sizeof(State),
    .buffer = {"bytes"},
    .setup = setup,
    .repeat = repeat,
};

MEASUREMENT(overlap)
