/* The way of each exchange, by name. */
#ifndef PREADY_WAYS_H
#define PREADY_WAYS_H

#include "exchange/state.h"

/* The way of that name, of `length` characters; NULL: there is none. */
const ExchangeWay *way_named(const char *name, size_t length);
/* Sets `way` and `bins` of an exchange, 0 for as many as partitions; false if the point names no way. */
bool exchange_choose(Exchange *e, int number);

#endif
