/* pready-bench: measure points, one JSON record each.
 *
 *   pready-bench [SETTINGS] < POINTS      one point a line: MEASUREMENT key=value ..., or "environment"
 *
 * SETTINGS: seed=N, tool=VERSION, folder=FOLDER (of an exchange's plans). Run with two ranks, or more: then "exchange"
 * and "pairs" take them all, any other measurement rank 0 and the first on another host.
 * A point may carry id=TEXT, which its record repeats. Points are read one at a time, so whoever writes them into a
 * pipe can decide on the next one after seeing a record. The line "end" or the end of the pipe ends the run; so does
 * silence for a minute, because a launcher may keep the pipe open after its own caller has died (Open MPI's does).
 * Exit status: 0, 1 after a payload mismatch, 2 after a point that makes no sense.
 */
#include "core/bench.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_LINE = 9 };

/* Another rank's node may be rank 0's node: between points it must not use a core. */
static void await_politely(const Bench *b)
{
    const struct timespec nap = {.tv_sec = 0, .tv_nsec = 500000};
    for (int there = 0; !there;) {
        MPI_Iprobe(0, TAG_LINE, b->control, &there, MPI_STATUS_IGNORE);
        if (!there) {
            nanosleep(&nap, NULL);
        }
    }
}

/* All ranks get rank 0's line; NULL ends the run. The caller frees it. */
static char *share_line(const Bench *b, const char *line)
{
    int length = 0;
    if (b->rank == 0) {
        length = line == NULL ? -1 : (int)strlen(line);
        for (int rank = 1; rank < b->ranks; rank++) {
            MPI_Send(&length, 1, MPI_INT, rank, TAG_LINE, b->control);
            if (length > 0) {
                MPI_Send(line, length, MPI_CHAR, rank, TAG_LINE, b->control);
            }
        }
        return line == NULL ? NULL : strdup(line);
    }
    await_politely(b);
    MPI_Recv(&length, 1, MPI_INT, 0, TAG_LINE, b->control, MPI_STATUS_IGNORE);
    if (length < 0) {
        return NULL;
    }
    char *copy = calloc((size_t)length + 1, 1);
    if (copy == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        return NULL;
    }
    if (length > 0) {
        MPI_Recv(copy, length, MPI_CHAR, 0, TAG_LINE, b->control, MPI_STATUS_IGNORE);
    }
    return copy;
}

/* Of more than two ranks, the two that measure what takes two; NULL for the others. */
static const Bench *pair_of(const Bench *all)
{
    enum { FIELD = 256 };
    static Bench pair;
    char mine[FIELD] = "", *hosts = allocate((size_t)all->ranks * FIELD);
    MPI_Comm both;
    int second = 1;
    prepare_partitioned(all);
    gethostname(mine, FIELD - 1);
    MPI_Allgather(mine, FIELD, MPI_CHAR, hosts, FIELD, MPI_CHAR, all->control);
    for (int rank = all->ranks - 1; rank > 0; rank--) {
        second = strcmp(hosts, hosts + (size_t)rank * FIELD) == 0 ? second : rank;
    }
    free(hosts);
    bool member = all->rank == 0 || all->rank == second;
    MPI_Comm_split(all->data, member ? 0 : MPI_UNDEFINED, all->rank, &both);
    if (!member) {
        return NULL;
    }
    pair = *all;
    pair.ranks = 2;
    pair.data = both;
    MPI_Comm_rank(both, &pair.rank);
    pair.peer = 1 - pair.rank;
    pair.sends = pair.rank == 0;
    MPI_Comm_dup(both, &pair.control);
    return &pair;
}

static void free_pair(const Bench *all, const Bench *pair)
{
    if (pair != NULL && pair != all) {
        MPI_Comm data = pair->data, control = pair->control;
        MPI_Comm_free(&data);
        MPI_Comm_free(&control);
    }
}

/* Same result on all ranks for everything but a payload mismatch, which only rank 0 counts. */
static int take_line(const Bench *b, const Bench *pair, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    char *start = line + strspn(line, " \t");
    if (*start == '\0' || *start == '#') {
        return 0;
    }
    if (strcmp(start, "environment") == 0) {
        record_environment(b);
        return 0;
    }
    Run run;
    char reason[MAX_REASON] = "";
    char *copy = strdup(start);
    int status = 2;
    if (run_parse(&run, b, copy, reason)) {
        run.bench = run.measurement->whole != NULL ? b : pair;
        status = run.bench == NULL ? 0 : measure_point(&run);
    } else if (run.measurement != NULL) {
        record_refusal(&run, REFUSED_ERROR, reason);
    } else {
        record_bad_line(b, start, reason);
    }
    run_free(&run);
    free(copy);
    return status;
}

/* The next line of standard input into *text, grown as needed. False at the end, whatever form it takes. */
static bool next_line(char **text, size_t *capacity)
{
    enum { PATIENCE_MS = 60000 };
    struct pollfd waiting = {.fd = STDIN_FILENO, .events = POLLIN};
    for (size_t length = 0;; length++) {
        if (length + 1 >= *capacity) {
            size_t larger = *capacity * 2 + 256;
            char *grown = realloc(*text, larger);
            if (grown == NULL) {
                return false;
            }
            *text = grown;
            *capacity = larger;
        }
        (*text)[length] = '\0';
        if (poll(&waiting, 1, PATIENCE_MS) <= 0 || read(STDIN_FILENO, *text + length, 1) <= 0) {
            return length > 0;
        }
        if ((*text)[length] == '\n') {
            (*text)[length] = '\0';
            return strcmp(*text, "end") != 0;
        }
    }
}

static int take_points(const Bench *b, const Bench *pair)
{
    char *text = NULL;
    size_t capacity = 0;
    int status = 0;
    for (;;) {
        bool more = b->rank == 0 && next_line(&text, &capacity);
        char *line = share_line(b, more ? text : NULL);
        if (line == NULL) {
            break;
        }
        int one = take_line(b, pair, line);
        status = one > status ? one : status;
        free(line);
    }
    free(text);
    return status;
}

static const char *after(const char *argument, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(argument, prefix, length) == 0 ? argument + length : NULL;
}

/* False for a word that is no setting. */
static bool take_setting(Bench *b, const char *word)
{
    const char *value;
    if ((value = after(word, "seed=")) != NULL) {
        b->seed = strtoull(value, NULL, 10);
    } else if ((value = after(word, "tool=")) != NULL) {
        b->tool = value;
    } else if ((value = after(word, "folder=")) != NULL) {
        b->folder = value;
    } else {
        return false;
    }
    return true;
}

static int measure(Bench *b, int count, char **words)
{
    for (int i = 0; i < count; i++) {
        if (!take_setting(b, words[i])) {
            fprintf(stderr, "pready-bench: '%s' is no setting: seed=N, tool=VERSION, folder=FOLDER\n", words[i]);
            return 2;
        }
    }
    if (b->ranks < 2) {
        fputs("pready-bench: needs two ranks or more, got 1: is the launcher of the compiler's MPI (--mpicc)?\n", stderr);
        return 2;
    }
    binding_open(b);
    const Bench *pair = b->ranks == 2 ? b : pair_of(b);
    int status = take_points(b, pair);
    free_pair(b, pair);
    return status;
}

int main(int argc, char **argv)
{
    Bench b = {.seed = 1, .tool = ""};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &b.thread_level);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &b.data);
    MPI_Comm_dup(MPI_COMM_WORLD, &b.control);
    b.peer = b.rank == 0 ? 1 : 0;
    b.sends = b.rank == 0;
    b.out = b.rank == 0 ? stdout : NULL;
    int status = measure(&b, argc - 1, argv + 1);
    MPI_Comm_free(&b.data);
    MPI_Comm_free(&b.control);
    MPI_Finalize();
    return status;
}
