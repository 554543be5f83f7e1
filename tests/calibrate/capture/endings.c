// Ways for a program to behave and to end that a capture must not change. Compiled with and without MPI and OpenMP.
//
//   endings WAY
#ifdef WITH_MPI
#include <mpi.h>
#endif
#ifdef WITH_OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#define omp_set_num_threads(n) (void)(n)
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WITH_MPI
static int rank, ranks = 1;
#endif

static long work(int threads)
{
    long sum = 0;
    omp_set_num_threads(threads);
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for
        for (int i = 0; i < 1000; i++)
            sum += i;
#pragma omp barrier
        sum += omp_get_thread_num();
    }
    return sum;
}

static void talk(int bytes)
{
#ifdef WITH_MPI
    static char out[4096], in[4096];
    MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % ranks, 0, in, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    (void)bytes;
#endif
}

static void *alone(void *data)
{
    talk(8);
    return data;
}

static long nested(void)
{
    long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        long inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
        {
            inner += 1;
#pragma omp barrier
        }
        sum += inner;
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *const way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "exec") == 0) { // before MPI, as a wrapper script does
        printf("before %ld\n", work(2));
        fflush(stdout);
        execl("/proc/self/exe", argv[0], "plain", NULL);
    }
#ifdef WITH_MPI
    int provided;
    MPI_Init_thread(&argc, &argv, strcmp(way, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
    long sum = 0;
    for (int i = 0; i < 20; i++) {
        sum += work(strcmp(way, "teams") == 0 ? 1 + i % 4 : 2);
        talk(64);
    }
    if (strcmp(way, "many") == 0)
        for (int i = 0; i < 20; i++) {
            sum += work(40);
            talk(64);
        }
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "_exit") == 0)
        _exit(4);
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "segfault") == 0)
        raise(SIGSEGV);
    if (strcmp(way, "fork") == 0) {
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            work(1);
            _exit(5);
        }
        int status = 0;
        waitpid(child, &status, 0);
        sum += WEXITSTATUS(status);
    }
    if (strcmp(way, "nested") == 0)
        sum += nested();
    if (strcmp(way, "threads") == 0) {
        pthread_t thread[20];
        for (int i = 0; i < 20; i++)
            pthread_create(&thread[i], NULL, alone, NULL);
        for (int i = 0; i < 20; i++)
            pthread_join(thread[i], NULL);
    }
#ifdef WITH_MPI
    if (strcmp(way, "MPI_Abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Finalize();
#endif
    printf("sum %ld\n", sum);
    return strcmp(way, "nine") == 0 ? 9 : 0;
}
