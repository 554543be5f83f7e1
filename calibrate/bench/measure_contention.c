/* What a lock costs that is found taken: the threads of rank 0 each issue `messages` small messages at once.
 *
 * issue = until the last of these calls has returned
 * alone = the same for as many messages of one thread, just before or after, by turns: on a busy machine a call takes
 *         twice as long in one second as in the next, and only what is measured together can be compared
 *
 * Only calls are timed: rank 1 sleeps meanwhile, so that nothing arrives, nobody else needs a core, and two cores are
 * enough for two threads even where both ranks share them. Messages are small and few enough for the library and the
 * socket to take them.
 *
 * one            one communicator; every message has its own tag
 * communicators  a communicator per thread
 * window         one window, one put after the other
 */
#include "team.h"


enum { TAG_ANSWER = 30000 };
static const double MEET_S = 3e-4; /* until rank 1 is asleep and all threads are awake */

typedef struct {
    enum { ONE, COMMUNICATORS, WINDOW } mechanism;
    int threads, bytes, messages;
    double sleep;
    char *buffer;
    MPI_Request *requests;
    MPI_Comm *communicators;
    MPI_Win window;
    long over, taken; /* samples in which rank 1 may have woken up, and all */
} State;

static const Parameter parameters[] = {
    {"mechanism", WORD, "one", "one|communicators|window"},
    {"threads", INTEGER, "2", "1 to 256"},
    {"bytes", INTEGER, "8", "1 to 65536"},
    {"messages", INTEGER, "32", "1 to 4096"}, /* of each thread */
    {"sleep_s", REAL, "0.01", "0.002 to 1"},  /* of rank 1 */
    END_OF_PARAMETERS,
};

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    long threads = run_integer(run, "threads");
    if (run_integer(run, "bytes") * run_integer(run, "messages") * (threads + 1) > 1L << 24) {
        snprintf(reason, MAX_REASON, "bytes * messages * (threads + 1) is above 16 MiB, more than a socket takes");
        return REFUSED_ERROR;
    }
    if (threads > binding_allowed()) {
        snprintf(reason, MAX_REASON, "%ld threads need a core each to want a lock at once, and there are %d", threads,
                 binding_allowed());
        return REFUSED_UNSUPPORTED;
    }
    return NULL;
}

/* Messages of the one thread are those of a further one. */
static int senders(const State *s)
{
    return s->threads + 1;
}

static size_t offset_of(const State *s, int thread, int message)
{
    return ((size_t)thread * (size_t)s->messages + (size_t)message) * (size_t)s->bytes;
}

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state = calloc(1, sizeof *s);
    s->threads = (int)run_integer(run, "threads");
    s->bytes = (int)run_integer(run, "bytes");
    s->messages = (int)run_integer(run, "messages");
    s->sleep = run_real(run, "sleep_s");
    s->mechanism = run_is(run, "mechanism", "one") ? ONE : run_is(run, "mechanism", "window") ? WINDOW : COMMUNICATORS;
    size_t all = (size_t)senders(s) * (size_t)s->messages;
    s->buffer = allocate(all * (size_t)s->bytes);
    s->requests = calloc(all, sizeof *s->requests);
    s->communicators = calloc((size_t)senders(s), sizeof *s->communicators);
    for (int i = 0; i < senders(s); i++) {
        s->communicators[i] = b->data;
        if (s->mechanism == COMMUNICATORS) {
            MPI_Comm_dup(b->data, &s->communicators[i]);
        }
    }
    if (s->mechanism == WINDOW) {
        MPI_Aint size = b->rank == 0 ? 0 : (MPI_Aint)(all * (size_t)s->bytes);
        MPI_Win_create(s->buffer, size, 1, MPI_INFO_NULL, b->data, &s->window);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, s->window);
    }
}

static void prepare(Run *run)
{
    State *s = run->state;
    size_t bytes = offset_of(s, senders(s), 0);
    if (run->bench->rank == 0) {
        payload_fill(run, s->buffer, bytes, 0, 0);
        return;
    }
    payload_spoil(s->buffer, bytes);
    if (s->mechanism == WINDOW) {
        MPI_Win_sync(s->window);
    }
}

static void issue_one(State *s, int sender, int message)
{
    size_t offset = offset_of(s, sender, message);
    if (s->mechanism == WINDOW) {
        MPI_Put(s->buffer + offset, s->bytes, MPI_BYTE, 1, (MPI_Aint)offset, s->bytes, MPI_BYTE, s->window);
    } else {
        MPI_Isend(s->buffer + offset, s->bytes, MPI_BYTE, 1, message * senders(s) + sender, s->communicators[sender],
                  &s->requests[sender * s->messages + message]);
    }
}

/* The threads begin at the same moment, awake: one that has to be woken would come when the lock is free again. */
static double issue(State *s, const Bench *b, int threads, int first_sender)
{
    double begin = now_s() + MEET_S, end = begin;
#pragma omp parallel num_threads(threads) reduction(max : end)
    {
        int sender = first_sender + omp_get_thread_num();
        team_check(threads);
        wait_until(begin, SPINNING, b->data);
        for (int i = 0; i < s->messages; i++) {
            issue_one(s, sender, i);
        }
        end = now_s();
    }
    return end - begin;
}

static void repeat(Run *run, int inner, double *values)
{
    (void)inner;
    State *s = run->state;
    const Bench *b = run->bench;
    int all = senders(s) * s->messages;
    double start = now_s();
    if (b->rank == 0) {
        bool alone_first = run->iteration % 2;
        for (int turn = 0; turn < 2; turn++) {
            if ((turn == 0) == alone_first) {
                values[1] = issue(s, b, 1, s->threads);
            } else {
                values[0] = issue(s, b, s->threads, 0);
            }
        }
        s->over += now_s() - start > s->sleep;
        s->taken++;
        if (s->mechanism == WINDOW) {
            MPI_Win_flush(1, s->window);
            MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_ANSWER, b->data);
        } else {
            MPI_Waitall(all, s->requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_ANSWER, b->data, MPI_STATUS_IGNORE);
        }
        return;
    }
    wait_until(start + s->sleep, SLEEPING, b->data);
    if (s->mechanism == WINDOW) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_ANSWER, b->data, MPI_STATUS_IGNORE);
        MPI_Win_sync(s->window);
        return;
    }
    for (int sender = 0; sender < senders(s); sender++) {
        for (int i = 0; i < s->messages; i++) {
            MPI_Irecv(s->buffer + offset_of(s, sender, i), s->bytes, MPI_BYTE, 0, i * senders(s) + sender,
                      s->communicators[sender], &s->requests[sender * s->messages + i]);
        }
    }
    MPI_Waitall(all, s->requests, MPI_STATUSES_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ANSWER, b->data);
}

static bool verify(Run *run)
{
    State *s = run->state;
    return run->bench->rank == 0 || payload_right(run, s->buffer, offset_of(s, senders(s), 0), 0, 0);
}

static void conclude(Run *run, const Samples *samples)
{
    (void)samples;
    State *s = run->state;
    run_derive(run, "peer_awake", (double)s->over / (double)s->taken);
}

static void teardown(Run *run)
{
    State *s = run->state;
    for (int i = 0; i < senders(s) && s->mechanism == COMMUNICATORS; i++) {
        MPI_Comm_free(&s->communicators[i]);
    }
    if (s->mechanism == WINDOW) {
        MPI_Win_unlock(1, s->window);
        MPI_Win_free(&s->window);
    }
    free(s->communicators);
    free(s->requests);
    free(s->buffer);
    free(s);
}

static const Measurement contention = {
    .name = "contention",
    .summary = "threads that issue small messages at once while rank 1 sleeps: what a lock costs that is taken",
    .parameters = parameters,
    .quantities = {"issue", "alone"},
    .flags = THREADED,
    .refuse = refuse,
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .conclude = conclude,
    .teardown = teardown,
};

MEASUREMENT(contention)
