/* Bandwidth by messages in flight: `window` nonblocking sends, then one zero-byte answer when all have arrived. */
#include "core/bench.h"

typedef struct {
    int bytes, window;
    MPI_Request *requests;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "65536", "0 to 1073741824"},
    {"window", INTEGER, "16", "1 to 4096"},
    END_OF_PARAMETERS,
};

static void setup(Run *run)
{
    State *s = run->state;
    s->bytes = run_integer(run, "bytes");
    s->window = run_integer(run, "window");
    s->requests = memory_of(run, (size_t)s->window * sizeof *s->requests);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    double start = now_s();
    post_messages(b, run->buffer, s->bytes, s->window, 0, b->data, s->requests);
    MPI_Waitall(s->window, s->requests, MPI_STATUSES_IGNORE);
    if (b->sends) {
        receive_empty(b->peer, 0, b->data);
        /* start of the first send to arrival of the last message: the answer's way back is taken off */
        values[0] = now_s() - start - run->half_round_trip_s;
    } else {
        send_empty(b->peer, 0, b->data);
    }
}

static const Measurement bandwidth = {
    .name = "bandwidth",
    .summary = "time of a window of messages in flight together, to the arrival of the last",
    .parameters = parameters,
    .quantities = {"window"},
    .state = sizeof(State),
    .buffer = {"bytes", "window"},
    .setup = setup,
    .repeat = repeat,
};

MEASUREMENT(bandwidth)
