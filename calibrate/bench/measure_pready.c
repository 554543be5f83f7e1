/* What MPI_Pready costs: n partitions marked ready by a team of threads, each its contiguous share.
 *
 * pready = mean time of one call over a thread's calls but its last, the slowest thread
 * last   = time of a thread's last call, the slowest thread; the one that completes the buffer may send it
 */
#include "bench.h"

static const Parameter parameters[] = {
    {"partitions", INTEGER, "64", "2 to 65536"},
    {"bytes", INTEGER, "64", "1 to 1048576"}, /* of one partition */
    {"threads", INTEGER, "1", "1 to 1024"},
    END_OF_PARAMETERS,
};

#if PREADY_HAS_PARTITIONED

#include "team.h"

#include <math.h>

typedef struct {
    char *buffer;
    size_t bytes;
    int partitions, threads;
    MPI_Request request;
    double *means, *lasts;
} State;

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    long partitions = run_integer(run, "partitions"), threads = run_integer(run, "threads");
    if (partitions % threads != 0 || partitions / threads < 2) {
        snprintf(reason, MAX_REASON, "partitions = %ld is not valid: a multiple of threads = %ld, at least twice it",
                 partitions, threads);
        return REFUSED_ERROR;
    }
    return NULL;
}

static void setup(Run *run)
{
    const Bench *b = run->bench;
    State *s = run->state = calloc(1, sizeof *s);
    s->partitions = (int)run_integer(run, "partitions");
    s->threads = (int)run_integer(run, "threads");
    MPI_Count count = (MPI_Count)run_integer(run, "bytes");
    s->bytes = (size_t)count * (size_t)s->partitions;
    s->buffer = allocate(s->bytes);
    s->means = allocate((size_t)s->threads * sizeof *s->means);
    s->lasts = allocate((size_t)s->threads * sizeof *s->lasts);
    if (b->rank == 0) {
        MPI_Psend_init(s->buffer, s->partitions, count, MPI_BYTE, 1, 0, b->data, MPI_INFO_NULL, &s->request);
    } else {
        MPI_Precv_init(s->buffer, s->partitions, count, MPI_BYTE, 0, 0, b->data, MPI_INFO_NULL, &s->request);
    }
}

static void prepare(Run *run)
{
    State *s = run->state;
    if (run->bench->rank == 0) {
        payload_fill(run, s->buffer, s->bytes, 0, 0);
    } else {
        payload_spoil(s->buffer, s->bytes);
    }
}

static void repeat(Run *run, int inner, double *values)
{
    (void)inner;
    State *s = run->state;
    MPI_Start(&s->request);
    if (run->bench->rank == 0) {
#pragma omp parallel num_threads(s->threads)
        {
            team_check(s->threads);
            int thread = omp_get_thread_num(), share = s->partitions / s->threads, first = thread * share;
#pragma omp barrier
            double start = now_s();
            for (int i = 0; i + 1 < share; i++) {
                MPI_Pready(first + i, s->request);
            }
            double middle = now_s();
            MPI_Pready(first + share - 1, s->request);
            s->lasts[thread] = now_s() - middle;
            s->means[thread] = (middle - start) / (share - 1);
        }
        values[0] = values[1] = 0;
        for (int i = 0; i < s->threads; i++) { /* durations on rank 0's clock */
            values[0] = fmax(values[0], s->means[i]);
            values[1] = fmax(values[1], s->lasts[i]);
        }
    }
    MPI_Wait(&s->request, MPI_STATUS_IGNORE);
}

static bool verify(Run *run)
{
    State *s = run->state;
    return run->bench->rank == 0 || payload_right(run, s->buffer, s->bytes, 0, 0);
}

static void teardown(Run *run)
{
    State *s = run->state;
    MPI_Request_free(&s->request);
    free(s->means);
    free(s->lasts);
    free(s->buffer);
    free(s);
}

static const Measurement pready = {
    .name = "pready",
    .summary = "time of one MPI_Pready",
    .parameters = parameters,
    .quantities = {"pready", "last"},
    .flags = PARTITIONED | THREADED,
    .refuse = refuse,
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
    .teardown = teardown,
};

#else

static const Measurement pready = {
    .name = "pready", .parameters = parameters, .flags = PARTITIONED | THREADED, .quantities = {"pready", "last"}};

#endif

MEASUREMENT(pready)
