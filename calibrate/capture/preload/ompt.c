// OMPT callbacks (LLVM, Intel, Cray). Types and numbers are those of OpenMP 5.0, section 4.
#include "next.h"
#include "regions.h"

typedef union {
    uint64_t value;
    void *ptr;
} data_t;
typedef void (*callback_t)(void);
typedef int (*set_callback_t)(int event, callback_t callback);
typedef callback_t (*lookup_t)(const char *name);

struct start_tool_result {
    int (*initialize)(lookup_t lookup, int device, data_t *tool);
    void (*finalize)(data_t *tool);
    data_t tool;
};

enum { PARALLEL_BEGIN = 3, PARALLEL_END = 4, TASK_CREATE = 5, IMPLICIT_TASK = 7, SYNC_REGION = 23 };
enum { SCOPE_BEGIN = 1 };
enum { TASK_INITIAL = 1, TASK_EXPLICIT = 4 };
enum { SYNC_TASKWAIT = 5, SYNC_TASKGROUP = 6, SYNC_REDUCTION = 7 };

// The outermost region of this thread.
static _Thread_local struct {
    int64_t start;
    uint64_t value; // of its data
    uint16_t site;
    unsigned team;
} opened __attribute__((tls_model("initial-exec")));

// A region's data: its number + 1; 0 for regions inside others. A task's data: 1 inside any region.
static void parallel_begin(data_t *task, const void *frame, data_t *parallel, unsigned asked, int flags,
                           const void *code)
{
    (void)frame, (void)asked, (void)flags;
    parallel->value = 0;
    if (!recording() || (task != NULL && task->value != 0))
        return;
    store_header->openmp = OPENMP_OMPT;
    opened.site = store_site(code, SITE_RETURN);
    opened.start = now();
    opened.value = parallel->value = (uint64_t)region_new() + 1;
}

static void parallel_end(data_t *parallel, data_t *task, int flags, const void *code)
{
    (void)task, (void)flags, (void)code;
    if (!recording() || parallel->value == 0 || opened.value != parallel->value)
        return;
    store_record(KIND_REGION, opened.site, (int32_t)(opened.value - 1), format_parts(opened.team, 1, 0), opened.start,
                 now());
    opened.value = 0;
}

static void implicit_task(int scope, data_t *parallel, data_t *task, unsigned team, unsigned in_team, int flags)
{
    if (flags & TASK_INITIAL)
        return;
    if (scope == SCOPE_BEGIN) {
        task->value = 1;
        if (parallel != NULL && parallel->value != 0 && recording()) {
            share_begin((int32_t)(parallel->value - 1), in_team);
            if (in_team == 0)
                opened.team = team;
        } else
            self.inner++;
    } else if (self.inner > 0)
        self.inner--;
    else
        self.region = 0;
}

static void sync_region(int kind, int scope, data_t *parallel, data_t *task, const void *code)
{
    (void)parallel, (void)task;
    if (kind == SYNC_TASKWAIT || kind == SYNC_TASKGROUP || kind == SYNC_REDUCTION || !in_share())
        return;
    if (scope == SCOPE_BEGIN) {
        const int64_t at = now();
        share_phase_end(code == NULL ? 0 : store_site(code, SITE_RETURN), at);
    } else
        share_phase_begin();
}

static void task_create(data_t *around, const void *frame, data_t *task, int flags, int dependences, const void *code)
{
    (void)around, (void)frame, (void)dependences, (void)code;
    if (flags & TASK_EXPLICIT) {
        task->value = 1;
        self.tasks = true;
    }
}

static int initialize(lookup_t lookup, int device, data_t *tool)
{
    (void)device, (void)tool;
    const set_callback_t set = (set_callback_t)lookup("ompt_set_callback");
    if (set == NULL)
        return 0;
    set(PARALLEL_BEGIN, (callback_t)parallel_begin);
    set(PARALLEL_END, (callback_t)parallel_end);
    set(IMPLICIT_TASK, (callback_t)implicit_task);
    set(SYNC_REGION, (callback_t)sync_region);
    set(TASK_CREATE, (callback_t)task_create);
    regions_from_ompt = true;
    return 1;
}

static void finalize(data_t *tool)
{
    (void)tool;
}

EXPORT struct start_tool_result *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct start_tool_result result = {initialize, finalize, {0}};
    typedef struct start_tool_result *next_t(unsigned, const char *);
    store_prepare(); // the runtime may run before our constructor
    if (store_on)
        return &result;
    next_t *const next = (next_t *)next_symbol("ompt_start_tool");
    return next == NULL ? NULL : next(version, runtime);
}
