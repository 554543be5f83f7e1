/* One OpenMP barrier of a team, inside a parallel region. Rank 0 alone. */
#include "core/team.h"

static const Parameter parameters[] = {
    {"threads", INTEGER, "2", "1 to 1024"},
    {"barriers", INTEGER, "100", "1 to 100000"}, /* in one sample */
    END_OF_PARAMETERS,
};

static void repeat(Run *run, double *values)
{
    int threads = run_integer(run, "threads"), barriers = run_integer(run, "barriers");
    double start = 0, end = 0;
#pragma omp parallel num_threads(threads)
    {
        team_check(threads);
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            start = now_s();
        }
        for (int i = 0; i < barriers; i++) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == 0) {
            end = now_s();
        }
    }
    values[0] = (end - start) / barriers;
}

static const Measurement barrier = {
    .name = "barrier",
    .summary = "one barrier of an OpenMP team",
    .parameters = parameters,
    .quantities = {"barrier"},
    .flags = LOCAL,
    .repeat = repeat,
};

MEASUREMENT(barrier)
