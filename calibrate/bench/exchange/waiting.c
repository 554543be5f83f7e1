/* Who waits in MPI is what a way says: each thread for its own messages, or the master for all of them. Threads compute
 * by spinning where each has a core, else by sleeping. Where there are fewer cores than threads that wait at a time,
 * those that polled would take each other's time slices, and that of a thread that has slept: there they nap between two
 * looks, for a hundredth of the time that they have waited. A nap of 20 us takes 30 to 100.
 */
#include "exchange/state.h"

#include "core/team.h"

#include <math.h>
#include <sys/prctl.h>
#include <time.h>

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
    if (e->naps) {
        double nap_s = fmax(SHORTEST_NAP_S, fmin((now_s() - since) * NAP_SHARE, LONGEST_NAP_S));
        const struct timespec some = {.tv_sec = 0, .tv_nsec = (long)(1e9 * nap_s)};
        nanosleep(&some, NULL);
    }
}

void exchange_wait(const Exchange *e, int count, MPI_Request *requests)
{
    if (!e->naps) {
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

/* Threads of a rank that poll at a time: those that complete their own messages, or the master. */
static int pollers(const Exchanges *all)
{
    int most = 1;
    for (int i = 0; i < all->count; i++) {
        const Exchange *e = &all->each[i];
        most = e->way->thread_done != NULL && most < e->threads ? e->threads : most;
    }
    return most;
}

void choose_waiting(const Exchanges *all, Run *run)
{
    int ranks, cores = binding_here(&ranks), mine[2], least[2];
    mine[0] = cores >= ranks * all->each->threads;
    mine[1] = cores >= ranks * pollers(all);
    MPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, run->bench->control);
    for (int i = 0; i < all->count; i++) {
        all->each[i].computing = least[0] ? SPINNING : SLEEPING;
        all->each[i].naps = !least[1];
    }
    run_derive(run, "naps", !least[1]);
}
