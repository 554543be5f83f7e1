/* What it costs to begin: setting an object up, and what its first use takes longer than the next.
 *
 * what = persistent:   MPI_Send_init and MPI_Recv_init, first MPI_Start
 *        partitioned:  MPI_Psend_init and MPI_Precv_init of `partitions`, first MPI_Start and its handshake
 *        window:       MPI_Win_create of `bytes` on each rank, first epoch of MPI_Win_fence with one MPI_Put
 *        communicator: MPI_Comm_dup, first message
 *
 * begin = init + first, of one of `count` objects of `bytes` each
 * init  = rank 0's clock around their creation
 * first = the first exchange with all of them, less the second; each ends with an answer of the other rank
 */
#include "bench.h"

#include <stdlib.h>

enum { TAG_ANSWER = 1 };

typedef struct {
    char *buffer;
    int bytes, count, partitions;
    enum { PERSISTENT, PARTITIONED_REQUEST, WINDOW, COMMUNICATOR } what;
    MPI_Request *requests;
    MPI_Win *windows;
    MPI_Comm *communicators;
} State;

static const Parameter parameters[] = {
    {"what", WORD, "persistent", "persistent|partitioned|window|communicator"},
    {"bytes", INTEGER, "1024", "1 to 1073741824"},
    {"count", INTEGER, "8", "1 to 256"},
    {"partitions", INTEGER, "1", "1 to 4096"},
    END_OF_PARAMETERS,
};

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    if (run_integer(run, "bytes") * run_integer(run, "count") > 1L << 30) {
        snprintf(reason, MAX_REASON, "bytes * count is above 1 GiB, the memory this measurement may take");
        return REFUSED_ERROR;
    }
    if (run_integer(run, "bytes") % run_integer(run, "partitions") != 0) {
        snprintf(reason, MAX_REASON, "partitions = %ld does not divide the bytes", run_integer(run, "partitions"));
        return REFUSED_ERROR;
    }
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
            if (b->rank == 0) {
                MPI_Send_init(part(s, i), s->bytes, MPI_BYTE, 1, i, b->data, &s->requests[i]);
            } else {
                MPI_Recv_init(part(s, i), s->bytes, MPI_BYTE, 0, i, b->data, &s->requests[i]);
            }
            break;
        case PARTITIONED_REQUEST:
#if PREADY_HAS_PARTITIONED
            if (b->rank == 0) {
                MPI_Psend_init(part(s, i), s->partitions, s->bytes / s->partitions, MPI_BYTE, 1, i, b->data,
                               MPI_INFO_NULL, &s->requests[i]);
            } else {
                MPI_Precv_init(part(s, i), s->partitions, s->bytes / s->partitions, MPI_BYTE, 0, i, b->data,
                               MPI_INFO_NULL, &s->requests[i]);
            }
#endif
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

/* Each object is used once; over when the other rank says so. */
static void use(State *s, const Bench *b)
{
    for (int i = 0; i < s->count; i++) {
        switch (s->what) {
        case PERSISTENT:
            MPI_Start(&s->requests[i]);
            break;
        case PARTITIONED_REQUEST:
            MPI_Start(&s->requests[i]);
#if PREADY_HAS_PARTITIONED
            for (int p = 0; b->rank == 0 && p < s->partitions; p++) {
                MPI_Pready(p, s->requests[i]);
            }
#endif
            break;
        case WINDOW:
            MPI_Win_fence(MPI_MODE_NOPRECEDE, s->windows[i]);
            if (b->rank == 0) {
                MPI_Put(part(s, i), s->bytes, MPI_BYTE, 1, 0, s->bytes, MPI_BYTE, s->windows[i]);
            }
            MPI_Win_fence(MPI_MODE_NOSUCCEED, s->windows[i]);
            break;
        case COMMUNICATOR:
            if (b->rank == 0) {
                MPI_Isend(part(s, i), s->bytes, MPI_BYTE, 1, 0, s->communicators[i], &s->requests[i]);
            } else {
                MPI_Irecv(part(s, i), s->bytes, MPI_BYTE, 0, 0, s->communicators[i], &s->requests[i]);
            }
            break;
        }
    }
    if (s->what != WINDOW) {
        MPI_Waitall(s->count, s->requests, MPI_STATUSES_IGNORE);
    }
    if (b->rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_ANSWER, b->control, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ANSWER, b->control);
    }
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
    State *s = run->state = calloc(1, sizeof *s);
    s->bytes = (int)run_integer(run, "bytes");
    s->count = (int)run_integer(run, "count");
    s->partitions = (int)run_integer(run, "partitions");
    s->what = run_is(run, "what", "persistent")    ? PERSISTENT
              : run_is(run, "what", "partitioned") ? PARTITIONED_REQUEST
              : run_is(run, "what", "window")      ? WINDOW
                                                   : COMMUNICATOR;
    s->buffer = allocate((size_t)s->bytes * (size_t)s->count);
    s->requests = calloc((size_t)s->count, sizeof *s->requests);
    s->windows = calloc((size_t)s->count, sizeof *s->windows);
    s->communicators = calloc((size_t)s->count, sizeof *s->communicators);
}

static void prepare(Run *run)
{
    State *s = run->state;
    size_t all = (size_t)s->bytes * (size_t)s->count;
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
    double start = now_s();
    create(s, run->bench);
    double made = now_s();
    use(s, run->bench);
    double used = now_s();
    use(s, run->bench);
    double again = now_s();
    release(s);
    if (run->bench->rank == 0) { /* durations on one clock */
        values[1] = (made - start) / s->count;
        values[2] = ((used - made) - (again - used)) / s->count;
        values[0] = values[1] + values[2];
    }
}

static bool verify(Run *run)
{
    State *s = run->state;
    size_t all = (size_t)s->bytes * (size_t)s->count;
    return run->bench->rank == 0 || payload_right(run, s->buffer, all, 0, 0);
}

static void teardown(Run *run)
{
    State *s = run->state;
    free(s->buffer);
    free(s->requests);
    free(s->windows);
    free(s->communicators);
    free(s);
}

static const Measurement begin = {
    .name = "begin",
    .summary = "setting requests, windows and communicators up, and their first use",
    .parameters = parameters,
    .quantities = {"begin", "init", "first"},
    .refuse = refuse,
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .teardown = teardown,
};

MEASUREMENT(begin)
