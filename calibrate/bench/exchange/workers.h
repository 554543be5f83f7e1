/* The threads that compute and send. */
#ifndef PREADY_WORKERS_H
#define PREADY_WORKERS_H

#include "exchange/state.h"

/* Collective. */
void exchange_open(Exchange *e);
void exchange_close(Exchange *e);
/* Before a phase: no partition is ready. */
void exchange_reset(Exchange *e);
/* One thread's computing: its partitions become ready `ready` seconds after `start`, or at once if NULL. */
void exchange_compute(Exchange *e, int thread, double start, const double *ready);

#endif
