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
