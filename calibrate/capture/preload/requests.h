// Messages of persistent requests.
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct persistent {
    uint64_t bytes;      // of the message, or of one partition
    uint64_t partitions; // 1 if not partitioned
    int32_t peer;
    uint16_t start_kind; // KIND_START_SEND, ...
};

void requests_keep(MPI_Request request, struct persistent about);
bool requests_find(MPI_Request request, struct persistent *about);
void requests_drop(MPI_Request request);
