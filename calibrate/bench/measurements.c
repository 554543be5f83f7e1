/* The table of measurements. A new one is a new file and a line here. */
#include "bench.h"

extern const Measurement pingpong, bandwidth, prtt, rate, pready, early, approach, matching, overlap, barrier, copy,
    noise;

const Measurement *const measurements[] = {
    &pingpong, &bandwidth, &prtt,    &rate, &pready, &early, &approach,
    &matching, &overlap,   &barrier, &copy, &noise,  NULL,
};
