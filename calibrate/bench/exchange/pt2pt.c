/* Exchanges by messages: bulk (nonblocking, blocking, persistent or in several messages), a message per bin on a communicator per thread
 * (persistent or not), and MPI 4.0 partitioned operations. Requests are started one by one: MPI_Startall on partitioned
 * requests hangs in Open MPI 5.0 with several neighbours (issue 12969). */
#include "exchange/state.h"

static MPI_Request *receive_at(const Exchange *e, int edge, int part)
{
    return &e->now->requests[edge * e->parts + part];
}

static MPI_Request *send_at(const Exchange *e, int edge, int part)
{
    return &e->now->requests[(e->now->receives + edge) * e->parts + part];
}

static int request_count(const Phase *p, const Exchange *e)
{
    return (p->receives + p->sends) * e->parts;
}

/* The sending thread's, if threads have their own. */
static MPI_Comm communicator(const Exchange *e, const Edge *edge, int part)
{
    return e->handles > 0 ? e->communicators[sending_thread(e, edge, part)] : e->bench->data;
}

static int tag_of(const Exchange *e, const Edge *edge, int part)
{
    return edge->tag + part * e->most_tags;
}

typedef enum { PERSISTENT, NONBLOCKING } Calls;

static void receive_part(Exchange *e, int edge, int part, Calls calls)
{
    const Edge *r = &e->now->receive[edge];
    (calls == PERSISTENT ? MPI_Recv_init : MPI_Irecv)(
        part_at(e, r, e->in, part), (int)part_bytes(e, r), MPI_BYTE, r->peer, tag_of(e, r, part),
        communicator(e, r, part), receive_at(e, edge, part));
}

static void send_part(Exchange *e, int edge, int part, Calls calls)
{
    const Edge *s = &e->now->send[edge];
    (calls == PERSISTENT ? MPI_Send_init : MPI_Isend)(
        part_at(e, s, e->out, part), (int)part_bytes(e, s), MPI_BYTE, s->peer, tag_of(e, s, part),
        communicator(e, s, part), send_at(e, edge, part));
}

static void receive_all(Exchange *e, Calls calls)
{
    for (int part = 0; part < e->parts; part++) {
        for (int i = 0; i < e->now->receives; i++) {
            receive_part(e, i, part, calls);
        }
    }
}

static void send_all(Exchange *e, Calls calls)
{
    for (int part = 0; part < e->parts; part++) {
        for (int i = 0; i < e->now->sends; i++) {
            send_part(e, i, part, calls);
        }
    }
}

/* ---- setting up ------------------------------------------------------------------------------------------------- */

static void make_requests(Exchange *e)
{
    if (e->way->communicators) {
        e->handles = e->threads;
        e->communicators = memory_of(e->run, (size_t)e->handles * sizeof *e->communicators);
    }
    for (int i = 0; i < e->handles; i++) {
        MPI_Comm_dup(e->bench->data, &e->communicators[i]);
    }
    for (e->step = 0; e->step < e->phases; e->step++) {
        e->now = &e->phase[e->step];
        int count = request_count(e->now, e);
        e->now->requests = memory_of(e->run, (size_t)count * sizeof(MPI_Request));
        for (int i = 0; i < count; i++) {
            e->now->requests[i] = MPI_REQUEST_NULL;
        }
    }
}

static void persistent_init(Exchange *e)
{
    make_requests(e);
    for (e->step = 0; e->step < e->phases; e->step++) {
        e->now = &e->phase[e->step];
        receive_all(e, PERSISTENT);
        send_all(e, PERSISTENT);
    }
}

static void release(Exchange *e)
{
    for (int k = 0; k < e->phases; k++) {
        for (int i = 0; i < request_count(&e->phase[k], e); i++) {
            if (e->phase[k].requests[i] != MPI_REQUEST_NULL) {
                MPI_Request_free(&e->phase[k].requests[i]);
            }
        }
    }
    for (int i = 0; i < e->handles; i++) {
        MPI_Comm_free(&e->communicators[i]);
    }
}

/* ---- bulk ------------------------------------------------------------------------------------------------------- */

static void start(int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        MPI_Start(&requests[i]);
    }
}

static void start_receives(Exchange *e)
{
    start(e->now->receives * e->parts, e->now->requests);
}

static void start_sends(Exchange *e)
{
    start(e->now->sends * e->parts, send_at(e, 0, 0));
}

static void wait_receives(Exchange *e)
{
    exchange_wait(e, e->now->receives * e->parts, e->now->requests);
}

static void wait_sends(Exchange *e)
{
    exchange_wait(e, e->now->sends * e->parts, send_at(e, 0, 0));
}

const ExchangeWay exchange_persistent = {
    .init = persistent_init,
    .begin_receives = start_receives,
    .wait_receives = wait_receives,
    .join = start_sends,
    .wait_sends = wait_sends,
    .free = release,
};

static void nonblocking_receives(Exchange *e)
{
    receive_all(e, NONBLOCKING);
}

static void nonblocking_sends(Exchange *e)
{
    send_all(e, NONBLOCKING);
}

static void test_all(Exchange *e)
{
    int done;
    MPI_Testall(request_count(e->now, e), e->now->requests, &done, MPI_STATUSES_IGNORE);
}

#define BULK .init = make_requests, .begin_receives = nonblocking_receives, .wait_receives = wait_receives, \
    .join = nonblocking_sends, .wait_sends = wait_sends, .free = release
const ExchangeWay exchange_single = {BULK};
const ExchangeWay exchange_boundary = {BULK, .boundary_first = true};
const ExchangeWay exchange_boundary_tested = {BULK, .boundary_first = true, .test = test_all};
#undef BULK

/* Bulk in several messages, one after the other. */
const ExchangeWay exchange_several = {
    .splits = true,
    .init = make_requests,
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
    .init = make_requests,
    .begin_receives = nonblocking_receives,
    .wait_receives = wait_receives,
    .join = blocking_sends,
    .free = release,
};

/* ---- a message per bin ------------------------------------------------------------------------------------------ */

static void many_ready(Exchange *e, const Job *job)
{
    for (int i = job->first; i < job->first + job->count; i++) {
        MPI_Start(send_at(e, i, job->bin));
    }
}

/* A thread completes the messages that it sent, then those that it receives. */
static void complete_own(Exchange *e, int thread)
{
    const Worker *self = &e->team[thread];
    for (int k = 0; k < self->sent_count; k++) {
        const Job *job = &self->sent[k];
        for (int i = job->first; i < job->first + job->count; i++) {
            exchange_wait(e, 1, send_at(e, i, job->bin));
        }
    }
    for (int bin = 0; !e->now->receives_first && bin < e->bins; bin++) {
        for (int i = 0; i < e->now->receives; i++) {
            if (receiving_thread(e, &e->now->receive[i], bin) == thread) {
                exchange_wait(e, 1, receive_at(e, i, bin));
            }
        }
    }
}

const ExchangeWay exchange_many = {
    .splits = true,
    .communicators = true,
    .init = persistent_init,
    .begin_receives = start_receives,
    .wait_receives = wait_receives,
    .ready = many_ready,
    .thread_done = complete_own,
    .wait_sends = wait_sends,
    .free = release,
};

/* The master completes all messages after the join. */
const ExchangeWay exchange_many_joined = {
    .splits = true,
    .communicators = true,
    .init = persistent_init,
    .begin_receives = start_receives,
    .wait_receives = wait_receives,
    .ready = many_ready,
    .wait_sends = wait_sends,
    .free = release,
};

static void per_thread_ready(Exchange *e, const Job *job)
{
    for (int i = job->first; i < job->first + job->count; i++) {
        send_part(e, i, job->bin, NONBLOCKING);
    }
}

const ExchangeWay exchange_per_thread = {
    .splits = true,
    .communicators = true,
    .init = make_requests,
    .begin_receives = nonblocking_receives,
    .wait_receives = wait_receives,
    .ready = per_thread_ready,
    .thread_done = complete_own,
    .wait_sends = wait_sends,
    .free = release,
};

/* ---- partitioned ------------------------------------------------------------------------------------------------ */

static void part_init(Exchange *e)
{
    make_requests(e);
    for (e->step = 0; e->step < e->phases; e->step++) {
        e->now = &e->phase[e->step];
        for (int i = 0; i < e->now->receives; i++) {
            const Edge *r = &e->now->receive[i];
            int parts = e->received_in > 0 ? e->received_in : e->bins;
            MPI_Precv_init(e->in + r->at, parts, (MPI_Count)(r->bytes / (size_t)parts), MPI_BYTE, r->peer, r->tag,
                           e->bench->data, MPI_INFO_NULL, receive_at(e, i, 0));
        }
        for (int i = 0; i < e->now->sends; i++) {
            const Edge *s = &e->now->send[i];
            MPI_Psend_init(e->out + s->at, e->bins, (MPI_Count)(s->bytes / (size_t)e->bins), MPI_BYTE, s->peer, s->tag,
                           e->bench->data, MPI_INFO_NULL, send_at(e, i, 0));
        }
    }
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
