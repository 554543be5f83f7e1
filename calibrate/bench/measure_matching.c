/* Matching cost against queue length.
 *
 * posted      rank 1 keeps `length` receives posted that never match; the one that does is posted behind them. Half the
 *             round trip of a ping-pong, so the difference to length = 0 is the search.
 * unexpected  `length` messages that nobody asked for lie on rank 1, then the wanted one. Rank 1 makes sure with
 *             MPI_Probe that it has arrived and times its MPI_Recv: a duration on rank 1's clock.
 *
 * The messages in the way have tags of their own and are delivered, and checked, at the end.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

enum { TAG_WANTED = 0, TAG_ANSWER = 1, TAG_OTHER = 10 };

typedef struct {
    bool posted;
    int length, bytes;
    char *wanted, *others;
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
    State *s = run->state = calloc(1, sizeof *s);
    s->posted = run_is(run, "queue", "posted");
    s->length = (int)run_integer(run, "length");
    s->bytes = (int)run_integer(run, "bytes");
    size_t all = (size_t)s->length * (size_t)s->bytes;
    s->wanted = allocate((size_t)s->bytes);
    s->others = allocate(all);
    s->requests = calloc((size_t)s->length + 1, sizeof *s->requests);
    if (b->rank == 0) {
        payload_fill(run, s->others, all, 0, 0);
        if (!s->posted) {
            send_others(s, b);
        }
        return;
    }
    for (int i = 0; s->posted && i < s->length; i++) {
        MPI_Irecv(s->others + (size_t)i * (size_t)s->bytes, s->bytes, MPI_BYTE, 0, TAG_OTHER + i, b->data,
                  &s->requests[i]);
    }
}

static void prepare(Run *run)
{
    State *s = run->state;
    if (run->bench->rank == 0) {
        payload_fill(run, s->wanted, (size_t)s->bytes, 0, 0);
    } else {
        payload_spoil(s->wanted, (size_t)s->bytes);
    }
}

static void repeat_posted(Run *run, int inner, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    double start = now_s();
    for (int i = 0; i < inner; i++) {
        if (b->rank == 0) {
            MPI_Send(s->wanted, s->bytes, MPI_BYTE, 1, TAG_WANTED, b->data);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_ANSWER, b->data, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(s->wanted, s->bytes, MPI_BYTE, 0, TAG_WANTED, b->data, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ANSWER, b->data);
        }
    }
    if (b->rank == 0) {
        values[0] = (now_s() - start) / inner - run->half_round_trip_s; /* the answer's way back taken off */
    }
}

static void repeat_unexpected(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    if (b->rank == 0) {
        MPI_Send(s->wanted, s->bytes, MPI_BYTE, 1, TAG_WANTED, b->data);
        return;
    }
    MPI_Probe(0, TAG_WANTED, b->data, MPI_STATUS_IGNORE);
    double start = now_s();
    MPI_Recv(s->wanted, s->bytes, MPI_BYTE, 0, TAG_WANTED, b->data, MPI_STATUS_IGNORE);
    values[0] = now_s() - start;
}

static void repeat(Run *run, int inner, double *values)
{
    State *s = run->state;
    if (s->posted) {
        repeat_posted(run, inner, values);
    } else {
        repeat_unexpected(run, values);
    }
}

static bool verify(Run *run)
{
    State *s = run->state;
    return run->bench->rank == 0 || payload_right(run, s->wanted, (size_t)s->bytes, 0, 0);
}

static void teardown(Run *run)
{
    State *s = run->state;
    const Bench *b = run->bench;
    if (b->rank == 0) {
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
    free(s->requests);
    free(s->others);
    free(s->wanted);
    free(s);
}

static const Measurement matching = {
    .name = "matching",
    .summary = "cost of finding a message behind others in the posted or the unexpected queue",
    .parameters = parameters,
    .quantities = {"time"},
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .teardown = teardown,
};

MEASUREMENT(matching)
