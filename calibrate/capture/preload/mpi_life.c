// MPI_Init to MPI_Finalize, and MPI_Abort.
#include "mpi_wrap.h"

static void started(int64_t t0, int rank, int ranks)
{
    const int64_t t1 = now();
    if (store_header->rank < 0) {
        store_header->rank = rank;
        store_header->ranks = ranks;
        static char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        __typeof__(&PMPI_Get_library_version) library =
            (__typeof__(&PMPI_Get_library_version))next_symbol("PMPI_Get_library_version");
        if (library != NULL && library(version, &length) == MPI_SUCCESS)
            store_text(TEXT_LIBRARY, TEXT_LIBRARY_ROOM, version);
        store_name_rank(rank);
        callers_site(__builtin_return_address(0), __builtin_frame_address(0)); // the first one loads what unwinds
        store_header->mpi_started_ns = now();
    }
    store_header->mpi_ended_ns = 0;
    store_record(KIND_INIT, 0, PEER_NOT_ONE, 0, t0, t1);
    mpi_runs = true;
}

static void begun(int rc, int64_t t0)
{
    int rank = 0, ranks = 0;
    if (rc == MPI_SUCCESS && peers_begin(&rank, &ranks))
        started(t0, rank, ranks);
}

static void ended(int64_t t0)
{
    mpi_runs = false;
    store_header->mpi_ended_ns = t0;
    store_cpus(); // all threads are there, bound as they were
    peers_end();
}

#define LIFE_AS(symbol, parameters, arguments, when, before, after)                                                    \
    EXPORT int symbol parameters                                                                                       \
    {                                                                                                                  \
        __typeof__(&symbol) next = (__typeof__(&symbol))next_symbol(TEXT_OF(symbol));                                  \
        const bool counts = self.depth++ == 0 && recording() && (when);                                                \
        const int64_t t0 = now();                                                                                      \
        if (counts)                                                                                                    \
            before;                                                                                                    \
        const int rc = next arguments;                                                                                 \
        if (counts)                                                                                                    \
            after;                                                                                                     \
        self.depth--;                                                                                                  \
        return rc;                                                                                                     \
    }
#define LIFE(name, parameters, arguments, when, before, after)                                                         \
    LIFE_AS(MPI_##name, parameters, arguments, when, before, after)                                                    \
    LIFE_AS(PMPI_##name, parameters, arguments, when, before, after)

LIFE(Init, (int *argc, char ***argv), (argc, argv), !mpi_runs, (void)0, begun(rc, t0))
LIFE(Init_thread, (int *argc, char ***argv, int required, int *provided), (argc, argv, required, provided), !mpi_runs,
     (void)0, begun(rc, t0))
LIFE(Finalize, (void), (), mpi_runs, ended(t0), store_record(KIND_FINALIZE, 0, PEER_NOT_ONE, 0, t0, now()))

#define ABORT(symbol)                                                                                                  \
    EXPORT int symbol(MPI_Comm comm, int code)                                                                         \
    {                                                                                                                  \
        __typeof__(&symbol) next = (__typeof__(&symbol))next_symbol(TEXT_OF(symbol));                                  \
        if (store_on && store_header != NULL)                                                                          \
            store_header->ended = ENDED_ABORT;                                                                         \
        return next(comm, code);                                                                                       \
    }
ABORT(MPI_Abort)
ABORT(PMPI_Abort)
