/* "NAME key=value key=value": the parameters of a point, checked against those that its measurement declares. */
#include "core/bench.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const Parameter common_parameters[] = {
    {"min_repeats", INTEGER, "10", "1 to 100000"}, /* fewer than 6 have no 95 % interval */
    {"max_repeats", INTEGER, "2000", "1 to 100000"},
    {"budget_s", REAL, "2", "0 to 86400"}, /* for the repeats; warm-up and checks come on top */
    {"round", INTEGER, "0", "0 to 1000"}, /* differs where the same point is measured again */
    END_OF_PARAMETERS,
};

const Entry *measurements;

static const Measurement *find(const char *name)
{
    for (const Entry *entry = measurements; entry != NULL; entry = entry->next) {
        if (strcmp(entry->measurement->name, name) == 0) {
            return entry->measurement;
        }
    }
    return NULL;
}

/* Of a parameter; how many there are if it is none of them. */
static int index_of(const Run *run, const char *name)
{
    int i = 0;
    while (i < run->declared_count && strcmp(run->declared[i]->name, name) != 0) {
        i++;
    }
    return i;
}

static bool number(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0 && isfinite(*value);
}

static bool in_words(const char *domain, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = domain; *at != '\0'; at += strspn(at, "|")) {
        size_t here = strcspn(at, "|");
        if (here == length && strncmp(at, word, here) == 0) {
            return true;
        }
        at += here;
    }
    return false;
}

static bool in_range(const char *domain, double value)
{
    char *to;
    double low = strtod(domain, &to);
    double high = strtod(to + strlen(" to "), NULL);
    return value >= low && value <= high;
}

static int parse_list(const char *text, double *into, int capacity)
{
    int count = 0;
    while (*text != '\0') {
        char *end;
        double value = strtod(text, &end);
        if (end == text || !isfinite(value) || value < 0 || (*end != ',' && *end != '\0')) {
            return -1;
        }
        if (into != NULL && count < capacity) {
            into[count] = value;
        }
        count++;
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return *text != '\0' && strspn(text, letters) == strlen(text);
}

static bool valid(const Parameter *p, const char *text)
{
    double value;
    switch (p->kind) {
    case WORD:
        return in_words(p->domain, text);
    case NAME:
        return is_name(text);
    case REAL_LIST:
        return parse_list(text, NULL, 0) >= 0;
    case INTEGER:
        return number(text, &value) && value == floor(value) && in_range(p->domain, value);
    case REAL:
        return number(text, &value) && in_range(p->domain, value);
    }
    return false;
}

static void declare(Run *run, const Parameter *list)
{
    for (int i = 0; list[i].name != NULL; i++) {
        assert(run->declared_count < MAX_PARAMETERS);
        run->declared[run->declared_count] = &list[i];
        run->values[run->declared_count] = strdup(list[i].fallback);
        run->declared_count++;
    }
}

bool run_parse(Run *run, const Bench *bench, char *line, char reason[MAX_REASON])
{
    memset(run, 0, sizeof *run);
    run->bench = bench;
    char *rest = NULL;
    char *name = strtok_r(line, " \t\r\n", &rest); /* never NULL: the line has more than blanks */
    run->measurement = find(name);
    if (run->measurement == NULL) {
        snprintf(reason, MAX_REASON, "no measurement '%.64s'", name);
        return false;
    }
    declare(run, run->measurement->parameters);
    run->own_count = run->declared_count;
    declare(run, common_parameters);
    bool good = true;
    for (char *word; (word = strtok_r(NULL, " \t\r\n", &rest)) != NULL;) {
        char *equals = strchr(word, '=');
        if (equals == NULL) {
            snprintf(reason, MAX_REASON, "'%.64s' is not key=value", word);
            return false;
        }
        *equals = '\0';
        const char *value = equals + 1;
        if (strcmp(word, "id") == 0) {
            free(run->id);
            run->id = strdup(value);
            continue;
        }
        if (!good) {
            continue; /* keep looking for the id, so that the refusal carries it */
        }
        int i = index_of(run, word);
        if (i == run->declared_count) {
            snprintf(reason, MAX_REASON, "%s has no parameter '%.64s'", run->measurement->name, word);
            good = false;
        } else if (!valid(run->declared[i], value)) {
            snprintf(reason, MAX_REASON, "%.64s = '%.64s' is not valid: %s", word, value, run->declared[i]->domain);
            good = false;
        } else {
            free(run->values[i]);
            run->values[i] = strdup(value);
        }
    }
    return good;
}

void run_free(Run *run)
{
    for (int i = 0; i < MAX_PARAMETERS; i++) {
        free(run->values[i]);
    }
    free(run->id);
    memory_free(run);
}

const char *run_word(const Run *run, const char *name)
{
    int i = index_of(run, name);
    if (i == run->declared_count) {
        fprintf(stderr, "pready-bench: %s reads '%s', which it does not declare\n", run->measurement->name, name);
        MPI_Abort(MPI_COMM_WORLD, 4);
        exit(4);
    }
    return run->values[i];
}

int run_integer(const Run *run, const char *name)
{
    return (int)strtod(run_word(run, name), NULL);
}

double run_real(const Run *run, const char *name)
{
    return strtod(run_word(run, name), NULL);
}

bool run_is(const Run *run, const char *name, const char *word)
{
    return strcmp(run_word(run, name), word) == 0;
}

int run_reals(const Run *run, const char *name, double *into, int capacity)
{
    return parse_list(run_word(run, name), into, capacity);
}

void run_derive(Run *run, const char *name, double value)
{
    for (int i = 0; i < run->derived_count; i++) {
        if (strcmp(run->derived_names[i], name) == 0) {
            run->derived[i] = value;
            return;
        }
    }
    assert(run->derived_count < MAX_DERIVED);
    run->derived_names[run->derived_count] = name;
    run->derived[run->derived_count++] = value;
}

void run_list(Run *run, const char *name, const double *values, long rows, long columns)
{
    run->list_name = name;
    run->list = values;
    run->list_rows = rows;
    run->list_columns = columns;
}
