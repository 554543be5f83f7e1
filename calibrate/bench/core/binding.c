/* Which cores a rank's threads run on: each of a team on its own, where the rank has as many.
 *
 * A launcher may bind a rank to its cores or leave it the whole node; ranks that share the same cores divide them in
 * their order. Left alone where somebody else has decided (OMP_PROC_BIND and its like), where a rank has one core only,
 * and while a team is larger than the rank's cores: the kernel places such threads.
 */
#include "core/bench.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNKNOWN = -2, ANYWHERE = -1 };

typedef struct {
    char host[256];
    cpu_set_t cores;
} Place;

static cpu_set_t allowed;      /* as the launcher left it */
static int own[CPU_SETSIZE];   /* their numbers, from this rank's share on */
static int share, ranks_here, cores_together, cores_of_first;
static bool pinning;

static bool decided_elsewhere(void)
{
    return getenv("OMP_PROC_BIND") != NULL || getenv("OMP_PLACES") != NULL || getenv("GOMP_CPU_AFFINITY") != NULL ||
           getenv("KMP_AFFINITY") != NULL;
}

/* The cores allowed but for the first so many. */
static void take_share(int first)
{
    int seen = 0;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &allowed)) {
            if (seen >= first) {
                own[seen - first] = core;
            }
            seen++;
        }
    }
}

void binding_open(const Bench *b)
{
    Place mine, *all = allocate((size_t)b->ranks * sizeof mine);
    memset(&mine, 0, sizeof mine);
    gethostname(mine.host, sizeof mine.host - 1);
    sched_getaffinity(0, sizeof mine.cores, &mine.cores);
    MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, b->control);
    allowed = mine.cores;
    cores_of_first = CPU_COUNT(&all[0].cores);
    cpu_set_t together, both;
    CPU_ZERO(&together);
    int before = 0, alike = 0;
    bool partly = false;
    ranks_here = 0;
    for (int i = 0; i < b->ranks; i++) {
        if (strcmp(all[i].host, mine.host) != 0) {
            continue;
        }
        ranks_here++;
        CPU_OR(&together, &together, &all[i].cores);
        CPU_AND(&both, &mine.cores, &all[i].cores);
        bool same = CPU_EQUAL(&mine.cores, &all[i].cores);
        before += same && i < b->rank;
        alike += same;
        partly = partly || (!same && CPU_COUNT(&both) > 0);
    }
    free(all);
    cores_together = CPU_COUNT(&together);
    share = partly ? cores_together / ranks_here : CPU_COUNT(&allowed) / alike;
    take_share(before * share);
    pinning = !partly && share > 1 && !decided_elsewhere();
    binding_take(0, 1);
}

void binding_take(int thread, int threads)
{
    static _Thread_local int at = UNKNOWN; /* a new thread has its creator's core */
    int core = threads <= share ? own[thread] : ANYWHERE;
    if (!pinning || core == at) {
        return;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    if (core != ANYWHERE) {
        CPU_SET(core, &one);
    }
    if (sched_setaffinity(0, sizeof one, core == ANYWHERE ? &allowed : &one) == 0) {
        at = core;
    }
}

int binding_of_first(void)
{
    return cores_of_first;
}

void binding_list(char *cores, size_t size)
{
    enum { LONGEST = 16 }; /* ",1000-1023" */
    size_t used = 0;
    cores[0] = '\0';
    for (int core = 0; core < CPU_SETSIZE && used + LONGEST < size; core++) {
        if (CPU_ISSET(core, &allowed)) {
            int last = core;
            while (CPU_ISSET(last + 1, &allowed)) { /* none is set from CPU_SETSIZE on */
                last++;
            }
            const char *comma = used > 0 ? "," : "";
            used += (size_t)(last > core ? snprintf(cores + used, LONGEST, "%s%d-%d", comma, core, last)
                                         : snprintf(cores + used, LONGEST, "%s%d", comma, core));
            core = last;
        }
    }
}

int binding_share(void)
{
    return share > 0 ? share : 1;
}

bool binding_pins(void)
{
    return pinning;
}

int binding_here(int *ranks)
{
    *ranks = ranks_here;
    return cores_together;
}
