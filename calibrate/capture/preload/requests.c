// Messages of persistent and partitioned requests, looked up at their start. Lock-free: entries are claimed.
#include "requests.h"
#include "store.h"

#include <stdatomic.h>
#include <string.h>

enum { SLOTS = 8192, FAR = 64 };

typedef uint64_t request_key;
static const request_key FREE = 0, GONE = ~(request_key)0;

static struct {
    _Atomic request_key key;
    struct persistent about;
} slots[SLOTS];

static request_key key_of(MPI_Request request)
{
    request_key key = 0;
    memcpy(&key, &request, sizeof request); // a pointer or an int
    return key;
}

static unsigned home(request_key key)
{
    return (unsigned)((key * 0x9e3779b97f4a7c15u) >> 40) % SLOTS;
}

void requests_keep(MPI_Request request, struct persistent about)
{
    const request_key key = key_of(request);
    requests_drop(request); // handles are reused
    for (unsigned i = 0; i < FAR; i++) {
        const unsigned at = (home(key) + i) % SLOTS;
        request_key there = atomic_load(&slots[at].key);
        if ((there == FREE || there == GONE) && atomic_compare_exchange_strong(&slots[at].key, &there, GONE - 1)) {
            slots[at].about = about;
            atomic_store(&slots[at].key, key);
            return;
        }
    }
    __atomic_fetch_add(&store_header->dropped_requests, 1, __ATOMIC_RELAXED);
}

static int where(request_key key)
{
    for (unsigned i = 0; i < FAR; i++) {
        const unsigned at = (home(key) + i) % SLOTS;
        const request_key there = atomic_load(&slots[at].key);
        if (there == key)
            return (int)at;
        if (there == FREE)
            break;
    }
    return -1;
}

bool requests_find(MPI_Request request, struct persistent *about)
{
    const int at = where(key_of(request));
    if (at < 0)
        return false;
    *about = slots[at].about;
    return true;
}

void requests_drop(MPI_Request request)
{
    const int at = where(key_of(request));
    if (at >= 0)
        atomic_store(&slots[at].key, GONE);
}
