/* The way of each exchange: `approach` and `transport` name one for all, `ways` one for each, as WAY.TRANSPORT joined by
 * "_". */
#include "exchange/state.h"

#include <stdlib.h>
#include <string.h>

#define WAY(variable, name) extern const ExchangeWay exchange_##variable;
#include "exchange/ways.def"
#undef WAY

static const struct {
    const char *name;
    const ExchangeWay *way;
} ways[] = {
#define WAY(variable, name) {name, &exchange_##variable},
#include "exchange/ways.def"
#undef WAY
};

const ExchangeWay *way_named(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strlen(ways[i].name) == length && strncmp(ways[i].name, name, length) == 0) {
            return ways[i].way;
        }
    }
    return NULL;
}

bool exchange_choose(Exchange *e, int number)
{
    const char *each = run_word(e->run, "ways"), *name = run_word(e->run, "approach");
    if (*each == '\0') {
        e->way = way_named(name, strlen(name));
        e->bins = run_integer(e->run, "transport");
        return e->way != NULL;
    }
    for (int i = 0; i < number && each != NULL; i++) {
        each = strchr(each, '_');
        each = each == NULL ? NULL : each + 1;
    }
    size_t length = each == NULL ? 0 : strcspn(each, "._");
    if (length == 0 || each[length] != '.') {
        return false;
    }
    e->way = way_named(each, length);
    e->bins = atoi(each + length + 1);
    return e->way != NULL;
}
