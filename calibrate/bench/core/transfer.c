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
