/* Which messages wait for which user partitions. */
#ifndef PREADY_JOBS_H
#define PREADY_JOBS_H

#include "exchange/state.h"

/* Jobs and peers of every phase; false if the transport partitions do not divide what threads own of a buffer. */
bool jobs_make(Exchange *e);

#endif
