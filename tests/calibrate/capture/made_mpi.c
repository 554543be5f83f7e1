// An MPI of rank 0 of 4 that answers what a test says; beside it a tool and an OpenMP runtime that have no part.
//
// Handles are numbers, as MPICH's. A communicator or window but the world has two ranks, 2 and 3 of it.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern int64_t result, request, flag, done, first, second, takes_ns;
extern void spend(int64_t), (*meanwhile)(void);
static void *kept;

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
SIMPLE(Init) SIMPLE(Finalize) SIMPLE(Abort) SIMPLE(Send) SIMPLE(Start) SIMPLE(Request_free)
SIMPLE(Wait) SIMPLE(Waitall)

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
TELLS(Comm_test_inter, *to = 0, int comm, int *to)
TELLS(Comm_group, *to = comm, int comm, int *to)
TELLS(Comm_remote_group, *to = comm + 1, int comm, int *to)
TELLS(Win_get_group, *to = win, int win, int *to)
TELLS(Group_size, *to = 2, int group, int *to)
TELLS(Group_free, *group = 0, int *group)
TELLS(Group_translate_ranks, for (int i = 0; i < n; i++) to[i] = 2 + own[i], int group, int n,
      const int *own, int all, int *to)
TELLS(Comm_create_keyval, (void)0, void)
TELLS(Comm_free_keyval, (void)0, void)
TELLS(Comm_get_attr, *there = (*(void **)to = kept) != NULL, int comm, int key, void *to, int *there)
TELLS(Comm_set_attr, kept = value, int comm, int key, void *value)
TELLS(Topo_test, (void)0, void)
TELLS(Cartdim_get, (void)0, void)
TELLS(Cart_shift, (void)0, void)
TELLS(Graph_neighbors_count, (void)0, void)
TELLS(Graph_neighbors, (void)0, void)
TELLS(Dist_graph_neighbors_count, (void)0, void)
TELLS(Dist_graph_neighbors, (void)0, void)
TELLS(Get_library_version, (memset(text, 'v', 2000), *length = 2000, text[2000] = 0), char *text, int *length)

int omp_get_level(void) // of a runtime that knows of no region
{
    return 0;
}

void *ompt_start_tool(unsigned version, const char *runtime)
{
    static const uint64_t other[3] = {0, 0, 77};
    return version == 201811 && strcmp(runtime, "made") == 0 ? (void *)other : NULL;
}
