// Requests that are open: when they complete, and the messages of persistent ones. Lock-free: entries are claimed.
#include "requests.h"
#include "store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16384, FAR = 32, NOWHERE = -1 }; // an entry is within so many places of its home

typedef uint64_t request_key;
static const request_key FREE = 0, CLAIMED = ~(request_key)0;

static struct {
    _Atomic request_key key;
    // Records that wait for it, the newest first: libraries give one handle to all messages that are complete at once.
    struct record *_Atomic open;
    bool persistent;
    struct persistent about;
} slots[SLOTS];

static request_key key_of(MPI_Request request)
{
    request_key key = 0;
    memcpy(&key, &request, sizeof request); // a pointer or an int
    return key;
}

static unsigned place(request_key key, unsigned i)
{
    return ((unsigned)((key * 0x9e3779b97f4a7c15u) >> 40) + i) % SLOTS;
}

static int where(request_key key)
{
    for (unsigned i = 0; i < FAR; i++)
        if (atomic_load_explicit(&slots[place(key, i)].key, memory_order_acquire) == key)
            return (int)place(key, i);
    return NOWHERE;
}

// A record's `done` holds the one behind it until it is complete: -1 is none, else the distance in the file below that.
static int64_t link_to(const struct record *r)
{
    return r == NULL ? -1 : -1 - ((const char *)r - (const char *)store_header);
}

static struct record *linked(int64_t done)
{
    return done == -1 ? NULL : (struct record *)((char *)store_header - (done + 1));
}

// Records that began before the call did are complete; a newer one has the handle anew.
static void complete(int at, int64_t t0, int64_t t1)
{
    struct record *first = atomic_load(&slots[at].open), *r = first;
    for (; r != NULL && r->start > t0; r = linked(r->done))
        if (r->done >= 0)
            return;
    const bool all = r == first;
    while (r != NULL && r->done < 0) {
        struct record *const next = linked(r->done);
        r->done = t1;
        r = next;
    }
    if (all && atomic_compare_exchange_strong(&slots[at].open, &first, NULL) && !slots[at].persistent)
        atomic_store(&slots[at].key, FREE);
}

static int claim(request_key key)
{
    for (unsigned i = 0; i < FAR; i++) {
        request_key there = FREE;
        if (atomic_compare_exchange_strong(&slots[place(key, i)].key, &there, CLAIMED))
            return (int)place(key, i);
    }
    __atomic_fetch_add(&store_header->dropped_requests, 1, __ATOMIC_RELAXED);
    return NOWHERE;
}

void requests_keep(MPI_Request request, struct persistent about)
{
    requests_drop(request); // handles are reused
    const int at = claim(key_of(request));
    if (at < 0)
        return;
    slots[at].persistent = true;
    slots[at].about = about;
    slots[at].open = NULL;
    atomic_store(&slots[at].key, key_of(request));
}

bool requests_find(MPI_Request request, struct persistent *about)
{
    const int at = where(key_of(request));
    if (at < 0 || !slots[at].persistent)
        return false;
    *about = slots[at].about;
    return true;
}

void requests_follow(MPI_Request request, struct record *record)
{
    if (record == NULL || record->who == PEER_NONE)
        return;
    const request_key key = key_of(request);
    int at = where(key);
    if (at < 0) {
        if ((at = claim(key)) < 0)
            return;
        slots[at].persistent = false;
        slots[at].open = NULL;
        record->done = -1;
        slots[at].open = record;
        atomic_store(&slots[at].key, key);
        return;
    }
    struct record *before = atomic_load(&slots[at].open);
    do
        record->done = link_to(before);
    while (!atomic_compare_exchange_weak(&slots[at].open, &before, record));
}

void requests_drop(MPI_Request request)
{
    const int at = where(key_of(request));
    if (at < 0)
        return;
    slots[at].open = NULL;
    atomic_store(&slots[at].key, FREE);
}

void requests_before(struct waited *w, int count, const MPI_Request requests[])
{
    w->all = w->few;
    w->count = count > 0 && requests != NULL ? count : 0;
    if ((size_t)w->count > sizeof w->few / sizeof *w->few && (w->all = malloc(sizeof *w->all * (size_t)w->count)) == NULL)
        w->count = 0;
    if (w->count > 0)
        memcpy(w->all, requests, sizeof *w->all * (size_t)w->count);
}

void requests_after(struct waited *w, int count, const int indices[], int64_t t0, int64_t t1)
{
    const int64_t from = store_header->started_ns;
    for (int i = 0; i < count; i++) {
        const int n = indices == NULL ? i : indices[i];
        const int at = n >= 0 && n < w->count ? where(key_of(w->all[n])) : NOWHERE;
        if (at >= 0)
            complete(at, t0 - from, t1 - from);
    }
    if (w->all != w->few)
        free(w->all);
}
