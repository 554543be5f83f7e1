/* PRTT(n, d, s), the parametrised round trip of Netgauge's LogGP (Hoefler et al. 2007, doi 10.1109/IPDPS.2007.370593):
 * the client sends n messages of s bytes with d of computing between them, the server answers the last with one of s
 * bytes. delay_s = -1 stands for d = PRTT(1, 0, s), measured in setup and reported as derived.delay_s.
 *
 * Unlike Netgauge's, sends and receives do not block, as those of partitions do not: a blocking send may wait for its
 * message to have left (MPICH over tcp, from 129 B: 15 us a message instead of 7). */
#include "core/bench.h"

enum { TRIES = 11 };

typedef struct {
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
    return NULL;
}

static double round_trip(Run *run, int n, double delay)
{
    State *s = run->state;
    const Bench *b = run->bench;
    double start = now_s();
    if (!b->sends) {
        post_messages(b, run->in.at, s->bytes, n, 0, b->data, s->requests);
        MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
        MPI_Send(run->out.at, s->bytes, MPI_BYTE, b->peer, 0, b->data);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        post_messages(b, run->out.at + (size_t)i * (size_t)s->bytes, s->bytes, 1, i, b->data, &s->requests[i]);
        if (delay > 0 && i + 1 < n) {
            wait_until(now_s() + delay, SPINNING, b->data);
        }
    }
    MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
    MPI_Recv(run->in.at, s->bytes, MPI_BYTE, b->peer, 0, b->data, MPI_STATUS_IGNORE);
    return now_s() - start; /* a round trip on rank 0's clock, left whole as Netgauge defines it */
}

static void setup(Run *run)
{
    State *s = run->state;
    s->bytes = run_integer(run, "bytes");
    s->n = run_integer(run, "n");
    s->requests = memory_of(run, (size_t)s->n * sizeof *s->requests);
    if (run->bench->sends) { /* and the answer */
        in_of(run, (size_t)s->bytes);
    } else {
        out_of(run, (size_t)s->bytes);
    }
    s->delay = run_real(run, "delay_s");
    if (s->delay < 0) {
        double tries[TRIES];
        for (int i = 0; i < TRIES; i++) {
            tries[i] = round_trip(run, 1, 0);
        }
        s->delay = summarise(tries, TRIES).median; /* rank 1 has no use for it */
    }
    run_derive(run, "delay_s", s->delay);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    double time = round_trip(run, s->n, s->delay);
    if (run->bench->sends) {
        values[0] = time;
    }
}

static const Measurement prtt = {
    .name = "prtt",
    .parameters = parameters,
    .quantities = {"round_trip"},
    .state = sizeof(State),
    .buffer = {"bytes", "n"},
    .refuse = refuse,
    .setup = setup,
    .repeat = repeat,
};

MEASUREMENT(prtt)
