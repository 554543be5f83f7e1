// Steps whose messages depend on each other in known ways: what a capture of each must say is known.
//
//   shapes WAY STEPS
//
// Threads of a team of two compute by sleeping, the second one for a fifth longer: exact on busy cores.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, ROOM = 1 << 17 };
static char out[ROOM], in[MOST][ROOM], *const words = (char *)in;
static int rank, ranks;

static void pause_us(double us)
{
    if (us <= 0)
        return;
    const struct timespec t = {0, (long)(us * 1e3)};
    nanosleep(&t, NULL);
}

static void compute(double us)
{
#pragma omp parallel num_threads(2)
    pause_us(us * (1 + 0.2 * omp_get_thread_num()));
}

// A sweep on 2 x 2 ranks: four octants are open at once, and each rank begins with the one of its corner.
enum { BLOCKS = 4, BLOCK = 2304 };

__attribute__((noinline)) static void sweep(int each)
{
    MPI_Request received[MOST], sent[MOST];
    int of[MOST], got[4] = {0}, next[4] = {0}, need[4] = {0}, posted = 0, begun = 0, left = 4 * BLOCKS / each;
    for (int octant = 0; octant < 4; octant++)
        for (int axis = 1; axis <= 2; axis++)
            if ((rank ^ octant) & axis) { // the neighbour along the axis is upwind
                need[octant]++;
                for (int k = 0; k < BLOCKS / each; k++, posted++) {
                    of[posted] = octant;
                    MPI_Irecv(in[posted], each * BLOCK, MPI_BYTE, rank ^ axis, 10 * octant + axis, MPI_COMM_WORLD,
                              received + posted);
                }
            }
    while (left > 0) {
        int which, done = 1;
        while (MPI_Testany(posted, received, &which, &done, MPI_STATUS_IGNORE), done && which != MPI_UNDEFINED)
            got[of[which]]++;
        int ready = -1;
        for (int j = 3; j >= 0; j--) {
            const int octant = rank ^ j;
            if (next[octant] < BLOCKS / each && got[octant] >= need[octant] * (next[octant] + 1))
                ready = octant;
        }
        if (ready < 0) {
            pause_us(50);
            continue;
        }
        for (int k = 0; k < each; k++)
            compute(500);
        for (int axis = 1; axis <= 2; axis++)
            if (!((rank ^ ready) & axis))
                MPI_Isend(out, each * BLOCK, MPI_BYTE, rank ^ axis, 10 * ready + axis, MPI_COMM_WORLD, sent + begun++);
        next[ready]++;
        left--;
    }
    MPI_Waitall(begun, sent, MPI_STATUSES_IGNORE);
}

// A pipeline of blocks from rank to rank: by one thread, handed on between two, or each thread its own.
__attribute__((noinline)) static void blocks(const char *how)
{
    if (strcmp(how, "blocks") == 0) {
        for (int k = 0; k < 6; k++) {
            if (rank > 0)
                MPI_Recv(in[0], BLOCK, MPI_BYTE, rank - 1, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(500);
            if (rank < ranks - 1)
                MPI_Send(out, BLOCK, MPI_BYTE, rank + 1, k, MPI_COMM_WORLD);
        }
        return;
    }
    if (strcmp(how, "each") == 0) { // thread has blocks of its own
#pragma omp parallel num_threads(2)
        for (int k = 0, own = omp_get_thread_num(); k < 3; k++) {
            if (rank > 0)
                MPI_Recv(in[own], BLOCK, MPI_BYTE, rank - 1, 10 * own + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            pause_us(500);
            if (rank < ranks - 1)
                MPI_Send(out, BLOCK, MPI_BYTE, rank + 1, 10 * own + k, MPI_COMM_WORLD);
        }
        return;
    }
    // One thread receives, the other computes and sends: blocks are handed on.
    int ready = 0;
#pragma omp parallel num_threads(2)
    for (int k = 0; k < 6; k++) {
        if (omp_get_thread_num() == 0) {
            if (rank > 0)
                MPI_Recv(in[0], BLOCK, MPI_BYTE, rank - 1, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp atomic write
            ready = k + 1;
        } else {
            for (int there = 0; there <= k;) {
                pause_us(20);
#pragma omp atomic read
                there = ready;
            }
            pause_us(500);
            if (rank < ranks - 1)
                MPI_Send(out, BLOCK, MPI_BYTE, rank + 1, k, MPI_COMM_WORLD);
        }
    }
}

__attribute__((noinline)) static void halo(int bytes, double pack_us, double interior_us, int tests, double unpack_us)
{
    MPI_Request r[4];
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Irecv(in[0], bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, r);
    MPI_Irecv(in[1], bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, r + 1);
    pause_us(pack_us);
    MPI_Isend(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, r + 2);
    pause_us(pack_us);
    MPI_Isend(out, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, r + 3);
    for (int part = 0, done; interior_us > 0 && part <= tests; part++) {
        compute(interior_us / (1 + tests));
        if (part < tests)
            MPI_Testall(4, r, &done, MPI_STATUSES_IGNORE);
    }
    for (int i = 0, which; unpack_us > 0 && i < 2; i++) {
        MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
        compute(unpack_us);
    }
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static void first_coarse(void)
{
    halo(400, 0, 0, 0, 0);
    compute(20);
}

__attribute__((noinline)) static void second_coarse(void)
{
    halo(400, 0, 0, 0, 0);
    compute(20);
}

__attribute__((noinline)) static void gather(void)
{
    MPI_Request r;
    if (rank < ranks - 1)
        MPI_Irecv(words, 4000, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD, &r);
    if (rank > 0)
        MPI_Send(out, 4000, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD);
    if (rank < ranks - 1)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void scatter(void)
{
    MPI_Request r;
    if (rank > 0)
        MPI_Irecv(out, 4000, MPI_BYTE, rank - 1, 2, MPI_COMM_WORLD, &r);
    if (rank < ranks - 1)
        MPI_Send(words, 4000, MPI_BYTE, rank + 1, 2, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void swap(int bytes, int to, int from)
{
    MPI_Request r;
    MPI_Irecv(in[0], ROOM, MPI_BYTE, from, 0, MPI_COMM_WORLD, &r);
    MPI_Send(out, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

// An open chain: beyond its ends there is nobody.
__attribute__((noinline)) static void open_chain(void)
{
    const int above = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL, below = rank ? rank - 1 : MPI_PROC_NULL;
    MPI_Sendrecv(out, 4000, MPI_BYTE, above, 1, in[0], 4000, MPI_BYTE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 4000, MPI_BYTE, below, 2, in[1], 4000, MPI_BYTE, above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Pairs by the axes of masks, one after the other.
__attribute__((noinline)) static void level(int axes, int bytes, double interior_us)
{
    for (int i = 0, which; i < axes; i++) {
        MPI_Request r[2];
        const int to = rank ^ (1 + i % 3);
        MPI_Irecv(in[0], bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, r);
        MPI_Isend(out, bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, r + 1);
        if (interior_us > 0)
            compute(interior_us);
        for (int k = 0; k < 2; k++)
            MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
    }
}

// To whoever a generator says, which all ranks have; rank 0 prints the bytes.
static void at_random(int step)
{
    static unsigned state = 1;
    state = 1664525 * state + 1013904223;
    const int by = 1 + (int)(state >> 16) % (ranks - 1), bytes = 8 * (1 + (int)(state >> 18) % 4096);
    MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + by) % ranks, step, in[0], bytes, MPI_BYTE, (rank + ranks - by) % ranks,
                 step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%d\n", bytes);
}

int main(int count, char **given)
{
    int level_;
    MPI_Init_thread(&count, &given, MPI_THREAD_MULTIPLE, &level_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *const way = given[1];
    const int steps = atoi(given[2]), left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < steps; i++) {
        if (strcmp(way, "octants") == 0 || strcmp(way, "bulk") == 0) {
            sweep(strcmp(way, "bulk") == 0 ? BLOCKS : 1);
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (strcmp(way, "blocks") == 0 || strcmp(way, "handed") == 0 || strcmp(way, "each") == 0) {
            blocks(way);
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (strcmp(way, "cycle") == 0) {
            compute(4000);
            halo(40000, 0, 0, 0, 0);
            first_coarse();
            second_coarse();
        } else if (strcmp(way, "sums") == 0) {
            compute(3000);
            gather();
            for (int n = 0; n < 4000; n++)
                words[n]++;
            scatter();
        } else if (strcmp(way, "swaps") == 0 || strcmp(way, "alone") == 0) { // alone: sizes differ now and then
            const int alone = way[0] == 'a', bytes = 11000 + 8 * alone * (i / 10);
            alone ? pause_us(2000) : compute(2000);
            swap(bytes, left, right);
            swap(bytes, right, left);
            if (alone && i % 10 == 9)
                MPI_Barrier(MPI_COMM_WORLD);
        } else if (strcmp(way, "chain") == 0) {
            compute(2000);
            open_chain();
        } else if (strcmp(way, "random") == 0) {
            compute(1000);
            at_random(i);
        } else if (strcmp(way, "epochs") == 0 || strcmp(way, "axes") == 0) {
            const int axes = way[0] == 'a', epoch = axes ? 0 : 4 * i / steps;
            compute(1000);
            level(2 + epoch % 2, 20480 * (1 + epoch / 2), axes ? 200 : 0); // of epochs: 2, 3, with twice the bytes 2, 3
        } else {
            compute(1000);
            const int tests = 3 * !strcmp(way, "tested");
            halo(40000, 400 * !strcmp(way, "pack"), 2000 * (tests || !strcmp(way, "interior")), tests,
                 1000 * !strcmp(way, "unpack"));
        }
    }
    MPI_Finalize();
    return 0;
}
