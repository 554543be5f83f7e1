/* Set-up costs: of making an object, and the extra time of its first use over the next.
 *
 * what = persistent:   MPI_Send_init and MPI_Recv_init, first MPI_Start
 *        partitioned:  MPI_Psend_init and MPI_Precv_init of one partition, first MPI_Start and its handshake
 *        window:       MPI_Win_create of `bytes` on each rank, first epoch of MPI_Win_fence with one MPI_Put
 *        communicator: MPI_Comm_dup, first message
 *
 * begin = init + first, of one of `count` objects of `bytes` each
 * init  = rank 0's clock around their creation
 * first = the first exchange with all of them, less the second; each ends with an answer of the other rank
 */
#include "core/bench.h"

enum { TAG_ANSWER = 1 };

typedef struct {
    char *buffer;
    int bytes, count;
    enum { PERSISTENT, PARTITIONED_REQUEST, WINDOW, COMMUNICATOR } what;
    MPI_Request *requests;
    MPI_Win *windows;
    MPI_Comm *communicators;
} State;

static const Parameter parameters[] = {
    {"what", WORD, "persistent", "persistent|partitioned|window|communicator"},
    {"bytes", INTEGER, "1024", "1 to 1073741824"},
    {"count", INTEGER, "8", "1 to 256"},
    END_OF_PARAMETERS,
};

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    if (run_is(run, "what", "partitioned") && !PREADY_HAS_PARTITIONED) {
        snprintf(reason, MAX_REASON, "%s", NO_PARTITIONED);
        return REFUSED_UNSUPPORTED;
    }
    return NULL;
}

static char *part(const State *s, int i)
{
    return s->buffer + (size_t)i * (size_t)s->bytes;
}

static void create(State *s, const Bench *b)
{
    for (int i = 0; i < s->count; i++) {
        switch (s->what) {
        case PERSISTENT:
            if (b->sends) {
                MPI_Send_init(part(s, i), s->bytes, MPI_BYTE, 1, i, b->data, &s->requests[i]);
            } else {
                MPI_Recv_init(part(s, i), s->bytes, MPI_BYTE, 0, i, b->data, &s->requests[i]);
            }
            break;
        case PARTITIONED_REQUEST:
            make_partitioned(b, part(s, i), 1, s->bytes, i, &s->requests[i]);
            break;
        case WINDOW:
            MPI_Win_create(part(s, i), s->bytes, 1, MPI_INFO_NULL, b->data, &s->windows[i]);
            break;
        case COMMUNICATOR:
            MPI_Comm_dup(b->data, &s->communicators[i]);
            break;
        }
    }
}

/* Each object is used once; the other rank's answer ends it. */
static void use(State *s, const Bench *b)
{
    for (int i = 0; i < s->count; i++) {
        switch (s->what) {
        case PERSISTENT:
            MPI_Start(&s->requests[i]);
            break;
        case PARTITIONED_REQUEST:
            MPI_Start(&s->requests[i]);
            if (b->sends) {
                MPI_Pready(0, s->requests[i]);
            }
            break;
        case WINDOW:
            MPI_Win_fence(MPI_MODE_NOPRECEDE, s->windows[i]);
            if (b->sends) {
                MPI_Put(part(s, i), s->bytes, MPI_BYTE, 1, 0, s->bytes, MPI_BYTE, s->windows[i]);
            }
            MPI_Win_fence(MPI_MODE_NOSUCCEED, s->windows[i]);
            break;
        case COMMUNICATOR:
            post_messages(b, part(s, i), s->bytes, 1, 0, s->communicators[i], &s->requests[i]);
            break;
        }
    }
    if (s->what != WINDOW) {
        MPI_Waitall(s->count, s->requests, MPI_STATUSES_IGNORE);
    }
    answer(b, TAG_ANSWER, b->control);
}

static void release(State *s)
{
    for (int i = 0; i < s->count; i++) {
        if (s->what == WINDOW) {
            MPI_Win_free(&s->windows[i]);
        } else if (s->what == COMMUNICATOR) {
            MPI_Comm_free(&s->communicators[i]);
        } else {
            MPI_Request_free(&s->requests[i]);
        }
    }
}

static void setup(Run *run)
{
    State *s = run->state;
    s->bytes = run_integer(run, "bytes");
    s->count = run_integer(run, "count");
    s->what = run_is(run, "what", "persistent")    ? PERSISTENT
              : run_is(run, "what", "partitioned") ? PARTITIONED_REQUEST
              : run_is(run, "what", "window")      ? WINDOW
                                                   : COMMUNICATOR;
    s->buffer = run->buffer;
    s->requests = memory_of(run, (size_t)s->count * sizeof *s->requests);
    s->windows = memory_of(run, (size_t)s->count * sizeof *s->windows);
    s->communicators = memory_of(run, (size_t)s->count * sizeof *s->communicators);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    double start = now_s();
    create(s, run->bench);
    double made = now_s();
    use(s, run->bench);
    double used = now_s();
    use(s, run->bench);
    double again = now_s();
    release(s);
    if (run->bench->sends) { /* durations on one clock */
        values[0] = ((made - start) + (used - made) - (again - used)) / s->count;
    }
}

static const Measurement begin = {
    .name = "begin",
    .parameters = parameters,
    .quantities = {"begin"},
    .state = sizeof(State),
    .buffer = {"bytes", "count"},
    .refuse = refuse,
    .setup = setup,
    .repeat = repeat,
};

MEASUREMENT(begin)
