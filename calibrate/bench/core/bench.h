/* pready-bench: what every measurement shares.
 *
 * Two ranks take part, in an exchange (exchange/exchange.c) and in pairs (messages/pairs.c) any number. Rank 0 owns the
 * clock, reads the points and writes the records. Ranks share no clock: a one-way time is a round trip on one clock less
 * half a zero-byte round trip (run->half_round_trip_s), or a difference of two readings of the same rank's clock. Each
 * measurement says which at the line.
 */
#ifndef PREADY_BENCH_H
#define PREADY_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Open MPI 5.0 announces MPI 3.1 in MPI_VERSION yet has the partitioned calls of MPI 4.0. */
#ifndef PREADY_HAS_PARTITIONED
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PREADY_HAS_PARTITIONED 1
#else
#define PREADY_HAS_PARTITIONED 0
#endif
#endif

#if !PREADY_HAS_PARTITIONED /* so that all sources compile; what would make these calls is refused */
#define MPI_Psend_init(...) no_such_call(0, __VA_ARGS__)
#define MPI_Precv_init(...) no_such_call(0, __VA_ARGS__)
#define MPI_Pready(...) no_such_call(0, __VA_ARGS__)
#define MPI_Parrived(...) no_such_call(0, __VA_ARGS__)
static inline int no_such_call(int first, ...)
{
    (void)first;
    return MPI_ERR_OTHER;
}
#endif

#define NO_PARTITIONED "this MPI library has no partitioned communication (MPI 4.0)"
#define NO_THREADS "this MPI library does not provide MPI_THREAD_MULTIPLE"

enum { MAX_QUANTITIES = 4, MAX_PARAMETERS = 32, MAX_DERIVED = 16, MAX_REASON = 256, MAX_FACTORS = 3 };
enum { WARMUP = 3 }; /* repeats before those that count; the first of them is checked */

/* ---- the process ------------------------------------------------------------------------------------------------ */

typedef struct {
    int rank, ranks, peer;
    bool sends; /* of two ranks, rank 0 */
    int thread_level;
    MPI_Comm data;    /* what is measured */
    MPI_Comm control; /* everything else */
    FILE *out;        /* rank 0 only */
    uint64_t seed;
    const char *tool;   /* version of the caller, as passed in */
    const char *folder; /* of plans, as passed in; may be NULL */
} Bench;

/* ---- cores (binding.c) ------------------------------------------------------------------------------------------ */

/* Collective: divide the cores among the ranks; pin unless somebody else has decided. */
void binding_open(const Bench *bench);
/* Pins the calling thread of a team to its core. */
void binding_take(int thread, int threads);
/* Cores that the launcher allows rank 0, known to all; this rank's, as "0-3,8"; its share; all of this host's ranks. */
int binding_of_first(void);
void binding_list(char *cores, size_t size);
int binding_share(void);
int binding_here(int *ranks);
bool binding_pins(void);

/* ---- parameters ------------------------------------------------------------------------------------------------- */

typedef enum { INTEGER, REAL, WORD, NAME, REAL_LIST } Kind;

/* NAME: of a file in the folder. `domain` is what a refusal names as valid: "a|b|c" for WORD, else "low to high". */
typedef struct {
    const char *name;
    Kind kind;
    const char *fallback; /* the default; it exists only here */
    const char *domain;
} Parameter;

#define END_OF_PARAMETERS {NULL, INTEGER, NULL, NULL}

/* ---- one point -------------------------------------------------------------------------------------------------- */

struct Measurement;
struct Memory;

/* Bytes whose pattern the timing loop writes before a checked repeat and looks at after it. */
typedef struct {
    char *at;
    size_t bytes;
} Buffer;

typedef struct Run {
    const Bench *bench;
    const struct Measurement *measurement;
    const Parameter *declared[MAX_PARAMETERS];
    char *values[MAX_PARAMETERS]; /* as given, or the default */
    int declared_count, own_count; /* the measurement's own come first, then what all have */
    char *id; /* echoed, so that the caller knows which point this is; may be NULL */

    double half_round_trip_s; /* fastest zero-byte ping-pong / 2, just before the point */
    int iteration;            /* counts every repeat of the point, warm-up included */
    int inner;                /* how often `repeat` does it back to back: 1 without the flag INNER */
    bool checking;            /* this repeat carries a pattern that is checked */
    Buffer out, in;           /* what this rank sends to its peer and receives from it, if declared */
    char *buffer;             /* of `buffer_of` */
    const char *derived_names[MAX_DERIVED];
    double derived[MAX_DERIVED];
    int derived_count;
    const char *list_name; /* NULL, or a table found while measuring: rows x columns, row after row */
    const double *list;
    long list_rows, list_columns;
    void *state;           /* the measurement's own, zero at first */
    struct Memory *memory; /* freed with the run */
} Run;

typedef struct {
    double *values[MAX_QUANTITIES]; /* samples in the order they were taken */
    double warmup[MAX_QUANTITIES][WARMUP];
    long count;
    int quantities;
    int inner;
} Samples;

enum {
    LOCAL = 1,       /* rank 1 does nothing and sleeps meanwhile */
    INNER = 2,       /* may be repeated back to back inside one sample when it is short */
    THREADED = 4,    /* needs MPI_THREAD_MULTIPLE when "threads" > 1 */
    PARTITIONED = 8, /* needs MPI 4.0 */
};

#define REFUSED_ERROR "error"
#define REFUSED_UNSUPPORTED "unsupported"

/* Most need `repeat` alone. NULL members do nothing. */
typedef struct Measurement {
    const char *name;
    const Parameter *parameters;
    const char *quantities[MAX_QUANTITIES + 1]; /* the first decides when to stop; seconds */
    unsigned flags;
    size_t state; /* bytes of run->state */
    /* Parameters whose product is the size of the buffer from rank 0 to rank 1 (`buffer_of`); none: no such buffer. */
    const char *buffer[MAX_FACTORS + 1];
    /* NULL, or why not: REFUSED_ERROR or REFUSED_UNSUPPORTED, with the reason. Same on both ranks, no communication. */
    const char *(*refuse)(const Run *run, char reason[MAX_REASON]);
    void (*setup)(Run *run);
    /* Untimed, before the gate, only when run->checking: what else there is to do than to fill and spoil the buffers. */
    void (*prepare)(Run *run);
    /* One sample. Fills values[q] in seconds; what this rank does not know it leaves NaN. */
    void (*repeat)(Run *run, double *values);
    /* Untimed, only when run->checking: true if every byte is right that is not in run->in. */
    bool (*verify)(Run *run);
    /* Rank 0, after the samples: what follows from them, through run_derive. */
    void (*conclude)(Run *run, const Samples *samples);
    void (*teardown)(Run *run); /* MPI objects; memory goes with the run */
    /* Instead of these: takes its samples itself, with any number of ranks. Returns as measure_point. */
    int (*whole)(Run *run);
} Measurement;

/* parameters.c */
typedef struct Entry {
    const Measurement *measurement;
    const struct Entry *next;
} Entry;
extern const Entry *measurements;
/* Last in the file of a measurement, NAME.c, which is all that a new one takes: called before main, in whatever order
 * the files were linked. measure/catalogue.py reads NAME too. */
#define MEASUREMENT(variable)                                    \
    static void __attribute__((constructor)) enter_itself(void)  \
    {                                                            \
        static Entry entry;                                      \
        entry = (Entry){&variable, measurements};                \
        measurements = &entry;                                   \
    }

extern const Parameter common_parameters[];
/* Parse "NAME key=value ..." (modified in place). False with a reason if it makes no sense. */
bool run_parse(Run *run, const Bench *bench, char *line, char reason[MAX_REASON]);
void run_free(Run *run);
int run_integer(const Run *run, const char *name);
double run_real(const Run *run, const char *name);
const char *run_word(const Run *run, const char *name);
bool run_is(const Run *run, const char *name, const char *word);
/* Numbers of a REAL_LIST; returns how many, writes at most `capacity`. -1: not a list of numbers >= 0. */
int run_reals(const Run *run, const char *name, double *into, int capacity);
/* A value found while measuring, reported beside the parameters. */
void run_derive(Run *run, const char *name, double value);
/* A table found while measuring, one per point; `values` must live until the record is written. */
void run_list(Run *run, const char *name, const double *values, long rows, long columns);

/* timing.c: the one timing loop. Both return 0, 1 after a payload mismatch, or 2 where the point makes no sense. */
int measure_point(Run *run);
/* What measure_point does once nothing is refused, with all ranks of run->bench. */
int take_samples(Run *run);

/* clock.c */
typedef enum { SLEEPING, SPINNING, TESTING } Waiting;
double now_s(void);
double clock_resolution_s(void);
/* Wait until now_s() >= until. TESTING spins and calls MPI_Iprobe, so the library can make progress. */
void wait_until(double until, Waiting how, MPI_Comm comm);

/* payload.c */
void *allocate(size_t bytes); /* page-aligned, zero and touched; ends the program with a message if there is no memory */
void *memory_of(Run *run, size_t bytes); /* the same, freed with the run */
void memory_free(Run *run);
/* Declares what this rank sends to its peer or receives from it; the timing loop fills and checks it. */
char *out_of(Run *run, size_t bytes);
char *in_of(Run *run, size_t bytes);
char *buffer_of(Run *run, size_t bytes); /* one way: the sender's out, the receiver's in */
void payload_fill(const Run *run, void *buffer, size_t bytes, int sender, size_t offset);
void payload_spoil(void *buffer, size_t bytes);
bool payload_right(const Run *run, const void *buffer, size_t bytes, int sender, size_t offset);

/* transfer.c */
void send_empty(int to, int tag, MPI_Comm comm);
void receive_empty(int from, int tag, MPI_Comm comm);
/* The empty message by which a receiver tells its sender that all is there; waits for it where this rank sends. */
void answer(const Bench *b, int tag, MPI_Comm comm);
/* An empty round trip: this rank's message goes first, or its peer's. */
void ping_empty(bool first, int peer, int tag, MPI_Comm comm);
/* Collective, before two of more ranks make a partitioned request. */
void prepare_partitioned(const Bench *all);
/* A partitioned request of partitions of `bytes` each: to the peer if this rank sends, else from it. */
void make_partitioned(const Bench *b, char *buffer, int partitions, int bytes, int tag, MPI_Request *request);
/* `count` messages of `bytes` each, one after the other in `buffer`, with tags from `tag` on: sent to the peer if this
 * rank sends, else received. */
void post_messages(const Bench *b, char *buffer, int bytes, int count, int tag, MPI_Comm comm, MPI_Request *requests);

/* statistics.c */
typedef struct {
    double median, low, high; /* low..high: distribution-free 95 % interval of the median; NaN below 6 samples */
    double min, max;
} Summary;
Summary summarise(const double *samples, long count);

/* record.c */
void record_samples(const Run *run, const Samples *samples);
/* kind: REFUSED_ERROR or REFUSED_UNSUPPORTED. Returns the status that it gives to `measure_point`. */
int record_refusal(const Run *run, const char *kind, const char *reason);
void record_bad_line(const Bench *bench, const char *line, const char *reason);
void record_environment(const Bench *bench);

#endif
