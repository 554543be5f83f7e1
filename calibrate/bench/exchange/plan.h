/* Reads FOLDER/NAME.plan and NAME.ready, with the ways that the point names. */
#ifndef PREADY_PLAN_H
#define PREADY_PLAN_H

#include "exchange/state.h"

/* False with a reason; the same on all ranks. */
bool plan_read(Exchanges *all, Run *run, char reason[MAX_REASON]);

#endif
