/* Medians and their distribution-free intervals. */
#include "core/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Largest r with P(Binomial(n, 1/2) < r) <= 0.025: the r-th smallest and r-th largest of n samples enclose the median
 * with at least 95 %, whatever the distribution (Conover, Practical Nonparametric Statistics, 3.2). 0: n is too small. */
static long interval_rank(long n)
{
    if (n > 1000) {
        return (long)floor(0.5 * (double)n - 0.98 * sqrt((double)n));
    }
    double probability = pow(0.5, (double)n), below = probability;
    long r = 0;
    while (below <= 0.025) {
        r++;
        probability *= (double)(n - r + 1) / (double)r;
        below += probability;
    }
    return r;
}

Summary summarise(const double *samples, long count)
{
    Summary s = {.median = NAN, .low = NAN, .high = NAN, .min = NAN, .max = NAN};
    if (count < 1) {
        return s;
    }
    double *sorted = malloc((size_t)count * sizeof *sorted);
    if (sorted == NULL) {
        return s;
    }
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    s.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    s.min = sorted[0];
    s.max = sorted[count - 1];
    long r = interval_rank(count);
    if (r >= 1) {
        s.low = sorted[r - 1];
        s.high = sorted[count - r];
    }
    free(sorted);
    return s;
}
