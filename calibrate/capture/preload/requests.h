// When requests complete, and the messages of persistent ones.
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct record;

struct persistent {
    uint64_t bytes;      // of the message, or of one partition
    uint64_t partitions; // 1 if not partitioned
    const void *buffer;
    int32_t peer;
    uint16_t start_kind; // KIND_START_SEND, ...
};

void requests_keep(MPI_Request request, struct persistent about);
bool requests_find(MPI_Request request, struct persistent *about);
void requests_follow(MPI_Request request, struct record *record); // its `done` is open from now on
void requests_drop(MPI_Request request);

// What a call may complete, kept before the call: handles are gone after it.
struct waited {
    int count;
    MPI_Request few[64], *all;
};
void requests_before(struct waited *w, int count, const MPI_Request requests[]);
// All of them, or those of `count` indices, are complete: the call went from `t0` to `t1`.
void requests_after(struct waited *w, int count, const int indices[], int64_t t0, int64_t t1);
