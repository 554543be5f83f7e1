// A halo exchange with injected thread times: what a capture of it must say is known.
//
//   stencil STENCIL PX PY PZ PERIODIC FACE_X FACE_Y FACE_Z EDGE CORNER ITERATIONS THREADS COMPUTE_US MODEL AMOUNT HOW TRUTH
//
// STENCIL is 7 or 27; MODEL is laggard (a random thread late by AMOUNT of the time) or normal (standard deviation AMOUNT
// of it); HOW is isend, early (irecv before computing), persistent or ported (partitioned, each thread marks what it has
// computed). Each rank writes when its threads finished, in us after the begin of the region, a line per iteration, to
// TRUTH.RANK.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <time.h>

enum { MOST = 26 };

static int rank, threads, peers, peer[MOST], bytes[MOST], direction[MOST];
static char *out[MOST], *in[MOST];
static MPI_Comm cart;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void until(double then)
{
    const struct timespec t = {(time_t)then, (long)((then - floor(then)) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
    }
}

static double uniform(void)
{
    return ((double)rand() + 0.5) / ((double)RAND_MAX + 1);
}

void compute_and_mark(const double *share, double *finished, MPI_Request *sends)
{
    const double begin = seconds();
#pragma omp parallel num_threads(threads)
    {
        until(begin + share[omp_get_thread_num()]);
        for (int i = 0; i < peers; i++)
            MPI_Pready(omp_get_thread_num(), sends[i]);
        finished[omp_get_thread_num()] = seconds() - begin;
    }
}

void compute_cells(const double *share, double *finished)
{
    const double begin = seconds();
#pragma omp parallel num_threads(threads)
    {
        until(begin + share[omp_get_thread_num()]);
        finished[omp_get_thread_num()] = seconds() - begin;
    }
}

static void receive(MPI_Request *request)
{
    for (int i = 0; i < peers; i++)
        MPI_Irecv(in[i], bytes[i], MPI_BYTE, peer[i], 26 - direction[i], cart, &request[i]);
}

static void exchange(const char *how, MPI_Request *request)
{
    if (strcmp(how, "persistent") == 0) {
        MPI_Startall(2 * peers, request);
    } else {
        if (strcmp(how, "early") != 0)
            receive(request);
        for (int i = 0; i < peers; i++)
            MPI_Isend(out[i], bytes[i], MPI_BYTE, peer[i], direction[i], cart, &request[peers + i]);
    }
    MPI_Waitall(2 * peers, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc != 18)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int stencil = atoi(argv[1]), periodic = atoi(argv[5]), iterations = atoi(argv[11]);
    int sides[3], wraps[3] = {periodic, periodic, periodic}, at[3];
    for (int i = 0; i < 3; i++)
        sides[2 - i] = atoi(argv[2 + i]); // the last dimension of a Cartesian communicator runs fastest
    threads = atoi(argv[12]);
    const double compute = 1e-6 * atof(argv[13]), amount = atof(argv[15]);
    const char *const model = argv[14], *const how = argv[16];
    MPI_Cart_create(MPI_COMM_WORLD, 3, sides, wraps, 0, &cart);
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_coords(cart, rank, 3, at);
    srand((unsigned)(rank + 1));
    for (int k = 0; k < 27; k++) {
        const int step[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
        const int axes = abs(step[0]) + abs(step[1]) + abs(step[2]);
        if (axes == 0 || (stencil == 7 && axes > 1))
            continue;
        int to[3], inside = 1;
        for (int i = 0; i < 3; i++) {
            to[i] = at[i] + step[i];
            inside &= periodic || (to[i] >= 0 && to[i] < sides[i]);
        }
        if (!inside)
            continue;
        MPI_Cart_rank(cart, to, &peer[peers]);
        if (axes == 1)
            bytes[peers] = atoi(argv[step[2] ? 6 : step[1] ? 7 : 8]);
        else
            bytes[peers] = atoi(argv[axes == 2 ? 9 : 10]);
        direction[peers++] = k;
    }
    for (int i = 0; i < peers; i++) {
        out[i] = calloc(1, (size_t)bytes[i]);
        in[i] = calloc(1, (size_t)bytes[i]);
    }

    MPI_Request request[2 * MOST];
    if (strcmp(how, "persistent") == 0)
        for (int i = 0; i < peers; i++) {
            MPI_Recv_init(in[i], bytes[i], MPI_BYTE, peer[i], 26 - direction[i], cart, &request[i]);
            MPI_Send_init(out[i], bytes[i], MPI_BYTE, peer[i], direction[i], cart, &request[peers + i]);
        }
    if (strcmp(how, "ported") == 0)
        for (int i = 0; i < peers; i++) {
            MPI_Precv_init(in[i], threads, bytes[i] / threads, MPI_BYTE, peer[i], 26 - direction[i], cart,
                           MPI_INFO_NULL, &request[i]);
            MPI_Psend_init(out[i], threads, bytes[i] / threads, MPI_BYTE, peer[i], direction[i], cart, MPI_INFO_NULL,
                           &request[peers + i]);
        }
    double share[256], finished[256];
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[17], rank);
    FILE *const truth = fopen(name, "w");
    for (int n = 0; n < iterations; n++) {
        const int late = rand() % threads;
        for (int t = 0; t < threads; t++)
            if (strcmp(model, "laggard") == 0)
                share[t] = compute * (1 + (t == late ? amount : 0));
            else
                share[t] = compute * (1 + amount * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()));
        if (strcmp(how, "ported") == 0) {
            for (int i = 0; i < 2 * peers; i++)
                MPI_Start(&request[i]);
            compute_and_mark(share, finished, request + peers);
            MPI_Waitall(2 * peers, request, MPI_STATUSES_IGNORE);
        } else {
            if (strcmp(how, "early") == 0)
                receive(request);
            compute_cells(share, finished);
            exchange(how, request);
        }
        for (int t = 0; t < threads; t++)
            fprintf(truth, "%.3f%c", 1e6 * finished[t], t + 1 < threads ? ' ' : '\n');
    }
    fclose(truth);
    MPI_Finalize();
    return 0;
}
