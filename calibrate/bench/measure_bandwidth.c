/* Bandwidth by messages in flight: `window` non-blocking sends, then one zero-byte answer when all have arrived. */
#include "bench.h"

#include <stdlib.h>

typedef struct {
    char *buffer;
    int bytes, window;
    MPI_Request *requests;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "65536", "0 to 1073741824"},
    {"window", INTEGER, "16", "1 to 4096"},
    END_OF_PARAMETERS,
};

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    if (run_integer(run, "bytes") * run_integer(run, "window") > 1L << 30) {
        snprintf(reason, MAX_REASON, "bytes * window is above 1 GiB, the memory this measurement may take");
        return REFUSED_ERROR;
    }
    return NULL;
}

static void setup(Run *run)
{
    State *s = run->state = calloc(1, sizeof *s);
    s->bytes = (int)run_integer(run, "bytes");
    s->window = (int)run_integer(run, "window");
    s->buffer = allocate((size_t)s->bytes * (size_t)s->window);
    s->requests = calloc((size_t)s->window, sizeof *s->requests);
}

static void prepare(Run *run)
{
    State *s = run->state;
    size_t all = (size_t)s->bytes * (size_t)s->window;
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
    const Bench *b = run->bench;
    double start = now_s();
    for (int i = 0; i < s->window; i++) {
        char *at = s->buffer + (size_t)i * (size_t)s->bytes;
        if (b->rank == 0) {
            MPI_Isend(at, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->requests[i]);
        } else {
            MPI_Irecv(at, s->bytes, MPI_BYTE, b->peer, 0, b->data, &s->requests[i]);
        }
    }
    MPI_Waitall(s->window, s->requests, MPI_STATUSES_IGNORE);
    if (b->rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, b->peer, 1, b->data, MPI_STATUS_IGNORE);
        /* start of the first send to arrival of the last message: the answer's way back is taken off */
        values[0] = now_s() - start - run->half_round_trip_s;
    } else {
        MPI_Send(NULL, 0, MPI_BYTE, b->peer, 1, b->data);
    }
}

static bool verify(Run *run)
{
    State *s = run->state;
    return run->bench->rank == 0 || payload_right(run, s->buffer, (size_t)s->bytes * (size_t)s->window, 0, 0);
}

static void teardown(Run *run)
{
    State *s = run->state;
    free(s->requests);
    free(s->buffer);
    free(s);
}

static const Measurement bandwidth = {
    .name = "bandwidth",
    .summary = "time of a window of messages in flight together, to the arrival of the last",
    .parameters = parameters,
    .quantities = {"window"},
    .refuse = refuse,
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .teardown = teardown,
};

MEASUREMENT(bandwidth)
