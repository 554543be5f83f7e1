// Pairs of ranks whose threads own parts of different sizes, and send these themselves: what a capture must say is known.
//
//   shares ITERATIONS HOW UNIT PARTS...
//
// Thread i owns PARTS[i] units of UNIT bytes. HOW is messages (each thread sends its part as soon as it is computed, on a
// communicator of its own), partitioned (each marks as many partitions of UNIT bytes ready), or joined (one thread sends
// everything after the threads have met). Every byte is checked.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8 };

static int rank, peer, threads, unit, first[MOST + 1];
static char *out, *in;
static MPI_Comm comm[MOST];

static char value(int from, int at, int iteration)
{
    return (char)(from * 31 + at / unit * 7 + at % 251 + iteration);
}

static void compute(int thread, int iteration)
{
    for (int at = first[thread] * unit; at < first[thread + 1] * unit; at++)
        out[at] = value(rank, at, iteration);
    usleep(500 + 200 * (unsigned)thread);
}

static void send_own(int iteration)
{
    MPI_Request received[MOST];
    for (int t = 0; t < threads; t++)
        MPI_Irecv(in + first[t] * unit, (first[t + 1] - first[t]) * unit, MPI_BYTE, peer, t, comm[t], &received[t]);
#pragma omp parallel num_threads(threads)
    {
        const int t = omp_get_thread_num();
        compute(t, iteration);
        MPI_Send(out + first[t] * unit, (first[t + 1] - first[t]) * unit, MPI_BYTE, peer, t, comm[t]);
    }
    MPI_Waitall(threads, received, MPI_STATUSES_IGNORE);
}

static void mark_own(int iteration, MPI_Request *requests)
{
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
#pragma omp parallel num_threads(threads)
    {
        const int t = omp_get_thread_num();
        compute(t, iteration);
        MPI_Pready_range(first[t], first[t + 1] - 1, requests[1]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void send_joined(int iteration)
{
    MPI_Request requests[2];
    MPI_Irecv(in, first[threads] * unit, MPI_BYTE, peer, 0, comm[0], &requests[0]);
#pragma omp parallel num_threads(threads)
    compute(omp_get_thread_num(), iteration);
    MPI_Isend(out, first[threads] * unit, MPI_BYTE, peer, 0, comm[0], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int provided, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    threads = argc - 4;
    if (provided < MPI_THREAD_MULTIPLE || threads < 1 || threads > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const char *const how = argv[2];
    unit = atoi(argv[3]);
    peer = rank ^ 1;
    for (int t = 0; t < threads; t++) {
        first[t + 1] = first[t] + atoi(argv[4 + t]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[t]);
    }
    out = calloc((size_t)first[threads], (size_t)unit);
    in = calloc((size_t)first[threads], (size_t)unit);
    MPI_Request requests[2];
    if (strcmp(how, "partitioned") == 0) {
        MPI_Precv_init(in, first[threads], unit, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Psend_init(out, first[threads], unit, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    }
    for (int i = 0; i < atoi(argv[1]); i++) {
        if (strcmp(how, "partitioned") == 0)
            mark_own(i, requests);
        else if (strcmp(how, "messages") == 0)
            send_own(i);
        else
            send_joined(i);
        for (int at = 0; at < first[threads] * unit; at++)
            wrong += in[at] != value(peer, at, i);
    }
    if (strcmp(how, "partitioned") == 0) {
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("wrong bytes: %d\n", wrong);
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&comm[t]);
    free(out);
    free(in);
    MPI_Finalize();
    return wrong > 0;
}
