/* Matching cost against queue length: rank 1 keeps `length` receives posted that never match, and posts the one that does
 * behind them. Half the round trip of a ping-pong, so the difference to length = 0 is the search.
 *
 * The messages in the way have tags of their own and are delivered, and checked, at the end.
 */
#include "core/bench.h"

#include <stdlib.h>

enum { TAG_WANTED = 0, TAG_ANSWER = 1, TAG_OTHER = 10 };

typedef struct {
    int length, bytes;
    char *others; /* the messages in the way */
    MPI_Request *requests;
} State;

static const Parameter parameters[] = {
    {"length", INTEGER, "0", "0 to 8192"},
    {"bytes", INTEGER, "8", "1 to 1024"}, /* small enough to be sent eagerly */
    END_OF_PARAMETERS,
};

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state;
    s->length = run_integer(run, "length");
    s->bytes = run_integer(run, "bytes");
    s->others = memory_of(run, (size_t)s->length * (size_t)s->bytes);
    s->requests = memory_of(run, (size_t)s->length * sizeof *s->requests);
    if (b->sends) {
        payload_fill(run, s->others, (size_t)s->length * (size_t)s->bytes, 0, 0);
    } else {
        post_messages(b, s->others, s->bytes, s->length, TAG_OTHER, b->data, s->requests);
    }
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    double start = now_s();
    for (int i = 0; i < run->inner; i++) {
        if (b->sends) {
            MPI_Send(run->buffer, s->bytes, MPI_BYTE, 1, TAG_WANTED, b->data);
            receive_empty(1, TAG_ANSWER, b->data);
        } else {
            MPI_Recv(run->buffer, s->bytes, MPI_BYTE, 0, TAG_WANTED, b->data, MPI_STATUS_IGNORE);
            send_empty(0, TAG_ANSWER, b->data);
        }
    }
    if (b->sends) {
        values[0] = (now_s() - start) / run->inner - run->half_round_trip_s; /* the answer's way back taken off */
    }
}

static void teardown(Run *run)
{
    State *s = run->state;
    const Bench *b = run->bench;
    if (b->sends) {
        post_messages(b, s->others, s->bytes, s->length, TAG_OTHER, b->data, s->requests);
    }
    MPI_Waitall(s->length, s->requests, MPI_STATUSES_IGNORE);
    run->iteration = 0; /* the pattern they were sent with */
    if (!b->sends && !payload_right(run, s->others, (size_t)s->length * (size_t)s->bytes, 0, 0)) {
        fprintf(stderr, "pready-bench: matching: a queued message arrived damaged\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static const Measurement matching = {
    .name = "matching",
    .summary = "cost of finding a message behind others in the posted queue",
    .parameters = parameters,
    .quantities = {"time"},
    .state = sizeof(State),
    .buffer = {"bytes"},
    .setup = setup,
    .repeat = repeat,
    .teardown = teardown,
};

MEASUREMENT(matching)
