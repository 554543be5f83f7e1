// Calls that wait for messages or test for them.
#include "mpi_wrap.h"

#define COMPLETION(name, parameters, arguments, most, requests, kind, done, indices)                                   \
    WRAP_BEFORE(name, parameters, arguments, struct waited waited; requests_before(&waited, most, requests),           \
                const int n = done;                                                                                    \
                requests_after(&waited, n, indices, t0, t1);                                                           \
                store_completion(KIND_##kind, CALLED_AT, n, t0, t1))

// A loop that polls is one record: what completes nothing right after the same is added to it.
enum { POLLED_AGAIN_NS = 2000 };

static void store_completion(enum kind kind, uint16_t site, int done, int64_t t0, int64_t t1)
{
    struct record *const last = self.next == NULL ? NULL : self.next - 1;
    const int64_t from = store_header->started_ns;
    if (kind == KIND_TEST && done == 0 && last != NULL && last == self.polled && last->kind == KIND_TEST &&
        last->site == site && last->what == 0 && t0 - from - last->end < POLLED_AGAIN_NS) {
        last->end = last->done = t1 - from;
        return;
    }
    self.polled = store_record(kind, site, PEER_NOT_ONE, NUMBER(done), t0, t1);
}

COMPLETION(Wait, (MPI_Request * request, MPI_Status *status), (request, status), 1, request, WAIT, 1, NULL)
COMPLETION(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), (count, requests, statuses), count,
           requests, WAIT, count, NULL)
COMPLETION(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
           (count, requests, index, status), count, requests, WAIT, *index != MPI_UNDEFINED, index)
COMPLETION(Waitsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),
           (count, requests, done, indices, statuses), count, requests, WAIT, *done == MPI_UNDEFINED ? 0 : *done,
           indices)

COMPLETION(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status), 1, request, TEST,
           *flag != 0, NULL)
COMPLETION(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
           (count, requests, flag, statuses), count, requests, TEST, *flag ? count : 0, NULL)
COMPLETION(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
           (count, requests, index, flag, status), count, requests, TEST, *flag && *index != MPI_UNDEFINED, index)
COMPLETION(Testsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),
           (count, requests, done, indices, statuses), count, requests, TEST, *done == MPI_UNDEFINED ? 0 : *done,
           indices)

WRAP(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status), (source, tag, comm, status),
     NOTE(PROBE, peers_world_rank(source, comm), 0))
WRAP(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
     (source, tag, comm, message, status), NOTE(PROBE, peers_world_rank(source, comm), 0))
WRAP(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status), (source, tag, comm, flag, status),
     NOTE(TEST, peers_world_rank(source, comm), 0))
