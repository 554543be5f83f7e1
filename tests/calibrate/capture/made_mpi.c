// An MPI of rank 0 of 4 that answers what a test says; beside it a tool and an OpenMP runtime that have no part.
//
// Handles are numbers, as MPICH's. Those of communicators and windows are places in the table of groups.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MPI_GRAPH = 1, MPI_CART, MPI_DIST_GRAPH, NO_RANK = -1, UNDEFINED = -32766 };

static struct group {
    int size, world[4];     // its members
    int topology, n, to[4]; // members that each sends to
    void *kept;
} groups[] = {
    [1] = {.size = 3, .world = {3, 0, 2}},
    [2] = {.size = 1, .world = {1}}, // and its far side
    [3] = {.size = 2, .world = {2, 0}},
    [4] = {.size = 4, .world = {4, -1, UNDEFINED, 1}},
    [5] = {4, {3, 0, 2, 1}, MPI_CART, 4, {NO_RANK, 1, 2, 3}, NULL},
    [6] = {2, {1, 3}, MPI_GRAPH, 2, {1, 0}, NULL},
    [7] = {3, {1, 2, 3}, MPI_DIST_GRAPH, 3, {2, 0, 1}, NULL},
    [8] = {.size = 2, .world = {2, 3}},
};
extern int64_t result, request, flag, done, first, second, takes_ns, translated;
extern void spend(int64_t), (*meanwhile)(void);
static int (*forget)(int, int, void *, void *);

static int answer(void)
{
    spend(takes_ns);
    void (*const once)(void) = meanwhile;
    meanwhile = NULL;
    if (once != NULL)
        once();
    return (int)result;
}

#define SIMPLE(name)                                                                                                   \
    int MPI_##name(void)                                                                                               \
    {                                                                                                                  \
        return answer();                                                                                               \
    }
SIMPLE(Init) SIMPLE(Finalize) SIMPLE(Abort) SIMPLE(Send) SIMPLE(Recv) SIMPLE(Put) SIMPLE(Start) SIMPLE(Request_free)
SIMPLE(Wait) SIMPLE(Waitall) SIMPLE(Startall) SIMPLE(Pready_range) SIMPLE(Pready_list) SIMPLE(Neighbor_alltoall)
SIMPLE(Fetch_and_op) SIMPLE(Compare_and_swap)

#define GIVES(name, value, ...)                                                                                        \
    int MPI_##name(__VA_ARGS__)                                                                                        \
    {                                                                                                                  \
        *to = (int)(value);                                                                                            \
        return answer();                                                                                               \
    }
#define SEVEN long a, long b, long c, long d, long e, long f, int *to
GIVES(Init_thread, 3, long argc, long argv, long asked, int *to)
GIVES(Isend, request, SEVEN)
GIVES(Send_init, request, SEVEN)
GIVES(Recv_init, request, SEVEN)
GIVES(Psend_init, request, long buf, long partitions, SEVEN)
GIVES(Allreduce_init, request, long buf, SEVEN)
GIVES(Ineighbor_alltoall, request, long buf, SEVEN)
GIVES(Test, flag, long of, int *to)
GIVES(Testall, flag, long count, long of, int *to)
GIVES(Waitany, first, long count, long of, int *to)
GIVES(Testany, (*any = (int)flag, first), long count, long of, int *to, int *any)
#define SOME (indices[0] = (int)first, indices[1] = (int)second, done)
GIVES(Waitsome, SOME, long count, long of, int *to, int *indices)
GIVES(Testsome, SOME, long count, long of, int *to, int *indices)

#define TELLS(name, value, ...)                                                                                        \
    int PMPI_##name(__VA_ARGS__)                                                                                       \
    {                                                                                                                  \
        value;                                                                                                         \
        return 0;                                                                                                      \
    }
TELLS(Type_size, *to = type >> 8 & 0xff, int type, int *to) // as MPICH's handles say it
TELLS(Comm_rank, *to = 0, int comm, int *to)
TELLS(Comm_size, *to = 4, int comm, int *to)
TELLS(Comm_test_inter, *to = comm == 2, int comm, int *to)
TELLS(Comm_group, *to = comm, int comm, int *to)
TELLS(Comm_remote_group, *to = comm + 1, int comm, int *to)
TELLS(Win_get_group, *to = win, int win, int *to)
TELLS(Group_size, *to = groups[group].size, int group, int *to)
TELLS(Group_free, *group = 0, int *group)
TELLS(Topo_test, *to = groups[comm].topology ? groups[comm].topology : UNDEFINED, int comm, int *to)
TELLS(Cartdim_get, *to = groups[comm].n / 2, int comm, int *to)
TELLS(Cart_shift, (*below = far * groups[comm].to[2 * d], *above = far * groups[comm].to[2 * d + 1]), int comm, int d,
      int far, int *below, int *above)
TELLS(Graph_neighbors_count, *to = groups[comm].n, int comm, int rank, int *to)
TELLS(Graph_neighbors, memcpy(to, groups[comm].to, sizeof *to * (size_t)n), int comm, int rank, int n, int *to)
TELLS(Dist_graph_neighbors_count, (*in = 2, *out = groups[comm].n, *weighted = 1), int comm, int *in, int *out,
      int *weighted)
TELLS(Dist_graph_neighbors,
      (memset(from, 1, sizeof *from * (size_t)in), memset(from_weights, 1, sizeof *from * (size_t)in),
       memset(weights, 2, sizeof *to * (size_t)out), memcpy(to, groups[comm].to, sizeof *to * (size_t)out),
       to[0] *= from_weights[in - 1] < weights[0]), // all that it gives is there
      int comm, int in, int *from, int *from_weights, int out, int *to, int *weights)
TELLS(Group_translate_ranks, for (int i = 0; i < n; i++) to[i] = groups[group].world[own[i]], int group, int n,
      const int *own, int all, int *to)
TELLS(Comm_create_keyval, forget = deletes, void *copies, int (*deletes)(int, int, void *, void *))
TELLS(Comm_free_keyval, (void)0, void)
TELLS(Comm_get_attr, *there = (*(void **)to = groups[comm].kept) != NULL, int comm, int key, void *to, int *there)
TELLS(Comm_set_attr, (groups[comm].kept = value, translated++), int comm, int key, void *value)
TELLS(Win_create_keyval, (void)0, void)
TELLS(Win_free_keyval, (void)0, void)
TELLS(Win_get_attr, PMPI_Comm_get_attr(win, key, to, there), int win, int key, void *to, int *there)
TELLS(Win_set_attr, PMPI_Comm_set_attr(win, key, value), int win, int key, void *value)
TELLS(Get_library_version, (memset(text, 'v', 2000), *length = 2000, text[2000] = 0), char *text, int *length)

int MPI_Comm_free(int *comm)
{
    return forget(*comm, 0, groups[*comm].kept, NULL);
}

int omp_get_level(void) // of a runtime that knows of no region
{
    return 0;
}

void *ompt_start_tool(unsigned version, const char *runtime)
{
    static const uint64_t other[3] = {0, 0, 77};
    return version == 201811 && strcmp(runtime, "made") == 0 ? (void *)other : NULL;
}
