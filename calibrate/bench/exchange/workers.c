/* The threads of a rank: they compute, and the one that makes a job's last partition ready sends it. */
#include "exchange/workers.h"
#include "exchange/consume.h"

void exchange_open(Exchange *e)
{
    size_t jobs = (size_t)e->most_jobs;
    e->parts = e->way->splits ? e->bins : 1;
    e->missing = memory_of(e->run, jobs * sizeof *e->missing);
    e->moments = memory_of(e->run, (size_t)e->phases * (size_t)e->partitions * sizeof *e->moments);
    e->team = memory_of(e->run, (size_t)e->threads * sizeof *e->team);
    for (int i = 0; i < e->threads; i++) {
        e->team[i].sent = memory_of(e->run, jobs * sizeof(int));
    }
    consume_open(e);
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
    for (int job = 0; job < e->now->jobs; job++) {
        atomic_store(&e->missing[job], e->now->job[job].needed);
    }
    atomic_store(&e->still_computing, e->threads);
    consume_reset(e);
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
        for (int i = e->now->waiting_from[partition]; i < e->now->waiting_from[partition + 1]; i++) {
            int job = e->now->waiting[i];
            if (atomic_fetch_sub(&e->missing[job], 1) == 1) {
                self->sent[self->sent_count++] = job;
                if (e->way->ready != NULL) {
                    e->way->ready(e, &e->now->job[job]);
                }
            }
        }
    }
    atomic_fetch_sub(&e->still_computing, 1);
    if (e->way->thread_done != NULL) {
        e->way->thread_done(e, thread);
    }
}
