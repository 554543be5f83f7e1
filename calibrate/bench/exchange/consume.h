/* Threads that work on what comes, as soon as it is there, or after the end. */
#ifndef PREADY_CONSUME_H
#define PREADY_CONSUME_H

#include "exchange/state.h"

void consume_open(Exchange *e);
void consume_reset(Exchange *e);
void consume_early(Exchange *e);
void consume_late(Exchange *e);

#endif
