// Translates ranks of communicators and windows to MPI_COMM_WORLD, and counts to bytes.
#include "mpi_wrap.h"

#include <stdlib.h>
#include <string.h>

bool mpi_runs;

static struct {
    MPI_Comm world;
    MPI_Group group; // of the world
    bool known;      // the group exists
    int ranks;
    int comm_key, win_key;
    __typeof__(&PMPI_Type_size) type_size;
    __typeof__(&PMPI_Comm_get_attr) comm_get_attr;
    __typeof__(&PMPI_Comm_set_attr) comm_set_attr;
    __typeof__(&PMPI_Win_get_attr) win_get_attr;
    __typeof__(&PMPI_Win_set_attr) win_set_attr;
    __typeof__(&PMPI_Comm_test_inter) comm_test_inter;
    __typeof__(&PMPI_Comm_group) comm_group;
    __typeof__(&PMPI_Comm_remote_group) comm_remote_group;
    __typeof__(&PMPI_Win_get_group) win_get_group;
    __typeof__(&PMPI_Group_size) group_size;
    __typeof__(&PMPI_Group_translate_ranks) group_translate_ranks;
    __typeof__(&PMPI_Group_free) group_free;
} mpi;

// World ranks of a group, kept with its communicator or window.
struct table {
    int size;
    int world[];
};

static int forget_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

static int forget_win(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

// A duplicate of a communicator makes its own table when it needs one.
static int copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int copy_win(MPI_Win win, int key, void *extra, void *in, void *out, int *flag)
{
    (void)win, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

#define TAKE(slot, name)                                                                                               \
    if ((slot = (__typeof__(slot))next_symbol(name)) == NULL)                                                          \
        return false;

bool peers_prepare(void)
{
    __typeof__(&PMPI_Comm_create_keyval) comm_keyval;
    __typeof__(&PMPI_Win_create_keyval) win_keyval;
    TAKE(mpi.type_size, "PMPI_Type_size")
    TAKE(mpi.comm_get_attr, "PMPI_Comm_get_attr")
    TAKE(mpi.comm_set_attr, "PMPI_Comm_set_attr")
    TAKE(mpi.win_get_attr, "PMPI_Win_get_attr")
    TAKE(mpi.win_set_attr, "PMPI_Win_set_attr")
    TAKE(mpi.comm_test_inter, "PMPI_Comm_test_inter")
    TAKE(mpi.comm_group, "PMPI_Comm_group")
    TAKE(mpi.comm_remote_group, "PMPI_Comm_remote_group")
    TAKE(mpi.win_get_group, "PMPI_Win_get_group")
    TAKE(mpi.group_size, "PMPI_Group_size")
    TAKE(mpi.group_translate_ranks, "PMPI_Group_translate_ranks")
    TAKE(mpi.group_free, "PMPI_Group_free")
    TAKE(comm_keyval, "PMPI_Comm_create_keyval")
    TAKE(win_keyval, "PMPI_Win_create_keyval")
    return comm_keyval(copy_comm, forget_comm, &mpi.comm_key, NULL) == MPI_SUCCESS &&
           win_keyval(copy_win, forget_win, &mpi.win_key, NULL) == MPI_SUCCESS;
}

bool peers_from_world(int *rank, int *ranks)
{
    MPI_Comm world;
#ifdef OPEN_MPI
    // The handle is the address of an object in MPI's library, which not every process loads: do not link to it.
    world = (MPI_Comm)data_symbol("ompi_mpi_comm_world");
    if (world == NULL)
        return false;
#else
    world = MPI_COMM_WORLD;
#endif
    __typeof__(&PMPI_Comm_rank) comm_rank;
    __typeof__(&PMPI_Comm_size) comm_size;
    TAKE(comm_rank, "PMPI_Comm_rank")
    TAKE(comm_size, "PMPI_Comm_size")
    if (comm_rank(world, rank) != MPI_SUCCESS || comm_size(world, ranks) != MPI_SUCCESS ||
        mpi.comm_group(world, &mpi.group) != MPI_SUCCESS)
        return false;
    mpi.world = world;
    mpi.ranks = *ranks;
    return mpi.known = *ranks > 0;
}

void peers_end(void)
{
    __typeof__(&PMPI_Comm_free_keyval) comm_keyval =
        (__typeof__(&PMPI_Comm_free_keyval))next_symbol("PMPI_Comm_free_keyval");
    __typeof__(&PMPI_Win_free_keyval) win_keyval =
        (__typeof__(&PMPI_Win_free_keyval))next_symbol("PMPI_Win_free_keyval");
    if (mpi.known)
        mpi.group_free(&mpi.group);
    mpi.known = false;
    if (comm_keyval != NULL && win_keyval != NULL) {
        comm_keyval(&mpi.comm_key);
        win_keyval(&mpi.win_key);
    }
}

static struct table *translated(MPI_Group group)
{
    int size = 0;
    if (!mpi.known || mpi.group_size(group, &size) != MPI_SUCCESS)
        return NULL;
    struct table *const t = malloc(sizeof *t + sizeof(int) * (size_t)size);
    int *const own = malloc(sizeof(int) * (size_t)(size + 1));
    bool done = t != NULL && own != NULL;
    if (done) {
        for (int i = 0; i < size; i++)
            own[i] = i;
        t->size = size;
        done = mpi.group_translate_ranks(group, size, own, mpi.group, t->world) == MPI_SUCCESS;
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

int32_t peers_world_rank(int rank, MPI_Comm comm)
{
    if (rank == MPI_PROC_NULL)
        return PEER_NONE;
    if (rank == MPI_ANY_SOURCE)
        return PEER_ANY;
    if (comm == mpi.world)
        return rank;
    struct table *t = NULL;
    int flag = 0, inter = 0;
    if (mpi.comm_get_attr(comm, mpi.comm_key, &t, &flag) != MPI_SUCCESS)
        return PEER_UNKNOWN;
    if (!flag) {
        MPI_Group group;
        mpi.comm_test_inter(comm, &inter);
        if ((inter ? mpi.comm_remote_group : mpi.comm_group)(comm, &group) != MPI_SUCCESS)
            return PEER_UNKNOWN;
        t = translated(group);
        mpi.group_free(&group);
        if (t == NULL)
            return PEER_UNKNOWN;
        if (mpi.comm_set_attr(comm, mpi.comm_key, t) != MPI_SUCCESS) {
            const int32_t found = in_table(t, rank);
            free(t);
            return found;
        }
    }
    return in_table(t, rank);
}

int32_t peers_window_rank(int rank, MPI_Win win)
{
    if (rank == MPI_PROC_NULL)
        return PEER_NONE;
    struct table *t = NULL;
    int flag = 0;
    if (mpi.win_get_attr(win, mpi.win_key, &t, &flag) != MPI_SUCCESS)
        return PEER_UNKNOWN;
    if (!flag) {
        MPI_Group group;
        if (mpi.win_get_group(win, &group) != MPI_SUCCESS)
            return PEER_UNKNOWN;
        t = translated(group);
        mpi.group_free(&group);
        if (t == NULL)
            return PEER_UNKNOWN;
        if (mpi.win_set_attr(win, mpi.win_key, t) != MPI_SUCCESS) {
            const int32_t found = in_table(t, rank);
            free(t);
            return found;
        }
    }
    return in_table(t, rank);
}

uint64_t peers_bytes(int64_t count, MPI_Datatype type)
{
    int size = 0;
    if (count <= 0 || mpi.type_size(type, &size) != MPI_SUCCESS || size <= 0) // MPI_UNDEFINED: above 2 GiB
        return 0;
    return (uint64_t)count * (uint64_t)size;
}
