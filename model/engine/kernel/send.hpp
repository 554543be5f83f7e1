// Steps 1 to 5 of the timeline for W ranks: from their starts to the arrivals of all their messages.
#pragma once

#include "issue.hpp"
#include "leave.hpp"

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

// Sends that end with their receiver's word: not before it is inside MPI.
inline void acknowledge(const Plan& p, const Scratch& s, const Senders& g, Exchange& x) {
    for (int d = 0; d < p.directions; ++d) {
        const V enters = collect(s.enters + d * W, 0) - x.start;
        for (int l = 0; l < W; ++l) {
            const std::int32_t c = class_of(p, g.profile[l], d);
            const double known = enters[l] + p.returned[c];  // -infinity where there is nobody
            if (p.delivered[c] && known > x.done[l]) x.done[l] = known;
        }
    }
}

// For how long, at the end, a rank keeps ports busy that others use as well, if it sends to several: what sharing would
// delay its last message by, over the share. What went before is forgotten where the port has caught up since.
inline V span(const Plan& p, const Senders& g, const Exchange& x) {
    V out{};
    for (int l = 0; l < W; ++l) {
        if (p.scattered[g.profile[l]] && x.slowed[l] > -kInf) out[l] = (x.slowed[l] - x.alone[l]) / p.unevenness;
    }
    return out;
}

inline void write(const Plan& p, const Senders& g, const Ready& ready, const Exchange& x) {
    const V rows[] = {x.start,            x.start + ready.first, x.start + ready.last, x.start + x.join,
                      x.start + x.issued, x.start + x.done,      x.start + x.nic,      x.early};
    static_assert(kStart == 0 && kEarly == 7, "the rows of every record");
    store_rows(g, kStart, rows, 8);
    if (p.shaped) store(g, kTurn, x.start + x.turn);
    if (p.sync != Sync::none) store(g, kNotify, x.start + x.notify);
    for (int d = 0; p.shared && d < p.directions; ++d) {
        V travel;
        for (int l = 0; l < W; ++l) travel[l] = p.travel[class_of(p, g.profile[l], d)];
        store(g, p.shared + d, x.start + x.shared[d] + travel);
    }
    if (!(p.unevenness > 0)) return;
    const V shared = span(p, g, x);
    store(g, kBegun, x.start + (x.alone - shared));
    store(g, kSpan, shared);
}

inline void send(const Plan& p, const State& state, Scratch& s, const Senders& g,
                 std::int64_t iteration, int round) {
    Exchange x = begin(p, state, g, round);

    // 1. Ready.
    const Ready ready = draw(p, g.rank, iteration, {s.starts, s.ends, nullptr});
    x.join = ready.marked + p.barrier;
    const V opened = p.needs_out ? go_aheads(p, s, x.start) : wide(-kInf);
    release(p, s, opened);
    if (p.late_puts) put_off(p, g, s, x.join);
    if (p.cools) warm(p, g, s);
    if (p.keeps_ends) insertion_sort(s.ends, p.threads);
    x.attended = p.attended_first ? s.ends[0] : x.join;

    // 2. to 5. Issue, protocol, NIC, wire.
    fill_holds(p, g, s);
    if (p.burst) {
        issue_bursts(p, s, x);
        x.done = x.issued;
        land_bursts(p, s, g, x);
    } else if (p.keeps_turns) {
        issue_turns(p, s, x);
        x.done = x.issued;
        leave_node_in_turns(p, s, g, x);
    } else {
        if (p.mapped) {
            issue_mapped(p, s, g, x);
        } else if (p.one_by_one) {
            issue_one_by_one(p, s, g, x);
        } else if (p.one_cpu) {
            issue_by_cpu(p, s, g, x);
        } else {
            issue(p, s, g, x);
        }
        x.done = x.issued;
        leave(p, s, g, x);
    }

    // 7. Finish, the sender's part.
    if (p.acknowledged) acknowledge(p, s, g, x);
    close(p, x);
    write(p, g, ready, x);
}

}  // namespace
}  // namespace pready
