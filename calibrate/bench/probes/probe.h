/* One question to an MPI library, which may answer by crashing or hanging: pready-bench probe NAME SECONDS, a job of its
 * own. */
#ifndef PREADY_PROBE_H
#define PREADY_PROBE_H

#include "core/bench.h"

typedef void Probe(const Bench *b);

/* A name and a number of the answer; rank 0 alone answers. */
void probe_answer(const Bench *b, const char *name, double value);

/* partitioned.c, put.c */
Probe probe_early, probe_restart, probe_put;

/* Before MPI_Init: no core files, and an end after so many seconds. */
void probe_limit(int seconds);
/* The exit status of the process. */
int probe_run(const Bench *b, const char *name);

#endif
