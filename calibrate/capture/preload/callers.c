// The chain of calls that leads to a message, each call a place whose caller is the next one outward.
#include "store.h"

#include <unwind.h>

enum { DEEPEST = 16, KEPT = 64, NEAR = 4 }; // a chain is within so many places of its home

struct chain {
    const void *at, *frame; // the call of MPI, and the wrapper's frame
    uint16_t site;
    int calls;
    const void *call[DEEPEST];        // return addresses, the innermost first
    const void *const *where[DEEPEST]; // where the stack holds each
};

static _Unwind_Reason_Code take(struct _Unwind_Context *frame, void *data)
{
    struct chain *const c = data;
    const void *const call = (const void *)(uintptr_t)_Unwind_GetIP(frame);
    if (call == NULL || (c->calls == 0 && call != c->at)) // our own frames come first
        return _URC_NO_REASON;
    c->where[c->calls] = (const void *const *)(uintptr_t)_Unwind_GetCFA(frame) - 1;
    c->call[c->calls++] = call;
    return c->calls == DEEPEST ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// Following a chain takes a microsecond. The same call from the same frame mostly has the same chain; it surely has if
// the stack still holds every return address.
static bool same(const struct chain *c, const void *at, const void *frame)
{
#ifdef __x86_64__
    if (c->at != at || c->frame != frame || c->site == 0)
        return false;
    for (int i = 0; i < c->calls; i++)
        if (*c->where[i] != c->call[i])
            return false;
    return true;
#else
    (void)c, (void)at, (void)frame;
    return false; // return addresses need not be next to the frame
#endif
}

uint16_t callers_site(const void *at, const void *frame)
{
    static _Thread_local struct chain kept[KEPT];
    const uintptr_t mixed = ((uintptr_t)at ^ (uintptr_t)frame << 8) * (uintptr_t)0x9e3779b97f4a7c15u;
    const unsigned home = (unsigned)(mixed >> 40);
    static _Thread_local unsigned replaced;
    struct chain *c = &kept[(home + replaced++ % NEAR) % KEPT];
    for (unsigned i = 0; i < NEAR; i++) {
        struct chain *const there = &kept[(home + i) % KEPT];
        if (same(there, at, frame))
            return there->site;
        if (there->at == at && there->frame == frame)
            c = there;
    }
    *c = (struct chain){.at = at, .frame = frame};
    _Unwind_Backtrace(take, c);
    for (int i = c->calls - 1; i >= 0; i--)
        c->site = store_place(c->call[i], SITE_RETURN, c->site);
    return c->calls > 0 ? c->site : store_site(at, SITE_RETURN);
}
