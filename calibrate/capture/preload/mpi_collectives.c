// Collectives: time in MPI, and the bytes that this rank sends.
#include "mpi_wrap.h"

// The blocking and the nonblocking form of one collective, which has a request more.
#define UNPACK(...) __VA_ARGS__
#define BOTH(name, iname, kind, parameters, arguments, bytes)                                                          \
    WRAP(name, (UNPACK parameters), (UNPACK arguments), NOTE(kind, PEER_NOT_ONE, bytes))                               \
    WRAP(iname, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),                               \
         NOTE(COLLECTIVE_STARTED, PEER_NOT_ONE, bytes))

#define GIVEN const void *sent, int count, MPI_Datatype type
#define TAKEN void *received, int receive_count, MPI_Datatype receive_type
#define GIVEN_ sent, count, type
#define TAKEN_ received, receive_count, receive_type
#define BYTES peers_bytes(count, type)

BOTH(Barrier, Ibarrier, BARRIER, (MPI_Comm comm), (comm), 0)
BOTH(Bcast, Ibcast, COLLECTIVE, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm),
     (buf, count, type, root, comm), BYTES)
BOTH(Reduce, Ireduce, COLLECTIVE,
     (const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
     (sent, received, count, type, op, root, comm), BYTES)
BOTH(Allreduce, Iallreduce, COLLECTIVE,
     (const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sent, received, count, type, op, comm), BYTES)
BOTH(Scan, Iscan, COLLECTIVE,
     (const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sent, received, count, type, op, comm), BYTES)
BOTH(Exscan, Iexscan, COLLECTIVE,
     (const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sent, received, count, type, op, comm), BYTES)
BOTH(Gather, Igather, COLLECTIVE, (GIVEN, TAKEN, int root, MPI_Comm comm), (GIVEN_, TAKEN_, root, comm), BYTES)
BOTH(Scatter, Iscatter, COLLECTIVE, (GIVEN, TAKEN, int root, MPI_Comm comm), (GIVEN_, TAKEN_, root, comm), 0)
BOTH(Allgather, Iallgather, COLLECTIVE, (GIVEN, TAKEN, MPI_Comm comm), (GIVEN_, TAKEN_, comm), BYTES)
BOTH(Alltoall, Ialltoall, COLLECTIVE, (GIVEN, TAKEN, MPI_Comm comm), (GIVEN_, TAKEN_, comm), 0)
BOTH(Gatherv, Igatherv, COLLECTIVE,
     (GIVEN, void *received, const int counts[], const int places[], MPI_Datatype receive_type, int root,
      MPI_Comm comm),
     (GIVEN_, received, counts, places, receive_type, root, comm), BYTES)
BOTH(Scatterv, Iscatterv, COLLECTIVE,
     (const void *sent, const int counts[], const int places[], MPI_Datatype type, TAKEN, int root, MPI_Comm comm),
     (sent, counts, places, type, TAKEN_, root, comm), 0)
BOTH(Allgatherv, Iallgatherv, COLLECTIVE,
     (GIVEN, void *received, const int counts[], const int places[], MPI_Datatype receive_type, MPI_Comm comm),
     (GIVEN_, received, counts, places, receive_type, comm), BYTES)

#define VECTORS                                                                                                        \
    const void *sent, const int counts[], const int places[], MPI_Datatype type, void *received,                       \
        const int receive_counts[], const int receive_places[], MPI_Datatype receive_type
#define VECTORS_ sent, counts, places, type, received, receive_counts, receive_places, receive_type
BOTH(Alltoallv, Ialltoallv, COLLECTIVE, (VECTORS, MPI_Comm comm), (VECTORS_, comm), 0)
BOTH(Reduce_scatter, Ireduce_scatter, COLLECTIVE,
     (const void *sent, void *received, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sent, received, counts, type, op, comm), 0)
BOTH(Reduce_scatter_block, Ireduce_scatter_block, COLLECTIVE,
     (const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sent, received, count, type, op, comm), BYTES)

BOTH(Neighbor_alltoall, Ineighbor_alltoall, NEIGHBOUR_COLLECTIVE, (GIVEN, TAKEN, MPI_Comm comm),
     (GIVEN_, TAKEN_, comm), BYTES)
BOTH(Neighbor_allgather, Ineighbor_allgather, NEIGHBOUR_COLLECTIVE, (GIVEN, TAKEN, MPI_Comm comm),
     (GIVEN_, TAKEN_, comm), BYTES)
BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, NEIGHBOUR_COLLECTIVE, (VECTORS, MPI_Comm comm), (VECTORS_, comm), 0)
