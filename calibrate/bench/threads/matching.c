/* Matching cost against queue length.
 *
 * posted      rank 1 keeps `length` receives posted that never match; the one that does is posted behind them. Half the
 *             round trip of a ping-pong, so the difference to length = 0 is the search.
 * unexpected  `length` messages without a receive lie on rank 1, then the wanted one. Rank 1 makes sure with
 *             MPI_Probe that it has arrived and times its MPI_Recv: a duration on rank 1's clock.
 *
 * The messages in the way have tags of their own and are delivered, and checked, at the end.
 */
#include "core/bench.h"

#include <stdlib.h>

enum { TAG_WANTED = 0, TAG_ANSWER = 1, TAG_OTHER = 10 };

typedef struct {
    bool posted;
    int length, bytes;
    char *others; /* the messages in the way */
    MPI_Request *requests;
} State;

static const Parameter parameters[] = {
    {"queue", WORD, "posted", "posted|unexpected"},
    {"length", INTEGER, "0", "0 to 8192"},
    {"bytes", INTEGER, "8", "1 to 1024"}, /* small enough to be sent eagerly */
    END_OF_PARAMETERS,
};

static void send_others(State *s, const Bench *b)
{
    for (int i = 0; i < s->length; i++) {
        MPI_Send(s->others + (size_t)i * (size_t)s->bytes, s->bytes, MPI_BYTE, 1, TAG_OTHER + i, b->data);
    }
}

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state;
    s->posted = run_is(run, "queue", "posted");
    s->length = run_integer(run, "length");
    s->bytes = run_integer(run, "bytes");
    size_t all = (size_t)s->length * (size_t)s->bytes;
    s->others = memory_of(run, all);
    s->requests = memory_of(run, (size_t)s->length * sizeof *s->requests);
    if (b->sends) {
        payload_fill(run, s->others, all, 0, 0);
        if (!s->posted) {
            send_others(s, b);
        }
        return;
    }
    if (s->posted) {
        post_messages(b, s->others, s->bytes, s->length, TAG_OTHER, b->data, s->requests);
    }
}

static void repeat_posted(Run *run, double *values)
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

static void repeat_unexpected(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    if (b->sends) {
        MPI_Send(run->buffer, s->bytes, MPI_BYTE, 1, TAG_WANTED, b->data);
        return;
    }
    MPI_Probe(0, TAG_WANTED, b->data, MPI_STATUS_IGNORE);
    double start = now_s();
    MPI_Recv(run->buffer, s->bytes, MPI_BYTE, 0, TAG_WANTED, b->data, MPI_STATUS_IGNORE);
    values[0] = now_s() - start;
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    if (s->posted) {
        repeat_posted(run, values);
    } else {
        repeat_unexpected(run, values);
    }
}

static void teardown(Run *run)
{
    State *s = run->state;
    const Bench *b = run->bench;
    if (b->sends) {
        if (s->posted) {
            send_others(s, b);
        }
    } else if (s->posted) {
        MPI_Waitall(s->length, s->requests, MPI_STATUSES_IGNORE);
    } else {
        for (int i = 0; i < s->length; i++) {
            MPI_Recv(s->others + (size_t)i * (size_t)s->bytes, s->bytes, MPI_BYTE, 0, TAG_OTHER + i, b->data,
                     MPI_STATUS_IGNORE);
        }
    }
    run->iteration = 0; /* the pattern they were sent with */
    if (b->rank == 1 && !payload_right(run, s->others, (size_t)s->length * (size_t)s->bytes, 0, 0)) {
        fprintf(stderr, "pready-bench: matching: a queued message arrived damaged\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static const Measurement matching = {
    .name = "matching",
    .summary = "cost of finding a message behind others in the posted or the unexpected queue",
    .parameters = parameters,
    .quantities = {"time"},
    .state = sizeof(State),
    .buffer = {"bytes"},
    .setup = setup,
    .repeat = repeat,
    .teardown = teardown,
};

MEASUREMENT(matching)
