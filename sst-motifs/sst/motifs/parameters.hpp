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
    X(bytes, Count, 1048576, "bytes of the buffer")                                                                 \
    X(receiver, Text, waiting, "waiting - computing: where the receiver is while the sender computes")              \
    X(pong, Count, 0, "1: the buffer is sent back the same way; 0: one byte is")

#define PREADY_EXCHANGE(X)                                                                                          \
    X(edges, Text, , "file with a line for each edge: phase sender receiver bytes tag")                             \
    X(phases, Count, 0, "phases of an iteration: each of the file so many times in a row; 0: those of the file")    \
    X(receives_first, Count, 0, "1: ranks compute on what they receive in a phase (a wavefront)")

#define PREADY_TRAFFIC(X)                                                                                           \
    X(bytes, Count, 1048576, "bytes of each message")                                                               \
    X(pause_ns, Time, 0, "computing between two messages")                                                          \
    X(seed, Count, 0, "of the partners")

// What `sst-info` calls statistics: name, meaning, unit.
#define PREADY_STATISTICS(X)                                                                                        \
    X(iteration_time, "time of an iteration", "ps")                                                                 \
    X(left_before_join, "messages of an iteration that were sent before the rank's threads joined", "percent")      \
    X(wait_time, "time of an iteration after the threads joined", "ps")
