/* What waiting for a lock costs: the threads of rank 0 each issue `messages` small messages at once.
 *
 * issue = until the last of these calls has returned
 * alone = the same for as many messages of one thread, alternately just before and just after: on a busy machine a call
 *         takes twice as long in one second as in the next, so that only neighbouring samples can be compared
 *
 * Only calls are timed. Rank 1 sleeps meanwhile, so that nothing arrives and no other thread needs a core: two cores
 * are enough for two threads even where both ranks share them. Messages are small and few enough for the library and
 * the send buffer to hold them.
 * They share a communicator; every message has its own tag.
 */
#include "core/team.h"

enum { TAG_ANSWER = 30000 };
static const double MEET_S = 3e-4; /* until rank 1 is asleep and all threads are awake */

typedef struct {
    int threads, bytes, messages;
    double sleep;
    MPI_Request *requests;
    long awake, samples; /* samples in which rank 1 may have been awake, and all */
} State;

static const Parameter parameters[] = {
    {"threads", INTEGER, "2", "1 to 256"},
    {"bytes", INTEGER, "8", "1 to 65536"},
    {"messages", INTEGER, "32", "1 to 4096"}, /* of each thread */
    {"sleep_s", REAL, "0.01", "0.002 to 1"},  /* of rank 1 */
    END_OF_PARAMETERS,
};

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    int threads = run_integer(run, "threads");
    if ((long)run_integer(run, "bytes") * run_integer(run, "messages") * (threads + 1) > 1L << 24) {
        snprintf(reason, MAX_REASON, "bytes * messages * (threads + 1) is above 16 MiB, more than send buffers hold");
        return REFUSED_ERROR;
    }
    if (threads > binding_of_first()) {
        snprintf(reason, MAX_REASON, "%d threads need a core each to contend for a lock, and there are %d", threads,
                 binding_of_first());
        return REFUSED_UNSUPPORTED;
    }
    return NULL;
}

/* The thread that issues alone has messages of its own. */
static int senders(const State *s)
{
    return s->threads + 1;
}

static size_t offset_of(const State *s, int sender, int message)
{
    return ((size_t)sender * (size_t)s->messages + (size_t)message) * (size_t)s->bytes;
}

static void setup(Run *run)
{
    State *s = run->state;
    s->threads = run_integer(run, "threads");
    s->bytes = run_integer(run, "bytes");
    s->messages = run_integer(run, "messages");
    s->sleep = run_real(run, "sleep_s");
    size_t all = (size_t)senders(s) * (size_t)s->messages;
    buffer_of(run, all * (size_t)s->bytes);
    s->requests = memory_of(run, all * sizeof *s->requests);
}

static void issue_one(Run *run, int sender, int message)
{
    State *s = run->state;
    size_t offset = offset_of(s, sender, message);
    MPI_Isend(run->buffer + offset, s->bytes, MPI_BYTE, 1, message * senders(s) + sender, run->bench->data,
              &s->requests[sender * s->messages + message]);
}

/* The threads begin at the same moment, awake: one that had slept would find the lock free again. */
static double issue(Run *run, int threads, int first_sender)
{
    State *s = run->state;
    double begin = now_s() + MEET_S, end = begin;
#pragma omp parallel num_threads(threads) reduction(max : end)
    {
        int sender = first_sender + omp_get_thread_num();
        team_check(threads);
        wait_until(begin, SPINNING, run->bench->data);
        for (int i = 0; i < s->messages; i++) {
            issue_one(run, sender, i);
        }
        end = now_s();
    }
    return end - begin;
}

static void repeat_sender(Run *run, double *values)
{
    State *s = run->state;
    double start = now_s();
    for (int half = 0; half < 2; half++) {
        if (half == run->iteration % 2) {
            values[0] = issue(run, s->threads, 0);
        } else {
            values[1] = issue(run, 1, s->threads);
        }
    }
    s->awake += now_s() - start > s->sleep;
    s->samples++;
    MPI_Waitall(senders(s) * s->messages, s->requests, MPI_STATUSES_IGNORE);
    receive_empty(1, TAG_ANSWER, run->bench->data);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    if (b->sends) {
        repeat_sender(run, values);
        return;
    }
    wait_until(now_s() + s->sleep, SLEEPING, b->data);
    for (int sender = 0; sender < senders(s); sender++) {
        for (int i = 0; i < s->messages; i++) {
            MPI_Irecv(run->buffer + offset_of(s, sender, i), s->bytes, MPI_BYTE, 0, i * senders(s) + sender,
                      b->data, &s->requests[sender * s->messages + i]);
        }
    }
    MPI_Waitall(senders(s) * s->messages, s->requests, MPI_STATUSES_IGNORE);
    send_empty(0, TAG_ANSWER, b->data);
}

static void conclude(Run *run, const Samples *samples)
{
    (void)samples;
    State *s = run->state;
    run_derive(run, "peer_awake", (double)s->awake / (double)s->samples);
}

static const Measurement contention = {
    .name = "contention",
    .parameters = parameters,
    .quantities = {"issue", "alone"},
    .flags = THREADED,
    .state = sizeof(State),
    .refuse = refuse,
    .setup = setup,
    .repeat = repeat,
    .conclude = conclude,
};

MEASUREMENT(contention)
