/* pready-bench probe NAME SECONDS
 *
 *   environment  the library, the thread level, hosts and cores of the ranks
 *   early        does MPI_Pready send before the last partition is ready?
 *   restart      a partitioned request used again and again: do the right bytes come?
 *   put          does MPI_Put arrive while the target computes?
 *
 * Rank 0 writes each answer as it comes, "@pready NAME JSON", first "begun", last "done": what comes before a crash is
 * an answer, too. A rank that crashes writes its signal. After SECONDS SIGALRM ends each rank, wherever it is, so
 * nothing that hangs outlives its job, on whatever node.
 */
#include "probes/probe.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void probe_answer(const Bench *b, const char *name, double value)
{
    if (b->rank == 0) {
        printf("@pready %s %.9g\n", name, value);
        fflush(stdout);
    }
}

static void probe_environment(const Bench *b)
{
    binding_open(b);
    if (b->rank == 0) {
        fputs("@pready environment ", stdout);
    }
    record_environment(b);
}

static const struct {
    const char *name;
    Probe *run;
    bool partitioned;
} probes[] = {
    {"environment", probe_environment, false},
    {"put", probe_put, false},
    {"early", probe_early, true},
    {"restart", probe_restart, true},
};

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

void probe_limit(int seconds)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm((unsigned)seconds);
}

int probe_run(const Bench *b, const char *name)
{
    const int fatal[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        signal(fatal[i], last_words); /* after MPI_Init, which may install its own */
    }
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        if (strcmp(name, probes[i].name) == 0) {
            MPI_Barrier(b->control);
            probe_answer(b, "begun", b->ranks);
            if (probes[i].partitioned) {
                prepare_partitioned(b);
            }
            probes[i].run(b);
            probe_answer(b, "done", 1);
            return 0;
        }
    }
    fprintf(stderr, "pready-bench: no probe '%s'\n", name);
    return 2;
}
