/* Ping-pong: half the round trip of one message, by nonblocking or persistent calls. */
#include "core/bench.h"

typedef struct {
    char *out, *in;
    int bytes;
    bool persistent;
    MPI_Request receive, send;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "8", "0 to 1073741824"},
    {"mode", WORD, "isend", "isend|persistent"},
    END_OF_PARAMETERS,
};

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state;
    s->bytes = run_integer(run, "bytes");
    s->persistent = run_is(run, "mode", "persistent");
    s->out = out_of(run, (size_t)s->bytes);
    s->in = in_of(run, (size_t)s->bytes);
    if (s->persistent) {
        MPI_Recv_init(s->in, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->receive);
        MPI_Send_init(s->out, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->send);
    }
}

/* The receive is posted before the message leaves. */
static void ping(State *s, const Bench *b)
{
    if (s->persistent) {
        MPI_Start(&s->receive);
    } else {
        MPI_Irecv(s->in, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->receive);
    }
    if (!b->sends) {
        MPI_Wait(&s->receive, MPI_STATUS_IGNORE);
    }
    if (s->persistent) {
        MPI_Start(&s->send);
    } else {
        MPI_Isend(s->out, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->send);
    }
    MPI_Wait(&s->send, MPI_STATUS_IGNORE);
    if (b->sends) {
        MPI_Wait(&s->receive, MPI_STATUS_IGNORE);
    }
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    double start = now_s();
    for (int i = 0; i < run->inner; i++) {
        ping(s, run->bench);
    }
    if (run->bench->sends) { /* a round trip on rank 0's clock; one way is taken as half of it */
        values[0] = (now_s() - start) / (2.0 * run->inner);
    }
}

static void teardown(Run *run)
{
    State *s = run->state;
    if (s->persistent) {
        MPI_Request_free(&s->receive);
        MPI_Request_free(&s->send);
    }
}

static const Measurement pingpong = {
    .name = "pingpong",
    .parameters = parameters,
    .quantities = {"one_way"},
    .flags = INNER,
    .state = sizeof(State),
    .setup = setup,
    .repeat = repeat,
    .teardown = teardown,
};

MEASUREMENT(pingpong)
