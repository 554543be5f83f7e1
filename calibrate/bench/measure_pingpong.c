/* Ping-pong: half the round trip of one message, by three ways of sending. */
#include "bench.h"

#include <stdlib.h>

typedef struct {
    char *out, *in;
    int bytes;
    enum { SEND, ISEND, PERSISTENT } mode;
    MPI_Request requests[2]; /* receive, send */
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "8", "0 to 1073741824"},
    {"mode", WORD, "send", "send|isend|persistent"},
    END_OF_PARAMETERS,
};

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state = calloc(1, sizeof *s);
    s->bytes = (int)run_integer(run, "bytes");
    s->mode = run_is(run, "mode", "send") ? SEND : run_is(run, "mode", "isend") ? ISEND : PERSISTENT;
    s->out = allocate((size_t)s->bytes);
    s->in = allocate((size_t)s->bytes);
    if (s->mode == PERSISTENT) {
        MPI_Recv_init(s->in, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->requests[0]);
        MPI_Send_init(s->out, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->requests[1]);
    }
}

static void prepare(Run *run)
{
    State *s = run->state;
    payload_fill(run, s->out, (size_t)s->bytes, run->bench->rank, 0);
    payload_spoil(s->in, (size_t)s->bytes);
}

static void exchange(State *s, const Bench *b)
{
    bool first = b->rank == 0;
    switch (s->mode) {
    case SEND:
        if (first) {
            MPI_Send(s->out, s->bytes, MPI_BYTE, b->peer, 0, b->data);
            MPI_Recv(s->in, s->bytes, MPI_BYTE, b->peer, 0, b->data, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(s->in, s->bytes, MPI_BYTE, b->peer, 0, b->data, MPI_STATUS_IGNORE);
            MPI_Send(s->out, s->bytes, MPI_BYTE, b->peer, 0, b->data);
        }
        return;
    case ISEND: /* the receive is posted before the message leaves */
        MPI_Irecv(s->in, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->requests[0]);
        if (!first) {
            MPI_Wait(&s->requests[0], MPI_STATUS_IGNORE);
        }
        MPI_Isend(s->out, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->requests[1]);
        break;
    case PERSISTENT:
        MPI_Start(&s->requests[0]);
        if (!first) {
            MPI_Wait(&s->requests[0], MPI_STATUS_IGNORE);
        }
        MPI_Start(&s->requests[1]);
        break;
    }
    MPI_Wait(&s->requests[1], MPI_STATUS_IGNORE);
    if (first) {
        MPI_Wait(&s->requests[0], MPI_STATUS_IGNORE);
    }
}

static void repeat(Run *run, int inner, double *values)
{
    double start = now_s();
    for (int i = 0; i < inner; i++) {
        exchange(run->state, run->bench);
    }
    if (run->bench->rank == 0) { /* a round trip on rank 0's clock; one way is taken as half of it */
        values[0] = (now_s() - start) / (2.0 * inner);
    }
}

static bool verify(Run *run)
{
    State *s = run->state;
    return payload_right(run, s->in, (size_t)s->bytes, run->bench->peer, 0);
}

static void teardown(Run *run)
{
    State *s = run->state;
    if (s->mode == PERSISTENT) {
        MPI_Request_free(&s->requests[0]);
        MPI_Request_free(&s->requests[1]);
    }
    free(s->out);
    free(s->in);
    free(s);
}

static const Measurement pingpong = {
    .name = "pingpong",
    .summary = "half the round trip of one message",
    .parameters = parameters,
    .quantities = {"one_way"},
    .flags = INNER,
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .teardown = teardown,
};

MEASUREMENT(pingpong)
