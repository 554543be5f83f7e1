// A world of which all is known, preloaded after the library: time passes only where the steps of a test say so, for each
// thread by itself, and the system answers what it is told.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

int64_t result, request, flag, done, first, second, takes_ns; // of MPI's calls
int64_t long_texts, unwound, blind; // of the system
cpu_set_t cpus;
void (*meanwhile)(void); // what others do while MPI is called
static _Thread_local int64_t spent;
int MPI_Send(const void *, int, int, int, int, int), MPI_Test(int *, int *, void *), MPI_Wait(int *, void *);

void spend(int64_t ns)
{
    spent += ns;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int64_t ns = (clock == CLOCK_REALTIME ? 1700000000999999000 : 41999999000) + spent; // before a second ends
    *t = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}

int gethostname(char *name, size_t room)
{
    memset(name, 'h', room); // longer than that
    name[1] = '/';
    return 0;
}

ssize_t readlink(const char *link, char *to, size_t room)
{
    ssize_t (*const real)(const char *, char *, size_t) = dlsym(RTLD_NEXT, "readlink");
    return long_texts ? (memset(to, 'p', room), (ssize_t)room) : real(link, to, room);
}

int posix_fallocate(int file, off_t from, off_t bytes)
{
    static int calls;
    return calls++ == 0 ? EINTR : ftruncate(file, from + bytes);
}

void cpu(int first, int last)
{
    for (; first <= last; first++)
        CPU_SET(first, &cpus);
}

int sched_getaffinity(pid_t thread, size_t room, cpu_set_t *set)
{
    memcpy(set, &cpus, room);
    if (thread == 0)
        CPU_SET(77, set);
    return 0;
}

_Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn each, void *data)
{
    _Unwind_Reason_Code (*const real)(_Unwind_Trace_Fn, void *) = dlsym(RTLD_NEXT, "_Unwind_Backtrace");
    unwound++;
    return blind ? _URC_END_OF_STACK : real(each, data);
}

void nothing(void *data)
{
}

void sends(int bytes)
{
    MPI_Send(NULL, bytes, 0x4c000101, 2, 0, 0x44000000); // MPICH's MPI_CHAR, MPI_COMM_WORLD
}

void inner(int bytes)
{
    sends(bytes);
}

void outer(int bytes)
{
    for (int i = 0; i < bytes; i++)
        inner(bytes);
    inner(bytes);
}

void often(int bytes)
{
    for (int i = 0; i < bytes; i++)
        outer(bytes);
}

void deep(int calls, int bytes)
{
    calls > 0 ? deep(calls - 1, bytes) : often(bytes);
}

// Of the last request of a page, behind which nothing may be read.
void waits(int request_)
{
    char *const page = mmap(NULL, 2 * (size_t)getpagesize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int *const last = (int *)(page + getpagesize()) - 1;
    mprotect(last + 1, (size_t)getpagesize(), PROT_NONE);
    *last = request_;
    MPI_Test(last, &(int){0}, NULL);
    MPI_Wait(last, NULL);
}
