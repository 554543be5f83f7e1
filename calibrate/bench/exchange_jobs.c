/* Which messages wait for which user partitions.
 *
 * Without a thread grid every thread owns a part of every buffer: a bin is ready for all peers at once, one job. With
 * one, a buffer consists of the partitions of the threads that its plan names (`share`), and each message is a job of
 * its own: model/engine/mapping.py.
 */
#include "exchange.h"

#include <stdlib.h>

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
    p->job = allocate((size_t)p->jobs * sizeof *p->job);
    for (int j = 0; j < p->jobs; j++) {
        int edge = j / e->bins;
        int owned = apart ? e->shares[p->send[edge].tag].count * e->theta : e->partitions;
        p->job[j] = (Job){edge, apart ? 1 : p->sends, j % e->bins, owned / e->bins};
    }
}

static void list_waiting(const Exchange *e, Phase *p)
{
    int *found = allocate((size_t)e->partitions * sizeof *found);
    p->waiting_from = allocate(((size_t)e->partitions + 1) * sizeof *p->waiting_from);
    for (int j = 0; j < p->jobs; j++) {
        int count = partitions_of(e, p, &p->job[j], found);
        for (int i = 0; i < count; i++) {
            p->waiting_from[found[i] + 1]++;
        }
    }
    for (int i = 0; i < e->partitions; i++) {
        p->waiting_from[i + 1] += p->waiting_from[i];
    }
    p->waiting = allocate((size_t)p->waiting_from[e->partitions] * sizeof *p->waiting);
    int *next = allocate((size_t)e->partitions * sizeof *next);
    for (int j = 0; j < p->jobs; j++) {
        int count = partitions_of(e, p, &p->job[j], found);
        for (int i = 0; i < count; i++) {
            p->waiting[p->waiting_from[found[i]] + next[found[i]]++] = j;
        }
    }
    free(next);
    free(found);
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
        e->most_jobs = p->jobs > e->most_jobs ? p->jobs : e->most_jobs;
    }
    return true;
}

void jobs_free(Exchange *e)
{
    for (int i = 0; e->phase != NULL && i < e->phases; i++) {
        free(e->phase[i].job);
        free(e->phase[i].waiting_from);
        free(e->phase[i].waiting);
    }
    for (int tag = 0; e->shares != NULL && tag < e->share_count; tag++) {
        free(e->shares[tag].from);
        free(e->shares[tag].to);
    }
    free(e->shares);
}
