// One-sided messages, and the calls that synchronise them.
#include "mpi_wrap.h"

#define ORIGIN_PARAMETERS                                                                                              \
    const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement, int target_count,               \
        MPI_Datatype target_type
#define ORIGIN_ARGUMENTS origin, count, type, rank, displacement, target_count, target_type

WRAP(Put, (ORIGIN_PARAMETERS, MPI_Win win), (ORIGIN_ARGUMENTS, win),
     NOTE_CALLED(PUT, peers_window_rank(rank, win), peers_bytes(count, type)))
WRAP(Rput, (ORIGIN_PARAMETERS, MPI_Win win, MPI_Request *request), (ORIGIN_ARGUMENTS, win, request),
     NOTE_STARTED(RPUT, peers_window_rank(rank, win), peers_bytes(count, type)))
WRAP(Accumulate, (ORIGIN_PARAMETERS, MPI_Op op, MPI_Win win), (ORIGIN_ARGUMENTS, op, win),
     NOTE_CALLED(ACCUMULATE, peers_window_rank(rank, win), peers_bytes(count, type)))
WRAP(Get,
     (void *origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement, int target_count,
      MPI_Datatype target_type, MPI_Win win),
     (ORIGIN_ARGUMENTS, win), NOTE_CALLED(GET, peers_window_rank(rank, win), peers_bytes(count, type)))
WRAP(Rget,
     (void *origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement, int target_count,
      MPI_Datatype target_type, MPI_Win win, MPI_Request *request),
     (ORIGIN_ARGUMENTS, win, request), NOTE_STARTED(RGET, peers_window_rank(rank, win), peers_bytes(count, type)))

#define UPDATE                                                                                                         \
    const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement, int target_count,               \
        MPI_Datatype target_type, MPI_Op op, MPI_Win win
WRAP(Raccumulate, (UPDATE, MPI_Request *request), (ORIGIN_ARGUMENTS, op, win, request),
     NOTE_STARTED(ACCUMULATE, peers_window_rank(rank, win), peers_bytes(count, type)))
// Both ways: the larger one counts.
#define BOTH_SIDES                                                                                                     \
    const void *origin, int count, MPI_Datatype type, void *result, int result_count, MPI_Datatype result_type,        \
        int rank, MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win
#define BOTH_SIDES_ origin, count, type, result, result_count, result_type, rank, displacement, target_count, target_type, op, win
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define BOTH_BYTES LARGER(peers_bytes(count, type), peers_bytes(result_count, result_type))
WRAP(Get_accumulate, (BOTH_SIDES), (BOTH_SIDES_), NOTE_CALLED(ACCUMULATE, peers_window_rank(rank, win), BOTH_BYTES))
WRAP(Rget_accumulate, (BOTH_SIDES, MPI_Request *request), (BOTH_SIDES_, request),
     NOTE_STARTED(ACCUMULATE, peers_window_rank(rank, win), BOTH_BYTES))
WRAP(Fetch_and_op,
     (const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Op op, MPI_Win win),
     (origin, result, type, rank, displacement, op, win),
     NOTE_CALLED(ACCUMULATE, peers_window_rank(rank, win), peers_bytes(1, type)))
WRAP(Compare_and_swap,
     (const void *origin, const void *compare, void *result, MPI_Datatype type, int rank, MPI_Aint displacement,
      MPI_Win win),
     (origin, compare, result, type, rank, displacement, win),
     NOTE_CALLED(ACCUMULATE, peers_window_rank(rank, win), peers_bytes(1, type)))

WRAP(Win_fence, (int check, MPI_Win win), (check, win), NOTE(FENCE, PEER_NOT_ONE, 0))
WRAP(Win_post, (MPI_Group group, int check, MPI_Win win), (group, check, win), NOTE(POST, PEER_NOT_ONE, 0))
WRAP(Win_start, (MPI_Group group, int check, MPI_Win win), (group, check, win), NOTE(EPOCH_START, PEER_NOT_ONE, 0))
WRAP(Win_complete, (MPI_Win win), (win), NOTE(COMPLETE, PEER_NOT_ONE, 0))
WRAP(Win_wait, (MPI_Win win), (win), NOTE(EPOCH_WAIT, PEER_NOT_ONE, 0))
WRAP(Win_lock, (int how, int rank, int check, MPI_Win win), (how, rank, check, win),
     NOTE(LOCK, peers_window_rank(rank, win), 0))
WRAP(Win_lock_all, (int check, MPI_Win win), (check, win), NOTE(LOCK, PEER_NOT_ONE, 0))
WRAP(Win_unlock, (int rank, MPI_Win win), (rank, win), NOTE(UNLOCK, peers_window_rank(rank, win), 0))
WRAP(Win_unlock_all, (MPI_Win win), (win), NOTE(UNLOCK, PEER_NOT_ONE, 0))
WRAP(Win_flush, (int rank, MPI_Win win), (rank, win), NOTE(FLUSH, peers_window_rank(rank, win), 0))
WRAP(Win_flush_local, (int rank, MPI_Win win), (rank, win), NOTE(FLUSH, peers_window_rank(rank, win), 0))
WRAP(Win_flush_all, (MPI_Win win), (win), NOTE(FLUSH, PEER_NOT_ONE, 0))
WRAP(Win_flush_local_all, (MPI_Win win), (win), NOTE(FLUSH, PEER_NOT_ONE, 0))
