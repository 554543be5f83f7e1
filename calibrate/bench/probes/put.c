/* Does MPI_Put arrive while the target computes? */
#include "probes/probe.h"

enum { SMALL = 64, LARGE = 1 << 20, ROUNDS = 3, TAG_COMPUTES = 7 };
static const double COMPUTE_S = 0.1;

/* Did the put arrive while the target made no call of MPI? Rank 1 looks into its own memory while it computes. */
static bool arrived(const Bench *b, MPI_Win window, char *memory, int bytes, char value)
{
    int there = 0;
    if (b->rank == 1) {
        volatile const char *last = memory + bytes - 1;
        send_empty(0, TAG_COMPUTES, b->data);
        for (double end = now_s() + COMPUTE_S; now_s() < end && !there;) {
            there = *last == value;
        }
        MPI_Send(&there, 1, MPI_INT, 0, TAG_COMPUTES, b->data);
    } else if (b->rank == 0) {
        for (int i = 0; i < bytes; i++) {
            memory[i] = value;
        }
        receive_empty(1, TAG_COMPUTES, b->data);
        MPI_Put(memory, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
        MPI_Win_flush(1, window);
        MPI_Recv(&there, 1, MPI_INT, 1, TAG_COMPUTES, b->data, MPI_STATUS_IGNORE);
    }
    return there;
}

void probe_put(const Bench *b)
{
    char *memory = NULL;
    MPI_Win window;
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, b->data, &memory, &window);
    MPI_Win_lock_all(0, window);
    char value = 0;
    for (int large = 0; large < 2; large++) {
        bool there = false;
        for (int n = 0; n < ROUNDS; n++) { /* the first sets things up, and the origin's core may be busy */
            value++;
            MPI_Barrier(b->data);
            there = arrived(b, window, memory, large ? LARGE : SMALL, value) || there;
        }
        probe_answer(b, large ? "large" : "small", there);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}
