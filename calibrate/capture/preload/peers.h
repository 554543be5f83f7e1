// Ranks of communicators and windows as those of MPI_COMM_WORLD, and counts as bytes.
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

extern bool mpi_runs; // between MPI_Init and MPI_Finalize

bool peers_begin(int *rank, int *ranks);            // after MPI_Init
void peers_end(void);                               // before MPI does
int32_t peers_world_rank(int rank, MPI_Comm comm);  // or PEER_*
int32_t peers_window_rank(int rank, MPI_Win win);   //
uint64_t peers_bytes(int64_t count, MPI_Datatype type);

// World ranks that a neighbour collective sends to, in its order; their number, 0 if unknown.
int peers_neighbours(MPI_Comm comm, const int32_t **to);
