// Steps 1 to 5 of the timeline for W ranks: from their starts to the arrivals of all their messages.
#pragma once

#include <algorithm>
#include <cmath>

#include "draws.hpp"

namespace pready {
namespace {

// Memory of one worker, a few KiB for the usual numbers of messages.
struct Scratch {
    V* starts;  // [jobs]
    V* queue;   // [jobs]
    V* key;     // [transports * max(directions, sources)]
    V* along;   // the same
    I* id;      // the same
    V* hold;         // [directions]
    V* hold_behind;  // [vcis]
    V* gate;      // [directions]
    const double** source;  // [sources * W]: records, null where there is no neighbour
    std::int32_t* slot;     // [sources * W]: which direction of the source an edge is
    V* lag;                 // [sources]: place in a burst, in seconds
    std::int64_t* out;      // [W * directions]: receivers
    V* sent;                // mapped: [jobs] by number
    V* raw;                 // [threads * theta], for tests
};

inline std::int64_t carve(const Plan& p, Scratch* s, char* memory) {
    const std::int64_t t = p.transports, d = p.directions, v = p.vcis;
    const std::int64_t wide_size = t * (d > p.sources ? d : p.sources);
    std::int64_t used = 0;
    const auto take = [&](std::int64_t n) {
        char* at = memory + used;
        used += n * static_cast<std::int64_t>(sizeof(V));
        return reinterpret_cast<V*>(at);
    };
    Scratch out{};
    out.starts = take(p.jobs);
    out.queue = take(p.jobs);
    out.key = take(wide_size);
    out.along = take(wide_size);
    out.id = reinterpret_cast<I*>(take(wide_size));
    out.hold = take(d);
    out.hold_behind = take(v);
    out.gate = take(d);
    out.source = reinterpret_cast<const double**>(take(p.sources));
    out.slot = reinterpret_cast<std::int32_t*>(take(p.sources));
    out.lag = take(p.sources);
    out.out = reinterpret_cast<std::int64_t*>(take(d));
    out.sent = take(p.mapped ? p.jobs : 0);
    out.raw = take(std::int64_t{p.threads} * p.theta);
    if (s) *s = out;
    return used;
}

// W ranks as a send sees them. Lanes beyond `count` repeat the last rank.
struct Senders {
    int count = W;
    std::int64_t rank[W];
    std::int32_t profile[W];
    bool alike = true;  // all profiles the same
    const std::int64_t* out[W];  // receivers by direction, -1 where there is none; if needed
    double* record[W];
};

inline void fill_holds(const Plan& p, const Senders& g, Scratch& s) {
    for (int v = 0; v < p.vcis; ++v) {
        for (int l = 0; l < W; ++l)
            s.hold_behind[v][l] = p.hold_behind[std::int64_t{g.profile[l]} * p.vcis + v];
    }
    for (int d = 0; d < p.directions; ++d) {
        if (g.alike) {
            s.hold[d] = wide(p.hold[std::int64_t{g.profile[0]} * p.directions + d]);
            continue;
        }
        for (int l = 0; l < W; ++l) s.hold[d][l] = p.hold[std::int64_t{g.profile[l]} * p.directions + d];
    }
}
// Whole picoseconds: neighbours' go-aheads that differ by rounding alone must not decide an order.
inline V ticks(V time) { return (time * 1e12 + 0x1.8p52) - 0x1.8p52; }

inline void store(const Senders& g, int at, V x) {
    for (int l = 0; l < g.count; ++l) g.record[l][at] = x[l];
}

// W ranks on their way through an exchange; times since their starts.
struct Exchange {
    V start;     // absolute
    V nic;       // when the NIC is free
    V join;      // when the threads have met
    V messages;  // to how many neighbours
    V issued = wide(-kInf), left = wide(-kInf), done = wide(-kInf), notify = wide(-kInf);
    V arrived = wide(-kInf);  // with a passive epoch: and acknowledged
    V early{};                // messages that arrive before the rank's own join
};

inline Exchange begin(const Plan& p, const State& state, const Senders& g) {
    Exchange x;
    for (int l = 0; l < W; ++l) {
        x.start[l] = state.start[g.rank[l]];
        x.nic[l] = state.nic[g.rank[l]];
        x.messages[l] = p.degree[g.profile[l]];
    }
    x.nic -= x.start;
    return x;
}

// Receivers' go-aheads by direction; returns the last.
inline V go_aheads(const Plan& p, const State& state, Scratch& s, const Senders& g, V start) {
    const double* of = p.gate_is_join ? state.gate : state.start;
    V opened = wide(-kInf);
    for (int d = 0; d < p.directions; ++d) {
        V gate = wide(-kInf);
        for (int l = 0; l < W; ++l) {
            if (g.out[l][d] >= 0) gate[l] = of[g.out[l][d]] - start[l];
        }
        s.gate[d] = gate;
        opened = larger(opened, gate);
    }
    return opened;
}

// From the last mark of each job to when it can queue for its VCI.
inline void release(const Plan& p, Scratch& s, V join, V opened) {
    for (int t = 0; t < p.jobs; ++t) {
        if (p.counts_down) s.starts[t] = s.starts[t] + p.counter[t];
        if (p.joins) s.starts[t] = s.starts[t] + p.barrier;
        if (p.opens) s.starts[t] = larger(s.starts[t], opened + p.opened);
        if (p.wake != 0) {
            for (int l = 0; l < W; ++l) {
                const double age = s.starts[t][l] > 0 ? s.starts[t][l] : 0.0;
                s.starts[t][l] += p.waking > 0 ? -p.wake * std::expm1(-age / p.waking) : p.wake;
            }
        }
        if (p.late_puts) s.starts[t] = larger(s.starts[t], join);
    }
}

// What follows a pause takes longer by up to `cold`; nothing overtakes it (timeline._warmed).
inline void warm(const Plan& p, Scratch& s) {
    auto* order = reinterpret_cast<std::int32_t*>(s.id);
    for (int l = 0; l < W; ++l) {
        for (int t = 0; t < p.jobs; ++t) order[t] = t;
        std::sort(order, order + p.jobs,
                  [&](std::int32_t a, std::int32_t b) { return s.starts[a][l] < s.starts[b][l]; });
        double busy = 0, latest = -kInf;  // the exchange before has just ended
        for (int i = 0; i < p.jobs; ++i) {
            const double at = s.starts[order[i]][l];
            const double pause = at > busy ? at - busy : 0.0;
            busy = (i > 0 && busy > at ? busy : at) + p.link;
            const double later = at - p.cold * std::expm1(-pause / p.cooling);
            if (later > latest) latest = later;
            s.starts[order[i]][l] = latest;
        }
    }
}

// A VCI's lock is a FIFO; whoever holds it issues a transport partition to all peers, and then receives
// as many messages, unless nobody waits. Who finds it taken pays for that. Calls `each` with when a turn
// begins; returns when the last message is issued.
template <class Each>
inline V take_turns(const Plan& p, Scratch& s, Each each) {
    const std::int32_t* member = p.vci_members;
    const V turn = s.hold[p.directions - 1];
    V issued = wide(-kInf);
    for (int v = 0; v < p.vcis; ++v) {
        const int size = p.vci_size[v];
        for (int i = 0; i < size; ++i) s.queue[i] = s.starts[*member++];
        insertion_sort(s.queue, size);
        V end = wide(-kInf);
        for (int i = 0; i < size; ++i) {
            end = larger(s.queue[i] + turn, end + s.hold_behind[v]);
            each(end - turn);
        }
        issued = larger(issued, end);
    }
    return issued;
}

// When a payload may leave that was issued at `sent`.
inline V allowed(const Plan& p, const Scratch& s, int d, V sent, V join) {
    const std::int32_t c = p.direction_class[d];
    if (p.two_sided) {
        sent = larger(sent, s.gate[d] + p.wire[c]);
    } else if (p.rendezvous) {
        const double half = p.half[c];
        if (p.asks[c]) sent = larger(sent + half, s.gate[d]) + half;
        if (p.asks[c] && p.sender_waits) sent = larger(sent, join);
    }
    return sent;
}

// Fills key in the order of issue.
inline void issue(const Plan& p, Scratch& s, Exchange& x) {
    std::int64_t n = 0;
    x.issued = take_turns(p, s, [&](V begun) {
        for (int d = 0; d < p.directions; ++d, ++n) s.key[n] = allowed(p, s, d, begun + s.hold[d], x.join);
    });
}

// The same where the first message to leave stands for a burst. All messages of one are `burst_gap`
// apart (engine docstring, point 5).
inline void issue_bursts(const Plan& p, Scratch& s, Exchange& x) {
    std::int64_t n = 0;
    V nic = x.nic, left = x.left;
    const V messages = x.messages;
    x.issued = take_turns(p, s, [&](V begun) {
        const V leaves = larger(begun + p.burst_hold, nic);
        s.key[n++] = leaves;
        const V last = leaves + (messages - 1) * p.burst_gap;
        left = messages > 0 ? last : left;
        nic = messages > 0 ? last + p.service[0] : nic;
    });
    x.nic = nic;
    x.left = left;
}

// `allowed` in one lane.
inline double allowed_lane(const Plan& p, const Scratch& s, int d, int lane, double time, double join) {
    const std::int32_t c = p.direction_class[d];
    const double gate = p.needs_out ? s.gate[d][lane] : -kInf;
    if (p.two_sided) {
        const double flag = gate + p.wire[c];
        if (flag > time) time = flag;
    } else if (p.rendezvous && p.asks[c]) {
        time += p.half[c];
        if (gate > time) time = gate;
        time += p.half[c];
        if (p.sender_waits && join > time) time = join;
    }
    return time;
}

// Brings the messages of a VCI into the order in which they queue.
inline void line_up(const Plan& p, Scratch& s, int v, const std::int32_t* member, I* id) {
    const Network& net = p.queue_network[v];
    const int size = p.vci_size[v];
    for (int i = 0; i < size; ++i) {
        s.queue[i] = s.starts[member[i]];
        id[i] = I{} + member[i];
    }
    sort_numbered(net, s.queue, id);
    // The network leaves values where its order says; bring them into that order.
    for (int i = 0; i < size; ++i) {
        s.key[i] = s.queue[net.order[i]];
        s.along[i] = reinterpret_cast<V>(id[net.order[i]]);
    }
    for (int i = 0; i < size; ++i) id[i] = reinterpret_cast<I>(s.along[i]);
}

// The same where every message queues by itself: fills key and id in the order of issue by VCI, and
// `sent` by message.
inline void issue_mapped(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    const std::int32_t* member = p.vci_members;
    V issued = wide(-kInf);
    std::int64_t n = 0;
    for (int v = 0; v < p.vcis; ++v) {
        const int size = p.vci_size[v];
        line_up(p, s, v, member, s.id + n);
        V free = wide(-kInf);
        for (int i = 0; i < size; ++i) {
            const V ready = s.key[i];
            for (int l = 0; l < W; ++l) {
                const std::int64_t number = s.id[n + i][l];
                const auto d = static_cast<std::int32_t>(number % p.directions);
                const std::int32_t c = p.direction_class[d];
                if (!p.present[std::int64_t{g.profile[l]} * p.directions + d]) {
                    s.sent[number][l] = free[l];  // keeps the order; never leaves
                    continue;
                }
                const double behind = free[l] + p.taken[v];
                const double time = (ready[l] > behind ? ready[l] : behind) + p.hold_each[c];
                free[l] = time + p.between[g.profile[l] * p.classes + c];
                if (time > issued[l]) issued[l] = time;
                s.sent[number][l] = allowed_lane(p, s, d, l, time, x.join[l]);
            }
        }
        n += size;
        member += size;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        for (int l = 0; l < W; ++l) s.key[i][l] = s.sent[s.id[i][l]][l];
    }
    x.issued = issued;
}

// Bursts on the wire: a record has the first arrival of each.
inline void land_bursts(const Plan& p, const Scratch& s, const Senders& g, Exchange& x) {
    V early = x.early;
    for (int t = 0; t < p.transports; ++t) {
        const V first = s.key[t] + p.travel[0];
        store(g, kHead + t, x.start + first);
        for (int d = 0; d < p.directions; ++d) {
            const V nth = wide(static_cast<double>(d));
            const I in_time = (first + nth * p.burst_gap <= x.join) & (nth < x.messages);
            early = in_time ? early + 1.0 : early;
        }
    }
    x.early = early;
    x.arrived = x.left + (p.travel[0] + (p.sync == Sync::passive ? p.ack : 0.0));
}

// The order in which payloads may leave; equals by VCI, queue and direction.
inline void order_sends(const Plan& p, Scratch& s, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        if (!p.mapped) s.id[i] = I{} + i;
        s.along[i] = p.ticks ? ticks(s.key[i]) : s.key[i];
    }
    sort_numbered(p.send_network, s.along, s.id);
}

// The i-th payload to leave: where its number is in `id`, and from when on it may.
inline std::int64_t nth_send(const Plan& p, const Scratch& s, std::int64_t i, V& sent) {
    if (!p.send_sorts) {
        sent = s.key[i];
        return i;
    }
    const std::int64_t at = p.send_network.order[i];
    for (int l = 0; l < W; ++l) sent[l] = (p.mapped ? s.sent : s.key)[s.id[at][l]][l];
    return at;
}

// Messages of one size in the same directions, in the order of issue: the common case.
inline void leave_in_order(const Plan& p, const Scratch& s, const Senders& g, std::int64_t n, Exchange& y) {
    Exchange x = y;
    const double acknowledged = p.sync == Sync::passive ? p.ack : 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t d = p.message_direction[i];
        if (!p.present[std::int64_t{g.profile[0]} * p.directions + d]) continue;
        x.left = larger(s.key[i], x.nic);
        x.nic = x.left + p.service[0];
        x.arrived = x.left + p.travel[0] + acknowledged;
        x.early = x.left + p.travel[0] <= x.join ? x.early + 1.0 : x.early;
        if (p.late_done[0]) x.done = larger(x.done, x.left + p.stream[0]);
        store(g, p.message_slot[i], x.start + (x.left + p.travel[0]));
    }
    y = x;
}

// One size and a neighbour in every direction: only the order differs between lanes.
inline void leave_everywhere(const Plan& p, const Scratch& s, const Senders& g, std::int64_t n, Exchange& y) {
    Exchange x = y;
    const double acknowledged = p.sync == Sync::passive ? p.ack : 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        V sent;
        const std::int64_t at = nth_send(p, s, i, sent);
        x.left = larger(sent, x.nic);
        x.nic = x.left + p.service[0];
        const V lands = x.left + p.travel[0];
        x.arrived = lands + acknowledged;
        x.early = lands <= x.join ? x.early + 1.0 : x.early;
        if (p.late_done[0]) x.done = larger(x.done, x.left + p.stream[0]);
        const V absolute = x.start + lands;
        for (int l = 0; l < g.count; ++l) g.record[l][p.message_slot[s.id[at][l]]] = absolute[l];
    }
    y = x;
}

// Any sizes and directions.
inline void leave_each(const Plan& p, const Scratch& s, const Senders& g, std::int64_t n, Exchange& x) {
    const bool numbered = p.send_sorts || p.mapped;
    for (std::int64_t i = 0; i < n; ++i) {
        V sent;
        const std::int64_t at = nth_send(p, s, i, sent);
        for (int l = 0; l < g.count; ++l) {
            const std::int64_t number = numbered ? s.id[at][l] : i;
            const std::int32_t d = p.message_direction[number];
            if (!p.present[std::int64_t{g.profile[l]} * p.directions + d]) continue;
            const std::int32_t c = p.direction_class[d];
            const double leaves = sent[l] > x.nic[l] ? sent[l] : x.nic[l];
            x.nic[l] = leaves + p.service[c];
            const double arrives = leaves + p.travel[c];
            const double lands = p.sync == Sync::passive ? arrives + p.ack : arrives;
            if (lands > x.arrived[l]) x.arrived[l] = lands;
            if (arrives <= x.join[l]) x.early[l] += 1;
            if (p.late_done[c] && leaves + p.stream[c] > x.done[l]) x.done[l] = leaves + p.stream[c];
            g.record[l][p.message_slot[number]] = x.start[l] + (leaves + p.travel[c]);
        }
    }
}

// The NIC is one server.
inline void leave(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    const std::int64_t n = p.mapped ? p.jobs : std::int64_t{p.transports} * p.directions;
    if (p.send_sorts) order_sends(p, s, n);
    const bool numbered = p.send_sorts || p.mapped;
    const bool alike = p.classes == 1 && g.alike;
    if (alike && !numbered) {
        leave_in_order(p, s, g, n, x);
    } else if (alike && p.degree[g.profile[0]] == p.directions) {
        leave_everywhere(p, s, g, n, x);
    } else {
        leave_each(p, s, g, n, x);
    }
}

// The end of an epoch, as its sender sees it.
inline void close(const Plan& p, Exchange& x) {
    if (p.sync == Sync::active) {
        const V complete = p.window_per_thread ? x.issued : larger(x.issued + p.barrier, x.join);
        x.notify = complete + p.control;
        x.done = complete + p.closing;
    } else if (p.sync == Sync::passive) {
        const V flushed = larger(x.arrived, x.join);
        x.notify = flushed + p.closing + p.control;
        x.done = flushed + p.closing;
    }
}

inline void write(const Senders& g, const Ready& ready, const Exchange& x) {
    store(g, kStart, x.start);
    store(g, kFirst, x.start + ready.first);
    store(g, kReady, x.start + ready.last);
    store(g, kJoin, x.start + x.join);
    store(g, kIssued, x.start + x.issued);
    store(g, kDone, x.start + x.done);
    store(g, kNic, x.start + x.nic);
    store(g, kNotify, x.start + x.notify);
    store(g, kEarly, x.early);
}

inline void send(const Plan& p, const State& state, Scratch& s, const Senders& g,
                 std::int64_t iteration) {
    Exchange x = begin(p, state, g);

    // 1. Ready.
    const Ready ready = draw(p, g.rank, iteration, {s.starts, nullptr});
    x.join = ready.marked + p.barrier;
    const V opened = p.needs_out ? go_aheads(p, state, s, g, x.start) : wide(-kInf);
    release(p, s, x.join, opened);
    if (p.cold > 0) warm(p, s);

    // 2. to 5. Issue, protocol, NIC, wire.
    fill_holds(p, g, s);
    if (p.burst) {
        issue_bursts(p, s, x);
        x.done = x.issued;
        land_bursts(p, s, g, x);
    } else {
        if (p.mapped) {
            issue_mapped(p, s, g, x);
        } else {
            issue(p, s, x);
        }
        x.done = x.issued;
        leave(p, s, g, x);
    }

    // 7. Finish, the sender's part.
    close(p, x);
    write(g, ready, x);
}

}  // namespace
}  // namespace pready
