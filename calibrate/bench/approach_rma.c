/* RMA single (one window) and many (a window per transport partition), with active or passive synchronisation. */
#include "approach.h"

#include <stdlib.h>

enum { TAG_EXPOSED = 101, TAG_WRITTEN = 102 };

static void create(Transfer *t, int windows)
{
    t->handles = windows;
    t->windows = calloc((size_t)windows, sizeof *t->windows);
    for (int i = 0; i < windows; i++) {
        void *base = t->sender ? NULL : t->buffer;
        MPI_Win_create(base, t->sender ? 0 : (MPI_Aint)t->bytes, 1, MPI_INFO_NULL, t->bench->data, &t->windows[i]);
    }
    MPI_Group all;
    MPI_Comm_group(t->bench->data, &all);
    MPI_Group_incl(all, 1, &t->bench->peer, &t->peer_group);
    MPI_Group_free(&all);
}

static void destroy(Transfer *t)
{
    for (int i = 0; i < t->handles; i++) {
        MPI_Win_free(&t->windows[i]);
    }
    MPI_Group_free(&t->peer_group);
}

static void put(Transfer *t, int bin, MPI_Win window)
{
    MPI_Put(bin_at(t, bin), (int)t->bin_bytes, MPI_BYTE, 1, (MPI_Aint)((size_t)bin * t->bin_bytes), (int)t->bin_bytes,
            MPI_BYTE, window);
}

static void single_init_active(Transfer *t)
{
    create(t, 1);
}

static void many_init_active(Transfer *t)
{
    create(t, t->bins);
}

static void single_ready(Transfer *t, int bin)
{
    put(t, bin, t->windows[0]);
}

/* ---- active ----------------------------------------------------------------------------------------------------- */

static void post_all(Transfer *t)
{
    for (int i = 0; i < t->handles; i++) {
        MPI_Win_post(t->peer_group, 0, t->windows[i]);
    }
}

static void wait_all(Transfer *t)
{
    for (int i = 0; i < t->handles; i++) {
        MPI_Win_wait(t->windows[i]);
    }
}

static void single_active_start(Transfer *t)
{
    if (t->sender) {
        MPI_Win_start(t->peer_group, 0, t->windows[0]);
    } else {
        post_all(t);
    }
}

static void single_active_finish(Transfer *t)
{
    if (t->sender) {
        MPI_Win_complete(t->windows[0]);
    } else {
        wait_all(t);
    }
}

static void many_active_start(Transfer *t)
{
    if (!t->sender) {
        post_all(t);
    }
}

static void many_active_ready(Transfer *t, int bin)
{
    MPI_Win_start(t->peer_group, 0, t->windows[bin]);
    put(t, bin, t->windows[bin]);
    MPI_Win_complete(t->windows[bin]);
}

static void many_active_finish(Transfer *t)
{
    if (!t->sender) {
        wait_all(t);
    }
}

const Way way_rma_single_active = {
    .init = single_init_active,
    .start = single_active_start,
    .ready = single_ready,
    .finish = single_active_finish,
    .free = destroy,
};

const Way way_rma_many_active = {
    .init = many_init_active,
    .start = many_active_start,
    .ready = many_active_ready,
    .finish = many_active_finish,
    .free = destroy,
};

/* ---- passive ---------------------------------------------------------------------------------------------------- */

/* One access epoch from init to free, never asking the target (MPI_MODE_NOCHECK, Section 2.3.3). The target holds the
 * same shared lock on itself, so that it may call MPI_Win_sync. */
static void lock_all(Transfer *t)
{
    for (int i = 0; i < t->handles; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, t->windows[i]);
    }
}

static void single_init_passive(Transfer *t)
{
    create(t, 1);
    lock_all(t);
}

static void many_init_passive(Transfer *t)
{
    create(t, t->bins);
    lock_all(t);
}

static void sync_all(Transfer *t)
{
    for (int i = 0; i < t->handles; i++) {
        MPI_Win_sync(t->windows[i]);
    }
}

static void passive_start(Transfer *t)
{
    if (t->sender) {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_EXPOSED, t->bench->data, MPI_STATUS_IGNORE);
    } else {
        sync_all(t);
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_EXPOSED, t->bench->data);
    }
}

static void many_passive_ready(Transfer *t, int bin)
{
    put(t, bin, t->windows[bin]);
    MPI_Win_flush(1, t->windows[bin]);
}

static void passive_finish(Transfer *t)
{
    if (t->sender) {
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_WRITTEN, t->bench->data);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_WRITTEN, t->bench->data, MPI_STATUS_IGNORE);
        sync_all(t);
    }
}

static void single_passive_finish(Transfer *t)
{
    if (t->sender) {
        MPI_Win_flush(1, t->windows[0]);
    }
    passive_finish(t);
}

static void unlock_destroy(Transfer *t)
{
    for (int i = 0; i < t->handles; i++) {
        MPI_Win_unlock(1, t->windows[i]);
    }
    destroy(t);
}

const Way way_rma_single_passive = {
    .init = single_init_passive,
    .start = passive_start,
    .ready = single_ready,
    .finish = single_passive_finish,
    .free = unlock_destroy,
};

const Way way_rma_many_passive = {
    .init = many_init_passive,
    .start = passive_start,
    .ready = many_passive_ready,
    .finish = passive_finish,
    .free = unlock_destroy,
};
