/* Pt2Pt part: MPI 4.0 partitioned communication. The requests are started one by one: MPI_Startall on partitioned
 * requests hangs in Open MPI 5.0 (issue 12969). */
#include "approach.h"

#include <stdlib.h>

#if PREADY_HAS_PARTITIONED

enum { TAG_PART = 77 };

static void init(Transfer *t)
{
    t->handles = 1;
    t->requests = calloc(1, sizeof *t->requests);
    MPI_Count count = (MPI_Count)t->bin_bytes;
    if (t->sender) {
        MPI_Psend_init(t->buffer, t->bins, count, MPI_BYTE, 1, TAG_PART, t->bench->data, MPI_INFO_NULL, t->requests);
    } else {
        MPI_Precv_init(t->buffer, t->bins, count, MPI_BYTE, 0, TAG_PART, t->bench->data, MPI_INFO_NULL, t->requests);
    }
}

static void start(Transfer *t)
{
    MPI_Start(t->requests);
}

static void ready(Transfer *t, int bin)
{
    MPI_Pready(bin, t->requests[0]);
}

static void receive(Transfer *t, int thread)
{
    for (int bin = 0; t->poll_arrival && bin < t->bins; bin++) {
        for (int there = share_of(t, bin, t->threads) != thread; !there;) {
            MPI_Parrived(t->requests[0], bin, &there);
        }
    }
}

static void finish(Transfer *t)
{
    MPI_Wait(t->requests, MPI_STATUS_IGNORE);
}

static void release(Transfer *t)
{
    MPI_Request_free(t->requests);
}

const Way way_part = {
    .partitioned = true,
    .init = init,
    .start = start,
    .receive = receive,
    .ready = ready,
    .finish = finish,
    .free = release,
};

#else

const Way way_part = {.partitioned = true};

#endif
