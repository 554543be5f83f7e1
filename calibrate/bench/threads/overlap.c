/* Does a message move while its receiver computes outside MPI?
 *
 * Both post their operation, then rank 1 computes, then both wait.
 *
 * exposed = from rank 0's start to completion on rank 1, less the computing: about 0 if the message moved meanwhile,
 *           about baseline_s if it did not
 *
 * Computing takes twice as long as the same transfer without it, derived.baseline_s.
 */
#include "core/bench.h"

enum { TRIES = 7, TAG_DONE = 1 };

typedef struct {
    int bytes;
    double compute;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "1048576", "0 to 1073741824"},
    END_OF_PARAMETERS,
};

/* On rank 0 the exposed time. */
static double transfer(Run *run, double compute)
{
    State *s = run->state;
    const Bench *b = run->bench;
    MPI_Request request;
    double start = now_s(), computed = 0;
    post_messages(b, run->buffer, s->bytes, 1, 0, b->data, &request);
    if (!b->sends && compute > 0) {
        double begun = now_s();
        wait_until(begun + compute, SPINNING, b->control);
        computed = now_s() - begun;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!b->sends) {
        MPI_Send(&computed, 1, MPI_DOUBLE, 0, TAG_DONE, b->data);
        return 0;
    }
    MPI_Recv(&computed, 1, MPI_DOUBLE, 1, TAG_DONE, b->data, MPI_STATUS_IGNORE);
    /* rank 0's clock to the answer, less the answer's way back; the computing is a duration on rank 1's */
    return now_s() - start - run->half_round_trip_s - computed;
}

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state;
    double tries[TRIES];
    s->bytes = run_integer(run, "bytes");
    for (int i = 0; i < TRIES; i++) {
        tries[i] = transfer(run, 0);
    }
    double baseline = summarise(tries, TRIES).median;
    s->compute = 2 * baseline;
    MPI_Bcast(&s->compute, 1, MPI_DOUBLE, 0, b->control); /* rank 1 only knows the time of its receives */
    run_derive(run, "baseline_s", baseline);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    double exposed = transfer(run, s->compute);
    if (run->bench->sends) {
        values[0] = exposed;
    }
}

static const Measurement overlap = {
    .name = "overlap",
    .parameters = parameters,
    .quantities = {"exposed"},
    .state = sizeof(State),
    .buffer = {"bytes"},
    .setup = setup,
    .repeat = repeat,
};

MEASUREMENT(overlap)
