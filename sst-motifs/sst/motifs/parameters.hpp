// Every parameter of the motifs, once: name, type, default, meaning.
//
// Read by the C++ structure (settings.hpp), by SST's documentation of the motifs (`sst-info pready`) and
// by the Python side (pready.sst.parameters), so that a default exists in one place. One parameter per
// line; no comma and no quote inside a meaning. In a text %20 is a blank and %3D is "=": Ember splits at both.

#pragma once

#define PREADY_COMMON(X)                                                                                            \
    X(approach, Text, single, "single (bulk) - part (partitioned) - many (a send of its own per transport partition)")        \
    X(threads, Count, 1, "user threads of a rank")                                                                  \
    X(partitions, Count, 1, "user partitions of each thread")                                                       \
    X(transport, Count, 1, "transport partitions: messages per peer unless the approach is single")                   \
    X(bytes, Count, 1048576, "bytes per peer")                                                                      \
    X(shares, Text, , "what each thread owns of a buffer: whole numbers between commas; equal parts if empty")       \
    X(iterations, Count, 10, "exchanges")                                                                           \
    X(compute_ns, Time, 0, "when every user partition is ready - after the start - unless arrivals are given")       \
    X(laggard_ns, Time, 0, "how much later the last user partition is ready")                                       \
    X(arrivals, Text, , "file of ready times in seconds: a 2-D .npy array with rows rank x draw")                    \
    X(barrier_ns, Time, 0, "time of the barrier in which the threads meet")                                         \
    X(contention_ns, Time, 0, "what a send pays that finds its VCI's lock taken by another thread")                              \
    X(progress_ns, Time, 0, "interval at which MPI progresses while computing; 0: only inside MPI calls")           \
    X(consumers, Count, 0, "threads that work on each received partition as MPI_Parrived tells of it; 0: none")    \
    X(receive_partitions, Count, 0, "partitions of a buffer at its receiver; 0: as many as user partitions")         \
    X(consume_ns, Time, 0, "work of one of these threads on one received partition")                                \
    X(consume_ns_per_byte, Time, 0, "and on each of its bytes")                                                     \
    X(tested_ns, Time, 0, "from an arrival until one of these threads, which test all partitions in turn, has seen it")  \
    X(record, Text, , "CSV file of times; no file if empty")                                                        \
    X(messages, Count, 0, "1: the CSV also lists when each message completed")

#define PREADY_PINGPONG(X)                                                                                          \
    X(receiver, Text, waiting, "waiting - computing: where the receiver is while the sender computes")              \
    X(pong, Count, 0, "1: the buffer is sent back the same way; 0: one byte is")

#define PREADY_HALO3D(X)                                                                                            \
    X(pex, Count, 0, "ranks along x; 0: a near cube is chosen")                                                     \
    X(pey, Count, 0, "ranks along y")                                                                               \
    X(pez, Count, 0, "ranks along z")                                                                               \
    X(periodic, Count, 1, "1: the domain wraps around; 0: ranks at its border have fewer peers")                    \
    X(face_y_bytes, Count, 0, "bytes per peer along y; 0: as along x which is bytes")                               \
    X(face_z_bytes, Count, 0, "bytes per peer along z; 0: as along x")

#define PREADY_HALO3D26(X)                                                                                          \
    X(edge_bytes, Count, 0, "bytes per peer across an edge that runs along x; 0: as for a face along x")            \
    X(edge_y_bytes, Count, 0, "across one that runs along y; 0: as along x")                                        \
    X(edge_z_bytes, Count, 0, "across one that runs along z; 0: as along x")                                        \
    X(corner_bytes, Count, 0, "bytes per peer across a corner; 0: as for a face along x")

#define PREADY_SWEEP3D(X)                                                                                           \
    X(pex, Count, 0, "ranks along x; 0: a near square is chosen")                                                   \
    X(pey, Count, 0, "ranks along y")                                                                               \
    X(blocks, Count, 1, "blocks of planes that each octant is swept in")                                            \
    X(octants, Count, 8, "octants per iteration: 1 to 8")

#define PREADY_TRAFFIC(X)                                                                                           \
    X(bytes, Count, 1048576, "bytes of each message")                                                               \
    X(pause_ns, Time, 0, "computing between two messages")                                                          \
    X(seed, Count, 0, "of the partners")

// What `sst-info` calls statistics: name, meaning, unit.
#define PREADY_STATISTICS(X)                                                                                        \
    X(iteration_time, "time of an iteration", "ps")                                                                 \
    X(left_before_join, "messages of an iteration that were sent before the rank's threads joined", "percent")      \
    X(wait_time, "time of an iteration after the threads joined", "ps")
