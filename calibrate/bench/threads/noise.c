/* Scheduling noise by a fixed work quantum: the same work again and again, on one core of rank 0. The time of a sample
 * above min_s went to other processes. The samples are the result: ask for as many as wanted with keep and
 * max_repeats. */
#include "core/bench.h"

typedef struct {
    long work;
    volatile uint64_t sink;
} State;

static const Parameter parameters[] = {
    {"quantum_s", REAL, "0.001", "0.000001 to 1"},
    END_OF_PARAMETERS,
};

static void labour(State *s, long work)
{
    uint64_t x = 88172645463325252u;
    for (long i = 0; i < work; i++) { /* xorshift64 (Marsaglia 2003): a dependency chain that stays in registers */
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    s->sink = x;
}

static void setup(Run *run)
{
    State *s = run->state;
    enum { PROBE = 100000, TRIES = 9 };
    double fastest = 1;
    for (int i = 0; i < TRIES; i++) {
        double start = now_s();
        labour(s, PROBE);
        double time = now_s() - start;
        fastest = time < fastest ? time : fastest;
    }
    s->work = 1 + (long)(PROBE * run_real(run, "quantum_s") / fastest);
    run_derive(run, "work", (double)s->work);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    double start = now_s();
    labour(s, s->work);
    values[0] = now_s() - start;
}

static const Measurement noise = {
    .name = "noise",
    .summary = "time of a fixed quantum of work, many times",
    .parameters = parameters,
    .quantities = {"quantum"},
    .flags = LOCAL | FIXED_COUNT,
    .state = sizeof(State),
    .setup = setup,
    .repeat = repeat,
};

MEASUREMENT(noise)
