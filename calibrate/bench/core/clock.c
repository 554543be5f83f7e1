/* One clock per rank, and the ways to let time pass. */
#include "core/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

double waited_for_core_s(void)
{
    enum { NOT_YET = -2 };
    static _Thread_local int file = NOT_YET;
    char text[64] = "", *second;
    if (file == NOT_YET) {
        file = open("/proc/thread-self/schedstat", O_RDONLY); /* ns on a core, ns waiting for one, time slices */
    }
    if (file < 0 || pread(file, text, sizeof text - 1, 0) <= 0) {
        return 0;
    }
    strtoull(text, &second, 10);
    return 1e-9 * (double)strtoull(second, NULL, 10);
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
