/* When is a send complete: once its data are copied, once its last byte has left, or once it is delivered?
 *
 * Both post their operation; rank 1 is outside MPI for late_s, then both wait.
 *
 * send     = from rank 0's start to the completion of its send
 * received = from there to completion on rank 1
 *
 * calibrate/machine/send_completion.py compares the two, and `send` with late_s > 0 and without.
 */
#include "core/bench.h"

#include <math.h>

typedef struct {
    int bytes;
    double late;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "1048576", "0 to 1073741824"},
    {"late_s", REAL, "0", "0 to 10"},
    END_OF_PARAMETERS,
};

static void setup(Run *run)
{
    State *s = run->state;
    s->bytes = run_integer(run, "bytes");
    s->late = run_real(run, "late_s");
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    MPI_Request request;
    double start = now_s();
    post_messages(b, run->buffer, s->bytes, 1, 0, b->data, &request);
    if (b->sends) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        values[0] = now_s() - start;
        receive_empty(b->peer, 0, b->data);
        /* on rank 0's clock, less the answer's way back */
        values[1] = fmax(now_s() - start - run->half_round_trip_s, 0);
    } else {
        wait_until(start + s->late, SLEEPING, b->control);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        send_empty(b->peer, 0, b->data);
    }
}

static const Measurement completion = {
    .name = "completion",
    .parameters = parameters,
    .quantities = {"send", "received"},
    .state = sizeof(State),
    .buffer = {"bytes"},
    .setup = setup,
    .repeat = repeat,
};

MEASUREMENT(completion)
