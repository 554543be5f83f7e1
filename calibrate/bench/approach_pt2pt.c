/* Pt2Pt single (bulk: one persistent message after the barrier) and Pt2Pt many (one persistent message per transport
 * partition, on a communicator per thread). */
#include "approach.h"

#include <stdlib.h>

/* ---- single ----------------------------------------------------------------------------------------------------- */

static void single_init(Transfer *t)
{
    t->handles = 1;
    t->requests = calloc(1, sizeof *t->requests);
    if (t->sender) {
        MPI_Send_init(t->buffer, (int)t->bytes, MPI_BYTE, 1, 0, t->bench->data, t->requests);
    } else {
        MPI_Recv_init(t->buffer, (int)t->bytes, MPI_BYTE, 0, 0, t->bench->data, t->requests);
    }
}

static void single_start(Transfer *t)
{
    if (!t->sender) {
        MPI_Start(t->requests);
    }
}

static void single_finish(Transfer *t)
{
    if (t->sender) {
        MPI_Start(t->requests);
    }
    MPI_Wait(t->requests, MPI_STATUS_IGNORE);
}

static void single_release(Transfer *t)
{
    MPI_Request_free(t->requests);
}

const Way way_single = {
    .init = single_init,
    .start = single_start,
    .finish = single_finish,
    .free = single_release,
};

/* ---- many ------------------------------------------------------------------------------------------------------- */

static void many_init(Transfer *t)
{
    long asked = run_integer(t->run, "communicators");
    t->handles = (int)(asked == 0 ? run_integer(t->run, "threads") : asked);
    t->communicators = calloc((size_t)t->handles, sizeof *t->communicators);
    t->requests = calloc((size_t)t->bins, sizeof *t->requests);
    for (int i = 0; i < t->handles; i++) {
        MPI_Comm_dup(t->bench->data, &t->communicators[i]);
    }
    for (int bin = 0; bin < t->bins; bin++) {
        MPI_Comm comm = t->communicators[share_of(t, bin, t->handles)];
        if (t->sender) {
            MPI_Send_init(bin_at(t, bin), (int)t->bin_bytes, MPI_BYTE, 1, bin, comm, &t->requests[bin]);
        } else {
            MPI_Recv_init(bin_at(t, bin), (int)t->bin_bytes, MPI_BYTE, 0, bin, comm, &t->requests[bin]);
        }
    }
}

static void many_ready(Transfer *t, int bin)
{
    MPI_Start(&t->requests[bin]);
}

/* After its last partition a thread completes what it sent; with wait=master the master completes everything. */
static void many_thread_done(Transfer *t, int thread)
{
    const Thread *self = &t->team[thread];
    for (int i = 0; t->wait_in_thread && i < self->sent_count; i++) {
        MPI_Wait(&t->requests[self->sent[i]], MPI_STATUS_IGNORE);
    }
}

static void many_receive(Transfer *t, int thread)
{
    int first = t->bins, last = -1;
    for (int bin = 0; bin < t->bins; bin++) {
        if (share_of(t, bin, t->threads) == thread) {
            first = bin < first ? bin : first;
            last = bin;
        }
    }
    if (last >= first) {
        MPI_Startall(last - first + 1, &t->requests[first]);
        MPI_Waitall(last - first + 1, &t->requests[first], MPI_STATUSES_IGNORE);
    }
}

static void many_finish(Transfer *t)
{
    if (t->sender && !t->wait_in_thread) {
        MPI_Waitall(t->bins, t->requests, MPI_STATUSES_IGNORE);
    }
}

static void many_release(Transfer *t)
{
    for (int bin = 0; bin < t->bins; bin++) {
        MPI_Request_free(&t->requests[bin]);
    }
    for (int i = 0; i < t->handles; i++) {
        MPI_Comm_free(&t->communicators[i]);
    }
}

const Way way_many = {
    .init = many_init,
    .receive = many_receive,
    .ready = many_ready,
    .thread_done = many_thread_done,
    .finish = many_finish,
    .free = many_release,
};
