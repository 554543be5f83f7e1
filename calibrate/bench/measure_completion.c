/* When is a send complete?
 *
 * Both post their operation; rank 1 is outside MPI for late_s, then both wait.
 *
 * send     = from rank 0's start to the completion of its send
 * received = from there to completion on rank 1
 *
 * A send that is complete while rank 1 is still outside MPI was copied or has left; one that is complete before the
 * message is received, and not at once, waits for room in what the system buffers; one that never is before, for an
 * acknowledgement.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

enum { TAG_DONE = 1 };

typedef struct {
    char *buffer;
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
    State *s = run->state = calloc(1, sizeof *s);
    s->bytes = (int)run_integer(run, "bytes");
    s->buffer = allocate((size_t)s->bytes);
    s->late = run_real(run, "late_s");
}

static void prepare(Run *run)
{
    State *s = run->state;
    if (run->bench->rank == 0) {
        payload_fill(run, s->buffer, (size_t)s->bytes, 0, 0);
    } else {
        payload_spoil(s->buffer, (size_t)s->bytes);
    }
}

static void repeat(Run *run, int inner, double *values)
{
    (void)inner;
    State *s = run->state;
    const Bench *b = run->bench;
    MPI_Request request;
    double start = now_s();
    if (b->rank == 1) {
        MPI_Irecv(s->buffer, s->bytes, MPI_BYTE, 0, 0, b->data, &request);
        wait_until(start + s->late, SLEEPING, b->control);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_DONE, b->data);
        return;
    }
    MPI_Isend(s->buffer, s->bytes, MPI_BYTE, 1, 0, b->data, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    values[0] = now_s() - start;
    MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_DONE, b->data, MPI_STATUS_IGNORE);
    /* on rank 0's clock, less the answer's way back */
    values[1] = fmax(now_s() - start - run->half_round_trip_s, 0);
}

static bool verify(Run *run)
{
    State *s = run->state;
    return run->bench->rank == 0 || payload_right(run, s->buffer, (size_t)s->bytes, 0, 0);
}

static void teardown(Run *run)
{
    State *s = run->state;
    free(s->buffer);
    free(s);
}

static const Measurement completion = {
    .name = "completion",
    .summary = "when is a send complete, with the receiver inside MPI or not?",
    .parameters = parameters,
    .quantities = {"send", "received"},
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .teardown = teardown,
};

MEASUREMENT(completion)
