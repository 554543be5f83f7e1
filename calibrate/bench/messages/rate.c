/* Message rate over threads: each thread of rank 0 sends a window of messages to the thread of the same number on
 * rank 1 and waits for its answer. How the library is told that the threads are independent is the mechanism:
 *
 * one            one communicator; every message of every thread has its own tag
 * communicators  a communicator per thread
 * tags           one communicator with the MPI 4.0 hints that allow a library to tell threads apart by tag
 *                (mpi_assert_no_any_tag, mpi_assert_no_any_source, mpi_assert_allow_overtaking)
 * windows        a window per thread: MPI_Put and one MPI_Win_flush per window of messages
 */
#include "core/team.h"

enum { TAG_ANSWER = 20000 };

typedef struct {
    enum { ONE, COMMUNICATORS, TAGS, WINDOWS } mechanism;
    int threads, bytes, window;
    MPI_Request *requests;
    MPI_Comm *communicators;
    MPI_Win *windows;
} State;

static const Parameter parameters[] = {
    {"mechanism", WORD, "one", "one|communicators|tags|windows"},
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

static MPI_Comm hinted(MPI_Comm comm)
{
    MPI_Info info;
    MPI_Comm result;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
    MPI_Comm_dup_with_info(comm, info, &result);
    MPI_Info_free(&info);
    return result;
}

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state;
    s->threads = run_integer(run, "threads");
    s->bytes = run_integer(run, "bytes");
    s->window = run_integer(run, "window");
    s->mechanism = run_is(run, "mechanism", "one")             ? ONE
                   : run_is(run, "mechanism", "communicators") ? COMMUNICATORS
                   : run_is(run, "mechanism", "tags")          ? TAGS
                                                               : WINDOWS;
    s->requests = memory_of(run, (size_t)s->threads * (size_t)s->window * sizeof *s->requests);
    s->communicators = memory_of(run, (size_t)s->threads * sizeof *s->communicators);
    s->windows = memory_of(run, (size_t)s->threads * sizeof *s->windows);
    MPI_Comm tagged = s->mechanism == TAGS ? hinted(b->data) : b->data;
    for (int i = 0; i < s->threads; i++) {
        s->communicators[i] = tagged;
        if (s->mechanism == COMMUNICATORS) {
            MPI_Comm_dup(b->data, &s->communicators[i]);
        } else if (s->mechanism == WINDOWS) {
            MPI_Aint size = b->sends ? 0 : (MPI_Aint)s->bytes * s->window;
            MPI_Win_create(share_of(run, i), size, 1, MPI_INFO_NULL, b->data, &s->windows[i]);
            MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, s->windows[i]);
        }
    }
}

/* The target's, before and after puts. */
static void sync_windows(Run *run)
{
    State *s = run->state;
    for (int i = 0; s->mechanism == WINDOWS && !run->bench->sends && i < s->threads; i++) {
        MPI_Win_sync(s->windows[i]);
    }
}

static void by_messages(Run *run, int thread)
{
    State *s = run->state;
    const Bench *b = run->bench;
    MPI_Comm comm = s->communicators[thread];
    MPI_Request *requests = s->requests + (size_t)thread * (size_t)s->window;
    post_messages(b, share_of(run, thread), s->bytes, s->window, thread * s->window, comm, requests);
    MPI_Waitall(s->window, requests, MPI_STATUSES_IGNORE);
    if (b->sends) {
        receive_empty(b->peer, TAG_ANSWER + thread, comm);
    } else {
        send_empty(b->peer, TAG_ANSWER + thread, comm);
    }
}

static void by_windows(Run *run, int thread)
{
    State *s = run->state;
    for (int i = 0; i < s->window; i++) {
        MPI_Aint at = (MPI_Aint)i * s->bytes;
        MPI_Put(share_of(run, thread) + at, s->bytes, MPI_BYTE, 1, at, s->bytes, MPI_BYTE, s->windows[thread]);
    }
    MPI_Win_flush(1, s->windows[thread]);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    double start = 0, end;
    if (s->mechanism == WINDOWS && !b->sends) { /* the target's progress: it waits in a receive */
        receive_empty(b->peer, TAG_ANSWER, b->data);
        sync_windows(run);
        return;
    }
#pragma omp parallel num_threads(s->threads)
    {
        int thread = omp_get_thread_num();
        team_check(s->threads);
#pragma omp barrier
        if (thread == 0) {
            start = now_s();
        }
#pragma omp barrier
        if (s->mechanism == WINDOWS) {
            by_windows(run, thread);
        } else {
            by_messages(run, thread);
        }
    }
    end = now_s();
    if (s->mechanism == WINDOWS) { /* the flush already waited for the target: rank 0's clock, nothing to take off */
        send_empty(b->peer, TAG_ANSWER, b->data);
        values[0] = end - start;
    } else if (b->sends) { /* to the last answer, less one answer's way back */
        values[0] = end - start - run->half_round_trip_s;
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
    for (int i = 0; i < s->threads; i++) {
        if (s->mechanism == COMMUNICATORS || (s->mechanism == TAGS && i == 0)) {
            MPI_Comm_free(&s->communicators[i]);
        } else if (s->mechanism == WINDOWS) {
            MPI_Win_unlock(1, s->windows[i]);
            MPI_Win_free(&s->windows[i]);
        }
    }
}

static const Measurement rate = {
    .name = "rate",
    .summary = "time for every thread to send its window of messages, by how threads are told apart",
    .parameters = parameters,
    .quantities = {"window"},
    .flags = THREADED,
    .state = sizeof(State),
    .buffer = {"bytes", "window", "threads"},
    .setup = setup,
    .prepare = sync_windows,
    .repeat = repeat,
    .conclude = conclude,
    .teardown = teardown,
};

MEASUREMENT(rate)
