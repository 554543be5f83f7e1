/* One clock per rank, and the ways to let time pass. */
#include "core/bench.h"

#include <errno.h>
#include <time.h>

double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The smallest step seen between two readings, not clock_getres(), which says 1 ns everywhere. */
double clock_resolution_s(void)
{
    double smallest = 1.0;
    for (int i = 0; i < 1000; i++) {
        double a = now_s(), b = now_s();
        while (b <= a) {
            b = now_s();
        }
        if (b - a < smallest) {
            smallest = b - a;
        }
    }
    return smallest;
}

void wait_until(double until, Waiting how, MPI_Comm comm)
{
    if (how == SLEEPING && now_s() < until) { /* a timer in the past is set and waited for all the same: 15 us */
        double whole = (double)(time_t)until;
        struct timespec t = {.tv_sec = (time_t)until, .tv_nsec = (long)((until - whole) * 1e9)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
        }
    }
    while (now_s() < until) {
        if (how == TESTING) {
            int there;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE);
        }
    }
}
