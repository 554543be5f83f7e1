/* How ranks wait: for each other, and for the time when a partition is ready.
 *
 * Who waits in MPI is what a way says: each thread for its own messages, or the master for all of them. Threads compute
 * by spinning where each has a core, else by sleeping. Where there are fewer cores than threads that wait at a time,
 * those that polled would take each other's time slices, and that of a thread that has slept. There ranks yield between
 * two looks, and after 2 ms nap a hundredth of the time that they have waited. Where several threads of a rank wait, or
 * where the kernel keeps ranks in groups apart (a session each, sched_autogroup), sched_yield gives too little away, and
 * they nap from the start. A nap of 20 us takes 30 to 100: it makes small exchanges longer, and most those that take
 * several looks.
 */
#include "exchange/waiting.h"
#include "core/team.h"

#include <math.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint64_t SLICE_NS = 100000; /* the kernel's minimum */
static const double YIELDING_S = 2e-3;   /* of waiting; then a rank that yields naps as well */
static const double SHORTEST_NAP_S = 20e-6, NAP_SHARE = 0.01, LONGEST_NAP_S = 1e-3;

void exchange_enter(const Exchange *e, int threads)
{
    team_check(threads);
    if (e->computing == SLEEPING) {
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* 50 us by default, of this thread alone */
    }
}

void let_others_run(const Exchange *e, double since)
{
    double waited = now_s() - since;
    if (e->patience == YIELDING && waited < YIELDING_S) {
        sched_yield();
    } else {
        double nap_s = fmax(SHORTEST_NAP_S, fmin(waited * NAP_SHARE, LONGEST_NAP_S));
        const struct timespec some = {.tv_sec = 0, .tv_nsec = (long)(1e9 * nap_s)};
        nanosleep(&some, NULL);
    }
}

void exchange_wait(const Exchange *e, int count, MPI_Request *requests)
{
    if (e->patience == POLLING) {
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        return;
    }
    double began = now_s();
    for (int i = 0; i < count; i++) {
        for (int done = 0; MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE), !done;) {
            let_others_run(e, began);
        }
    }
}

/* Threads of a rank that poll at a time: those that complete their own messages or work on what comes, or the
 * master. */
static int pollers(const Exchanges *all)
{
    int most = 1;
    for (int i = 0; i < all->count; i++) {
        const Exchange *e = &all->each[i];
        most = e->way->thread_done != NULL && most < e->threads ? e->threads : most;
        most = consumes_early(e) && most < e->work.threads ? e->work.threads : most;
    }
    return most;
}

static int most_threads(const Exchanges *all)
{
    int most = all->each->threads;
    for (int i = 0; i < all->count; i++) {
        most = all->each[i].work.threads > most ? all->each[i].work.threads : most;
    }
    return most;
}

static Patience patience_of(const Run *run, bool enough, bool one_group)
{
    if (run_is(run, "wait_by", "auto")) {
        return enough ? POLLING : one_group ? YIELDING : NAPPING;
    }
    return run_is(run, "wait_by", "poll") ? POLLING : run_is(run, "wait_by", "yield") ? YIELDING : NAPPING;
}

void choose_waiting(const Exchanges *all, Run *run)
{
    Exchange *e = all->each;
    int ranks, cores = binding_here(&ranks), mine[3], least[3];
    mine[0] = cores >= ranks * most_threads(all);
    mine[1] = cores >= ranks * pollers(all);
    mine[2] = binding_one_group() && pollers(all) == 1;
    MPI_Allreduce(mine, least, 3, MPI_INT, MPI_MIN, e->bench->control);
    e->computing = least[0] ? SPINNING : SLEEPING;
    e->patience = patience_of(run, least[1], least[2]);
    run_derive(run, "cores", cores);
    run_derive(run, "ranks_here", ranks);
    run_derive(run, "spins", e->computing == SPINNING);
    run_derive(run, "yields", e->patience == YIELDING);
    run_derive(run, "naps", e->patience == NAPPING);
    for (int i = 1; i < all->count; i++) {
        all->each[i].computing = e->computing;
        all->each[i].patience = e->patience;
    }
}

/* Ranks that share cores get shorter time slices than the 3 ms of Linux, from 6.12 on: where a library waits inside a
 * call, as MPICH's epochs do, it polls until its slice ends, while others have data to send. Returns the master's slice
 * in seconds; 0: the kernel's own.
 */
double shorten_slices(const Exchange *e)
{
    struct { /* sched_setattr(2) */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } mine = {0};
    if (e->patience == POLLING) {
        return 0;
    }
#pragma omp parallel num_threads(e->threads) firstprivate(mine)
    if (syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) == 0 && mine.policy == SCHED_OTHER) {
        mine.runtime = SLICE_NS;
        syscall(SYS_sched_setattr, 0, &mine, 0);
    }
    syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0);
    return 1e-9 * (double)mine.runtime;
}
