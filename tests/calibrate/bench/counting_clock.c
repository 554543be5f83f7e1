/* A clock that counts calls: preloaded, it makes the benchmark's measurements exact and its calls readable.
 *
 * Each thread's clock advances by what the benchmark calls and by nothing else: a call of MPI by its kind's cost (the
 * macros COST_..., in ns), a copy to a page by COST_MEMCPY, a sleep by what it asks, which takes no real time, and a
 * reading by PHASE_NS of the number of blocking calls and copies before it (MPI_Send, MPI_Recv, MPI_Barrier), so that
 * samples differ. Rank r starts each point at r + 1 s. A team starts with its master's clock, in phases one more from thread to
 * thread; a barrier and the team's end give the latest. A poll that waits for one thing says no once and then waits.
 *
 * Each rank writes what it calls into a file of the folder COUNTING_CLOCK, named by the rank: a line for each thread,
 * after the line of the point. A communicator is a letter, in the order of making; an offset is one in a page.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PHASE_NS(phase) (7 + 30 * (37 * (phase) % 101)) /* never a divisor of 10^a 3^b */
enum { THREADS = 64, COMMUNICATORS = 26, PAGE = 4096 };

typedef struct {
    long now, phase, polls, same;
    char last[128], *text;
    size_t size;
    FILE *trace;
} Thread;

static Thread threads[THREADS];
static MPI_Comm communicators[COMMUNICATORS];
static FILE *out; /* NULL: before MPI_Init_thread, and in the launcher */
static int rank;
static uintptr_t first, last; /* of the executable */
static uintptr_t copied;      /* where the last copy of the point went */

#pragma weak omp_get_thread_num
#pragma weak omp_get_num_threads
extern int omp_get_thread_num(void), omp_get_num_threads(void);

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
#define COUNTED counted(__builtin_return_address(0))

static void put_last(Thread *t)
{
    if (t->same > 0) {
        fprintf(t->trace, t->same > 1 ? "%s*%ld " : "%s ", t->last, t->same);
    }
    t->same = 0;
}

static void call(long ns, const char *format, ...)
{
    Thread *t = self();
    char one[sizeof t->last];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(one, sizeof one, format, arguments);
    va_end(arguments);
    t->now += ns;
    if (t->same == 0 || strcmp(one, t->last) != 0) {
        if (t->trace == NULL) {
            t->trace = open_memstream(&t->text, &t->size);
        }
        put_last(t);
        strcpy(t->last, one);
    }
    t->same++;
}

/* What was called for the point before, and the next one; each of its clocks at the start. */
static void next_point(const char *line)
{
    for (int i = 0; i < THREADS; i++) {
        Thread *t = &threads[i];
        if (t->trace != NULL) {
            put_last(t);
            fclose(t->trace);
            fprintf(out, "%s\n", t->text);
            free(t->text);
        }
        *t = (Thread){.now = (rank + 1) * 1000000000L};
    }
    copied = 0;
    fprintf(out, "# %s\n", line);
    fflush(out);
}

/* Of a communicator, or of the first free place. */
static int place_of(MPI_Comm comm)
{
    int at = 0;
    while (communicators[at] != comm) {
        at++;
    }
    return at;
}

static char letter(MPI_Comm comm)
{
    return (char)('a' + place_of(comm));
}

static int offset(const void *buffer)
{
    return (int)((uintptr_t)buffer % PAGE);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!COUNTED || clock != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, clock, time);
    }
    Thread *t = self();
    *time = (struct timespec){t->now / 1000000000, t->now % 1000000000};
    call(PHASE_NS(t->phase), "clock");
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (!COUNTED) {
        return (int)syscall(SYS_clock_nanosleep, clock, flags, time, left);
    }
    long ns = time->tv_sec * 1000000000 + time->tv_nsec - (flags & TIMER_ABSTIME ? self()->now : 0);
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
    if (COUNTED && offset(to) == 0) {
        call(COST_MEMCPY, "memcpy:%zu%+ld", bytes, copied == 0 ? 0 : (long)((uintptr_t)to - copied) / PAGE);
        copied = (uintptr_t)to;
        self()->phase++;
    }
    return memmove(to, from, bytes);
}

/* A team: its threads start with their master's clock and end with the latest. */
void GOMP_parallel(void (*work)(void *), void *data, unsigned count, unsigned flags)
{
    void (*real)(void (*)(void *), void *, unsigned, unsigned);
    *(void **)&real = dlsym(RTLD_NEXT, "GOMP_parallel");
    for (unsigned i = 1; i < count && i < THREADS; i++) {
        threads[i].now = threads[0].now;
        threads[i].phase = threads[0].phase + i;
    }
    call(0, "team:%u", count);
    real(work, data, count, flags);
    for (unsigned i = 1; i < count && i < THREADS; i++) {
        threads[0].now = threads[i].now > threads[0].now ? threads[i].now : threads[0].now;
    }
    call(0, "joined");
}

void GOMP_barrier(void)
{
    void (*real)(void), *found = dlsym(RTLD_NEXT, "GOMP_barrier");
    long latest = 0;
    memcpy(&real, &found, sizeof real);
    real();
    for (int i = 0; i < omp_get_num_threads(); i++) {
        latest = threads[i].now > latest ? threads[i].now : latest;
    }
    real();
    self()->now = latest;
    call(0, "barrier");
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *got)
{
    int status = PMPI_Init_thread(argc, argv, wanted, got);
    char name[4096];
    dl_iterate_phdr(executable, NULL);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < COMMUNICATORS; i++) {
        communicators[i] = i == 0 ? MPI_COMM_WORLD : MPI_COMM_NULL;
    }
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

/* Libraries spin while they wait, and here all ranks share a few cores. */
static void rest(void)
{
    const struct timespec nap = {.tv_nsec = 20000};
    syscall(SYS_nanosleep, &nap, NULL);
}

static int wait_for(MPI_Request *request, MPI_Status *status)
{
    for (int done = 0; PMPI_Test(request, &done, status), !done; rest()) {
    }
    return MPI_SUCCESS;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    if (type == MPI_CHAR && to == 1) {
        next_point(buffer);
    }
    call(COST_SEND, "send:%d.%d%c*%d", to, tag, letter(comm), count);
    self()->phase++;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    PMPI_Irecv(buffer, count, type, from, tag, comm, &request);
    wait_for(&request, status);
    if (type == MPI_CHAR) {
        next_point(buffer);
    }
    call(COST_RECV, "recv:%d.%d%c*%d", from, tag, letter(comm), count);
    self()->phase++;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    call(COST_WAIT, "wait");
    return wait_for(request, status);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status *statuses)
{
    (void)statuses;
    call(COST_WAITALL, "waitall:%d", n);
    for (int i = 0; i < n; i++) {
        wait_for(&requests[i], MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm)
{
    MPI_Request request;
    call(COST_BARRIER, "barrier:%c", letter(comm));
    self()->phase++;
    PMPI_Ibarrier(comm, &request);
    return wait_for(&request, MPI_STATUS_IGNORE);
}

/* The other calls: what each is asked, and its cost. */
#define CALL(COST, name, parameters, arguments, ...) \
    int MPI_##name parameters                        \
    {                                                \
        call(COST, __VA_ARGS__);                     \
        return PMPI_##name arguments;                \
    }
#define MESSAGE(NAME, name, text, constant)                                                                         \
    CALL(COST_##NAME, name,                                                                                         \
         (constant void *b, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request),      \
         (b, n, type, peer, tag, comm, request), text ":%d.%d%c*%d+%d", peer, tag, letter(comm), n, offset(b))
#define PARTITIONED(NAME, name, text, constant)                                                                     \
    CALL(COST_##NAME, name,                                                                                         \
         (constant void *b, int parts, MPI_Count n, MPI_Datatype type, int peer, int tag, MPI_Comm comm,            \
          MPI_Info info, MPI_Request *request),                                                                     \
         (b, parts, n, type, peer, tag, comm, info, request), text ":%d.%d%c*%dx%d+%d", peer, tag, letter(comm),    \
         parts, (int)n, offset(b))

MESSAGE(ISEND, Isend, "isend", const)
MESSAGE(IRECV, Irecv, "irecv", )
MESSAGE(SEND_INIT, Send_init, "send_init", const)
MESSAGE(RECV_INIT, Recv_init, "recv_init", )
PARTITIONED(PSEND_INIT, Psend_init, "psend_init", const)
PARTITIONED(PRECV_INIT, Precv_init, "precv_init", )
CALL(COST_START, Start, (MPI_Request *request), (request), "start")
CALL(COST_PREADY, Pready, (int part, MPI_Request request), (part, request), "pready:%d", part)
CALL(COST_REQUEST_FREE, Request_free, (MPI_Request *request), (request), "request_free")
CALL(COST_IBARRIER, Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), "ibarrier:%c", letter(comm))
CALL(COST_BCAST, Bcast, (void *b, int n, MPI_Datatype type, int root, MPI_Comm comm), (b, n, type, root, comm),
     "bcast:%d%c*%d", root, letter(comm), n)
CALL(COST_REDUCE, Reduce, (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
     (from, to, n, type, op, root, comm), "reduce:%d%c*%d", root, letter(comm), n)
CALL(COST_WIN_CREATE, Win_create, (void *b, MPI_Aint n, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),
     (b, n, unit, info, comm, made), "win_create:%c*%ldx%d+%d", letter(comm), (long)n, unit, offset(b))
CALL(COST_WIN_FENCE, Win_fence, (int assert, MPI_Win window), (assert, window), "win_fence:%d%d",
     (assert & MPI_MODE_NOPRECEDE) != 0, (assert & MPI_MODE_NOSUCCEED) != 0)
CALL(COST_WIN_FREE, Win_free, (MPI_Win *window), (window), "win_free")
CALL(COST_PUT, Put, (const void *b, int n, MPI_Datatype type, int to, MPI_Aint at, int count, MPI_Datatype there, MPI_Win w),
     (b, n, type, to, at, count, there, w), "put:%d*%d+%d>%ld*%d", to, n, offset(b), (long)at, count)

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    call(COST_COMM_DUP, "comm_dup:%c", letter(comm));
    PMPI_Comm_dup(comm, made);
    communicators[place_of(MPI_COMM_NULL)] = *made;
    return MPI_SUCCESS;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    call(COST_COMM_SPLIT, "comm_split:%c,%d,%d", letter(comm), color != MPI_UNDEFINED, key);
    PMPI_Comm_split(comm, color, key, made);
    communicators[place_of(MPI_COMM_NULL)] = *made;
    return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    call(COST_COMM_FREE, "comm_free:%c", letter(*comm));
    communicators[place_of(*comm)] = MPI_COMM_NULL;
    return PMPI_Comm_free(comm);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
    call(COST_IPROBE, "iprobe:%d.%d%c", from == MPI_ANY_SOURCE ? -1 : from, tag == MPI_ANY_TAG ? -1 : tag, letter(comm));
    *there = from != MPI_ANY_SOURCE && self()->polls++ % 2 == 1;
    for (int come = !*there; !come; rest()) {
        PMPI_Iprobe(from, tag, comm, &come, status);
    }
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    call(COST_TEST, "test");
    *done = self()->polls++ % 2 == 1;
    return *done ? wait_for(request, status) : MPI_SUCCESS;
}

int MPI_Parrived(MPI_Request request, int part, int *there)
{
    call(COST_PARRIVED, "parrived:%d", part);
    *there = self()->polls++ % 2 == 1;
    for (int come = !*there; !come; rest()) {
        PMPI_Parrived(request, part, &come);
    }
    return MPI_SUCCESS;
}
