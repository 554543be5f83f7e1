/* The state of this rank, to explain a run that has died or hangs: FOLDER/board-RANK, mapped into memory, so that it
 * costs a few stores and survives a kill. calibrate/measure/post_mortem.py reads the same eight numbers. */
#include "core/bench.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_PATH = 4096 };

typedef struct {
    volatile int64_t pid, point, iteration, phase, doing, signal, spare[2];
} Board;

static Board nowhere, *board = &nowhere;

static void note_signal(int number)
{
    board->signal = number;
    signal(number, SIG_DFL);
    raise(number);
}

void board_open(const Bench *b)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
    char path[MAX_PATH];
    if (b->folder == NULL) {
        return;
    }
    snprintf(path, sizeof path, "%s/board-%d", b->folder, b->rank);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || ftruncate(file, sizeof(Board)) != 0) {
        return; /* a run without a board still measures */
    }
    void *mapped = mmap(NULL, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) {
        board = mapped;
        board->pid = getpid();
        for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
            signal(fatal[i], note_signal);
        }
    }
}

void board_point(void)
{
    board->point++;
    board->iteration = -1;
}

void board_note(long iteration, int phase, Doing doing)
{
    board->iteration = iteration;
    board->phase = phase;
    board->doing = doing;
}
