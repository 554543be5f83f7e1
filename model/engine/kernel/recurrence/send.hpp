// Steps 1 to 5 of the timeline for W ranks: from their starts to the arrivals of all their messages.
#pragma once

#include "recurrence/leave.hpp"

namespace pready {
namespace {

// The end of an epoch, as its sender sees it.
inline void close(const Plan& p, Exchange& x) {
    if (p.sync == Sync::active) {
        V complete = p.window_per_thread ? x.issued : larger(x.issued + p.barrier, x.join);
        if (p.confirmed) complete = larger(complete, x.arrived);
        x.notify = complete + p.told;
        x.done = larger(x.done, complete + p.closing);
    } else if (p.sync == Sync::passive) {
        const V flushed = larger(x.arrived, x.join);
        x.notify = flushed + p.told;
        x.done = flushed + p.closing;
    }
}

inline void write(const Plan& p, const Scratch& s, const Senders& g, const Ready& ready, const Exchange& x) {
    const V rows[] = {x.start,            x.start + ready.first, x.start + ready.last, x.start + x.join,
                      x.start + x.issued, x.start + x.done,      x.start + x.nic,      x.early};
    static_assert(kStart == 0 && kEarly == 7, "the rows of every record");
    store_rows(g, kStart, rows, 8);
    if (p.sync != Sync::none) store(g, p.notify, x.start + x.notify);
    for (int i = 0; p.own_threads && p.waits && i < p.groups; ++i) store(g, p.in_mpi + i, x.start + s.in_mpi[i]);
}

// `relayed`: what ranks send that have received it, and are in MPI; its join is the root's.
inline void send(const Plan& p, const State& state, Scratch& s, const Senders& g, std::int64_t iteration,
                 const Ready* relayed = nullptr) {
    Exchange x = begin(state, p, g);

    // 1. Ready.
    const Ready ready = relayed ? *relayed : draw(p, g.rank, iteration, {s.starts, s.in_mpi, nullptr});
    x.join = relayed ? ready.marked : ready.marked + p.barrier;
    const V opened = p.needs_out ? receivers_ready(p, s, x.start) : wide(-kInf);
    release(p, s, opened, x.join, relayed != nullptr);

    // 2. to 5. Issue, protocol, NIC, wire.
    fill_holds(p, g, s);
    if (p.mapped) {
        issue_mapped(p, s, g, x);
    } else if (p.one_by_one) {
        issue_one_by_one(p, s, g, x);
    } else {
        issue(p, s, g, x);
    }
    x.done = x.issued;
    leave(p, s, g, x);

    // 7. Finish, the sender's part.
    close(p, x);
    write(p, s, g, ready, x);
}

}  // namespace
}  // namespace pready
