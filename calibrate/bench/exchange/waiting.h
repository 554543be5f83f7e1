/* How this rank waits for others and for time, alike on all ranks: the most careful way. */
#ifndef PREADY_WAITING_H
#define PREADY_WAITING_H

#include "exchange/state.h"

void choose_waiting(const Exchanges *all, Run *run);
double shorten_slices(const Exchange *e);
/* First in each thread of a team of so many. */
void exchange_enter(const Exchange *e, int threads);
void let_others_run(const Exchange *e, double since);
void exchange_wait(const Exchange *e, int count, MPI_Request *requests);

#endif
