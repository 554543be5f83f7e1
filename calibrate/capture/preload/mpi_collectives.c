// Collectives: time in MPI, and the bytes that this rank sends.
#include "mpi_wrap.h"

// The blocking form of one collective, the nonblocking one, which has a request more.
#define UNPACK(...) __VA_ARGS__
#define BOTH(name, iname, kind, parameters, arguments, bytes)                                                          \
    WRAP(name, (UNPACK parameters), (UNPACK arguments), NOTE(kind, PEER_NOT_ONE, bytes))                               \
    WRAP(iname, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),                               \
         NOTE_STARTED(COLLECTIVE_STARTED, PEER_NOT_ONE, bytes))

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
#define REDUCTION(name, iname)                                                                                         \
    BOTH(name, iname, COLLECTIVE,                                                                                      \
         (const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                   \
         (sent, received, count, type, op, comm), BYTES)
REDUCTION(Allreduce, Iallreduce)
REDUCTION(Scan, Iscan)
REDUCTION(Exscan, Iexscan)
REDUCTION(Reduce_scatter_block, Ireduce_scatter_block)
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
BOTH(Alltoallw, Ialltoallw, COLLECTIVE,
     (const void *sent, const int counts[], const int places[], const MPI_Datatype types[], void *received,
      const int receive_counts[], const int receive_places[], const MPI_Datatype receive_types[], MPI_Comm comm),
     (sent, counts, places, types, received, receive_counts, receive_places, receive_types, comm), 0)

// ---- neighbour collectives: messages to each neighbour, which have no time of their own --------------------------------

#define EACH_NEIGHBOUR(follow, bytes)                                                                                  \
    const uint16_t site = CALLED_AT;                                                                                   \
    const int32_t *to;                                                                                                 \
    const int neighbours = peers_neighbours(comm, &to);                                                                \
    follow(store_record(KIND_NEIGHBOUR_COLLECTIVE, site, PEER_NOT_ONE, 0, t0, t1));                                    \
    for (int i = 0; i < neighbours; i++) {                                                                             \
        struct record *const r = store_record(KIND_NEIGHBOUR_SEND, site, to[i], bytes, t0, t0);                        \
        if (r != NULL)                                                                                                 \
            r->done = t1 - store_header->started_ns;                                                                   \
        (void)follow(r);                                                                                               \
    }
#define FOLLOW(record) requests_follow(*request, record)
#define NEIGHBOURS(name, parameters, arguments, bytes)                                                                 \
    WRAP(Neighbor_##name, (UNPACK parameters), (UNPACK arguments), EACH_NEIGHBOUR(, bytes))                            \
    WRAP(Ineighbor_##name, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),                    \
         EACH_NEIGHBOUR(FOLLOW, bytes))

NEIGHBOURS(alltoall, (GIVEN, TAKEN, MPI_Comm comm), (GIVEN_, TAKEN_, comm), BYTES)
NEIGHBOURS(allgather, (GIVEN, TAKEN, MPI_Comm comm), (GIVEN_, TAKEN_, comm), BYTES)
NEIGHBOURS(allgatherv,
           (GIVEN, void *received, const int counts[], const int places[], MPI_Datatype receive_type, MPI_Comm comm),
           (GIVEN_, received, counts, places, receive_type, comm), BYTES)
NEIGHBOURS(alltoallv, (VECTORS, MPI_Comm comm), (VECTORS_, comm), peers_bytes(counts[i], type))
NEIGHBOURS(alltoallw,
           (const void *sent, const int counts[], const MPI_Aint places[], const MPI_Datatype types[], void *received,
            const int receive_counts[], const MPI_Aint receive_places[], const MPI_Datatype receive_types[],
            MPI_Comm comm),
           (sent, counts, places, types, received, receive_counts, receive_places, receive_types, comm),
           peers_bytes(counts[i], types[i]))
