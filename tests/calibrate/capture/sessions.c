// A ring of ranks that begin and end MPI by sessions, without MPI_Init, in one of several ways:
//
//   sessions one       one session
//   sessions two       the first is closed while the second goes on
//   sessions again     another one is opened after it was closed
//   sessions world     beside MPI_Init: MPI_Finalize comes while a session is open
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 12, BYTES = 640 };

static int rank, ranks;

static MPI_Comm opened(MPI_Session *session, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    return comm;
}

static void closed(MPI_Session *session, MPI_Comm *comm)
{
    MPI_Comm_free(comm);
    MPI_Session_finalize(session);
}

static double steps(MPI_Comm comm)
{
    static char out[BYTES], in[BYTES];
    double sum = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for num_threads(2) reduction(+ : sum) schedule(static)
        for (int i = 0; i < 20000; i++)
            sum += i * 1e-9;
        MPI_Request request[2];
        MPI_Irecv(in, BYTES, MPI_BYTE, (rank + ranks - 1) % ranks, 0, comm, &request[0]);
        MPI_Isend(out, BYTES, MPI_BYTE, (rank + 1) % ranks, 0, comm, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *const way = argc > 1 ? argv[1] : "one";
    double sum = 0;
    MPI_Session first, second;
    if (strcmp(way, "world") == 0) {
        MPI_Init(&argc, &argv);
        MPI_Comm comm = opened(&first, "first");
        sum += steps(comm) + steps(MPI_COMM_WORLD);
        MPI_Finalize();
        sum += steps(comm);
        closed(&first, &comm);
    } else {
        MPI_Comm comm = opened(&first, "first");
        sum += steps(comm);
        if (strcmp(way, "two") == 0) {
            MPI_Comm other = opened(&second, "second");
            closed(&first, &comm);
            MPI_Comm_dup(other, &comm); // its ranks are looked up now
            sum += steps(comm);
            MPI_Comm_free(&comm);
            closed(&second, &other);
        } else {
            closed(&first, &comm);
        }
        if (strcmp(way, "again") == 0) {
            comm = opened(&first, "again");
            sum += steps(comm);
            closed(&first, &comm);
        }
    }
    printf("rank %d of %d: %.6f\n", rank, ranks, sum);
    return 0;
}
