/* The plan of an iteration: FOLDER/NAME.plan says who sends what to whom, FOLDER/NAME.ready when partitions are ready.
 * One after the other, its exchanges:
 *
 *   exchange RANKS THREADS THETA PHASES ITERATIONS
 *   first PHASE                                        receives come before computing in this phase
 *   share TAG THREAD PEER_THREAD                       THREAD owns the next part of such buffers, PEER_THREAD receives it
 *   receive PARTITIONS                                 of a buffer at its receiver; else as many as at its sender
 *   interior SHARE                                     of a thread's computing, which may follow the sends
 *   edge PHASE SENDER RECEIVER BYTES TAG SENDER_AT RECEIVER_AT
 *   arena RANK OUT_BYTES IN_BYTES
 *   end
 *
 * NAME.ready: of each exchange, doubles [rank][iteration][phase][user partition], seconds. Python's side is
 * calibrate/measure/exchange_plan.py.
 */
#include "exchange/state.h"

#include <errno.h>
#include <string.h>

enum { MAX_PATH = 4096 };
static const size_t MAX_ARENA = (size_t)4 << 30;

static FILE *open_file(const Bench *b, const char *name, const char *suffix, char reason[MAX_REASON])
{
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/%s%s", b->folder == NULL ? "." : b->folder, name, suffix);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        snprintf(reason, MAX_REASON, "rank %d cannot read %.150s: %s", b->rank, path, strerror(errno));
    }
    return file;
}

/* A list with room for one entry more than `count`: the same, or a longer copy. */
static void *grown(Run *run, void *list, int count, size_t entry)
{
    if ((count & (count - 1)) != 0) { /* room for the next power of two */
        return list;
    }
    void *longer = memory_of(run, (count == 0 ? 1 : 2 * (size_t)count) * entry);
    return count == 0 ? longer : memcpy(longer, list, (size_t)count * entry);
}

static void append(const Exchange *e, Edge **list, int *count, Edge edge)
{
    *list = grown(e->run, *list, *count, sizeof edge);
    (*list)[(*count)++] = edge;
}

static bool take_edge(Exchange *e, const char *line)
{
    int phase, sender, receiver, tag;
    size_t bytes, sender_at, receiver_at;
    if (sscanf(line, "edge %d %d %d %zu %d %zu %zu", &phase, &sender, &receiver, &bytes, &tag, &sender_at,
               &receiver_at) != 7 ||
        phase < 0 || phase >= e->phases || sender < 0 || receiver < 0 || sender >= e->bench->ranks ||
        receiver >= e->bench->ranks || tag < 0) {
        return false;
    }
    Phase *p = &e->phase[phase];
    if (sender == e->bench->rank) {
        append(e, &p->send, &p->sends, (Edge){receiver, tag, bytes, sender_at, receiver_at});
    }
    if (receiver == e->bench->rank) {
        append(e, &p->receive, &p->receives, (Edge){sender, tag, bytes, receiver_at, 0});
    }
    e->most_tags = tag + 1 > e->most_tags ? tag + 1 : e->most_tags;
    if (e->received_in > 0 && bytes % (size_t)e->received_in != 0) {
        return false;
    }
    return bytes % (size_t)e->bins == 0;
}

static bool take_share(Exchange *e, int tag, int thread, int peer_thread)
{
    if (tag < 0 || tag > e->share_count || thread < 0 || thread >= e->threads || peer_thread < 0 || peer_thread >= e->threads) {
        return false;
    }
    if (tag == e->share_count) {
        size_t bytes = (size_t)e->threads * sizeof(int);
        e->shares = grown(e->run, e->shares, e->share_count, sizeof *e->shares);
        e->shares[e->share_count++] = (Share){.from = memory_of(e->run, bytes), .to = memory_of(e->run, bytes)};
    }
    Share *share = &e->shares[tag];
    if (share->count == e->threads) {
        return false;
    }
    share->from[share->count] = thread;
    share->to[share->count++] = peer_thread;
    return true;
}

static bool take_line(Exchange *e, const char *line)
{
    int rank, phase, tag, thread, peer_thread;
    size_t out, in;
    if (sscanf(line, "share %d %d %d", &tag, &thread, &peer_thread) == 3) {
        return take_share(e, tag, thread, peer_thread);
    }
    if (sscanf(line, "receive %d", &e->received_in) == 1) {
        return e->received_in > 0;
    }
    if (sscanf(line, "interior %lf", &e->interior) == 1) {
        return e->interior > 0 && e->interior <= 1;
    }
    if (sscanf(line, "first %d", &phase) == 1 && phase >= 0 && phase < e->phases) {
        return e->phase[phase].receives_first = true;
    }
    if (sscanf(line, "arena %d %zu %zu", &rank, &out, &in) == 3) {
        if (rank == e->bench->rank) {
            e->out_bytes = out;
            e->in_bytes = in;
        }
        return out <= MAX_ARENA && in <= MAX_ARENA;
    }
    return take_edge(e, line);
}

/* Do the transport partitions divide what threads own of each buffer? */
static bool shares_divide(const Exchange *e)
{
    for (int tag = 0; e->shares != NULL && tag < e->most_tags; tag++) {
        if (tag >= e->share_count || e->shares[tag].count == 0 || e->shares[tag].count * e->theta % e->bins != 0) {
            return false;
        }
    }
    return true;
}

/* Lines up to "end"; `line` holds the first. */
static bool read_exchange(Exchange *e, int number, FILE *file, char *line, int size, int *at, char reason[MAX_REASON])
{
    int ranks;
    if (sscanf(line, "exchange %d %d %d %d %d", &ranks, &e->threads, &e->theta, &e->phases, &e->iterations) != 5 ||
        e->threads < 1 || e->theta < 1 || e->phases < 1 || e->iterations < 1) {
        snprintf(reason, MAX_REASON, "line %d of the plan is no exchange", *at);
        return false;
    }
    if (ranks != e->bench->ranks) {
        snprintf(reason, MAX_REASON, "the exchange has %d ranks, the launcher started %d", ranks, e->bench->ranks);
        return false;
    }
    e->partitions = e->threads * e->theta;
    if (!exchange_choose(e, number)) {
        snprintf(reason, MAX_REASON, "ways = %.100s says none of exchange %d", run_word(e->run, "ways"), number);
        return false;
    }
    e->bins = e->bins == 0 ? e->partitions : e->bins;
    if (e->bins < 0 || e->partitions % e->bins != 0) {
        snprintf(reason, MAX_REASON, "transport = %d is not valid: a divisor of %d", e->bins, e->partitions);
        return false;
    }
    e->phase = memory_of(e->run, (size_t)e->phases * sizeof *e->phase);
    while (fgets(line, size, file) != NULL) {
        ++*at;
        if (strncmp(line, "end", 3) == 0) {
            if (!shares_divide(e)) {
                snprintf(reason, MAX_REASON, "transport = %d does not divide what threads own of each buffer", e->bins);
                return false;
            }
            return true;
        }
        if (!take_line(e, line)) {
            snprintf(reason, MAX_REASON, "line %d of the plan makes no sense here", *at);
            return false;
        }
    }
    snprintf(reason, MAX_REASON, "the plan has no end");
    return false;
}

static Exchange *one_more(Exchanges *all, Run *run)
{
    all->each = grown(run, all->each, all->count, sizeof *all->each);
    Exchange *e = &all->each[all->count];
    *e = (Exchange){.run = run, .bench = run->bench};
    e->before = all->count > 0 ? e[-1].before + e[-1].phases : 0;
    all->count++;
    return e;
}

static bool read_plan(Exchanges *all, Run *run, FILE *file, char reason[MAX_REASON])
{
    char line[256];
    int at = 0, most_tags = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        at++;
        Exchange *e = one_more(all, run);
        if (!read_exchange(e, all->count - 1, file, line, (int)sizeof line, &at, reason)) {
            return false;
        }
        most_tags = e->most_tags > most_tags ? e->most_tags : most_tags;
        if (e->threads != all->each->threads || e->iterations != all->each->iterations) {
            snprintf(reason, MAX_REASON, "exchanges of different threads or iterations");
            return false;
        }
    }
    for (int i = 0; i < all->count; i++) {
        all->each[i].most_tags = most_tags; /* so that no two edges of an iteration check the same bytes */
    }
    if (all->count == 0) {
        snprintf(reason, MAX_REASON, "the plan is empty");
    }
    return all->count > 0;
}

static bool read_ready(Exchanges *all, FILE *file, char reason[MAX_REASON])
{
    size_t begin = 0;
    for (int i = 0; i < all->count; i++) {
        Exchange *e = &all->each[i];
        size_t count = (size_t)e->iterations * (size_t)e->phases * (size_t)e->partitions;
        e->ready = memory_of(e->run, count * sizeof *e->ready);
        if (fseek(file, (long)((begin + count * (size_t)e->bench->rank) * sizeof(double)), SEEK_SET) != 0 ||
            fread(e->ready, sizeof(double), count, file) != count) {
            snprintf(reason, MAX_REASON, "the ready times end before those of rank %d", e->bench->rank);
            return false;
        }
        begin += count * (size_t)e->bench->ranks;
    }
    return true;
}

static bool read_both(Exchanges *all, Run *run, char reason[MAX_REASON])
{
    const char *name = run_word(run, "plan");
    FILE *file = open_file(run->bench, name, ".plan", reason);
    bool good = file != NULL && read_plan(all, run, file, reason);
    if (file != NULL) {
        fclose(file);
    }
    file = good ? open_file(run->bench, name, ".ready", reason) : NULL;
    good = file != NULL && read_ready(all, file, reason);
    if (file != NULL) {
        fclose(file);
    }
    return good;
}

bool plan_read(Exchanges *all, Run *run, char reason[MAX_REASON])
{
    int good = read_both(all, run, reason), least;
    MPI_Allreduce(&good, &least, 1, MPI_INT, MPI_MIN, run->bench->control);
    if (!least && good) {
        snprintf(reason, MAX_REASON, "another rank cannot read the plan");
    }
    return least != 0;
}
