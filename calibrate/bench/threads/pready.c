/* What MPI_Pready costs: n partitions marked ready by a team of threads, each its contiguous share.
 *
 * pready = mean time of one call over a thread's calls but its last, the slowest thread
 *          (which may send the buffer)
 */
#include "core/team.h"

#include <math.h>

static const Parameter parameters[] = {
    {"partitions", INTEGER, "64", "2 to 65536"},
    {"bytes", INTEGER, "64", "1 to 1048576"}, /* of one partition */
    {"threads", INTEGER, "1", "1 to 1024"},
    END_OF_PARAMETERS,
};

typedef struct {
    int partitions, threads;
    MPI_Request request;
    double *means;
} State;

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    int partitions = run_integer(run, "partitions"), threads = run_integer(run, "threads");
    if (partitions % threads != 0 || partitions / threads < 2) {
        snprintf(reason, MAX_REASON, "partitions = %d is not valid: a multiple of threads = %d, at least twice it",
                 partitions, threads);
        return REFUSED_ERROR;
    }
    return NULL;
}

static void setup(Run *run)
{
    State *s = run->state;
    s->partitions = run_integer(run, "partitions");
    s->threads = run_integer(run, "threads");
    s->means = memory_of(run, (size_t)s->threads * sizeof *s->means);
    make_partitioned(run->bench, run->buffer, s->partitions, run_integer(run, "bytes"), 0, &s->request);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    MPI_Start(&s->request);
    if (run->bench->sends) {
#pragma omp parallel num_threads(s->threads)
        {
            team_check(s->threads);
            int thread = omp_get_thread_num(), share = s->partitions / s->threads, first = thread * share;
#pragma omp barrier
            double start = now_s();
            for (int i = 0; i + 1 < share; i++) {
                MPI_Pready(first + i, s->request);
            }
            s->means[thread] = (now_s() - start) / (share - 1);
            MPI_Pready(first + share - 1, s->request);
        }
        values[0] = 0;
        for (int i = 0; i < s->threads; i++) { /* durations on rank 0's clock */
            values[0] = fmax(values[0], s->means[i]);
        }
    }
    MPI_Wait(&s->request, MPI_STATUS_IGNORE);
}

static void teardown(Run *run)
{
    State *s = run->state;
    MPI_Request_free(&s->request);
}

static const Measurement pready = {
    .name = "pready",
    .parameters = parameters,
    .quantities = {"pready"},
    .flags = PARTITIONED | THREADED,
    .state = sizeof(State),
    .buffer = {"bytes", "partitions"},
    .refuse = refuse,
    .setup = setup,
    .repeat = repeat,
    .teardown = teardown,
};

MEASUREMENT(pready)
