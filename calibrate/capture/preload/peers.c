// Translates ranks of communicators and windows to MPI_COMM_WORLD, and counts to bytes.
#include "peers.h"
#include "next.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

bool mpi_runs;

#define FUNCTIONS(USE)                                                                                                 \
    USE(Type_size)                                                                                                     \
    USE(Comm_rank) USE(Comm_size) USE(Comm_test_inter) USE(Comm_group) USE(Comm_remote_group)                          \
    USE(Comm_create_keyval) USE(Comm_free_keyval) USE(Comm_get_attr) USE(Comm_set_attr)                                \
    USE(Win_get_group)                                                                                                 \
    USE(Group_size) USE(Group_translate_ranks) USE(Group_free)                                                         \
    USE(Topo_test) USE(Cartdim_get) USE(Cart_shift) USE(Graph_neighbors_count) USE(Graph_neighbors)                    \
    USE(Dist_graph_neighbors_count) USE(Dist_graph_neighbors)
#define MEMBER(name) __typeof__(&PMPI_##name) name;

static struct {
    MPI_Comm world;
    MPI_Group group; // of the world
    bool known;      // the group exists
    int ranks;
    int key; // of the table that is kept with a communicator
    FUNCTIONS(MEMBER)
} mpi;

// World ranks of a group, kept with its communicator.
struct table {
    int size;
    int neighbours; // that a neighbour collective sends to; -1: not asked yet
    int32_t *to;
    int world[];
};

static void forget(struct table *t)
{
    if (t != NULL)
        free(t->to);
    free(t);
}

static struct table *translated(MPI_Group group)
{
    int size = 0;
    if (!mpi.known || mpi.Group_size(group, &size) != MPI_SUCCESS)
        return NULL;
    struct table *const t = malloc(sizeof *t + sizeof(int) * (size_t)size);
    int *const own = malloc(sizeof(int) * (size_t)size);
    bool done = t != NULL && own != NULL;
    if (done) {
        for (int i = 0; i < size; i++)
            own[i] = i;
        t->size = size;
        t->neighbours = -1;
        t->to = NULL;
        done = mpi.Group_translate_ranks(group, size, own, mpi.group, t->world) == MPI_SUCCESS;
    }
    free(own);
    if (!done) {
        free(t);
        return NULL;
    }
    for (int i = 0; i < size; i++)
        if (t->world[i] < 0 || t->world[i] >= mpi.ranks)
            t->world[i] = PEER_UNKNOWN; // spawned, or of another world
    return t;
}

static int32_t in_table(const struct table *t, int rank)
{
    return t != NULL && rank >= 0 && rank < t->size ? t->world[rank] : PEER_UNKNOWN;
}

static int forget_table(MPI_Comm of, int key, void *value, void *extra)
{
    (void)of, (void)key, (void)extra;
    forget(value);
    return MPI_SUCCESS;
}

// A duplicate makes its own table when it needs one.
static int copy_no_table(MPI_Comm of, int key, void *extra, void *in, void *out, int *flag)
{
    (void)of, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static struct table *table_of(MPI_Comm comm)
{
    struct table *t = NULL;
    int flag = 0, inter = 0;
    if (mpi.Comm_get_attr(comm, mpi.key, &t, &flag) != MPI_SUCCESS || flag)
        return t;
    MPI_Group group;
    mpi.Comm_test_inter(comm, &inter);
    if ((inter ? mpi.Comm_remote_group : mpi.Comm_group)(comm, &group) != MPI_SUCCESS)
        return NULL;
    t = translated(group);
    mpi.Group_free(&group);
    if (t != NULL && mpi.Comm_set_attr(comm, mpi.key, t) != MPI_SUCCESS) {
        forget(t);
        t = NULL;
    }
    return t;
}

int32_t peers_world_rank(int rank, MPI_Comm comm)
{
    if (rank == MPI_PROC_NULL)
        return PEER_NONE;
    if (rank == MPI_ANY_SOURCE)
        return PEER_ANY;
    return comm == mpi.world ? rank : in_table(table_of(comm), rank);
}

int32_t peers_window_rank(int rank, MPI_Win win)
{
    MPI_Group group;
    if (rank == MPI_PROC_NULL || mpi.Win_get_group(win, &group) != MPI_SUCCESS)
        return rank == MPI_PROC_NULL ? PEER_NONE : PEER_UNKNOWN;
    int world = MPI_UNDEFINED;
    mpi.Group_translate_ranks(group, 1, &rank, mpi.group, &world);
    mpi.Group_free(&group);
    return world < 0 || world >= mpi.ranks ? PEER_UNKNOWN : world;
}

// World ranks that a neighbour collective sends to; of a Cartesian communicator, below and above along each dimension.
int peers_neighbours(MPI_Comm comm, const int32_t **to)
{
    struct table *const t = table_of(comm);
    if (t == NULL || t->neighbours >= 0) {
        *to = t == NULL ? NULL : t->to;
        return t == NULL ? 0 : t->neighbours;
    }
    int kind = MPI_UNDEFINED, n = 0, rank = 0, in = 0, weighted = 0;
    mpi.Topo_test(comm, &kind);
    mpi.Comm_rank(comm, &rank);
    if (kind == MPI_CART && mpi.Cartdim_get(comm, &n) == MPI_SUCCESS)
        n *= 2;
    else if (kind == MPI_GRAPH)
        mpi.Graph_neighbors_count(comm, rank, &n);
    else if (kind == MPI_DIST_GRAPH)
        mpi.Dist_graph_neighbors_count(comm, &in, &n, &weighted);
    int *const found = calloc((size_t)(2 * (in + n) + 1), sizeof *found);
    t->neighbours = found == NULL ? 0 : n;
    t->to = found;
    for (int d = 0; kind == MPI_CART && 2 * d < t->neighbours; d++)
        mpi.Cart_shift(comm, d, 1, &found[2 * d], &found[2 * d + 1]);
    if (kind == MPI_GRAPH && found != NULL)
        mpi.Graph_neighbors(comm, rank, n, found);
    if (kind == MPI_DIST_GRAPH && found != NULL)
        mpi.Dist_graph_neighbors(comm, in, found + n, found + n + in, n, found, found + n + 2 * in);
    for (int i = 0; i < t->neighbours; i++)
        found[i] = found[i] == MPI_PROC_NULL ? PEER_NONE : in_table(t, found[i]);
    *to = found;
    return t->neighbours;
}

#define TAKE(name)                                                                                                     \
    if ((mpi.name = (__typeof__(mpi.name))next_symbol("PMPI_" #name)) == NULL)                                         \
        return false;

bool peers_begin(int *rank, int *ranks)
{
    FUNCTIONS(TAKE)
#ifdef OPEN_MPI
    // The handle is the address of an object in MPI's library, which not every process loads: do not link to it.
    mpi.world = (MPI_Comm)data_symbol("ompi_mpi_comm_world");
    if (mpi.world == NULL)
        return false;
#else
    mpi.world = MPI_COMM_WORLD;
#endif
    mpi.known = mpi.Comm_create_keyval(copy_no_table, forget_table, &mpi.key, NULL) == MPI_SUCCESS &&
                mpi.Comm_rank(mpi.world, rank) == MPI_SUCCESS && mpi.Comm_size(mpi.world, ranks) == MPI_SUCCESS &&
                mpi.Comm_group(mpi.world, &mpi.group) == MPI_SUCCESS;
    mpi.ranks = *ranks;
    return mpi.known;
}

void peers_end(void)
{
    if (mpi.known)
        mpi.Group_free(&mpi.group);
    mpi.known = false;
    mpi.Comm_free_keyval(&mpi.key);
}

uint64_t peers_bytes(int64_t count, MPI_Datatype type)
{
    int size = 0;
    if (count <= 0 || mpi.Type_size(type, &size) != MPI_SUCCESS || size <= 0) // MPI_UNDEFINED: above 2 GiB
        return 0;
    return (uint64_t)count * (uint64_t)size;
}
