/* A clock that counts calls: preloaded, it makes the benchmark's measurements exact and its calls readable.
 *
 * Each thread's clock advances by what the benchmark calls and by nothing else: a call of MPI by its kind's cost (the
 * macros COST_..., in ns), a copy of 16 pages or more by COST_MEMCPY, a sleep by what it asks, which takes no real time, and a
 * reading by PHASE_NS of the number of blocking calls and copies before it (MPI_Send, MPI_Recv, MPI_Barrier), so that
 * samples differ. Rank r starts each point at r + 1 s. A team starts with its master's clock, in phases one more from
 * thread to thread; a barrier and the team's end give the latest. Between two calls only the thread runs whose clock is
 * first, beside those that wait for a message: not those that poll or have a lock. A poll says no once and then waits.
 *
 * COUNTING_PLACES="HOST:CORE,CORE HOST:CORE,CORE", a word for each rank, says where the ranks are. COUNTING_SERIALIZED: the
 * library is said to provide no more than that.
 *
 * Each rank writes what it calls into a file of the folder COUNTING_CLOCK, named by the rank: a line for each thread,
 * after the line of the point. A communicator is a letter, in the order of making, and a window a capital; an offset is one
 * in a page. A request is s or r (sent or received), then peer, tag, communicator, offset.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PHASE_NS(phase) (7 + 30 * (37 * (phase) % 101)) /* never a divisor of 10^a 3^b */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define COUNTED counted(__builtin_return_address(0))
enum { THREADS = 64, LETTERS = 26, REQUESTS = 4096, PAGE = 4096 };
static const long SECOND = 1000000000;

typedef struct {
    long now, phase, polls, same;
    char last[128], *text;
    size_t size;
    FILE *trace;
    bool in; /* takes turns */
} Thread;

typedef struct {
    const MPI_Request *at;
    char name[32];
} Named;

static Thread threads[THREADS];
static MPI_Comm communicators[LETTERS];
static MPI_Win windows[LETTERS];
static Named requests[REQUESTS];
static MPI_Request collective;
static void *locked;
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static FILE *out; /* NULL: before MPI_Init_thread, and in the launcher */
static int rank;
static uintptr_t first, last; /* of the executable */
static uintptr_t copied;      /* where the last copy of the point went */
static char here[1024], *cores; /* the rank's host, and "CORE,CORE" */

#pragma weak omp_get_thread_num
extern int omp_get_thread_num(void), omp_get_num_threads(void);
#pragma weak omp_get_num_threads

static Thread *self(void)
{
    return &threads[omp_get_thread_num ? omp_get_thread_num() : 0];
}

static int executable(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    first = info->dlpi_addr + info->dlpi_phdr[0].p_vaddr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
        last = part->p_type == PT_LOAD && end > last ? end : last;
    }
    return 1; /* the first object is the program */
}

static int counted(void *caller)
{
    return out != NULL && (uintptr_t)caller >= first && (uintptr_t)caller < last;
}

static void put_last(Thread *t)
{
    if (t->same > 0) {
        fprintf(t->trace, t->same > 1 ? "%s*%ld " : "%s ", t->last, t->same);
    }
    t->same = 0;
}

static bool is_first(const Thread *t)
{
    for (const Thread *other = threads; other < threads + THREADS; other++) {
        if (other->in && (other->now < t->now || (other->now == t->now && other < t))) {
            return false;
        }
    }
    return true;
}

static void go_on(Thread *t, bool in, long ns)
{
    pthread_mutex_lock(&taking);
    t->in = in;
    t->now += ns;
    pthread_cond_broadcast(&moved);
    while (in && !is_first(t)) {
        pthread_cond_wait(&moved, &taking);
    }
    pthread_mutex_unlock(&taking);
}

static void call(long ns, const char *format, ...)
{
    Thread *t = self();
    char one[sizeof t->last];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(one, sizeof one, format, arguments);
    va_end(arguments);
    if (t->trace == NULL) {
        t->trace = open_memstream(&t->text, &t->size);
    }
    if (strcmp(one, t->last) != 0) {
        put_last(t);
        strcpy(t->last, one);
    }
    t->same++;
    go_on(t, true, ns);
}

/* What was called for the point before, and the next one; each of its clocks at the start. */
static void next_point(const char *line)
{
    for (Thread *t = threads; t < threads + THREADS; t++) {
        if (t->trace != NULL) {
            put_last(t);
            fclose(t->trace);
            fprintf(out, "%s\n", t->text);
            free(t->text);
        }
        *t = (Thread){.now = (rank + 1) * SECOND, .in = t == threads};
    }
    memset(requests, 0, sizeof requests);
    copied = 0;
    fprintf(out, "# %s\n", line);
    fflush(out);
}

/* Of a communicator or a window, or of the first free place. */
#define PLACE_OF(one, all)       \
    ({                           \
        int at = 0;              \
        while (all[at] != one) { \
            at++;                \
        }                        \
        at;                      \
    })
#define LETTER(comm) ('a' + PLACE_OF(comm, communicators))
#define CAPITAL(window) ('A' + PLACE_OF(window, windows))
#define REPLACE(old, new, all) (all[PLACE_OF(old, all)] = new)

static int offset(const void *buffer)
{
    return (int)((uintptr_t)buffer % PAGE);
}

static Named *place_at(const MPI_Request *at)
{
    Named *one = requests;
    while (one->at != at && one->at != NULL) {
        one++;
    }
    return one;
}

static int name(const MPI_Request *at, const void *buffer, int bytes, char kind, int peer, int tag, MPI_Comm comm)
{
    Named *one = place_at(at);
    one->at = at;
    snprintf(one->name, sizeof one->name, "%c%d.%d%c+%d", kind, peer, tag, LETTER(comm), bytes > 1 ? offset(buffer) : 0);
    return MPI_SUCCESS;
}

static const char *named(const MPI_Request *at)
{
    const Named *one = place_at(at);
    return one->at == NULL || *at == MPI_REQUEST_NULL ? "-" : one->name;
}

/* Libraries spin while they wait, and here all ranks share a few cores. */
static int rest(void)
{
    const struct timespec nap = {.tv_nsec = 20000};
    return (int)syscall(SYS_nanosleep, &nap, NULL);
}

static int wait_for(MPI_Request *request, MPI_Status *status, bool polls)
{
    int done;
    for (PMPI_Test(request, &done, status); !done; PMPI_Test(request, &done, status)) {
        if (!polls && locked == NULL) {
            go_on(self(), false, 0);
        }
        rest();
    }
    go_on(self(), true, 0);
    return MPI_SUCCESS;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!COUNTED) {
        return (int)syscall(SYS_clock_gettime, clock, time);
    }
    Thread *t = self();
    *time = (struct timespec){t->now / SECOND, t->now % SECOND};
    call(PHASE_NS(t->phase), "clock");
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (!COUNTED) {
        return (int)syscall(SYS_clock_nanosleep, clock, flags, time, left);
    }
    long ns = time->tv_sec * SECOND + time->tv_nsec - (flags & TIMER_ABSTIME ? self()->now : 0);
    call(ns > 0 ? ns : 0, "sleep:%ld", ns);
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!COUNTED) {
        return (int)syscall(SYS_nanosleep, time, left);
    }
    call(time->tv_nsec, "nap:%ld", time->tv_nsec);
    return 0;
}

void *memcpy(void *to, const void *from, size_t bytes)
{
    if (COUNTED && offset(to) == 0 && bytes >= 16 * PAGE) {
        call(COST_MEMCPY, "memcpy:%zu%+ld", bytes, copied == 0 ? 0 : (long)((uintptr_t)to - copied) / PAGE);
        copied = (uintptr_t)to;
        self()->phase++;
    }
    return memmove(to, from, bytes);
}

int gethostname(char *name, size_t size)
{
    return COUNTED ? snprintf(name, size, "%s", here) < 0 : REAL(gethostname)(name, size);
}

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *allowed)
{
    if (!COUNTED) {
        return REAL(sched_getaffinity)(process, size, allowed);
    }
    CPU_ZERO(allowed);
    for (char *at = cores; *at != '\0'; at += *at == ',') {
        CPU_SET(strtol(at, &at, 10), allowed);
    }
    return 0;
}

int sched_setaffinity(pid_t process, size_t size, const cpu_set_t *to)
{
    if (!COUNTED) {
        return REAL(sched_setaffinity)(process, size, to);
    }
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, to)) {
            call(0, "pin:%d", core);
        }
    }
    return 0;
}

static void (*team_work)(void *);

static void in_turn(void *data)
{
    go_on(self(), true, 0);
    team_work(data);
    go_on(self(), false, 0);
}

/* A team: its threads start with their master's clock and end with the latest. */
void GOMP_parallel(void (*work)(void *), void *data, unsigned count, unsigned flags)
{
    call(0, "team:%u", count);
    team_work = work;
    for (unsigned i = 1; i < count && i < THREADS; i++) {
        threads[i].now = threads[0].now;
        threads[i].phase = threads[0].phase + i;
        threads[i].in = true;
    }
    REAL(GOMP_parallel)(in_turn, data, count, flags);
    for (unsigned i = 1; i < count && i < THREADS; i++) {
        threads[0].now = threads[i].now > threads[0].now ? threads[i].now : threads[0].now;
    }
    call(0, "joined");
}

void GOMP_barrier(void)
{
    long latest = 0;
    go_on(self(), false, 0);
    REAL(GOMP_barrier)();
    for (int i = 0; i < omp_get_num_threads(); i++) {
        latest = threads[i].now > latest ? threads[i].now : latest;
    }
    REAL(GOMP_barrier)();
    self()->now = latest;
    self()->in = true;
    REAL(GOMP_barrier)();
    call(0, "barrier");
}

void omp_set_lock(void *lock)
{
    while (locked != NULL) {
        call(COST_LOCK, "locked");
    }
    locked = lock;
}

void omp_unset_lock(void *lock)
{
    locked = locked == lock ? NULL : locked;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *got)
{
    int status = PMPI_Init_thread(argc, argv, wanted, got);
    *got = getenv("COUNTING_SERIALIZED") != NULL ? MPI_THREAD_SERIALIZED : *got;
    dl_iterate_phdr(executable, NULL);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < LETTERS; i++) {
        communicators[i] = i == 0 ? MPI_COMM_WORLD : MPI_COMM_NULL;
        windows[i] = MPI_WIN_NULL;
    }
    const char *place = getenv("COUNTING_PLACES");
    for (int i = 0; i < rank; i++) {
        place = strchr(place, ' ') + 1;
    }
    sscanf(place, "%1023s", here);
    cores = strchr(here, ':');
    *cores++ = '\0';
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", getenv("COUNTING_CLOCK"), rank);
    out = fopen(name, "w");
    next_point("start");
    return status;
}

int MPI_Finalize(void)
{
    next_point("end");
    return PMPI_Finalize();
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    if (type == MPI_CHAR && to == 1) {
        next_point(buffer);
    }
    call(COST_SEND, "send:%d.%d%c*%d", to, tag, LETTER(comm), count);
    self()->phase++;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    PMPI_Irecv(buffer, count, type, from, tag, comm, &request);
    wait_for(&request, status, false);
    if (type == MPI_CHAR) {
        next_point(buffer);
    }
    call(COST_RECV, "recv:%d.%d%c*%d", from, tag, LETTER(comm), count);
    self()->phase++;
    return MPI_SUCCESS;
}

int MPI_Waitall(int n, MPI_Request each[], MPI_Status *statuses)
{
    (void)statuses;
    call(COST_WAITALL, "waitall:%d", n);
    for (int i = 0; i < n; i++) {
        wait_for(&each[i], MPI_STATUS_IGNORE, named(&each[i])[0] == 's');
    }
    return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm)
{
    MPI_Request request;
    call(COST_BARRIER, "barrier:%c", LETTER(comm));
    self()->phase++;
    PMPI_Ibarrier(comm, &request);
    return wait_for(&request, MPI_STATUS_IGNORE, false);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
    int any = from == MPI_ANY_SOURCE;
    call(COST_IPROBE, "iprobe:%d.%d%c", any ? -1 : from, tag == MPI_ANY_TAG ? -1 : tag, LETTER(comm));
    *there = !any && self()->polls++ % 2 == 1;
    for (int come = !*there; !come && PMPI_Iprobe(from, tag, comm, &come, status) == MPI_SUCCESS; rest()) {
    }
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    call(COST_TEST, "test:%s", named(request));
    *done = *request == MPI_REQUEST_NULL || self()->polls++ % 2 == 1;
    return *done ? wait_for(request, status, true) : MPI_SUCCESS;
}

int MPI_Parrived(MPI_Request request, int part, int *there)
{
    call(COST_PARRIVED, "parrived:%d", part);
    *there = self()->polls++ % 2 == 1;
    for (int come = !*there; !come && PMPI_Parrived(request, part, &come) == MPI_SUCCESS; rest()) {
    }
    return MPI_SUCCESS;
}

static int win_wait(MPI_Win window)
{
    for (int come = 0; PMPI_Win_test(window, &come), !come; rest()) {
        go_on(self(), false, 0);
    }
    go_on(self(), true, 0);
    return MPI_SUCCESS;
}

int MPI_Win_test(MPI_Win window, int *done)
{
    call(COST_WIN_TEST, "win_test:%c", CAPITAL(window));
    *done = self()->polls++ % 2 == 1;
    return *done ? win_wait(window) : MPI_SUCCESS;
}

/* The other calls: the cost, what is returned, what is written. */
#define CALL(COST, name, parameters, returned, ...) \
    int MPI_##name parameters                       \
    {                                               \
        call(COST_##COST, __VA_ARGS__);             \
        return returned;                            \
    }
#define MESSAGE(COST, create, text, kind, constant)                                                                     \
    CALL(COST, create, (constant void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *made), \
         (PMPI_##create(b, n, type, to, tag, comm, made), name(made, b, n, kind, to, tag, comm)),                       \
         text ":%d.%d%c*%d+%d", to, tag, LETTER(comm), n, offset(b))
#define PARTITIONED(COST, create, text, kind, constant)                                                              \
    CALL(COST, create, (constant void *b, int parts, MPI_Count n, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                        MPI_Info info, MPI_Request *made),                                                           \
         (PMPI_##create(b, parts, n, type, to, tag, comm, info, made),                                               \
          name(made, b, parts * (int)n, kind, to, tag, comm)),                                                       \
         text ":%d.%d%c*%dx%d+%d", to, tag, LETTER(comm), parts, (int)n, parts * n > 1 ? offset(b) : 0)
#define ALL_HAVE(begun) (begun, wait_for(&collective, MPI_STATUS_IGNORE, false))
#define ON_WINDOW(COST, name, text) CALL(COST, name, (MPI_Win window), PMPI_##name(window), text ":%c", CAPITAL(window))

MESSAGE(ISEND, Isend, "isend", 's', const)
MESSAGE(IRECV, Irecv, "irecv", 'r', )
MESSAGE(SEND_INIT, Send_init, "send_init", 's', const)
MESSAGE(RECV_INIT, Recv_init, "recv_init", 'r', )
PARTITIONED(PSEND_INIT, Psend_init, "psend_init", 's', const)
PARTITIONED(PRECV_INIT, Precv_init, "precv_init", 'r', )
CALL(WAIT, Wait, (MPI_Request *request, MPI_Status *status),
     wait_for(request, status, named(request)[0] == 's'), "wait:%s", named(request))
CALL(START, Start, (MPI_Request *request), PMPI_Start(request), "start:%s", named(request))
CALL(PREADY, Pready, (int part, MPI_Request request), PMPI_Pready(part, request), "pready:%d", part)
CALL(REQUEST_FREE, Request_free, (MPI_Request *request), PMPI_Request_free(request), "request_free:%s", named(request))
CALL(IBARRIER, Ibarrier, (MPI_Comm comm, MPI_Request *made), PMPI_Ibarrier(comm, made), "ibarrier:%c", LETTER(comm))
CALL(BCAST, Bcast, (void *b, int n, MPI_Datatype type, int root, MPI_Comm comm), PMPI_Bcast(b, n, type, root, comm),
     "bcast:%d%c*%d", root, LETTER(comm), n)
CALL(REDUCE, Reduce, (const void *b, void *to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
     PMPI_Reduce(b, to, n, type, op, root, comm), "reduce:%d%c*%d", root, LETTER(comm), n)
CALL(ALLREDUCE, Allreduce, (const void *b, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     ALL_HAVE(PMPI_Iallreduce(b, to, n, type, op, comm, &collective)), "allreduce:%c*%d%s", LETTER(comm), n,
     op == MPI_MIN ? "min" : "")
CALL(ALLGATHER, Allgather, (const void *b, int n, MPI_Datatype type, void *to, int m, MPI_Datatype there, MPI_Comm comm),
     ALL_HAVE(PMPI_Iallgather(b, n, type, to, m, there, comm, &collective)), "allgather:%c*%d", LETTER(comm), n)
CALL(GATHER, Gather, (const void *b, int n, MPI_Datatype type, void *to, int m, MPI_Datatype there, int root, MPI_Comm comm),
     ALL_HAVE(PMPI_Igather(b, n, type, to, m, there, root, comm, &collective)), "gather:%d%c*%d", root, LETTER(comm), n)
CALL(COMM_DUP, Comm_dup, (MPI_Comm comm, MPI_Comm *made),
     (PMPI_Comm_dup(comm, made), REPLACE(MPI_COMM_NULL, *made, communicators), MPI_SUCCESS), "comm_dup:%c", LETTER(comm))
CALL(COMM_SPLIT, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
     (PMPI_Comm_split(comm, color, key, made), REPLACE(MPI_COMM_NULL, *made, communicators), MPI_SUCCESS),
     "comm_split:%c,%d,%d", LETTER(comm), color == MPI_UNDEFINED ? -1 : color, key)
CALL(COMM_FREE, Comm_free, (MPI_Comm *comm), (REPLACE(*comm, MPI_COMM_NULL, communicators), PMPI_Comm_free(comm)),
     "comm_free:%c", LETTER(*comm))
CALL(GROUP_INCL, Group_incl, (MPI_Group all, int n, const int ranks[], MPI_Group *made),
     PMPI_Group_incl(all, n, ranks, made), "group_incl:%d", n)
CALL(GROUP_FREE, Group_free, (MPI_Group *group), PMPI_Group_free(group), "group_free")
CALL(WIN_CREATE, Win_create, (void *b, MPI_Aint n, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),
     (PMPI_Win_create(b, n, unit, info, comm, made), REPLACE(MPI_WIN_NULL, *made, windows), MPI_SUCCESS),
     "win_create:%c*%ldx%d+%d", LETTER(comm), (long)n, unit, offset(b))
CALL(WIN_FENCE, Win_fence, (int assert, MPI_Win window), PMPI_Win_fence(assert, window), "win_fence:%c", CAPITAL(window))
CALL(WIN_FREE, Win_free, (MPI_Win *window), (REPLACE(*window, MPI_WIN_NULL, windows), PMPI_Win_free(window)), "win_free:%c",
     CAPITAL(*window))
CALL(WIN_POST, Win_post, (MPI_Group group, int assert, MPI_Win window), PMPI_Win_post(group, assert, window),
     "win_post:%c", CAPITAL(window))
CALL(WIN_START, Win_start, (MPI_Group group, int assert, MPI_Win window), PMPI_Win_start(group, assert, window),
     "win_start:%c", CAPITAL(window))
CALL(WIN_LOCK, Win_lock_all, (int assert, MPI_Win window), PMPI_Win_lock_all(assert, window), "win_lock_all:%c",
     CAPITAL(window))
CALL(WIN_FLUSH, Win_flush, (int to, MPI_Win window), PMPI_Win_flush(to, window), "win_flush:%c%d", CAPITAL(window), to)
CALL(WIN_WAIT, Win_wait, (MPI_Win window), win_wait(window), "win_wait:%c", CAPITAL(window))
ON_WINDOW(WIN_COMPLETE, Win_complete, "win_complete")
ON_WINDOW(WIN_SYNC, Win_sync, "win_sync")
ON_WINDOW(WIN_LOCK, Win_unlock_all, "win_unlock_all")
CALL(PUT, Put, (const void *b, int n, MPI_Datatype type, int to, MPI_Aint at, int m, MPI_Datatype there, MPI_Win window),
     PMPI_Put(b, n, type, to, at, m, there, window), "put:%c%d*%d", CAPITAL(window), to, n)
