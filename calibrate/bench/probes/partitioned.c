/* The probes of partitioned communication: from rank 0 to rank 1, MPI_Startall on all ranks. */
#include "probes/probe.h"

#include <stdlib.h>

enum { PARTS = 4, BYTES = 16384, ROUNDS = 5, TAG_VERDICT = 8 };
static const double DELAY_S = 0.05;

static void make(const Bench *b, char *buffer, int sends, int receives, int tag, MPI_Request *request)
{
    int partitions = b->sends ? sends : receives;
    make_partitioned(b, buffer, partitions, BYTES / partitions, tag, request);
}

/* Number n of ROUNDS; did the right bytes come? On both ranks. */
static bool exchange(const Bench *b, char *buffer, int sends, int n, MPI_Request *request)
{
    const Run run = {.bench = b, .iteration = n};
    int good = 1;
    if (b->sends) {
        payload_fill(&run, buffer, BYTES, 0, 0);
        MPI_Start(request);
        for (int i = 0; i < sends; i++) {
            MPI_Pready(i, *request);
        }
        MPI_Wait(request, MPI_STATUS_IGNORE);
        MPI_Recv(&good, 1, MPI_INT, 1, TAG_VERDICT, b->data, MPI_STATUS_IGNORE);
    } else {
        payload_spoil(buffer, BYTES);
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        good = payload_right(&run, buffer, BYTES, 0, 0);
        MPI_Send(&good, 1, MPI_INT, 0, TAG_VERDICT, b->data);
    }
    return good;
}

/* Rounds with these numbers of partitions; how many were right, as `name`. */
static void rounds(const Bench *b, const char *name, int sends, int receives)
{
    char *buffer = allocate(BYTES);
    MPI_Request request;
    int good = 0;
    make(b, buffer, sends, receives, 0, &request);
    for (int n = 0; n < ROUNDS; n++) {
        good += exchange(b, buffer, sends, n, &request);
    }
    MPI_Request_free(&request);
    probe_answer(b, name, (double)good / ROUNDS);
    free(buffer);
}

/* How long before the whole the first partition came; the last one is late by DELAY_S. On both ranks. */
static double lead(const Bench *b, MPI_Request *request)
{
    double found = 0;
    MPI_Start(request);
    if (b->sends) {
        for (int i = 0; i + 1 < PARTS; i++) {
            MPI_Pready(i, *request);
        }
        wait_until(now_s() + DELAY_S, SLEEPING, b->data);
        MPI_Pready(PARTS - 1, *request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        MPI_Recv(&found, 1, MPI_DOUBLE, 1, TAG_VERDICT, b->data, MPI_STATUS_IGNORE);
    } else {
        for (int there = 0; !there;) {
            MPI_Parrived(*request, 0, &there);
        }
        double first = now_s();
        MPI_Wait(request, MPI_STATUS_IGNORE);
        found = now_s() - first;
        MPI_Send(&found, 1, MPI_DOUBLE, 0, TAG_VERDICT, b->data);
    }
    return found;
}

void probe_early(const Bench *b)
{
    char *buffer = allocate(BYTES);
    bool early[ROUNDS] = {false};
    MPI_Request request;
    int later = 0;
    if (b->rank < 2) {
        make(b, buffer, PARTS, PARTS, 0, &request);
        for (int n = 0; n < ROUNDS; n++) {
            early[n] = lead(b, &request) > DELAY_S / 2;
            later += n > 0 && early[n];
        }
        MPI_Request_free(&request);
    }
    probe_answer(b, "first", early[0]);
    probe_answer(b, "later", (double)later / (ROUNDS - 1));
    free(buffer);
}

/* Started again, with nothing ready: is the request incomplete, as it should be? */
static void wait_again(const Bench *b)
{
    char *buffer = allocate(BYTES);
    MPI_Request request;
    int complete = 0;
    make(b, buffer, PARTS, PARTS, 1, &request);
    exchange(b, buffer, PARTS, 0, &request);
    MPI_Start(&request);
    if (b->sends) {
        MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
        probe_answer(b, "incomplete", !complete);
        for (int i = 0; i < PARTS; i++) {
            MPI_Pready(i, request);
        }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    free(buffer);
}

void probe_restart(const Bench *b)
{
    if (b->rank < 2) {
        rounds(b, "right", PARTS, PARTS);
        wait_again(b);
    }
}

void probe_unequal(const Bench *b)
{
    if (b->rank < 2) {
        rounds(b, "fewer_received", 2 * PARTS, PARTS);
        rounds(b, "more_received", PARTS, 2 * PARTS);
    }
}

enum { SIDES = 2, ALL = 2 * SIDES };

/* Two neighbours, one to each side (the same where there are two ranks): to and from both, with new requests. */
static void both_sides(const Bench *b, char *buffer, bool together)
{
    MPI_Request requests[ALL];
    const int sides[SIDES] = {(b->rank + b->ranks - 1) % b->ranks, (b->rank + 1) % b->ranks};
    for (int i = 0; i < SIDES; i++) {
        MPI_Precv_init(buffer + (size_t)i * BYTES, PARTS, BYTES / PARTS, MPI_BYTE, sides[i], 1 - i, b->data,
                       MPI_INFO_NULL, &requests[i]);
        MPI_Psend_init(buffer + (size_t)(SIDES + i) * BYTES, PARTS, BYTES / PARTS, MPI_BYTE, sides[i], i, b->data,
                       MPI_INFO_NULL, &requests[SIDES + i]);
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

void probe_startall(const Bench *b)
{
    char *buffer = allocate((size_t)ALL * BYTES);
    both_sides(b, buffer, false);
    probe_answer(b, "one_by_one", 1);
    both_sides(b, buffer, true);
    probe_answer(b, "together", 1);
    free(buffer);
}

void probe_proc_null(const Bench *b)
{
    char byte = 0;
    MPI_Request request;
    for (int receives = 0; receives < 2; receives++) {
        Bench nobody = *b;
        nobody.peer = MPI_PROC_NULL;
        nobody.sends = !receives;
        make_partitioned(&nobody, &byte, 1, 1, 0, &request);
        MPI_Start(&request);
        if (!receives) {
            MPI_Pready(0, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        probe_answer(b, receives ? "received" : "sent", 1);
    }
}

void probe_unstarted(const Bench *b)
{
    if (b->rank < 2) {
        char *buffer = allocate(BYTES);
        MPI_Request request;
        make(b, buffer, PARTS, PARTS, 0, &request);
        MPI_Request_free(&request);
        free(buffer);
        rounds(b, "right", PARTS, PARTS);
    }
}
