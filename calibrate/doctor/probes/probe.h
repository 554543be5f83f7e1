/* What the probes of `pready doctor` share. Each runs in a job of its own and may crash or hang there. */
#ifndef PREADY_PROBE_H
#define PREADY_PROBE_H

#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct {
    int rank, ranks;
} Job;

typedef void Probe(const Job *job);

/* A name and a number of the answer; rank 0 alone answers. */
void answer(const Job *job, const char *name, double value);

double now_s(void);
void sleep_s(double seconds);

Probe probe_put;

/* Defined where the compiler knows the partitioned calls. */
Probe probe_early, probe_restart, probe_startall, probe_unequal, probe_proc_null, probe_unstarted;

#endif
