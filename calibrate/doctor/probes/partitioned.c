/* The probes of partitioned communication. */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#ifdef PARTITIONED

enum { PARTS = 4, BYTES = 16384, ROUNDS = 5, NEIGHBOURS = 2 };
static const double DELAY_S = 0.05;

static char *memory(size_t bytes)
{
    char *found = calloc(bytes, 1);
    if (found == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return found;
}

/* Of the byte number i of round number n. */
static char pattern(int n, int i)
{
    return (char)(n * 31 + i * 7 + 1);
}

static void fill(char *buffer, int bytes, int n)
{
    for (int i = 0; i < bytes; i++) {
        buffer[i] = pattern(n, i);
    }
}

static bool right(const char *buffer, int bytes, int n)
{
    for (int i = 0; i < bytes; i++) {
        if (buffer[i] != pattern(n, i)) {
            return false;
        }
    }
    return true;
}

/* Open MPI prepares with a collective in the first MPI_Psend_init, so all ranks take part in one empty round. */
static void prepare(const Job *job)
{
    char out = 0, in = 0;
    MPI_Request requests[2];
    const int left = (job->rank + job->ranks - 1) % job->ranks, right_one = (job->rank + 1) % job->ranks;
    MPI_Precv_init(&in, 1, 1, MPI_BYTE, left, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(&out, 1, 1, MPI_BYTE, right_one, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
    MPI_Pready(0, requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[i]);
    }
}

/* From rank 0 to rank 1. */
static void make(const Job *job, char *buffer, int sends, int receives, int tag, MPI_Request *request)
{
    if (job->rank == 0) {
        MPI_Psend_init(buffer, sends, BYTES / sends, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, request);
    } else {
        MPI_Precv_init(buffer, receives, BYTES / receives, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, request);
    }
}

/* Number n of ROUNDS; did the right bytes come? On both ranks. */
static bool exchange(const Job *job, char *buffer, int sends, int n, MPI_Request *request)
{
    int good = 1;
    if (job->rank == 0) {
        fill(buffer, BYTES, n);
        MPI_Start(request);
        for (int i = 0; i < sends; i++) {
            MPI_Pready(i, *request);
        }
        MPI_Wait(request, MPI_STATUS_IGNORE);
        MPI_Recv(&good, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        memset(buffer, 0, BYTES);
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        good = right(buffer, BYTES, n);
        MPI_Send(&good, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    }
    return good;
}

/* Rounds with these numbers of partitions; how many were right, as `name`. */
static void rounds(const Job *job, const char *name, int sends, int receives)
{
    char *buffer = memory(BYTES);
    MPI_Request request;
    int good = 0;
    make(job, buffer, sends, receives, 0, &request);
    for (int n = 0; n < ROUNDS; n++) {
        good += exchange(job, buffer, sends, n, &request);
    }
    MPI_Request_free(&request);
    answer(job, name, (double)good / ROUNDS);
    free(buffer);
}

void probe_early(const Job *job)
{
    char *buffer = memory(BYTES);
    double lead[ROUNDS] = {0};
    MPI_Request request;
    prepare(job);
    if (job->rank < 2) {
        make(job, buffer, PARTS, PARTS, 0, &request);
        for (int n = 0; n < ROUNDS; n++) {
            MPI_Start(&request);
            if (job->rank == 0) {
                for (int i = 0; i + 1 < PARTS; i++) {
                    MPI_Pready(i, request);
                }
                sleep_s(DELAY_S);
                MPI_Pready(PARTS - 1, request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                MPI_Recv(&lead[n], 1, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                for (int there = 0; !there;) {
                    MPI_Parrived(request, 0, &there);
                }
                double first = now_s();
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                lead[n] = now_s() - first;
                MPI_Send(&lead[n], 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD);
            }
        }
        MPI_Request_free(&request);
    }
    int early = 0;
    for (int n = 1; n < ROUNDS; n++) {
        early += lead[n] > DELAY_S / 2;
    }
    answer(job, "first", lead[0] > DELAY_S / 2);
    answer(job, "later", (double)early / (ROUNDS - 1));
    free(buffer);
}

void probe_restart(const Job *job)
{
    prepare(job);
    if (job->rank < 2) {
        rounds(job, "right", PARTS, PARTS);
        /* Started again, with nothing ready: is it complete? */
        char *buffer = memory(BYTES);
        MPI_Request request;
        int complete = 0;
        make(job, buffer, PARTS, PARTS, 1, &request);
        exchange(job, buffer, PARTS, 0, &request);
        MPI_Start(&request);
        if (job->rank == 0) {
            MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
            answer(job, "too_soon", complete);
            for (int i = 0; i < PARTS; i++) {
                MPI_Pready(i, request);
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        free(buffer);
    }
}

void probe_unequal(const Job *job)
{
    prepare(job);
    if (job->rank < 2) {
        rounds(job, "fewer_received", 2 * PARTS, PARTS);
        rounds(job, "more_received", PARTS, 2 * PARTS);
    }
}

enum { SIDES = 2, ALL = 2 * SIDES };

/* Two neighbours, one to each side (the same where there are two ranks): to and from both, with new requests. */
static void both_sides(const Job *job, char *buffer, bool together)
{
    MPI_Request requests[ALL];
    const int sides[SIDES] = {(job->rank + job->ranks - 1) % job->ranks, (job->rank + 1) % job->ranks};
    for (int i = 0; i < SIDES; i++) {
        MPI_Precv_init(buffer + (size_t)i * BYTES, PARTS, BYTES / PARTS, MPI_BYTE, sides[i], 1 - i, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &requests[i]);
        MPI_Psend_init(buffer + (size_t)(SIDES + i) * BYTES, PARTS, BYTES / PARTS, MPI_BYTE, sides[i], i,
                       MPI_COMM_WORLD, MPI_INFO_NULL, &requests[SIDES + i]);
    }
    for (int n = 0; n < ROUNDS; n++) {
        if (together) {
            MPI_Startall(ALL, requests);
        }
        for (int i = 0; i < ALL && !together; i++) {
            MPI_Start(&requests[i]);
        }
        for (int i = SIDES * PARTS; i < ALL * PARTS; i++) {
            MPI_Pready(i % PARTS, requests[i / PARTS]);
        }
        MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < ALL; i++) {
        MPI_Request_free(&requests[i]);
    }
}

void probe_startall(const Job *job)
{
    char *buffer = memory((size_t)ALL * BYTES);
    both_sides(job, buffer, false);
    answer(job, "one_by_one", 1);
    both_sides(job, buffer, true);
    answer(job, "together", 1);
    free(buffer);
}

void probe_proc_null(const Job *job)
{
    char byte = 0;
    MPI_Request request;
    for (int receives = 0; receives < 2; receives++) {
        if (receives) {
            MPI_Precv_init(&byte, 1, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        } else {
            MPI_Psend_init(&byte, 1, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        }
        MPI_Start(&request);
        if (!receives) {
            MPI_Pready(0, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        answer(job, receives ? "received" : "sent", 1);
    }
}

void probe_unstarted(const Job *job)
{
    prepare(job);
    if (job->rank < 2) {
        char *buffer = memory(BYTES);
        MPI_Request request;
        make(job, buffer, PARTS, PARTS, 0, &request);
        MPI_Request_free(&request);
        free(buffer);
        rounds(job, "right", PARTS, PARTS);
    }
}

#endif
