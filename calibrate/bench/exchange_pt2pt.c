/* Exchanges by messages: bulk (nonblocking, blocking or persistent), a message per bin on a communicator per thread
 * (persistent or not), and MPI 4.0 partitioned operations. Requests are started one by one: MPI_Startall on partitioned requests hangs in Open
 * MPI 5.0 with several neighbours (issue 12969). */
#include "exchange.h"

#include <stdlib.h>

static MPI_Request *receive_at(const Exchange *e, int edge, int part)
{
    return &e->now->requests[edge * e->parts + part];
}

static MPI_Request *send_at(const Exchange *e, int edge, int part)
{
    return &e->now->requests[(e->now->receives + edge) * e->parts + part];
}

static void each_phase(Exchange *e, void (*act)(Exchange *e))
{
    for (e->step = 0; e->step < e->phases; e->step++) {
        e->now = &e->phase[e->step];
        act(e);
    }
}

static void make_requests(Exchange *e)
{
    int count = (e->now->receives + e->now->sends) * e->parts;
    e->now->requests = calloc((size_t)count + 1, sizeof(MPI_Request));
    for (int i = 0; i < count; i++) {
        e->now->requests[i] = MPI_REQUEST_NULL;
    }
}

static void free_requests(Exchange *e)
{
    for (int i = 0; i < (e->now->receives + e->now->sends) * e->parts; i++) {
        if (e->now->requests[i] != MPI_REQUEST_NULL) {
            MPI_Request_free(&e->now->requests[i]);
        }
    }
    free(e->now->requests);
    e->now->requests = NULL;
}

static void start_receives(Exchange *e)
{
    for (int i = 0; i < e->now->receives * e->parts; i++) {
        MPI_Start(&e->now->requests[i]);
    }
}

static void start_sends(Exchange *e)
{
    for (int i = 0; i < e->now->sends * e->parts; i++) {
        MPI_Start(send_at(e, 0, i));
    }
}

static void wait_receives(Exchange *e)
{
    exchange_wait(e, e->now->receives * e->parts, e->now->requests);
}

static void wait_sends(Exchange *e)
{
    exchange_wait(e, e->now->sends * e->parts, send_at(e, 0, 0));
}

static void release(Exchange *e)
{
    each_phase(e, free_requests);
    for (int i = 0; i < e->handles; i++) {
        MPI_Comm_free(&e->communicators[i]);
    }
    free(e->communicators);
}

/* ---- bulk ------------------------------------------------------------------------------------------------------- */

static void persistent_phase(Exchange *e)
{
    make_requests(e);
    for (int i = 0; i < e->now->receives; i++) {
        const Edge *r = &e->now->receive[i];
        MPI_Recv_init(e->in + r->at, (int)r->bytes, MPI_BYTE, r->peer, r->tag, e->bench->data, receive_at(e, i, 0));
    }
    for (int i = 0; i < e->now->sends; i++) {
        const Edge *s = &e->now->send[i];
        MPI_Send_init(e->out + s->at, (int)s->bytes, MPI_BYTE, s->peer, s->tag, e->bench->data, send_at(e, i, 0));
    }
}

static void persistent_init(Exchange *e)
{
    each_phase(e, persistent_phase);
}

const ExchangeWay exchange_persistent = {
    .init = persistent_init,
    .begin_receives = start_receives,
    .wait_receives = wait_receives,
    .join = start_sends,
    .wait_sends = wait_sends,
    .free = release,
};

static void single_init(Exchange *e)
{
    each_phase(e, make_requests);
}

static void nonblocking_receives(Exchange *e)
{
    for (int i = 0; i < e->now->receives; i++) {
        const Edge *r = &e->now->receive[i];
        MPI_Irecv(e->in + r->at, (int)r->bytes, MPI_BYTE, r->peer, r->tag, e->bench->data, receive_at(e, i, 0));
    }
}

static void nonblocking_sends(Exchange *e)
{
    for (int i = 0; i < e->now->sends; i++) {
        const Edge *s = &e->now->send[i];
        MPI_Isend(e->out + s->at, (int)s->bytes, MPI_BYTE, s->peer, s->tag, e->bench->data, send_at(e, i, 0));
    }
}

const ExchangeWay exchange_single = {
    .init = single_init,
    .begin_receives = nonblocking_receives,
    .wait_receives = wait_receives,
    .join = nonblocking_sends,
    .wait_sends = wait_sends,
    .free = release,
};

static void blocking_sends(Exchange *e)
{
    for (int i = 0; i < e->now->sends; i++) {
        const Edge *s = &e->now->send[i];
        MPI_Send(e->out + s->at, (int)s->bytes, MPI_BYTE, s->peer, s->tag, e->bench->data);
    }
}

const ExchangeWay exchange_blocking = {
    .init = single_init,
    .begin_receives = nonblocking_receives,
    .wait_receives = wait_receives,
    .join = blocking_sends,
    .free = release,
};

/* ---- many ------------------------------------------------------------------------------------------------------- */

/* The sending thread's. */
static MPI_Comm communicator(const Exchange *e, const Edge *edge, int bin)
{
    return e->communicators[sending_thread(e, edge, bin)];
}

static void many_phase(Exchange *e)
{
    make_requests(e);
    for (int bin = 0; bin < e->bins; bin++) {
        for (int i = 0; i < e->now->receives; i++) {
            const Edge *r = &e->now->receive[i];
            MPI_Recv_init(bin_of(e, r, e->in, bin), (int)(r->bytes / (size_t)e->bins), MPI_BYTE, r->peer,
                          r->tag + bin * e->most_tags, communicator(e, r, bin), receive_at(e, i, bin));
        }
        for (int i = 0; i < e->now->sends; i++) {
            const Edge *s = &e->now->send[i];
            MPI_Send_init(bin_of(e, s, e->out, bin), (int)(s->bytes / (size_t)e->bins), MPI_BYTE, s->peer,
                          s->tag + bin * e->most_tags, communicator(e, s, bin), send_at(e, i, bin));
        }
    }
}

static void duplicate(Exchange *e)
{
    e->handles = e->threads;
    e->communicators = calloc((size_t)e->handles, sizeof *e->communicators);
    for (int i = 0; i < e->handles; i++) {
        MPI_Comm_dup(e->bench->data, &e->communicators[i]);
    }
}

static void many_init(Exchange *e)
{
    duplicate(e);
    each_phase(e, many_phase);
}

static void many_ready(Exchange *e, const Job *job)
{
    for (int i = job->first; i < job->first + job->count; i++) {
        MPI_Start(send_at(e, i, job->bin));
    }
}

/* What it sent, then what is for it. */
static void many_thread_done(Exchange *e, int thread)
{
    const Worker *self = &e->team[thread];
    for (int k = 0; e->wait_in_thread && k < self->sent_count; k++) {
        const Job *job = &e->now->job[self->sent[k]];
        for (int i = job->first; i < job->first + job->count; i++) {
            exchange_wait(e, 1, send_at(e, i, job->bin));
        }
    }
    for (int bin = 0; e->wait_in_thread && !e->now->receives_first && bin < e->bins; bin++) {
        for (int i = 0; i < e->now->receives; i++) {
            if (receiving_thread(e, &e->now->receive[i], bin) == thread) {
                exchange_wait(e, 1, receive_at(e, i, bin));
            }
        }
    }
}

const ExchangeWay exchange_many = {
    .splits = true,
    .init = many_init,
    .begin_receives = start_receives,
    .wait_receives = wait_receives,
    .ready = many_ready,
    .thread_done = many_thread_done,
    .wait_sends = wait_sends,
    .free = release,
};

static void per_thread_init(Exchange *e)
{
    duplicate(e);
    each_phase(e, make_requests);
}

static void per_thread_receives(Exchange *e)
{
    for (int bin = 0; bin < e->bins; bin++) {
        for (int i = 0; i < e->now->receives; i++) {
            const Edge *r = &e->now->receive[i];
            MPI_Irecv(bin_of(e, r, e->in, bin), (int)(r->bytes / (size_t)e->bins), MPI_BYTE, r->peer,
                      r->tag + bin * e->most_tags, communicator(e, r, bin), receive_at(e, i, bin));
        }
    }
}

static void per_thread_ready(Exchange *e, const Job *job)
{
    for (int i = job->first; i < job->first + job->count; i++) {
        const Edge *s = &e->now->send[i];
        MPI_Isend(bin_of(e, s, e->out, job->bin), (int)(s->bytes / (size_t)e->bins), MPI_BYTE, s->peer,
                  s->tag + job->bin * e->most_tags, communicator(e, s, job->bin), send_at(e, i, job->bin));
    }
}

const ExchangeWay exchange_per_thread = {
    .splits = true,
    .init = per_thread_init,
    .begin_receives = per_thread_receives,
    .wait_receives = wait_receives,
    .ready = per_thread_ready,
    .thread_done = many_thread_done,
    .wait_sends = wait_sends,
    .free = release,
};

/* ---- partitioned ------------------------------------------------------------------------------------------------ */

#if PREADY_HAS_PARTITIONED

static void part_phase(Exchange *e)
{
    make_requests(e);
    for (int i = 0; i < e->now->receives; i++) {
        const Edge *r = &e->now->receive[i];
        MPI_Precv_init(e->in + r->at, e->bins, (MPI_Count)(r->bytes / (size_t)e->bins), MPI_BYTE, r->peer, r->tag,
                       e->bench->data, MPI_INFO_NULL, receive_at(e, i, 0));
    }
    for (int i = 0; i < e->now->sends; i++) {
        const Edge *s = &e->now->send[i];
        MPI_Psend_init(e->out + s->at, e->bins, (MPI_Count)(s->bytes / (size_t)e->bins), MPI_BYTE, s->peer, s->tag,
                       e->bench->data, MPI_INFO_NULL, send_at(e, i, 0));
    }
}

static void part_init(Exchange *e)
{
    each_phase(e, part_phase);
}

static void part_ready(Exchange *e, const Job *job)
{
    for (int i = job->first; i < job->first + job->count; i++) {
        MPI_Pready(job->bin, *send_at(e, i, 0));
    }
}

const ExchangeWay exchange_part = {
    .partitioned = true,
    .init = part_init,
    .begin_receives = start_receives,
    .wait_receives = wait_receives,
    .begin_sends = start_sends,
    .ready = part_ready,
    .wait_sends = wait_sends,
    .free = release,
};

#else

const ExchangeWay exchange_part = {.partitioned = true};

#endif
