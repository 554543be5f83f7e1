// A sweep over a two-dimensional grid of ranks, eight octants in turn, as Sweep3D does it.
//
//   sweep PX PY BLOCKS BYTES ITERATIONS THREADS COMPUTE_US
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <time.h>

static void compute_block(int threads, long us)
{
#pragma omp parallel num_threads(threads)
    {
        const struct timespec t = {0, (us + 10 * omp_get_thread_num()) * 1000};
        nanosleep(&t, NULL);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 8)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int px = atoi(argv[1]), py = atoi(argv[2]), blocks = atoi(argv[3]), bytes = atoi(argv[4]);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int x = rank % px, y = rank / px;
    char *const buffer = calloc(1, (size_t)bytes);
    for (int n = 0; n < atoi(argv[5]); n++)
        for (int octant = 0; octant < 8; octant++) {
            const int dx = octant & 1 ? -1 : 1, dy = octant & 2 ? -1 : 1;
            const int from_x = x - dx < 0 || x - dx >= px ? MPI_PROC_NULL : rank - dx;
            const int from_y = y - dy < 0 || y - dy >= py ? MPI_PROC_NULL : rank - dy * px;
            const int to_x = x + dx < 0 || x + dx >= px ? MPI_PROC_NULL : rank + dx;
            const int to_y = y + dy < 0 || y + dy >= py ? MPI_PROC_NULL : rank + dy * px;
            for (int block = 0; block < blocks; block++) {
                MPI_Recv(buffer, bytes, MPI_BYTE, from_x, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Recv(buffer, bytes, MPI_BYTE, from_y, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                compute_block(atoi(argv[6]), atol(argv[7]));
                MPI_Send(buffer, bytes, MPI_BYTE, to_x, 0, MPI_COMM_WORLD);
                MPI_Send(buffer, bytes, MPI_BYTE, to_y, 0, MPI_COMM_WORLD);
            }
        }
    free(buffer);
    MPI_Finalize();
    return 0;
}
