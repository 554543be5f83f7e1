/* One JSON object per line, written and flushed as soon as it is known. Printing is only here. */
#include "core/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { KEPT = 100 }; // as many as a proof counts iterations

static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (*c < 0x20) {
            fprintf(out, "\\u%04x", *c);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

static void put_number(FILE *out, double value)
{
    if (isfinite(value)) {
        fprintf(out, "%.9g", value);
    } else {
        fputs("null", out);
    }
}

static void put_member(FILE *out, const char *name, double value)
{
    fprintf(out, ",\"%s\":", name);
    put_number(out, value);
}

/* Of a REAL_LIST as it was given. */
static void put_list(FILE *out, const char *text)
{
    fputc('[', out);
    while (*text != '\0') {
        char *end;
        put_number(out, strtod(text, &end));
        text = *end == ',' ? end + 1 : end;
        fputs(*text == '\0' ? "" : ",", out);
    }
    fputc(']', out);
}

static void put_head(const Run *run)
{
    FILE *out = run->bench->out;
    fputs("{\"measurement\":", out);
    put_string(out, run->measurement->name);
    if (run->id != NULL) {
        fputs(",\"id\":", out);
        put_string(out, run->id);
    }
    fputs(",\"parameters\":{", out);
    for (int i = 0; i < run->declared_count; i++) {
        if (i >= run->own_count && strcmp(run->values[i], run->declared[i]->fallback) == 0) {
            continue; /* of what all measurements have, the defaults say nothing */
        }
        fprintf(out, "%s\"%s\":", i == 0 ? "" : ",", run->declared[i]->name);
        switch (run->declared[i]->kind) {
        case INTEGER:
            fprintf(out, "%ld", (long)strtod(run->values[i], NULL));
            break;
        case REAL:
            put_number(out, strtod(run->values[i], NULL));
            break;
        case WORD:
        case NAME:
            put_string(out, run->values[i]);
            break;
        case REAL_LIST:
            put_list(out, run->values[i]);
            break;
        }
    }
    fputs("}", out);
}

static void put_tail(FILE *out)
{
    fputs("}\n", out);
    fflush(out);
}

/* At most KEPT samples, evenly spaced over the series. */
static void put_series(FILE *out, const char *name, const double *samples, long count)
{
    long shown = count < KEPT ? count : KEPT;
    fprintf(out, ",\"%s\":[", name);
    for (long i = 0; i < shown; i++) {
        /* evenly spaced over the series, first and last included */
        long at = i == 0 ? 0 : (long)llround((double)i * (double)(count - 1) / (double)(shown - 1));
        if (i > 0) {
            fputc(',', out);
        }
        if (isfinite(samples[at])) {
            fprintf(out, "%.1f", 1e9 * samples[at]);
        } else {
            fputs("null", out);
        }
    }
    fputc(']', out);
}

static void put_quantity(const Run *run, const Samples *s, int q)
{
    FILE *out = run->bench->out;
    Summary summary = summarise(s->values[q], s->count);
    put_member(out, "median_s", summary.median);
    put_member(out, "low_s", summary.low);
    put_member(out, "high_s", summary.high);
    put_member(out, "min_s", summary.min);
    put_member(out, "max_s", summary.max);
    put_series(out, "warmup_ns", s->warmup[q], WARMUP);
    put_series(out, "samples_ns", s->values[q], s->count);
}

static void put_table(const Run *run)
{
    FILE *out = run->bench->out;
    if (run->list_name == NULL) {
        return;
    }
    fprintf(out, ",\"lists\":{\"%s\":[", run->list_name);
    for (long row = 0; row < run->list_rows; row++) {
        for (long column = 0; column < run->list_columns; column++) {
            fputs(column > 0 ? "," : row > 0 ? ",[" : "[", out);
            fprintf(out, "%.9f", run->list[row * run->list_columns + column]); /* to the nanosecond */
        }
        fputc(']', out);
    }
    fputs("]}", out);
}

void record_samples(const Run *run, const Samples *s)
{
    FILE *out = run->bench->out;
    if (out == NULL) {
        return;
    }
    put_head(run);
    fprintf(out, ",\"unit\":\"s\",\"quantity\":\"%s\",\"repeats\":%ld,\"inner\":%d", run->measurement->quantities[0],
            s->count, s->inner);
    if (!(run->measurement->flags & LOCAL)) {
        put_member(out, "half_round_trip_s", run->half_round_trip_s);
    }
    put_quantity(run, s, 0);
    fputs(",\"also\":{", out);
    for (int q = 1; q < s->quantities; q++) {
        fprintf(out, "%s\"%s\":{\"unit\":\"s\"", q == 1 ? "" : ",", run->measurement->quantities[q]);
        put_quantity(run, s, q);
        fputc('}', out);
    }
    fputs("},\"derived\":{", out);
    for (int i = 0; i < run->derived_count; i++) {
        fprintf(out, "%s\"%s\":", i == 0 ? "" : ",", run->derived_names[i]);
        put_number(out, run->derived[i]);
    }
    fputc('}', out);
    put_table(run);
    put_tail(out);
}

int record_refusal(const Run *run, const char *kind, const char *reason)
{
    FILE *out = run->bench->out;
    if (out != NULL) {
        put_head(run);
        fprintf(out, ",\"%s\":", kind);
        put_string(out, reason);
        put_tail(out);
    }
    return strcmp(kind, REFUSED_ERROR) == 0 ? 2 : 0;
}

void record_bad_line(const Bench *bench, const char *line, const char *reason)
{
    if (bench->out == NULL) {
        return;
    }
    fputs("{\"measurement\":null,\"line\":", bench->out);
    put_string(bench->out, line);
    fputs(",\"error\":", bench->out);
    put_string(bench->out, reason);
    put_tail(bench->out);
}

static void cpu_model(char *model, size_t size)
{
    snprintf(model, size, "unknown");
    FILE *info = fopen("/proc/cpuinfo", "r");
    char line[512];
    if (info == NULL) {
        return;
    }
    while (fgets(line, sizeof line, info) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(model, size, "%s", colon + 2);
            break;
        }
    }
    fclose(info);
}

/* The first word of a file, empty if it cannot be read. */
static void first_word(const char *path, char word[64])
{
    FILE *file = fopen(path, "r");
    word[0] = '\0';
    if (file == NULL) {
        return;
    }
    if (fgets(word, 64, file) != NULL) {
        word[strcspn(word, " \n")] = '\0';
    }
    fclose(file);
}

static const char *level_name(int level)
{
    return level == MPI_THREAD_SINGLE       ? "single"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
                                            : "multiple";
}

enum { FIELD = 256, FIELDS = 3 };

/* "hosts", "cpus" and "allowed": a list of one field of every rank. */
static void put_of_all(FILE *out, const char *name, char (*all)[FIELDS][FIELD], int ranks, int field)
{
    fprintf(out, ",\"%s\":[", name);
    for (int i = 0; i < ranks; i++) {
        fputs(i == 0 ? "" : ",", out);
        put_string(out, all[i][field]);
    }
    fputc(']', out);
}

/* Collective: every rank contributes its host, CPU and cores. */
void record_environment(const Bench *bench)
{
    char mine[FIELDS][FIELD] = {"unknown", "", ""};
    gethostname(mine[0], FIELD - 1);
    cpu_model(mine[1], FIELD);
    binding_list(mine[2], FIELD);
    char(*all)[FIELDS][FIELD] = allocate((size_t)bench->ranks * sizeof *all);
    MPI_Gather(mine, (int)sizeof mine, MPI_CHAR, all, (int)sizeof mine, MPI_CHAR, 0, bench->control);
    int share = binding_share(), *shares = allocate((size_t)bench->ranks * sizeof share);
    MPI_Gather(&share, 1, MPI_INT, shares, 1, MPI_INT, 0, bench->control);
    if (bench->rank != 0) {
        free(all);
        free(shares);
        return;
    }
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, version, subversion;
    MPI_Get_library_version(library, &length);
    MPI_Get_version(&version, &subversion);
    FILE *out = bench->out;
    fputs("{\"measurement\":\"environment\",\"library\":", out);
    put_string(out, library);
    fprintf(out, ",\"mpi_version\":\"%d.%d\"", version, subversion);
    put_of_all(out, "hosts", all, bench->ranks, 0);
    put_of_all(out, "cpus", all, bench->ranks, 1);
    put_of_all(out, "allowed", all, bench->ranks, 2);
    free(all);
    fputs(",\"cores\":[", out);
    for (int i = 0; i < bench->ranks; i++) {
        fprintf(out, "%s%d", i == 0 ? "" : ",", shares[i]);
    }
    free(shares);
    fprintf(out, "],\"pinned\":%s", binding_pins() ? "true" : "false");
    char tcp[64]; /* the congestion control of this host's connections (tcp(7)) */
    first_word("/proc/sys/net/ipv4/tcp_congestion_control", tcp);
    if (tcp[0] != '\0') {
        fputs(",\"tcp\":", out);
        put_string(out, tcp);
    }
    fprintf(out, ",\"cores_online\":%ld,\"compiler\":", sysconf(_SC_NPROCESSORS_ONLN));
#ifdef __clang__
    put_string(out, __VERSION__);
#else
    put_string(out, "GCC " __VERSION__);
#endif
#ifdef _OPENMP
    fprintf(out, ",\"openmp\":%d,\"openmp_threads\":%d", _OPENMP, omp_get_max_threads());
#endif
    fprintf(out, ",\"thread_level\":\"%s\",\"partitioned\":%s,\"seed\":%llu,\"tool\":", level_name(bench->thread_level),
            PREADY_HAS_PARTITIONED ? "true" : "false", (unsigned long long)bench->seed);
    put_string(out, bench->tool);
    put_member(out, "clock_resolution_s", clock_resolution_s());
    put_tail(out);
}
