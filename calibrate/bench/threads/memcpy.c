/* memcpy of one message. hot: the same bytes again and again. cold: each copy from and to bytes not touched since
 * `pool_bytes` were, so neither is in a cache smaller than that. Rank 0 alone. */
#include "core/bench.h"

#include <string.h>

typedef struct {
    char *from, *to;
    size_t bytes, pool, at, checked_at;
    bool cold;
} State;

static const Parameter parameters[] = {
    {"bytes", INTEGER, "65536", "1 to 268435456"},
    {"cache", WORD, "hot", "hot|cold"},
    {"pool_bytes", INTEGER, "67108864", "1 to 536870912"}, /* of source, and of destination; several times the cache */
    END_OF_PARAMETERS,
};

static void setup(Run *run)
{
    State *s = run->state;
    s->bytes = (size_t)run_integer(run, "bytes");
    s->cold = run_is(run, "cache", "cold");
    s->pool = s->cold ? (size_t)run_integer(run, "pool_bytes") : s->bytes;
    s->pool = s->pool < s->bytes ? s->bytes : s->pool;
    s->from = memory_of(run, s->pool);
    s->to = memory_of(run, s->pool);
}

/* The place of the next copy: the same when hot, the next whole page when cold. */
static size_t next(State *s)
{
    size_t here = s->at, step = (s->bytes + 4095) / 4096 * 4096;
    if (s->cold) {
        s->at = here + step + s->bytes <= s->pool ? here + step : 0;
    }
    return here;
}

static void prepare(Run *run)
{
    State *s = run->state;
    payload_fill(run, s->from + s->at, s->bytes, 0, 0);
    payload_spoil(s->to + s->at, s->bytes);
    s->checked_at = s->at;
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    double start = now_s();
    for (int i = 0; i < run->inner; i++) {
        size_t at = next(s);
        memcpy(s->to + at, s->from + at, s->bytes);
        __asm__ volatile("" : : "r"(s->to) : "memory"); /* GCC and clang: the copy must happen */
    }
    values[0] = (now_s() - start) / run->inner;
}

static bool verify(Run *run)
{
    State *s = run->state;
    return payload_right(run, s->to + s->checked_at, s->bytes, 0, 0);
}

static const Measurement copy = {
    .name = "memcpy",
    .parameters = parameters,
    .quantities = {"copy"},
    .flags = LOCAL | INNER,
    .state = sizeof(State),
    .setup = setup,
    .prepare = prepare,
    .repeat = repeat,
    .verify = verify,
};

MEASUREMENT(copy)
