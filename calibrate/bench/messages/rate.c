/* Message rate over threads: each thread of rank 0 sends a window of messages to the thread of the same number on
 * rank 1 and waits for its answer. How the library is told that the threads are independent is the mechanism:
 *
 * one            one communicator; every message of every thread has its own tag
 * communicators  a communicator per thread
 */
#include "core/team.h"

enum { TAG_ANSWER = 20000 };

typedef struct {
    bool apart;
    int threads, bytes, window;
    MPI_Request *requests;
    MPI_Comm *communicators;
} State;

static const Parameter parameters[] = {
    {"mechanism", WORD, "one", "one|communicators"},
    {"threads", INTEGER, "1", "1 to 256"},
    {"bytes", INTEGER, "8", "1 to 1048576"},
    {"window", INTEGER, "64", "1 to 4096"},
    END_OF_PARAMETERS,
};

static char *share_of(const Run *run, int thread)
{
    const State *s = run->state;
    return run->buffer + (size_t)thread * (size_t)s->window * (size_t)s->bytes;
}

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state;
    s->threads = run_integer(run, "threads");
    s->bytes = run_integer(run, "bytes");
    s->window = run_integer(run, "window");
    s->apart = run_is(run, "mechanism", "communicators");
    s->requests = memory_of(run, (size_t)s->threads * (size_t)s->window * sizeof *s->requests);
    s->communicators = memory_of(run, (size_t)s->threads * sizeof *s->communicators);
    for (int i = 0; i < s->threads; i++) {
        s->communicators[i] = b->data;
        if (s->apart) {
            MPI_Comm_dup(b->data, &s->communicators[i]);
        }
    }
}

static void send_window(Run *run, int thread)
{
    State *s = run->state;
    const Bench *b = run->bench;
    MPI_Comm comm = s->communicators[thread];
    MPI_Request *requests = s->requests + (size_t)thread * (size_t)s->window;
    post_messages(b, share_of(run, thread), s->bytes, s->window, thread * s->window, comm, requests);
    MPI_Waitall(s->window, requests, MPI_STATUSES_IGNORE);
    answer(b, TAG_ANSWER + thread, comm);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    double start = 0;
#pragma omp parallel num_threads(s->threads)
    {
        int thread = omp_get_thread_num();
        team_check(s->threads);
#pragma omp barrier
        if (thread == 0) {
            start = now_s();
        }
#pragma omp barrier
        send_window(run, thread);
    }
    if (b->sends) { /* to the last answer, less one answer's way back */
        values[0] = now_s() - start - run->half_round_trip_s;
    }
}

static void conclude(Run *run, const Samples *samples)
{
    State *s = run->state;
    double time = summarise(samples->values[0], samples->count).median;
    run_derive(run, "messages_per_s", (double)s->threads * s->window / time);
}

static void teardown(Run *run)
{
    State *s = run->state;
    for (int i = 0; s->apart && i < s->threads; i++) {
        MPI_Comm_free(&s->communicators[i]);
    }
}

static const Measurement rate = {
    .name = "rate",
    .parameters = parameters,
    .quantities = {"window"},
    .flags = THREADED,
    .state = sizeof(State),
    .buffer = {"bytes", "window", "threads"},
    .setup = setup,
    .repeat = repeat,
    .conclude = conclude,
    .teardown = teardown,
};

MEASUREMENT(rate)
