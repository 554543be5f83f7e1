/* The probes of partitioned communication, from rank 0 to rank 1. */
#include "probes/probe.h"

#include <stdlib.h>

enum { PARTS = 4, BYTES = 16384, ROUNDS = 5, TAG_VERDICT = 8 };
static const double DELAY_S = 0.05;

static void make(const Bench *b, char *buffer, MPI_Request *request)
{
    make_partitioned(b, buffer, PARTS, BYTES / PARTS, 0, request);
}

/* Number n of ROUNDS; did the right bytes come? On both ranks. */
static bool exchange(const Bench *b, char *buffer, int n, MPI_Request *request)
{
    const Run run = {.bench = b, .iteration = n};
    int good = 1;
    if (b->sends) {
        payload_fill(&run, buffer, BYTES, 0, 0);
        MPI_Start(request);
        for (int i = 0; i < PARTS; i++) {
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
        make(b, buffer, &request);
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

/* The share of rounds with the right bytes. */
void probe_restart(const Bench *b)
{
    if (b->rank < 2) {
        char *buffer = allocate(BYTES);
        MPI_Request request;
        int good = 0;
        make(b, buffer, &request);
        for (int n = 0; n < ROUNDS; n++) {
            good += exchange(b, buffer, n, &request);
        }
        MPI_Request_free(&request);
        probe_answer(b, "right", (double)good / ROUNDS);
        free(buffer);
    }
}
