/* Does this library send a partition when it is ready, or all of them when the last one is?
 *
 * Rank 0 marks all partitions but the last ready, waits, and marks the last. Rank 1 polls MPI_Parrived for partition 0,
 * then waits for all.
 *
 * lead  = from the arrival of partition 0 to the arrival of everything, both read on rank 1's clock: about delay_s
 *         where partitions are sent early, about 0 where they are not
 *
 * The first repeat is warmup_ns[0]: a handshake may hold it back. derived.early_first and derived.early_steady are 1
 * where the lead was more than half the delay.
 */
#include "core/bench.h"

static const Parameter parameters[] = {
    {"bytes", INTEGER, "65536", "1 to 1073741824"}, /* the whole buffer */
    {"delay_s", REAL, "0.02", "0 to 10"},
    {"delay_by", WORD, "sleep", "sleep|test"}, /* test calls the library on rank 0, so that it may make progress */
    END_OF_PARAMETERS,
};

/* Open MPI (5.0, 6.0) takes the partitions of a send that is started again for sent, before MPI_Pready
 * (open-mpi/ompi#12328). If progress is made in between, it may count a partition twice, and MPI_Wait never returns. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
enum { MISCOUNTS_RESTARTED = 1 };
#else
enum { MISCOUNTS_RESTARTED = 0 };
#endif
enum { PARTITIONS = 4, TAG_SHAKE = 8, SHAKES = 5 };

typedef struct {
    int bytes;
    double delay;
    Waiting waiting;
    MPI_Request request;
} State;

static const char *refuse(const Run *run, char reason[MAX_REASON])
{
    int bytes = run_integer(run, "bytes");
    if (bytes % PARTITIONS == 0) {
        return NULL;
    }
    snprintf(reason, MAX_REASON, "bytes = %d is not valid: a multiple of %d", bytes, PARTITIONS);
    return REFUSED_ERROR;
}

/* A request that was never started, and its handshake before the clock runs: both ranks are in MPI meanwhile. */
static void make_anew(Run *run)
{
    State *s = run->state;
    const Bench *b = run->bench;
    MPI_Request_free(&s->request);
    make_partitioned(b, run->buffer, PARTITIONS, s->bytes / PARTITIONS, 0, &s->request);
    for (int i = 0; i < SHAKES; i++) { /* rank 1 is the last to send: as from the gate, it goes first */
        ping_empty(b->sends, b->peer, TAG_SHAKE, b->control);
    }
}

static void setup(Run *run)
{
    State *s = run->state;
    s->bytes = run_integer(run, "bytes");
    s->delay = run_real(run, "delay_s");
    s->waiting = run_is(run, "delay_by", "test") ? TESTING : SLEEPING;
    make_partitioned(run->bench, run->buffer, PARTITIONS, s->bytes / PARTITIONS, 0, &s->request);
}

static void repeat(Run *run, double *values)
{
    State *s = run->state;
    const Bench *b = run->bench;
    if (MISCOUNTS_RESTARTED && s->waiting == TESTING && run->iteration > 0) {
        make_anew(run);
    }
    double start = now_s();
    MPI_Start(&s->request);
    if (b->sends) {
        for (int i = 0; i + 1 < PARTITIONS; i++) {
            MPI_Pready(i, s->request);
        }
        wait_until(start + s->delay, s->waiting, b->data);
        MPI_Pready(PARTITIONS - 1, s->request);
        MPI_Wait(&s->request, MPI_STATUS_IGNORE);
        return;
    }
    for (int there = 0; !there;) { /* no sched_yield: on a busy node it costs a whole time slice */
        MPI_Parrived(s->request, 0, &there);
    }
    double first = now_s();
    MPI_Wait(&s->request, MPI_STATUS_IGNORE);
    values[0] = now_s() - first;
}

static void conclude(Run *run, const Samples *samples)
{
    double delay = run_real(run, "delay_s");
    run_derive(run, "early_first", samples->warmup[0][0] > delay / 2);
    run_derive(run, "early_steady", summarise(samples->values[0], samples->count).median > delay / 2);
}

static void teardown(Run *run)
{
    State *s = run->state;
    MPI_Request_free(&s->request);
}

static const Measurement early = {
    .name = "early",
    .parameters = parameters,
    .quantities = {"lead"},
    .flags = PARTITIONED,
    .state = sizeof(State),
    .buffer = {"bytes"},
    .refuse = refuse,
    .setup = setup,
    .repeat = repeat,
    .conclude = conclude,
    .teardown = teardown,
};

MEASUREMENT(early)
