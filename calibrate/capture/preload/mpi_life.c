// MPI_Init to MPI_Finalize, the first open session to the last, and MPI_Abort.
#include "mpi_wrap.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER; // sessions may begin and end in any thread
static bool world_runs;

static void started(int64_t t0, int provided, int rank, int ranks)
{
    const int64_t t1 = now();
    if (store_header->rank < 0) {
        store_header->rank = rank;
        store_header->ranks = ranks;
        store_header->thread_level = provided;
        static char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        __typeof__(&PMPI_Get_library_version) library =
            (__typeof__(&PMPI_Get_library_version))next_symbol("PMPI_Get_library_version");
        if (library != NULL && library(version, &length) == MPI_SUCCESS)
            store_text(TEXT_LIBRARY, TEXT_LIBRARY_ROOM, version);
        store_name_rank(rank);
        store_header->mpi_started_ns = t1;
    }
    store_header->mpi_ended_ns = 0;
    store_record(KIND_INIT, 0, PEER_NOT_ONE, 0, t0, t1);
    mpi_runs = true;
}

static void ended(int64_t t0)
{
    mpi_runs = false;
    store_header->mpi_ended_ns = t0;
    peers_end();
}

static void begun(int rc, int64_t t0, int provided)
{
    int rank = -1, ranks = -1;
    if (rc != MPI_SUCCESS)
        return;
    pthread_mutex_lock(&changing);
    if (!world_runs && recording() && (mpi_runs || peers_prepare()) && peers_from_world(&rank, &ranks)) {
        world_runs = true;
        started(t0, provided, rank, ranks);
    }
    pthread_mutex_unlock(&changing);
}

#ifdef HAVE_SESSIONS
enum { SESSIONS = 256 }; // most sessions open at the same time; MPI runs until all are closed
static MPI_Session sessions[SESSIONS];
static int open_sessions, owner = -1; // index of the session whose group gives the ranks

static int level_of(MPI_Session session)
{
    static const char *const names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                        "MPI_THREAD_MULTIPLE"};
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    __typeof__(&PMPI_Session_get_info) about = (__typeof__(&PMPI_Session_get_info))next_symbol("PMPI_Session_get_info");
    __typeof__(&PMPI_Info_get) get = (__typeof__(&PMPI_Info_get))next_symbol("PMPI_Info_get");
    __typeof__(&PMPI_Info_free) forget = (__typeof__(&PMPI_Info_free))next_symbol("PMPI_Info_free");
    char value[64] = "";
    int there = 0, level = -1;
    MPI_Info info;
    if (about == NULL || get == NULL || forget == NULL || about(session, &info) != MPI_SUCCESS)
        return -1;
    if (get(info, "thread_level", sizeof value - 1, value, &there) == MPI_SUCCESS && there)
        for (int i = 0; i < 4; i++)
            if (strcmp(value, names[i]) == 0)
                level = levels[i];
    forget(&info);
    return level;
}

// Ranks come from the group of an open session.
static bool place(int *rank, int *ranks)
{
    for (int i = 0; i < open_sessions && owner < 0; i++)
        if (peers_from_session(sessions[i], rank, ranks))
            owner = i;
    return owner >= 0;
}

static void session_begun(MPI_Session session, int64_t t0)
{
    int rank = -1, ranks = -1;
    pthread_mutex_lock(&changing);
    if (open_sessions < SESSIONS && (mpi_runs || peers_prepare())) {
        sessions[open_sessions++] = session;
        if (world_runs || mpi_runs)
            store_record(KIND_INIT, 0, PEER_NOT_ONE, 0, t0, now());
        else if (place(&rank, &ranks))
            started(t0, level_of(session), rank, ranks);
        else {
            open_sessions--;
            peers_end();
        }
    }
    pthread_mutex_unlock(&changing);
}

// Called before a session closes, to free its group first. False for an unknown session.
static bool session_ends(MPI_Session session, int64_t t0)
{
    int rank, ranks, which = 0;
    pthread_mutex_lock(&changing);
    while (which < open_sessions && sessions[which] != session)
        which++;
    const bool known = which < open_sessions;
    if (known) {
        if (owner == which)
            peers_leave();
        owner = owner == which ? -1 : owner == open_sessions - 1 ? which : owner;
        sessions[which] = sessions[--open_sessions]; // the last one takes its place
        if (!world_runs && open_sessions == 0)
            ended(t0);
        else if (!world_runs && owner < 0)
            place(&rank, &ranks);
    }
    pthread_mutex_unlock(&changing);
    return known;
}

#define SESSION_INIT(symbol)                                                                                           \
    EXPORT int symbol(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)                                     \
    {                                                                                                                  \
        __typeof__(&symbol) next = (__typeof__(&symbol))next_symbol(TEXT_OF(symbol));                                  \
        const bool counts = self.depth++ == 0 && recording();                                                          \
        const int64_t t0 = now();                                                                                      \
        const int rc = next(info, handler, session);                                                                   \
        if (counts && rc == MPI_SUCCESS)                                                                               \
            session_begun(*session, t0);                                                                               \
        self.depth--;                                                                                                  \
        return rc;                                                                                                     \
    }
SESSION_INIT(MPI_Session_init)
SESSION_INIT(PMPI_Session_init)

#define SESSION_FINALIZE(symbol)                                                                                       \
    EXPORT int symbol(MPI_Session *session)                                                                            \
    {                                                                                                                  \
        __typeof__(&symbol) next = (__typeof__(&symbol))next_symbol(TEXT_OF(symbol));                                  \
        const int64_t t0 = now();                                                                                      \
        const bool counts = self.depth++ == 0 && recording() && mpi_runs && session_ends(*session, t0);                \
        const int rc = next(session);                                                                                  \
        if (counts)                                                                                                    \
            store_record(KIND_FINALIZE, 0, PEER_NOT_ONE, 0, t0, now());                                                \
        self.depth--;                                                                                                  \
        return rc;                                                                                                     \
    }
SESSION_FINALIZE(MPI_Session_finalize)
SESSION_FINALIZE(PMPI_Session_finalize)
#endif

// Before the world ends; sessions may continue.
static void world_ends(int64_t t0)
{
    pthread_mutex_lock(&changing);
    world_runs = false;
#ifdef HAVE_SESSIONS
    int rank, ranks;
    if (open_sessions > 0) {
        peers_leave();
        owner = -1;
        place(&rank, &ranks);
    } else
#endif
        ended(t0);
    pthread_mutex_unlock(&changing);
}

#define INIT(symbol)                                                                                                   \
    EXPORT int symbol(int *argc, char ***argv)                                                                         \
    {                                                                                                                  \
        __typeof__(&symbol) next = (__typeof__(&symbol))next_symbol(TEXT_OF(symbol));                                  \
        const bool counts = self.depth++ == 0 && recording();                                                          \
        const int64_t t0 = now();                                                                                      \
        const int rc = next(argc, argv);                                                                               \
        if (counts)                                                                                                    \
            begun(rc, t0, MPI_THREAD_SINGLE);                                                                          \
        self.depth--;                                                                                                  \
        return rc;                                                                                                     \
    }
INIT(MPI_Init)
INIT(PMPI_Init)

#define INIT_THREAD(symbol)                                                                                            \
    EXPORT int symbol(int *argc, char ***argv, int required, int *provided)                                            \
    {                                                                                                                  \
        __typeof__(&symbol) next = (__typeof__(&symbol))next_symbol(TEXT_OF(symbol));                                  \
        const bool counts = self.depth++ == 0 && recording();                                                          \
        const int64_t t0 = now();                                                                                      \
        const int rc = next(argc, argv, required, provided);                                                           \
        if (counts)                                                                                                    \
            begun(rc, t0, *provided);                                                                                  \
        self.depth--;                                                                                                  \
        return rc;                                                                                                     \
    }
INIT_THREAD(MPI_Init_thread)
INIT_THREAD(PMPI_Init_thread)

#define FINALIZE(symbol)                                                                                               \
    EXPORT int symbol(void)                                                                                            \
    {                                                                                                                  \
        __typeof__(&symbol) next = (__typeof__(&symbol))next_symbol(TEXT_OF(symbol));                                  \
        const bool counts = self.depth++ == 0 && recording() && world_runs;                                            \
        const int64_t t0 = now();                                                                                      \
        if (counts)                                                                                                    \
            world_ends(t0);                                                                                            \
        const int rc = next();                                                                                         \
        if (counts)                                                                                                    \
            store_record(KIND_FINALIZE, 0, PEER_NOT_ONE, 0, t0, now());                                                \
        self.depth--;                                                                                                  \
        return rc;                                                                                                     \
    }
FINALIZE(MPI_Finalize)
FINALIZE(PMPI_Finalize)

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
