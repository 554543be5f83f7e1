/* Exchanges by MPI_Put into the receivers' arenas: one window, or one per bin; active (post, start, complete, wait) or
 * passive (a lock for the whole run, a flush, and empty messages that say when a buffer is exposed and when written).
 *
 * A bin has one window, in which it goes to all peers. A window has one access epoch at a time: with a thread grid, where
 * each message of a bin is another thread's, "many - active" is refused.
 *
 * With active synchronisation each phase has windows of its own: MPICH 5.0 counts exposures whoever posts them, so that
 * one of the next phase would open the epoch of this one. */
#include "exchange/state.h"

enum { TAG_EXPOSED = 20000, TAG_WRITTEN = 21000 };

static int *unique_peers(const Exchange *e, const Edge *edges, int count, int *found)
{
    int *peers = memory_of(e->run, (size_t)count * sizeof *peers);
    *found = 0;
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (int k = 0; k < *found; k++) {
            known = known || peers[k] == edges[i].peer;
        }
        if (!known) {
            peers[(*found)++] = edges[i].peer;
        }
    }
    return peers;
}

static void create(Exchange *e)
{
    MPI_Group all;
    MPI_Comm_group(e->bench->data, &all);
    e->handles = (e->way->windows_per_bin ? e->bins : 1) * (e->way->passive ? 1 : e->phases);
    e->windows = memory_of(e->run, (size_t)e->handles * sizeof *e->windows);
    for (int i = 0; i < e->handles; i++) {
        MPI_Win_create(e->in, (MPI_Aint)e->in_bytes, 1, MPI_INFO_NULL, e->bench->data, &e->windows[i]);
        if (e->way->passive) {
            MPI_Win_lock_all(MPI_MODE_NOCHECK, e->windows[i]);
        }
    }
    for (int i = 0; i < e->phases; i++) {
        Phase *p = &e->phase[i];
        p->from = unique_peers(e, p->receive, p->receives, &p->from_count);
        p->to = unique_peers(e, p->send, p->sends, &p->to_count);
        MPI_Group_incl(all, p->from_count, p->from, &p->from_group);
        MPI_Group_incl(all, p->to_count, p->to, &p->to_group);
        p->opened = memory_of(e->run, (size_t)p->to_count * sizeof *p->opened);
    }
    MPI_Group_free(&all);
    omp_init_lock(&e->opening);
}

static void destroy(Exchange *e)
{
    for (int i = 0; i < e->handles; i++) {
        if (e->way->passive) {
            MPI_Win_unlock_all(e->windows[i]);
        }
        MPI_Win_free(&e->windows[i]);
    }
    for (int i = 0; i < e->phases; i++) {
        Phase *p = &e->phase[i];
        MPI_Group_free(&p->from_group);
        MPI_Group_free(&p->to_group);
    }
    omp_destroy_lock(&e->opening);
}

static void put(Exchange *e, const Job *job, MPI_Win window)
{
    for (int i = job->first; i < job->first + job->count; i++) {
        const Edge *s = &e->now->send[i];
        size_t bytes = part_bytes(e, s), there = s->there + offset_of(s, job->bin, e->parts);
        MPI_Put(part_at(e, s, e->out, job->bin), (int)bytes, MPI_BYTE, s->peer,
                (MPI_Aint)there, (int)bytes, MPI_BYTE, window);
    }
}

/* ---- active ----------------------------------------------------------------------------------------------------- */

static MPI_Win *windows_now(const Exchange *e)
{
    return &e->windows[e->step * (e->handles / e->phases)];
}

/* Exposure epochs of this phase. */
static int exposures(const Exchange *e)
{
    return e->now->receives > 0 ? e->handles / e->phases : 0;
}

static void active_receives(Exchange *e)
{
    for (int i = 0; i < exposures(e); i++) {
        MPI_Win_post(e->now->from_group, 0, windows_now(e)[i]);
    }
}

static void end_exposure(const Exchange *e, int i)
{
    MPI_Win window = windows_now(e)[i];
    int done = 0;
    double began = now_s();
    if (!e->naps) {
        MPI_Win_wait(window);
        return;
    }
    while (MPI_Win_test(window, &done), !done) {
        let_others_run(e, began);
    }
}

static void active_wait(Exchange *e)
{
    for (int i = 0; i < exposures(e); i++) {
        end_exposure(e, i);
    }
}

static void single_active_sends(Exchange *e)
{
    if (e->now->to_count > 0) {
        MPI_Win_start(e->now->to_group, 0, e->windows[e->step]);
    }
}

static void single_active_ready(Exchange *e, const Job *job)
{
    put(e, job, e->windows[e->step]);
}

static void single_active_join(Exchange *e)
{
    if (e->now->to_count > 0) {
        MPI_Win_complete(e->windows[e->step]);
    }
}

static void many_active_ready(Exchange *e, const Job *job)
{
    if (job->count > 0) {
        MPI_Win window = windows_now(e)[job->bin];
        MPI_Win_start(e->now->to_group, 0, window);
        put(e, job, window);
        MPI_Win_complete(window);
    }
}

/* Of a window per bin each thread ends the exposure epochs of its own, as it has ended their access epochs. */
static void many_active_done(Exchange *e, int thread)
{
    for (int i = 0; !e->now->receives_first && i < exposures(e); i++) {
        if (receiving_thread(e, &e->now->receive[0], i) == thread) {
            end_exposure(e, i);
        }
    }
}

static void many_active_wait(Exchange *e)
{
    if (e->now->receives_first || e->master_receives) {
        active_wait(e);
    }
}

const ExchangeWay exchange_rma_single_active = {
    .splits = true,
    .init = create,
    .begin_receives = active_receives,
    .wait_receives = active_wait,
    .begin_sends = single_active_sends,
    .ready = single_active_ready,
    .join = single_active_join,
    .free = destroy,
};

const ExchangeWay exchange_rma_many_active = {
    .splits = true,
    .windows_per_bin = true,
    .init = create,
    .begin_receives = active_receives,
    .wait_receives = many_active_wait,
    .ready = many_active_ready,
    .thread_done = many_active_done,
    .free = destroy,
};

/* ---- passive ---------------------------------------------------------------------------------------------------- */

static void passive_receives(Exchange *e)
{
    for (int i = 0; i < e->handles; i++) {
        MPI_Win_sync(e->windows[i]);
    }
    for (int i = 0; i < e->now->from_count; i++) {
        send_empty(e->now->from[i], TAG_EXPOSED + e->before + e->step, e->bench->data);
    }
}

static void passive_sends(Exchange *e)
{
    atomic_store(&e->is_open, false);
    for (int i = 0; i < e->now->to_count; i++) {
        MPI_Irecv(NULL, 0, MPI_BYTE, e->now->to[i], TAG_EXPOSED + e->before + e->step, e->bench->data,
                  &e->now->opened[i]);
    }
}

/* The first thread to put waits until the receivers have exposed their buffers; the others wait for that thread. */
static void await_open(Exchange *e)
{
    if (atomic_load(&e->is_open)) {
        return;
    }
    omp_set_lock(&e->opening);
    if (!atomic_load(&e->is_open)) {
        exchange_wait(e, e->now->to_count, e->now->opened);
        atomic_store(&e->is_open, true);
    }
    omp_unset_lock(&e->opening);
}

static void single_passive_ready(Exchange *e, const Job *job)
{
    await_open(e);
    put(e, job, e->windows[0]);
}

static void many_passive_ready(Exchange *e, const Job *job)
{
    await_open(e);
    put(e, job, e->windows[job->bin]);
    if (e->shares != NULL) {
        MPI_Win_flush(e->now->send[job->first].peer, e->windows[job->bin]);
        return;
    }
    for (int i = 0; i < e->now->to_count; i++) {
        MPI_Win_flush(e->now->to[i], e->windows[job->bin]);
    }
}

static void say_written(Exchange *e)
{
    for (int i = 0; i < e->now->to_count; i++) {
        send_empty(e->now->to[i], TAG_WRITTEN + e->before + e->step, e->bench->data);
    }
}

static void single_passive_join(Exchange *e)
{
    for (int i = 0; i < e->now->to_count; i++) {
        MPI_Win_flush(e->now->to[i], e->windows[0]);
    }
    say_written(e);
}

static void passive_wait(Exchange *e)
{
    for (int i = 0; i < e->now->from_count; i++) {
        MPI_Request written;
        MPI_Irecv(NULL, 0, MPI_BYTE, e->now->from[i], TAG_WRITTEN + e->before + e->step, e->bench->data, &written);
        exchange_wait(e, 1, &written);
    }
    for (int i = 0; i < e->handles; i++) {
        MPI_Win_sync(e->windows[i]);
    }
}

const ExchangeWay exchange_rma_single_passive = {
    .splits = true,
    .passive = true,
    .init = create,
    .begin_receives = passive_receives,
    .wait_receives = passive_wait,
    .begin_sends = passive_sends,
    .ready = single_passive_ready,
    .join = single_passive_join,
    .free = destroy,
};

const ExchangeWay exchange_rma_many_passive = {
    .splits = true,
    .windows_per_bin = true,
    .passive = true,
    .init = create,
    .begin_receives = passive_receives,
    .wait_receives = passive_wait,
    .begin_sends = passive_sends,
    .ready = many_passive_ready,
    .join = say_written,
    .free = destroy,
};
