/* Delayed receives: what the CPU spends on a message that has come (Kielmann et al. 2000, doi 10.1007/3-540-45591-4_139).
 *
 * Rank 0 sends n messages. Rank 1 has posted its receives, stays outside MPI until all have had twice the time to come
 * that they take, and then completes one after the other.
 *
 * receive = time of these n calls over n, on rank 1's clock
 *
 * A message that moves only while its receiver is inside MPI takes its whole transfer here: not an overhead. Who reads
 * this compares it with the time of a message.
 */
#include "bench.h"

#include <stdlib.h>

enum { TRIES = 11, LONGER = 2 };
static const double SPARE_S = 50e-6; /* of a host that is late to send */

typedef struct {
    char *buffer;
    int bytes, n;
    double delay;
    MPI_Request *requests;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "8", "0 to 1073741824"},
    {"n", INTEGER, "8", "1 to 4096"},
    END_OF_PARAMETERS,
};

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    if (run_integer(run, "bytes") * run_integer(run, "n") > 1L << 30) {
        snprintf(reason, MAX_REASON, "bytes * n is above 1 GiB, the memory this measurement may take");
        return REFUSED_ERROR;
    }
    return NULL;
}

/* What the receives take after a delay; on rank 0, 0. */
static double receives(State *s, const Bench *b, double delay)
{
    if (b->rank == 0) {
        for (int i = 0; i < s->n; i++) {
            MPI_Isend(s->buffer + (size_t)i * (size_t)s->bytes, s->bytes, MPI_BYTE, 1, 0, b->data, &s->requests[i]);
        }
        MPI_Waitall(s->n, s->requests, MPI_STATUSES_IGNORE);
        return 0;
    }
    double start = now_s();
    for (int i = 0; i < s->n; i++) {
        MPI_Irecv(s->buffer + (size_t)i * (size_t)s->bytes, s->bytes, MPI_BYTE, 0, 0, b->data, &s->requests[i]);
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
    State *s = run->state = calloc(1, sizeof *s);
    s->bytes = (int)run_integer(run, "bytes");
    s->n = (int)run_integer(run, "n");
    s->buffer = allocate((size_t)s->bytes * (size_t)s->n);
    s->requests = allocate((size_t)s->n * sizeof(MPI_Request));
    double tries[TRIES];
    for (int i = 0; i < TRIES; i++) {
        MPI_Barrier(run->bench->control);
        tries[i] = receives(s, run->bench, 0);
    }
    s->delay = LONGER * summarise(tries, TRIES).median + SPARE_S;
    MPI_Bcast(&s->delay, 1, MPI_DOUBLE, 1, run->bench->control); /* rank 0 only knows what its sends took */
    run_derive(run, "delay_s", s->delay);
}

static void prepare(Run *run)
{
    State *s = run->state;
    size_t all = (size_t)s->bytes * (size_t)s->n;
    if (run->bench->rank == 0) {
        payload_fill(run, s->buffer, all, 0, 0);
    } else {
        payload_spoil(s->buffer, all);
    }
}

static void repeat(Run *run, int inner, double *values)
{
    (void)inner;
    State *s = run->state;
    double time = receives(s, run->bench, s->delay);
    if (run->bench->rank == 1) {
        values[0] = time / s->n; /* on rank 1's clock alone */
    }
}

static bool verify(Run *run)
{
    State *s = run->state;
    return run->bench->rank == 0 || payload_right(run, s->buffer, (size_t)s->bytes * (size_t)s->n, 0, 0);
}

static void teardown(Run *run)
{
    State *s = run->state;
    free(s->buffer);
    free(s->requests);
    free(s);
}

static const Measurement delayed_receive = {
    .name = "receive",
    .summary = "delayed receives: what completing a message takes that has come",
    .parameters = parameters,
    .quantities = {"receive"},
    .refuse = refuse,
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .teardown = teardown,
};

MEASUREMENT(delayed_receive)
