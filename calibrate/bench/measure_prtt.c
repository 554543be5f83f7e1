/* PRTT(n, d, s), the parametrised round trip of Netgauge's LogGP (Hoefler et al. 2007, doi 10.1109/IPDPS.2007.370593):
 * the client sends n messages of s bytes with d of computing between them, the server answers the last with one of s
 * bytes. delay_s = -1 stands for d = PRTT(1, 0, s), measured in setup and reported as derived.delay_s.
 *
 * Other than Netgauge's, sends and receives do not block, as those of partitions do not: a blocking send may wait for
 * the message to have left (MPICH over tcp, from 129 B: 15 us a message instead of 7). */
#include "bench.h"

#include <stdlib.h>

enum { TRIES = 11 };

typedef struct {
    char *out, *in;
    int bytes, n;
    double delay;
    MPI_Request *requests;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "8", "0 to 1073741824"},
    {"n", INTEGER, "16", "1 to 4096"},
    {"delay_s", REAL, "0", "-1 to 10"},
    END_OF_PARAMETERS,
};

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    double delay = run_real(run, "delay_s");
    if (delay < 0 && delay != -1) {
        snprintf(reason, MAX_REASON, "delay_s = %g is not valid: >= 0, or -1 for PRTT(1, 0, bytes)", delay);
        return REFUSED_ERROR;
    }
    if (run_integer(run, "bytes") * run_integer(run, "n") > 1L << 30) {
        snprintf(reason, MAX_REASON, "bytes * n is above 1 GiB, the memory this measurement may take");
        return REFUSED_ERROR;
    }
    return NULL;
}

static double round_trip(State *s, const Bench *b, int n, double delay)
{
    double start = now_s();
    if (b->rank == 1) {
        for (int i = 0; i < n; i++) {
            MPI_Irecv(s->in + (size_t)i * (size_t)s->bytes, s->bytes, MPI_BYTE, 0, 0, b->data, &s->requests[i]);
        }
        MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
        MPI_Send(s->out, s->bytes, MPI_BYTE, 0, 0, b->data);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        MPI_Isend(s->out + (size_t)i * (size_t)s->bytes, s->bytes, MPI_BYTE, 1, 0, b->data, &s->requests[i]);
        if (delay > 0 && i + 1 < n) {
            wait_until(now_s() + delay, SPINNING, b->data);
        }
    }
    MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
    MPI_Recv(s->in, s->bytes, MPI_BYTE, 1, 0, b->data, MPI_STATUS_IGNORE);
    return now_s() - start; /* a round trip on rank 0's clock, left whole as Netgauge defines it */
}

static void setup(Run *run)
{
    State *s = run->state = calloc(1, sizeof *s);
    s->bytes = (int)run_integer(run, "bytes");
    s->n = (int)run_integer(run, "n");
    s->out = allocate((size_t)s->bytes * (size_t)s->n);
    s->in = allocate((size_t)s->bytes * (size_t)s->n);
    s->requests = allocate((size_t)s->n * sizeof(MPI_Request));
    s->delay = run_real(run, "delay_s");
    if (s->delay < 0) {
        double tries[TRIES];
        for (int i = 0; i < TRIES; i++) {
            tries[i] = round_trip(s, run->bench, 1, 0);
        }
        s->delay = summarise(tries, TRIES).median; /* rank 1 has no use for it */
    }
    run_derive(run, "delay_s", s->delay);
}

static void prepare(Run *run)
{
    State *s = run->state;
    size_t all = (size_t)s->bytes * (size_t)s->n;
    payload_fill(run, s->out, all, run->bench->rank, 0);
    payload_spoil(s->in, all);
}

static void repeat(Run *run, int inner, double *values)
{
    (void)inner;
    State *s = run->state;
    double time = round_trip(s, run->bench, s->n, s->delay);
    if (run->bench->rank == 0) {
        values[0] = time;
    }
}

static bool verify(Run *run)
{
    State *s = run->state;
    size_t bytes = (size_t)s->bytes * (size_t)(run->bench->rank == 0 ? 1 : s->n);
    return payload_right(run, s->in, bytes, run->bench->peer, 0);
}

static void teardown(Run *run)
{
    State *s = run->state;
    free(s->out);
    free(s->in);
    free(s->requests);
    free(s);
}

static const Measurement prtt = {
    .name = "prtt",
    .summary = "Netgauge's PRTT(n, d, s): n messages with d between them, one answer",
    .parameters = parameters,
    .quantities = {"round_trip"},
    .refuse = refuse,
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .teardown = teardown,
};

MEASUREMENT(prtt)
