/* pready-doctor NAME [SECONDS]: one probe of an MPI library, in a job of its own.
 *
 *   about      the library, the thread level, hosts and cores of the ranks
 *   early      does MPI_Pready send before the last partition is ready?
 *   restart    a partitioned request used again and again: does it complete, not too soon, with the right bytes?
 *   startall   MPI_Startall on the requests of several neighbours
 *   unequal    other numbers of partitions at the receiver than at the sender
 *   proc-null  MPI_PROC_NULL in MPI_Psend_init and MPI_Precv_init
 *   unstarted  a request is freed before it was ever started; the next one has its tag
 *   put        does MPI_Put arrive while the target computes?
 *
 * Rank 0 writes each answer as it comes, "@pready NAME JSON", first "begun", last "done": what comes before a crash is
 * an answer, too. A rank that crashes writes its signal. After SECONDS SIGALRM ends each rank, wherever it is, so
 * nothing that hangs outlives its job, on whatever node.
 */
#include "probe.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 512 };

typedef struct {
    char host[256], cores[TEXT];
} Place;

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sleep_s(double seconds)
{
    const time_t whole = (time_t)seconds;
    const struct timespec nap = {.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))};
    nanosleep(&nap, NULL);
}

void answer(const Job *job, const char *name, double value)
{
    if (job->rank == 0) {
        printf("@pready %s %.9g\n", name, value);
        fflush(stdout);
    }
}

static void text(const char *value)
{
    putchar('"');
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            printf("\\%c", *c);
        } else if ((unsigned char)*c < ' ') {
            printf("\\u%04x", (unsigned)*c);
        } else {
            putchar(*c);
        }
    }
    putchar('"');
}

/* The cores that this process may use, as "0-3,8". */
static void find_cores(char cores[TEXT])
{
    cpu_set_t set;
    size_t used = 0;
    cores[0] = '\0';
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return;
    }
    for (int core = 0; core < CPU_SETSIZE && used + 16 < TEXT; core++) {
        if (CPU_ISSET(core, &set)) {
            int last = core;
            while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) {
                last++;
            }
            const char *comma = used > 0 ? "," : "";
            used += (size_t)(last > core ? snprintf(cores + used, TEXT - used, "%s%d-%d", comma, core, last)
                                         : snprintf(cores + used, TEXT - used, "%s%d", comma, core));
            core = last;
        }
    }
}

static void probe_about(const Job *job)
{
    static char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0, level = 0, version = 0, subversion = 0;
    Place mine = {.host = ""}, *all = calloc((size_t)job->ranks, sizeof *all);
    if (all == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    gethostname(mine.host, sizeof mine.host - 1);
    find_cores(mine.cores);
    MPI_Gather(&mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Get_library_version(library, &length);
    MPI_Query_thread(&level);
    MPI_Get_version(&version, &subversion);
    if (job->rank == 0) {
        printf("@pready library ");
        text(library);
        printf("\n@pready standard %d.%d\n", version, subversion);
        for (int rank = 0; rank < job->ranks; rank++) {
            printf("@pready rank {\"host\": ");
            text(all[rank].host);
            printf(", \"cores\": ");
            text(all[rank].cores);
            puts("}");
        }
    }
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 0; i < 4; i++) {
        if (level == levels[i]) {
            answer(job, "threads", i);
        }
    }
#ifdef PARTITIONED
    answer(job, "partitioned", 1);
#else
    answer(job, "partitioned", 0);
#endif
    free(all);
}

/* Says which signal ends this rank, and lets it. */
static void last_words(int number)
{
    char said[] = "@pready signal 00\n";
    said[sizeof said - 4] = (char)('0' + number / 10);
    said[sizeof said - 3] = (char)('0' + number % 10);
    (void)!write(STDOUT_FILENO, said, sizeof said - 1);
    signal(number, SIG_DFL);
    raise(number);
}

static const struct {
    const char *name;
    Probe *run;
} probes[] = {
    {"about", probe_about},
    {"put", probe_put},
#ifdef PARTITIONED
    {"early", probe_early},
    {"restart", probe_restart},
    {"startall", probe_startall},
    {"unequal", probe_unequal},
    {"proc-null", probe_proc_null},
    {"unstarted", probe_unstarted},
#endif
};

int main(int argc, char **argv)
{
    const struct rlimit none = {0, 0};
    int granted = 0;
    Job job;
    Probe *run = NULL;
    for (size_t i = 0; argc > 1 && i < sizeof probes / sizeof *probes; i++) {
        run = strcmp(argv[1], probes[i].name) == 0 ? probes[i].run : run;
    }
    if (run == NULL) {
        fprintf(stderr, "pready-doctor: no such probe\n");
        return 2;
    }
    setrlimit(RLIMIT_CORE, &none);
    alarm(argc > 2 ? (unsigned)atoi(argv[2]) : 10);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    const int fatal[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        signal(fatal[i], last_words); /* after MPI_Init, which may install its own */
    }
    answer(&job, "begun", job.ranks);
    run(&job);
    answer(&job, "done", 1);
    MPI_Finalize();
    return 0;
}
