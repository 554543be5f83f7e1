/* Delayed receives: what the CPU spends on a message that has arrived (Kielmann et al. 2000, doi
 * 10.1007/3-540-45591-4_139).
 *
 * Rank 0 sends n messages. Rank 1 has posted its receives, stays outside MPI until all have had twice their transfer
 * time to arrive, and then completes one after the other.
 *
 * receive = time of these n calls over n, on rank 1's clock
 *
 * A message that moves only while its receiver is in MPI takes its whole transfer here, which is no overhead:
 * compare it with the time of a message.
 */
#include "core/bench.h"

enum { TRIES = 11, LONGER = 2 };
static const double SPARE_S = 50e-6; /* of a host that is late to send */

typedef struct {
    int bytes, n;
    double delay;
    MPI_Request *requests;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "8", "0 to 1073741824"},
    {"n", INTEGER, "8", "1 to 4096"},
    END_OF_PARAMETERS,
};

/* The time of the receives after a delay; on rank 0, 0. */
static double receives(Run *run, double delay)
{
    State *s = run->state;
    const Bench *b = run->bench;
    double start = now_s();
    post_messages(b, run->buffer, s->bytes, s->n, 0, b->data, s->requests);
    if (b->sends) {
        MPI_Waitall(s->n, s->requests, MPI_STATUSES_IGNORE);
        return 0;
    }
    if (delay > 0) {
        wait_until(start + delay, SPINNING, b->data);
        start = now_s();
    }
    for (int i = 0; i < s->n; i++) {
        MPI_Wait(&s->requests[i], MPI_STATUS_IGNORE);
    }
    return now_s() - start;
}

static void setup(Run *run)
{
    State *s = run->state;
    s->bytes = run_integer(run, "bytes");
    s->n = run_integer(run, "n");
    s->requests = memory_of(run, (size_t)s->n * sizeof *s->requests);
    double tries[TRIES];
    for (int i = 0; i < TRIES; i++) {
        MPI_Barrier(run->bench->control);
        tries[i] = receives(run, 0);
    }
    s->delay = LONGER * summarise(tries, TRIES).median + SPARE_S;
    MPI_Bcast(&s->delay, 1, MPI_DOUBLE, 1, run->bench->control); /* rank 0 only knows the time of its sends */
    run_derive(run, "delay_s", s->delay);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    double time = receives(run, s->delay);
    if (!run->bench->sends) {
        values[0] = time / s->n; /* on rank 1's clock alone */
    }
}

static const Measurement delayed_receive = {
    .name = "receive",
    .parameters = parameters,
    .quantities = {"receive"},
    .state = sizeof(State),
    .buffer = {"bytes", "n"},
    .setup = setup,
    .repeat = repeat,
};

MEASUREMENT(delayed_receive)
