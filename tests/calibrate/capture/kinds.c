// Ways to exchange with the neighbours in a ring, one step after the other: what a capture of each must say is known.
//
//   kinds WAY [STEPS]
//
// Threads compute 2 ms and 2.6 ms before the exchange of each step, by sleeping: exact on busy cores.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 40000, THREADS = 2 };
static char out[8 * BYTES], in[8 * BYTES];
static int rank, ranks, left, right;
static MPI_Comm cart; // a ring of the ranks in reverse
static MPI_Datatype gaps;
static MPI_Win window;
static MPI_Request kept[4];

static void pause_us(double us)
{
    const struct timespec t = {0, (long)(us * 1e3)};
    nanosleep(&t, NULL);
}

static void share(void)
{
    pause_us(2000 * (1 + 0.3 * omp_get_thread_num()));
}

static void compute(void)
{
#pragma omp parallel num_threads(THREADS)
    share();
}

__attribute__((noinline)) void send_any(int to, int tag, MPI_Request *request)
{
    MPI_Isend(out, BYTES, MPI_BYTE, to, tag, MPI_COMM_WORLD, request);
}

static void receive(MPI_Request *r)
{
    MPI_Irecv(in, BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, r);
    MPI_Irecv(in + BYTES, BYTES, MPI_BYTE, right, 2, MPI_COMM_WORLD, r + 1);
}

__attribute__((noinline)) void exchange(void)
{
    MPI_Request r[4];
    receive(r);
    send_any(right, 1, r + 2);
    send_any(left, 2, r + 3);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

// Of a thread of a team: its half to both sides, and its halves from both.
static void own_half(int thread)
{
    MPI_Request r[4];
    const int half = BYTES / 2;
    MPI_Irecv(in + thread * half, half, MPI_BYTE, left, 10 + thread, MPI_COMM_WORLD, r);
    MPI_Irecv(in + BYTES + thread * half, half, MPI_BYTE, right, 20 + thread, MPI_COMM_WORLD, r + 1);
    share();
    MPI_Isend(out + thread * half, half, MPI_BYTE, right, 10 + thread, MPI_COMM_WORLD, r + 2);
    MPI_Isend(out + thread * half, half, MPI_BYTE, left, 20 + thread, MPI_COMM_WORLD, r + 3);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static void each_step(const char *way, int n)
{
    static MPI_Request ahead[2];
    MPI_Request r[32];
    if (strcmp(way, "threads") != 0 && strcmp(way, "tasks") != 0 && strcmp(way, "sweep") != 0)
        compute();
    if (strcmp(way, "bulk") == 0 || strcmp(way, "twice") == 0 || strcmp(way, "refined") == 0) {
        exchange();
        if (way[0] == 't') { // two exchanges, with 1 ms of serial computing between them
            pause_us(1000);
            exchange();
        }
        for (int i = 0; i < 3 && way[0] == 'r' && n % 10 == 9; i++) // every 10th step has other messages, too
            MPI_Sendrecv(out, 8, MPI_BYTE, rank ^ 1, 9, in, 8, MPI_BYTE, rank ^ 1, 9, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    } else if (strcmp(way, "blocking") == 0) {
        MPI_Sendrecv(out, BYTES, MPI_BYTE, right, 1, in, BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, BYTES, MPI_BYTE, left, 2, in, BYTES, MPI_BYTE, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "ssend") == 0 || strcmp(way, "bsend") == 0) {
        int (*const send)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = way[0] == 's' ? MPI_Ssend : MPI_Bsend;
        receive(r);
        send(out, BYTES, MPI_BYTE, right, 1, MPI_COMM_WORLD);
        send(out, BYTES, MPI_BYTE, left, 2, MPI_COMM_WORLD);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    } else if (strcmp(way, "testsome") == 0) {
        receive(r);
        send_any(right, 1, r + 2);
        send_any(left, 2, r + 3);
        for (int open = 4, some, which[4]; open > 0; open -= some)
            MPI_Testsome(4, r, &some, which, MPI_STATUSES_IGNORE);
    } else if (strcmp(way, "start") == 0 || strcmp(way, "startall") == 0) {
        for (int i = 3; i >= 0 && strcmp(way, "start") == 0; i--)
            MPI_Start(kept + i);
        if (strcmp(way, "startall") == 0)
            MPI_Startall(4, kept);
        MPI_Waitall(4, kept, MPI_STATUSES_IGNORE);
    } else if (strcmp(way, "put") == 0 || strcmp(way, "get") == 0) {
        for (int i = 0; i < 2; i++)
            if (way[0] == 'p')
                MPI_Put(out, BYTES, MPI_BYTE, i ? left : right, i * BYTES, BYTES, MPI_BYTE, window);
            else
                MPI_Get(out + i * BYTES, BYTES, MPI_BYTE, i ? left : right, i * BYTES, BYTES, MPI_BYTE, window);
        MPI_Win_fence(0, window);
    } else if (strcmp(way, "several") == 0) { // 8 messages to each neighbour
        for (int i = 0; i < 32; i++) {
            const int size = BYTES / 8, side = i % 2, at = i % 16 / 2;
            if (i < 16)
                MPI_Irecv(in + i * size, size, MPI_BYTE, side ? left : right, i, MPI_COMM_WORLD, r + i);
            else
                MPI_Isend(out + at * size, size, MPI_BYTE, side ? right : left, i - 16, MPI_COMM_WORLD, r + i);
        }
        MPI_Waitall(32, r, MPI_STATUSES_IGNORE);
    } else if (strcmp(way, "threads") == 0) {
#pragma omp parallel num_threads(THREADS)
        own_half(omp_get_thread_num());
    } else if (strcmp(way, "tasks") == 0) { // each task computes and sends a half to both sides
        for (int i = 0; i < 4; i++)
            MPI_Irecv(in + i * BYTES / 2, BYTES / 2, MPI_BYTE, i < 2 ? left : right, 10 * (1 + i / 2) + i % 2,
                      MPI_COMM_WORLD, r + i);
#pragma omp parallel num_threads(THREADS)
#pragma omp single
        for (int i = 0; i < 2; i++)
#pragma omp task firstprivate(i) shared(r)
        {
            share();
            MPI_Isend(out + i * BYTES / 2, BYTES / 2, MPI_BYTE, right, 10 + i, MPI_COMM_WORLD, r + 4 + i);
            MPI_Isend(out + i * BYTES / 2, BYTES / 2, MPI_BYTE, left, 20 + i, MPI_COMM_WORLD, r + 6 + i);
        }
        MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    } else if (strcmp(way, "ahead") == 0) { // receives of the next step are open while this one's computes
        if (n == 0)
            receive(ahead);
        memcpy(r, ahead, sizeof ahead);
        send_any(right, 1, r + 2);
        send_any(left, 2, r + 3);
        MPI_Irecv(in + 2 * BYTES, BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, ahead);
        MPI_Irecv(in + 3 * BYTES, BYTES, MPI_BYTE, right, 2, MPI_COMM_WORLD, ahead + 1);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    } else if (strcmp(way, "neighbours") == 0) {
        MPI_Ineighbor_alltoall(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, cart, r);
        MPI_Wait(r, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "neighbours_w") == 0) {
        const MPI_Datatype both[] = {gaps, gaps};
        const MPI_Aint at[] = {0, 2 * BYTES};
        const int n_[] = {1, 1};
        MPI_Neighbor_alltoallw(out, n_, at, both, in, n_, at, both, cart);
    } else if (strcmp(way, "derived") == 0) { // data with gaps, by the ranks of another communicator
        int last, next;
        MPI_Cart_shift(cart, 0, 1, &last, &next);
        MPI_Irecv(in, 1, gaps, last, 1, cart, r);
        MPI_Irecv(in + 2 * BYTES, 1, gaps, next, 2, cart, r + 1);
        MPI_Isend(out, 1, gaps, next, 1, cart, r + 2);
        MPI_Isend(out, 1, gaps, last, 2, cart, r + 3);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    } else if (strcmp(way, "sweep") == 0) { // 2 x 2 ranks, two blocks from each corner, for two octants each
        for (int block = 0; block < 16; block++) {
            const int first_x = (rank & 1) == (block >> 1 & 1), first_y = (rank & 2) == (block >> 1 & 2);
            MPI_Recv(in, BYTES, MPI_BYTE, first_x ? MPI_PROC_NULL : rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(in, BYTES, MPI_BYTE, first_y ? MPI_PROC_NULL : rank ^ 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute();
            MPI_Send(out, BYTES, MPI_BYTE, first_x ? rank ^ 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD);
            MPI_Send(out, BYTES, MPI_BYTE, first_y ? rank ^ 2 : MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        }
    }
}

// One region round all steps: the master exchanges between barriers, or whoever comes first.
static void in_one_region(int steps, int single)
{
#pragma omp parallel num_threads(THREADS)
    for (int n = 0; n < steps; n++) {
        share();
#pragma omp barrier
        if (single) {
#pragma omp single
            exchange();
        } else {
#pragma omp master
            exchange();
#pragma omp barrier
        }
    }
}

int main(int argc, char **argv)
{
    int provided;
#pragma omp parallel num_threads(THREADS)
    pause_us(20000); // before MPI: no part of the run
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    static char buffered[1 << 20];
    const int one = 1;
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Cart_create(reversed, 1, &ranks, &one, 0, &cart);
    MPI_Type_vector(BYTES / 8, 8, 12, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Buffer_attach(buffered, sizeof buffered);
    MPI_Send_init(out, BYTES, MPI_BYTE, right, 1, MPI_COMM_WORLD, kept);
    MPI_Send_init(out, BYTES, MPI_BYTE, left, 2, MPI_COMM_WORLD, kept + 1);
    MPI_Recv_init(in, BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, kept + 2);
    MPI_Recv_init(in + BYTES, BYTES, MPI_BYTE, right, 2, MPI_COMM_WORLD, kept + 3);
    const char *const way = argv[1];
    const int steps = argc > 2 ? atoi(argv[2]) : 30;
    if (strcmp(way, "master") == 0 || strcmp(way, "single") == 0)
        in_one_region(steps, way[0] == 's');
    else
        for (int n = 0; n < steps; n++)
            each_step(way, n);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "ahead") == 0) { // what is left open
        send_any(right, 1, &(MPI_Request){0});
        send_any(left, 2, &(MPI_Request){0});
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(kept + i);
    MPI_Win_free(&window);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
