// Calls that wait for messages or test for them.
#include "mpi_wrap.h"

WRAP(Wait, (MPI_Request * request, MPI_Status *status), (request, status), NOTE(WAIT, PEER_NOT_ONE, 1))
WRAP(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), (count, requests, statuses),
     NOTE(WAIT, PEER_NOT_ONE, (uint64_t)(count > 0 ? count : 0)))
WRAP(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status), (count, requests, index, status),
     NOTE(WAIT, PEER_NOT_ONE, *index == MPI_UNDEFINED ? 0 : 1))
WRAP(Waitsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),
     (count, requests, done, indices, statuses),
     NOTE(WAIT, PEER_NOT_ONE, *done == MPI_UNDEFINED ? 0 : (uint64_t)*done))

WRAP(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status),
     NOTE(TEST, PEER_NOT_ONE, *flag ? 1 : 0))
WRAP(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]), (count, requests, flag, statuses),
     NOTE(TEST, PEER_NOT_ONE, *flag ? (uint64_t)(count > 0 ? count : 0) : 0))
WRAP(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
     (count, requests, index, flag, status), NOTE(TEST, PEER_NOT_ONE, *flag && *index != MPI_UNDEFINED ? 1 : 0))
WRAP(Testsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),
     (count, requests, done, indices, statuses),
     NOTE(TEST, PEER_NOT_ONE, *done == MPI_UNDEFINED ? 0 : (uint64_t)*done))

WRAP(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status), (source, tag, comm, status),
     NOTE(PROBE, peers_world_rank(source, comm), 0))
WRAP(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
     (source, tag, comm, message, status), NOTE(PROBE, peers_world_rank(source, comm), 0))
WRAP(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status), (source, tag, comm, flag, status),
     NOTE(TEST, peers_world_rank(source, comm), 0))
