// libgomp has no tool interface, so its entry points are interposed. Our wrapper of the region's function records when
// each thread leaves it; barriers inside the region end one share and begin the next.
#include "next.h"
#include "regions.h"

typedef void body_t(void *);
typedef int query_t(void);

struct region {
    body_t *body;
    void *data;
    int64_t start;
    int32_t number;
    uint16_t site;
    unsigned team;
};

static int query(query_t **slot, const char *name)
{
    if (SELDOM(*slot == NULL))
        *slot = (query_t *)next_symbol(name);
    return *slot == NULL ? 0 : (*slot)();
}

static void run(void *data)
{
    static query_t *thread_num, *num_threads;
    struct region *const r = data;
    const unsigned in_team = (unsigned)query(&thread_num, "omp_get_thread_num");
    const uint16_t site = r->site;
    if (in_team == 0)
        r->team = (unsigned)query(&num_threads, "omp_get_num_threads");
    share_begin(r->number, in_team);
    r->body(r->data);
    share_phase_end(site, now());
    self.region = 0;
}

static bool outermost(void)
{
    static query_t *level;
    return self.region == 0 && query(&level, "omp_get_level") == 0;
}

static struct region begun(body_t *body, void *data)
{
    const uint16_t site = store_site((const void *)(uintptr_t)body, SITE_FUNCTION);
    store_header->openmp = OPENMP_GOMP;
    return (struct region){.body = body, .data = data, .start = now(), .number = region_new(), .site = site};
}

static void ended(const struct region *r)
{
    store_record(KIND_REGION, r->site, r->number, format_parts(r->team, 1, 0), r->start, now());
}

#define NEXT(type, name)                                                                                               \
    static type *next;                                                                                                 \
    if (SELDOM(next == NULL))                                                                                          \
        next = (type *)next_symbol(#name);

// A nested region is passed on unrecorded.
#define REGION(name, parameters, arguments_wrapped, arguments)                                                         \
    typedef void name##_t parameters;                                                                                  \
    EXPORT void name parameters;                                                                                       \
    EXPORT void name parameters                                                                                        \
    {                                                                                                                  \
        NEXT(name##_t, name)                                                                                           \
        if (regions_from_ompt || !recording()) {                                                                       \
            next arguments;                                                                                            \
        } else if (outermost()) {                                                                                      \
            struct region r = begun(body, data);                                                                       \
            next arguments_wrapped;                                                                                    \
            ended(&r);                                                                                                 \
        } else {                                                                                                       \
            const int64_t start = now();                                                                               \
            self.inner++;                                                                                              \
            next arguments;                                                                                            \
            self.inner--;                                                                                              \
            store_record(KIND_NESTED, 0, self.region - 1, 0, start, now());                                            \
        }                                                                                                              \
    }

REGION(GOMP_parallel, (body_t * body, void *data, unsigned threads, unsigned flags), (run, &r, threads, flags),
       (body, data, threads, flags))
REGION(GOMP_parallel_sections, (body_t * body, void *data, unsigned threads, unsigned count, unsigned flags),
       (run, &r, threads, count, flags), (body, data, threads, count, flags))

#define LOOP(name)                                                                                                     \
    REGION(name,                                                                                                       \
           (body_t * body, void *data, unsigned threads, long first, long last, long step, long chunk,                 \
            unsigned flags),                                                                                           \
           (run, &r, threads, first, last, step, chunk, flags),                                                        \
           (body, data, threads, first, last, step, chunk, flags))
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)

#define LOOP_AT_RUN_TIME(name)                                                                                         \
    REGION(name,                                                                                                       \
           (body_t * body, void *data, unsigned threads, long first, long last, long step, unsigned flags),            \
           (run, &r, threads, first, last, step, flags), (body, data, threads, first, last, step, flags))
LOOP_AT_RUN_TIME(GOMP_parallel_loop_runtime)
LOOP_AT_RUN_TIME(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_AT_RUN_TIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

typedef unsigned reductions_t(body_t *, void *, unsigned, unsigned);
EXPORT reductions_t GOMP_parallel_reductions;
EXPORT unsigned GOMP_parallel_reductions(body_t *body, void *data, unsigned threads, unsigned flags)
{
    NEXT(reductions_t, GOMP_parallel_reductions)
    if (regions_from_ompt || !recording() || !outermost())
        return next(body, data, threads, flags);
    struct region r = begun(body, data);
    const unsigned result = next(run, &r, threads, flags);
    ended(&r);
    return result;
}

// ---- barriers inside a region -----------------------------------------------------------------------------------------

#define BARRIER(type, result, give_back, name)                                                                         \
    typedef type name##_t(void);                                                                                       \
    EXPORT name##_t name;                                                                                              \
    EXPORT type name(void)                                                                                             \
    {                                                                                                                  \
        NEXT(name##_t, name)                                                                                           \
        const bool counts = in_share() && !regions_from_ompt;                                                          \
        if (counts) {                                                                                                  \
            const int64_t at = now();                                                                                  \
            share_phase_end(store_site(__builtin_return_address(0), SITE_RETURN), at);                                 \
        }                                                                                                              \
        result next();                                                                                                 \
        if (counts)                                                                                                    \
            share_phase_begin();                                                                                       \
        give_back;                                                                                                     \
    }

BARRIER(void, , , GOMP_barrier)
BARRIER(void, , , GOMP_loop_end)
BARRIER(void, , , GOMP_sections_end)
BARRIER(bool, const bool cancelled =, return cancelled, GOMP_barrier_cancel)
BARRIER(bool, const bool cancelled =, return cancelled, GOMP_loop_end_cancel)
BARRIER(bool, const bool cancelled =, return cancelled, GOMP_sections_end_cancel)

// ---- explicit tasks: a thread's share does not end where its function does --------------------------------------------

typedef void copy_t(void *, void *);
#define TASKS(name, parameters, arguments)                                                                             \
    typedef void name##_t parameters;                                                                                  \
    EXPORT name##_t name;                                                                                              \
    EXPORT void name parameters                                                                                        \
    {                                                                                                                  \
        NEXT(name##_t, name)                                                                                           \
        self.tasks = true;                                                                                             \
        next arguments;                                                                                                \
    }

TASKS(GOMP_task,
      (body_t * body, void *data, copy_t *copy, long size, long align, bool now_or_later, unsigned flags, void **depend,
       int priority, void *detach),
      (body, data, copy, size, align, now_or_later, flags, depend, priority, detach))
TASKS(GOMP_taskloop,
      (body_t * body, void *data, copy_t *copy, long size, long align, unsigned flags, unsigned long tasks, int priority,
       long first, long last, long step),
      (body, data, copy, size, align, flags, tasks, priority, first, last, step))
TASKS(GOMP_taskloop_ull,
      (body_t * body, void *data, copy_t *copy, long size, long align, unsigned flags, unsigned long tasks, int priority,
       unsigned long long first, unsigned long long last, unsigned long long step),
      (body, data, copy, size, align, flags, tasks, priority, first, last, step))
