/* Messages that many measurements send. */
#include "core/bench.h"

void send_empty(int to, int tag, MPI_Comm comm)
{
    MPI_Send(NULL, 0, MPI_BYTE, to, tag, comm);
}

void receive_empty(int from, int tag, MPI_Comm comm)
{
    MPI_Recv(NULL, 0, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
}

void answer(const Bench *b, int tag, MPI_Comm comm)
{
    if (b->sends) {
        receive_empty(b->peer, tag, comm);
    } else {
        send_empty(b->peer, tag, comm);
    }
}

void ping_empty(bool first, int peer, int tag, MPI_Comm comm)
{
    if (first) {
        send_empty(peer, tag, comm);
        receive_empty(peer, tag, comm);
    } else {
        receive_empty(peer, tag, comm);
        send_empty(peer, tag, comm);
    }
}

/* Open MPI 5.0 prepares partitioned communication with a collective over all ranks, at the first MPI_Psend_init: where
 * only two of them call it, it hangs. One empty round takes everybody through. */
void prepare_partitioned(const Bench *all)
{
    enum { TAG_FIRST = 76 };
    if (!PREADY_HAS_PARTITIONED) {
        return;
    }
    char out = 0, in = 0;
    int to = (all->rank + 1) % all->ranks, from = (all->rank + all->ranks - 1) % all->ranks;
    MPI_Request requests[2];
    MPI_Precv_init(&in, 1, 1, MPI_BYTE, from, TAG_FIRST, all->data, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(&out, 1, 1, MPI_BYTE, to, TAG_FIRST, all->data, MPI_INFO_NULL, &requests[1]);
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
    MPI_Pready(0, requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[i]);
    }
}

void make_partitioned(const Bench *b, char *buffer, int partitions, int bytes, int tag, MPI_Request *request)
{
    if (b->sends) {
        MPI_Psend_init(buffer, partitions, bytes, MPI_BYTE, b->peer, tag, b->data, MPI_INFO_NULL, request);
    } else {
        MPI_Precv_init(buffer, partitions, bytes, MPI_BYTE, b->peer, tag, b->data, MPI_INFO_NULL, request);
    }
}

void post_messages(const Bench *b, char *buffer, int bytes, int count, int tag, MPI_Comm comm, MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        char *at = buffer + (size_t)i * (size_t)bytes;
        if (b->sends) {
            MPI_Isend(at, bytes, MPI_BYTE, b->peer, tag + i, comm, &requests[i]);
        } else {
            MPI_Irecv(at, bytes, MPI_BYTE, b->peer, tag + i, comm, &requests[i]);
        }
    }
}
