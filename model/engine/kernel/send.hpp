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
    V* hold;    // [vcis * directions]
    V* hold_all;  // [vcis]
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
    out.hold = take(v * d);
    out.hold_all = take(v);
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
            s.hold_all[v][l] = p.hold_all[std::int64_t{g.profile[l]} * p.vcis + v];
        for (int d = 0; d < p.directions; ++d) {
            V& h = s.hold[v * p.directions + d];
            if (g.alike) {
                h = wide(p.hold[(std::int64_t{g.profile[0]} * p.vcis + v) * p.directions + d]);
                continue;
            }
            for (int l = 0; l < W; ++l)
                h[l] = p.hold[(std::int64_t{g.profile[l]} * p.vcis + v) * p.directions + d];
        }
    }
}

// Whole picoseconds: neighbours' go-aheads that differ by rounding alone must not decide an order.
inline V ticks(V time) { return (time * 1e12 + 0x1.8p52) - 0x1.8p52; }

inline void store(const Senders& g, int at, V x) {
    for (int l = 0; l < g.count; ++l) g.record[l][at] = x[l];
}

// 2. and 3. where every message queues by itself: fills key and id in the order of issue by VCI, and
// `sent` by message. Returns when the last one is issued.
inline V issue_mapped(const Plan& p, Scratch& s, const Senders& g, V join) {
    const std::int32_t* member = p.vci_members;
    V issued = wide(-kInf);
    std::int64_t n = 0;
    for (int v = 0; v < p.vcis; ++v) {
        const int size = p.vci_size[v];
        for (int i = 0; i < size; ++i) {
            s.queue[i] = s.starts[member[i]];
            s.id[n + i] = I{} + member[i];
        }
        sort_numbered(p.queue_network[v], s.queue, s.id + n);
        // The network leaves values where its order says; bring them into that order.
        for (int i = 0; i < size; ++i) {
            s.key[i] = s.queue[p.queue_network[v].order[i]];
            s.along[i] = reinterpret_cast<V>(s.id[n + p.queue_network[v].order[i]]);
        }
        V free = wide(-kInf);
        for (int i = 0; i < size; ++i) {
            s.id[n + i] = reinterpret_cast<I>(s.along[i]);
            const V ready = s.key[i];
            for (int l = 0; l < W; ++l) {
                const std::int64_t number = s.id[n + i][l];
                const auto d = static_cast<std::int32_t>(number % p.directions);
                const std::int32_t c = p.direction_class[d];
                if (!p.present[std::int64_t{g.profile[l]} * p.directions + d]) {
                    s.sent[number][l] = free[l];  // keeps the order; never leaves
                    continue;
                }
                double time = (ready[l] > free[l] ? ready[l] : free[l]) + p.hold_each[v * p.classes + c];
                free[l] = time + p.between[g.profile[l] * p.classes + c];
                if (time > issued[l]) issued[l] = time;
                const double gate = p.needs_out ? s.gate[d][l] : -kInf;
                if (p.two_sided) {
                    const double flag = gate + p.wire[c];
                    if (flag > time) time = flag;
                } else if (p.rendezvous && p.half[c] > 0) {
                    time += p.half[c];
                    if (gate > time) time = gate;
                    time += p.half[c];
                    if (p.sender_waits && join[l] > time) time = join[l];
                }
                s.sent[number][l] = time;
            }
        }
        n += size;
        member += size;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        for (int l = 0; l < W; ++l) s.key[i][l] = s.sent[s.id[i][l]][l];
    }
    return issued;
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

inline void send(const Plan& p, const State& state, Scratch& s, const Senders& g,
                 std::int64_t iteration) {
    const int D = p.directions;
    V start, nic;
    for (int l = 0; l < W; ++l) {
        start[l] = state.start[g.rank[l]];
        nic[l] = state.nic[g.rank[l]];
    }
    nic -= start;

    // 1. Ready.
    const Ready ready = draw(p, g.rank, iteration, {s.starts, nullptr});
    const V join = ready.marked + p.barrier;
    V opened = wide(-kInf);
    if (p.needs_out) {
        for (int d = 0; d < D; ++d) {
            V gate = wide(-kInf);
            for (int l = 0; l < W; ++l) {
                if (g.out[l][d] < 0) continue;
                const double* of = p.gate_is_join ? state.gate : state.start;
                gate[l] = of[g.out[l][d]] - start[l];
            }
            s.gate[d] = gate;
            opened = larger(opened, gate);
        }
    }
    for (int t = 0; t < p.jobs; ++t) {
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
    if (p.cold > 0) warm(p, s);

    // 2. Issue: a VCI's lock is a FIFO; whoever holds it issues a transport partition to all peers, and
    // then receives as many messages, unless nobody waits.
    fill_holds(p, g, s);
    V early{};  // messages that arrive before the rank's own join
    V issued = wide(-kInf), left = wide(-kInf), arrived = wide(-kInf), done = wide(-kInf);
    V messages;
    for (int l = 0; l < W; ++l) messages[l] = p.degree[g.profile[l]];
    const std::int32_t* member = p.vci_members;
    std::int64_t n = 0;
    if (p.mapped) issued = issue_mapped(p, s, g, join);
    for (int v = 0; v < p.vcis && !p.mapped; ++v) {
        const int size = p.vci_size[v];
        for (int i = 0; i < size; ++i) s.queue[i] = s.starts[*member++];
        insertion_sort(s.queue, size);
        V begun = wide(-kInf), free = begun;
        for (int i = 0; i < size; ++i) {
            begun = larger(s.queue[i], free);
            free = begun + s.hold_all[v];
            if (p.burst) {
                // 4. NIC. All messages of a burst are `burst_gap` apart (engine docstring, point 5).
                const V leaves = larger(begun + p.burst_hold, nic);
                s.key[i] = leaves;
                const V last = leaves + (messages - 1) * p.burst_gap;
                left = messages > 0 ? last : left;
                nic = messages > 0 ? last + p.service[0] : nic;
                continue;
            }
            for (int d = 0; d < D; ++d, ++n) {
                V sent = begun + s.hold[v * D + d];
                // 3. Protocol.
                if (p.two_sided) {
                    sent = larger(sent, s.gate[d] + p.wire[p.direction_class[d]]);
                } else if (p.rendezvous) {
                    const double half = p.half[p.direction_class[d]];
                    if (half > 0) sent = larger(sent + half, s.gate[d]) + half;
                    if (half > 0 && p.sender_waits) sent = larger(sent, join);
                }
                s.key[n] = sent;
            }
        }
        issued = larger(issued, begun + s.hold[v * D + D - 1]);
    }
    done = issued;
    const double acknowledged = p.sync == Sync::passive ? p.ack : 0.0;
    if (p.burst) {
        for (int t = 0; t < p.transports; ++t) {
            const V first = s.key[t] + p.travel[0];
            store(g, kHead + t, start + first);
            for (int d = 0; d < D; ++d) {
                const V nth = wide(static_cast<double>(d));
                const I in_time = (first + nth * p.burst_gap <= join) & (nth < messages);
                early = in_time ? early + 1.0 : early;
            }
        }
        arrived = left + (p.travel[0] + acknowledged);
    } else {
        // 4. NIC: in the order in which payloads may leave; equals by VCI, queue and direction.
        if (p.mapped) n = p.jobs;
        if (p.send_sorts) {
            for (std::int64_t i = 0; i < n; ++i) {
                if (!p.mapped) s.id[i] = I{} + i;
                s.along[i] = p.ticks ? ticks(s.key[i]) : s.key[i];
            }
            sort_numbered(p.send_network, s.along, s.id);
        }
        const bool numbered = p.send_sorts || p.mapped;
        const bool everywhere = p.classes == 1 && g.alike && p.degree[g.profile[0]] == D;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t at = p.send_sorts ? p.send_network.order[i] : i;
            V sent = s.key[at];
            if (p.send_sorts) {
                for (int l = 0; l < W; ++l) sent[l] = (p.mapped ? s.sent : s.key)[s.id[at][l]][l];
            }
            if (everywhere && numbered) {
                // One size and a neighbour in every direction: only the order differs between lanes.
                left = larger(sent, nic);
                nic = left + p.service[0];
                const V lands = left + p.travel[0];
                arrived = lands + acknowledged;
                early = lands <= join ? early + 1.0 : early;
                if (p.late_done[0]) done = larger(done, left + p.stream[0]);
                const V absolute = start + lands;
                for (int l = 0; l < g.count; ++l)
                    g.record[l][p.message_slot[s.id[at][l]]] = absolute[l];
                continue;
            }
            if (p.classes == 1 && g.alike && !numbered) {
                // 5. Wire, the common case: the same direction in every lane.
                const std::int32_t d = p.message_direction[i];
                if (!p.present[std::int64_t{g.profile[0]} * D + d]) continue;
                left = larger(sent, nic);
                nic = left + p.service[0];
                arrived = left + p.travel[0] + acknowledged;
                early = left + p.travel[0] <= join ? early + 1.0 : early;
                if (p.late_done[0]) done = larger(done, left + p.stream[0]);
                store(g, p.message_slot[i], start + (left + p.travel[0]));
                continue;
            }
            for (int l = 0; l < g.count; ++l) {
                const std::int64_t number = numbered ? s.id[at][l] : i;
                const std::int32_t d = p.message_direction[number];
                if (!p.present[std::int64_t{g.profile[l]} * D + d]) continue;
                const std::int32_t c = p.direction_class[d];
                const double leaves = sent[l] > nic[l] ? sent[l] : nic[l];
                nic[l] = leaves + p.service[c];
                const double arrives = leaves + p.travel[c];
                const double lands = p.sync == Sync::passive ? arrives + p.ack : arrives;
                if (lands > arrived[l]) arrived[l] = lands;
                if (arrives <= join[l]) early[l] += 1;
                if (p.late_done[c] && leaves + p.stream[c] > done[l]) done[l] = leaves + p.stream[c];
                g.record[l][p.message_slot[number]] = start[l] + (leaves + p.travel[c]);
            }
        }
    }

    // 7. Finish, the sender's part.
    V notify = wide(-kInf);
    if (p.sync == Sync::active) {
        const V complete = p.window_per_thread ? issued : larger(issued + p.barrier, join);
        notify = complete + p.control;
        done = complete + p.closing;
    } else if (p.sync == Sync::passive) {
        // `arrived` includes the acknowledgement's way back.
        const V flushed = larger(arrived, join);
        notify = flushed + p.closing + p.control;
        done = flushed + p.closing;
    }
    store(g, kStart, start);
    store(g, kFirst, start + ready.first);
    store(g, kReady, start + ready.last);
    store(g, kJoin, start + join);
    store(g, kIssued, start + issued);
    store(g, kDone, start + done);
    store(g, kNic, start + nic);
    store(g, kNotify, start + notify);
    store(g, kEarly, early);
}

}  // namespace
}  // namespace pready
