/* Which messages wait for which user partitions, and with whom a rank exchanges.
 *
 * Without a thread grid every thread owns a part of every buffer: a bin is ready for all peers at once, one job. With
 * one, a buffer consists of the partitions of the threads that its plan names (`share`), and each message is a job of
 * its own: model/engine/messages.py.
 */
#include "exchange/jobs.h"

/* The user partitions of a job, one after the other; returns how many. */
static int partitions_of(const Exchange *e, const Phase *p, const Job *job, int *found)
{
    const Share *share = e->shares == NULL ? NULL : &e->shares[p->send[job->first].tag];
    for (int i = 0; i < job->needed; i++) {
        int at = job->bin * job->needed + i;
        found[i] = share == NULL ? at : share->from[at / e->theta] * e->theta + at % e->theta;
    }
    return job->needed;
}

static void list_jobs(const Exchange *e, Phase *p)
{
    bool apart = e->shares != NULL;
    p->jobs = apart ? p->sends * e->bins : e->bins;
    p->job = memory_of(e->run, (size_t)p->jobs * sizeof *p->job);
    for (int j = 0; j < p->jobs; j++) {
        int edge = j / e->bins;
        int owned = apart ? e->shares[p->send[edge].tag].count * e->theta : e->partitions;
        p->job[j] = (Job){edge, apart ? 1 : p->sends, j % e->bins, owned / e->bins};
    }
}

static void list_waiting(const Exchange *e, Phase *p)
{
    size_t partitions = (size_t)e->partitions;
    int *found = memory_of(e->run, partitions * sizeof *found), *next = memory_of(e->run, partitions * sizeof *next);
    p->waiting_from = memory_of(e->run, (partitions + 1) * sizeof *p->waiting_from);
    for (int j = 0; j < p->jobs; j++) {
        int count = partitions_of(e, p, &p->job[j], found);
        for (int i = 0; i < count; i++) {
            p->waiting_from[found[i] + 1]++;
        }
    }
    for (int i = 0; i < e->partitions; i++) {
        p->waiting_from[i + 1] += p->waiting_from[i];
    }
    p->waiting = memory_of(e->run, (size_t)p->waiting_from[e->partitions] * sizeof *p->waiting);
    for (int j = 0; j < p->jobs; j++) {
        int count = partitions_of(e, p, &p->job[j], found);
        for (int i = 0; i < count; i++) {
            p->waiting[p->waiting_from[found[i]] + next[found[i]]++] = j;
        }
    }
}

static int *unique_peers(const Exchange *e, const Edge *edges, int count, int *found)
{
    int *peers = memory_of(e->run, (size_t)count * sizeof *peers);
    *found = 0;
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (int k = 0; k < *found; k++) {
            known = known || peers[k] == edges[i].peer;
        }
        if (!known) {
            peers[(*found)++] = edges[i].peer;
        }
    }
    return peers;
}

bool jobs_make(Exchange *e)
{
    for (int tag = 0; e->shares != NULL && tag < e->most_tags; tag++) {
        if (tag >= e->share_count || e->shares[tag].count == 0 || e->shares[tag].count * e->theta % e->bins != 0) {
            return false;
        }
    }
    for (int i = 0; i < e->phases; i++) {
        Phase *p = &e->phase[i];
        list_jobs(e, p);
        list_waiting(e, p);
        p->from = unique_peers(e, p->receive, p->receives, &p->from_count);
        p->to = unique_peers(e, p->send, p->sends, &p->to_count);
        e->most_jobs = p->jobs > e->most_jobs ? p->jobs : e->most_jobs;
    }
    return true;
}
