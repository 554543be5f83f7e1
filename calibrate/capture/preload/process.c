// Start, fork, exec and end of the process.
#include "next.h"
#include "store.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void parent(void)
{
    if (store_header != NULL)
        __atomic_fetch_add(&store_header->forks, 1, __ATOMIC_RELAXED);
}

// MPICH's handles are numbers, Open MPI's are addresses: wrappers of the wrong one would break the program. If so, it is
// executed again without this library, before main.
static void start_without_us(char **argv)
{
    char *const all = strdup(getenv("LD_PRELOAD") == NULL ? "" : getenv("LD_PRELOAD"));
    char *const others = strdup(all); // has room for them
    others[0] = 0;
    char *rest = all;
    for (char *one; (one = strsep(&rest, ": ")) != NULL;)
        if (strstr(one, "libpready_capture") == NULL && *one != 0)
            strcat(strcat(others, *others ? ":" : ""), one);
    setenv("LD_PRELOAD", others, true);
    setenv("PREADY_CAPTURE_DIR", "", true);
    execv("/proc/self/exe", argv);
}

__attribute__((constructor)) static void loaded(int argc, char **argv)
{
    (void)argc;
#ifdef OPEN_MPI
    const bool ours = true;
#else
    const bool ours = false;
#endif
    if (next_symbol("MPI_Init") != NULL && (data_symbol("ompi_mpi_comm_world") != NULL) != ours)
        start_without_us(argv);
    store_prepare();
    if (store_on)
        pthread_atfork(NULL, parent, store_forget);
}

__attribute__((destructor)) static void unloaded(void)
{
    if (store_on && store_header != NULL) {
        store_header->ended_ns = now();
        if (store_header->ended == ENDED_UNKNOWN)
            store_header->ended = ENDED_EXIT;
    }
}
