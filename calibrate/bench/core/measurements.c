/* The table of measurements, sorted by name. A new one is a new file, NAME.c, and nothing else. */
#include "core/bench.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MEASUREMENTS = 64 };

static const Measurement *table[MAX_MEASUREMENTS + 1];
const Measurement *const *const measurements = table;

/* Called before main, in whatever order the files were linked. */
void enter_measurement(const Measurement *measurement)
{
    int at = 0;
    while (table[at] != NULL) {
        at++;
    }
    if (at == MAX_MEASUREMENTS) {
        fputs("pready-bench: more measurements than MAX_MEASUREMENTS\n", stderr);
        abort();
    }
    for (; at > 0 && strcmp(measurement->name, table[at - 1]->name) < 0; at--) {
        table[at] = table[at - 1];
    }
    table[at] = measurement;
}
