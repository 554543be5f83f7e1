/* How ranks wait: for each other, and for the time when a partition is ready. */
#ifndef PREADY_WAITING_H
#define PREADY_WAITING_H

#include "exchange/state.h"

/* Collective: whether threads spin while they compute, and whether ranks nap while they wait; alike on all ranks. */
void choose_waiting(const Exchanges *all, Run *run);
/* First in each thread of a team of so many. */
void exchange_enter(const Exchange *e, int threads);
/* Between two looks of a rank that waits since then and shares its core. */
void let_others_run(const Exchange *e, double since);
void exchange_wait(const Exchange *e, int count, MPI_Request *requests);

#endif
