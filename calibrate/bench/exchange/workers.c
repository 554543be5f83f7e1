/* The threads of a rank: they compute, and the one that makes a job's last partition ready sends it. */
#include "exchange/state.h"

/* Messages that are ready apart, of a phase. Without a thread grid every thread owns a part of every buffer: a bin is ready
 * for all peers at once, one job. With one, a buffer consists of the partitions of the threads that its plan names
 * (`share`), and each message is a job of its own: model/engine/messages.py. */
static int jobs_of(const Exchange *e, const Phase *p)
{
    return e->shares == NULL ? e->bins : p->sends * e->bins;
}

void exchange_open(Exchange *e)
{
    size_t jobs = 0;
    for (int i = 0; i < e->phases; i++) {
        size_t own = (size_t)jobs_of(e, &e->phase[i]);
        jobs = own > jobs ? own : jobs;
    }
    e->parts = e->way->splits ? e->bins : 1;
    e->missing = memory_of(e->run, jobs * sizeof *e->missing);
    e->moments = memory_of(e->run, (size_t)e->phases * (size_t)e->partitions * sizeof *e->moments);
    e->team = memory_of(e->run, (size_t)e->threads * sizeof *e->team);
    for (int i = 0; i < e->threads; i++) {
        e->team[i].sent = memory_of(e->run, jobs * sizeof(Job));
    }
    e->now = e->phase;
    call(e->way->init, e);
    e->step = 0;
    e->now = e->phase;
}

void exchange_close(Exchange *e)
{
    call(e->way->free, e);
}

void exchange_reset(Exchange *e)
{
    for (int job = 0; job < jobs_of(e, e->now); job++) {
        int tag = e->shares == NULL ? 0 : e->now->send[job / e->bins].tag;
        int owned = e->shares == NULL ? e->partitions : e->shares[tag].count * e->theta;
        atomic_store(&e->missing[job], owned / e->bins);
    }
}

/* Of a job one user partition less is missing. */
static void one_less(Exchange *e, Worker *self, int number, Job job)
{
    if (atomic_fetch_sub(&e->missing[number], 1) == 1) {
        self->sent[self->sent_count++] = job;
        if (e->way->ready != NULL) {
            e->way->ready(e, &job);
        }
    }
}

static void partition_ready(Exchange *e, int thread, int k)
{
    Worker *self = &e->team[thread];
    if (e->shares == NULL) {
        int bin = (thread * e->theta + k) / (e->partitions / e->bins);
        one_less(e, self, bin, (Job){0, e->now->sends, bin});
        return;
    }
    for (int i = 0; i < e->now->sends; i++) {
        const Share *share = &e->shares[e->now->send[i].tag];
        for (int owner = 0; owner < share->count; owner++) {
            if (share->from[owner] == thread) {
                int bin = (owner * e->theta + k) / (share->count * e->theta / e->bins);
                one_less(e, self, i * e->bins + bin, (Job){i, 1, bin});
            }
        }
    }
}

void exchange_compute(Exchange *e, int thread, double start, const double *ready)
{
    Worker *self = &e->team[thread];
    const double boundary = e->way->boundary_first ? 1 - e->interior : 1;
    self->sent_count = 0;
    for (int k = 0; k < e->theta; k++) {
        int partition = thread * e->theta + k;
        if (ready != NULL) {
            wait_until(start + boundary * ready[partition], e->computing, e->bench->data);
        }
        self->last = now_s();
        e->moments[e->step * e->partitions + partition] = self->last - start;
        partition_ready(e, thread, k);
    }
    if (e->way->thread_done != NULL) {
        e->way->thread_done(e, thread);
    }
}
