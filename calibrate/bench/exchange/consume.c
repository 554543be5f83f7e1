/* Threads that work on what a rank receives. Where each message tells that it is there (MPI_Parrived, MPI_Test), they take
 * its user partitions as soon as it is; else after the end, when all are there.
 *
 * The work is waited for, like computing. In a checked iteration a partition's bytes are looked at in its place.
 */
#include "exchange/consume.h"
#include "exchange/waiting.h"

enum { NOT_YET, ASKED, THERE };

/* What a buffer is worked on in, one by one. */
static int units(const Exchange *e)
{
    return e->received_in > 0 ? e->received_in : e->partitions;
}

/* What is said to be there, of a buffer: partitions at the receiver, or messages. */
static int told(const Exchange *e)
{
    return e->way->partitioned && e->received_in > 0 ? e->received_in : e->bins;
}

static int messages_of(const Exchange *e, const Phase *p)
{
    return e->way->arrived == NULL ? 0 : p->receives * told(e);
}

static int partitions_of(const Exchange *e)
{
    return e->now->receives * units(e);
}

void consume_open(Exchange *e)
{
    int most = 0;
    for (int p = 0; p < e->phases; p++) {
        most = messages_of(e, &e->phase[p]) > most ? messages_of(e, &e->phase[p]) : most;
    }
    e->there = memory_of(e->run, (size_t)most * sizeof *e->there);
    e->untaken = memory_of(e->run, (size_t)most * sizeof *e->untaken);
    atomic_store(&e->misread, -1);
}

void consume_reset(Exchange *e)
{
    int count = messages_of(e, e->now);
    for (int m = 0; m < count; m++) {
        atomic_store(&e->there[m], NOT_YET);
        atomic_store(&e->untaken[m], partitions_of(e) / count);
    }
    atomic_store(&e->all_untaken, partitions_of(e));
}

static void work_on(Exchange *e, int edge, int partition)
{
    const Edge *r = &e->now->receive[edge];
    size_t at = offset_of(e, r, partition, units(e)), bytes = offset_of(e, r, partition + 1, units(e)) - at;
    if (!e->checking) {
        wait_until(now_s() + e->work.time_s + e->work.byte_s * (double)bytes, e->computing, e->bench->data);
    } else if (!payload_right(e->run, e->in + r->at + at, bytes, r->peer, place(e, e->step, r) + at)) {
        atomic_store(&e->misread, edge);
    }
}

/* One thread asks at a time: MPI_Test is not for two on one request. */
static bool is_there(Exchange *e, int message)
{
    int known = NOT_YET;
    if (atomic_compare_exchange_strong(&e->there[message], &known, ASKED)) {
        known = e->way->arrived(e, message / told(e), message % told(e)) ? THERE : NOT_YET;
        atomic_store(&e->there[message], known);
    }
    return known == THERE;
}

/* Works on a user partition of a message that is there; false: there is none. */
static bool take(Exchange *e, int message)
{
    int each = units(e) / told(e);
    if (atomic_load(&e->untaken[message]) <= 0 || !is_there(e, message)) {
        return false;
    }
    int left = atomic_fetch_sub(&e->untaken[message], 1);
    if (left <= 0) {
        return false;
    }
    atomic_fetch_sub(&e->all_untaken, 1);
    work_on(e, message / told(e), message % told(e) * each + each - left);
    return true;
}

void consume_early(Exchange *e)
{
    int messages = messages_of(e, e->now);
#pragma omp parallel num_threads(e->work.threads)
    {
        exchange_enter(e, e->work.threads);
        double since = now_s();
        while (atomic_load(&e->all_untaken) > 0) {
            bool taken = false;
            for (int m = 0; m < messages && !taken; m++) {
                taken = take(e, m);
            }
            if (taken) {
                since = now_s();
            } else {
                let_others_run(e, since);
            }
        }
    }
}

void consume_late(Exchange *e)
{
#pragma omp parallel num_threads(e->work.threads)
    {
        exchange_enter(e, e->work.threads);
        for (int left; (left = atomic_fetch_sub(&e->all_untaken, 1)) > 0;) {
            int number = partitions_of(e) - left;
            work_on(e, number / units(e), number % units(e));
        }
    }
}
