// Steps 2 and 3 of the timeline for W ranks: from ready partitions to payloads that may leave.
#pragma once

#include <algorithm>
#include <cmath>

#include "backlog.hpp"
#include "cpu.hpp"
#include "port.hpp"

namespace pready {
namespace {

// When a receiver posts its receives.
inline V posted(const Plan& p, const Scratch& s, int d) { return p.gate_is_join ? s.posted[d] : s.gate[d]; }

// Receivers' go-aheads by direction; returns when the last of them has posted its receives, or the first one if each lets
// its own message go.
inline V go_aheads(const Plan& p, Scratch& s, V start) {
    V opened = wide(-kInf), first = wide(kInf);
    for (int d = 0; d < p.directions; ++d) {
        s.gate[d] = collect(s.permits + d * W, 0) - start;
        if (p.gate_is_join) s.posted[d] = collect(s.posts + d * W, 0) - start;
        const V at = posted(p, s, d);
        opened = larger(opened, at);
        first = at > -kInf ? smaller(first, at) : first;
    }
    return p.granted && !p.mapped ? smaller(first, opened) : opened;
}

// From the last mark of each job to when it can queue for its VCI.
inline void release(const Plan& p, Scratch& s, V opened) {
    for (int t = 0; t < p.jobs; ++t) {
        if (p.counts_down) s.starts[t] = s.starts[t] + p.counter[t];
        if (p.joins) s.starts[t] = s.starts[t] + p.barrier;
        if (p.opens || (p.granted && !p.mapped)) s.starts[t] = larger(s.starts[t], opened + p.opened);
        if (p.granted && p.mapped) s.starts[t] = larger(s.starts[t], posted(p, s, t % p.directions) + p.opened);
        if (p.wake != 0) {
            for (int l = 0; l < W; ++l) {
                const double age = s.starts[t][l] > 0 ? s.starts[t][l] : 0.0;
                s.starts[t][l] += p.waking > 0 ? -p.wake * std::expm1(-age / p.waking) : p.wake;
            }
        }
    }
}

// Puts that are put off move when the threads have met and have called them all, each call keeping a copy
// (timeline._met_to_end_the_epoch).
inline void put_off(const Plan& p, const Senders& g, Scratch& s, V join) {
    auto* order = reinterpret_cast<std::int32_t*>(s.id);
    for (int l = 0; l < W; ++l) {
        const auto* present = p.present + std::int64_t{g.profile[l]} * p.directions;
        const auto kept = [&](std::int64_t d) { return present[d] ? p.kept[class_of(p, g.profile[l], d)] : 0.0; };
        double all = 0;
        for (int d = 0; d < p.directions; ++d) all += kept(d);
        double met = join[l];
        if (all > 0) {
            int calls = 0;
            for (int t = 0; t < p.jobs; ++t) {
                if (!p.mapped || present[t % p.directions]) order[calls++] = t;
            }
            std::sort(order, order + calls, [&](int a, int b) { return s.starts[a][l] < s.starts[b][l]; });
            double end = -kInf;
            for (int i = 0; i < calls; ++i) {
                const double called = s.starts[order[i]][l];
                end = (called > end ? called : end) + (p.mapped ? kept(order[i] % p.directions) : all);
            }
            if (end + p.barrier > met) met = end + p.barrier;
        }
        for (int t = 0; t < p.jobs; ++t) s.starts[t][l] = s.starts[t][l] > met ? s.starts[t][l] : met;
    }
}

// What follows a pause takes longer by up to `cold`; nothing overtakes it (timeline._warmed). A transport partition
// that goes to neighbours of several sizes is as the first.
inline void warm(const Plan& p, const Senders& g, Scratch& s) {
    auto* order = reinterpret_cast<std::int32_t*>(s.id);
    for (int l = 0; l < W; ++l) {
        int jobs = 0;
        for (int t = 0; t < p.jobs; ++t) {
            if (!p.mapped || p.present[std::int64_t{g.profile[l]} * p.directions + t % p.directions]) order[jobs++] = t;
        }
        std::sort(order, order + jobs, [&](std::int32_t a, std::int32_t b) {
            return s.starts[a][l] != s.starts[b][l] ? s.starts[a][l] < s.starts[b][l] : a < b;
        });
        double busy = 0, latest = -kInf;  // the exchange before has just ended
        for (int i = 0; i < jobs; ++i) {
            const std::int32_t c = p.mapped ? class_of(p, g.profile[l], order[i] % p.directions) : 0;
            const double at = s.starts[order[i]][l];
            const double pause = at > busy ? at - busy : 0.0;
            busy = (i > 0 && busy > at ? busy : at) + p.link[c];
            double paid = -std::expm1(-pause / p.cooling);
            if (p.cold_own > 0 && at > pause) paid += p.cold_own * (-std::expm1(-at / p.cooling) - paid);
            const double later = at + p.cold[c] * paid;
            if (later > latest) latest = later;
            s.starts[order[i]][l] = latest;
        }
    }
}

inline void fill_holds(const Plan& p, const Senders& g, Scratch& s) {
    const double* holds[W];
    const double* behind[W];
    for (int l = 0; l < W; ++l) {
        holds[l] = p.hold + std::int64_t{g.profile[l]} * p.directions;
        behind[l] = p.hold_behind + std::int64_t{g.profile[l]} * p.vcis;
    }
    for (int v = 0; v < p.vcis; ++v) s.hold_behind[v] = g.alike ? wide(behind[0][v]) : collect(behind, v);
    for (int d = 0; d < p.directions; ++d) s.hold[d] = g.alike ? wide(holds[0][d]) : collect(holds, d);
}

// Each thread whose last message was in the queue by then was at it until `end` at least: until when a thread is inside MPI
// for certain (timeline._next_waiting).
inline void still_issuing(const Plan& p, Scratch& s, V queued, V end) {
    for (int n = 0; n < p.threads; ++n) {
        s.busy[n] = queued <= s.ends[n] + p.queues_within ? larger(s.busy[n], end) : s.busy[n];
    }
}

inline void begin_issuing(const Plan& p, Scratch& s) {
    if (p.seen_later) std::copy_n(s.ends, p.threads, s.busy);
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
        begin_issuing(p, s);
        for (int i = 0; i < size; ++i) {
            end = larger(s.queue[i] + turn, end + s.hold_behind[v]);
            if (p.seen_later) still_issuing(p, s, s.queue[i], end);
            each(end - turn);
        }
        issued = larger(issued, end);
    }
    return issued;
}

// When a thread is next inside MPI after `issued`: when its last partition is ready, until it has issued its last message,
// and then for as long as its messages take. `s.ends` is in order.
inline V next_waiting(const Plan& p, const Scratch& s, int c, V issued) {
    V seen = larger(s.ends[p.threads - 1], issued);
    for (int n = p.threads - 1; n >= 0; --n) seen = s.busy[n] + p.waiting[c] >= issued ? larger(s.ends[n], issued) : seen;
    return seen;
}

// When a receiver answers who asked at `asked`: inside MPI, and there it is as it posts its receives, too.
inline V answered(const Plan& p, const Scratch& s, int d, V asked) {
    const V answer = larger(asked, s.gate[d]);
    return p.gate_is_join ? (asked < s.posted[d] ? s.posted[d] : answer) : answer;
}

inline double answered(const Plan& p, const Scratch& s, int d, int lane, double asked) {
    if (p.gate_is_join && asked < s.posted[d][lane]) return s.posted[d][lane];
    return std::max(asked, s.gate[d][lane]);
}

// The same where the receiver's CPU has said it, of message `nth` to that one, having heard of it in the round before.
inline double answered_by_cpu(const Plan& p, const Scratch& s, const Senders& g, const Exchange& x, int d, int nth,
                              int lane, double asked) {
    double* record = g.record[lane];
    const int message = d * p.transports + nth;
    record[asked_of(p, x.round) + message] = x.start[lane] + asked;
    return x.round > 0 ? record[answered_of(p) + message] - x.start[lane] : answered(p, s, d, lane, asked);
}

// When the go-ahead of one lane is there for what was issued at `time`, as message `nth` to its receiver.
inline double let_go(const Plan& p, const Scratch& s, const Senders& g, const Exchange& x, int d, std::int32_t c,
                     int nth, int lane, double time) {
    const double* port = s.ports[d * W + lane];
    const bool there = port != s.nobody, asks_there = x.waits && p.backs_up && there;
    const double start = x.start[lane];
    if (asks_there) time += behind(p, port - port_of(p, x.round + 1), c, start + time);
    time += p.request[c];
    time = p.one_cpu && there ? answered_by_cpu(p, s, g, x, d, nth, lane, time) : answered(p, s, d, lane, time);
    if (x.waits) time += waits(p, port, c, start + time);
    if (asks_there) time += behind(p, g.record[lane], c, start + time);
    return time + p.go_ahead[c];
}

// When a payload of one lane may leave that was issued at `time`.
inline double allowed_lane(const Plan& p, const Scratch& s, const Senders& g, const Exchange& x, int d, std::int32_t c,
                           int nth, int lane, double time) {
    if (p.two_sided) {
        time = std::max(time, s.gate[d][lane] + p.wire[c]);
    } else if (p.rendezvous && p.asks[c]) {
        double seen = -kInf;
        if (p.seen_later) {
            seen = s.ends[p.threads - 1][lane] > time ? s.ends[p.threads - 1][lane] : time;
            for (int n = p.threads - 1; n >= 0; --n) {
                const double end = s.ends[n][lane];
                if (s.busy[n][lane] + p.waiting[c] >= time) seen = end > time ? end : time;
            }
        }
        time = let_go(p, s, g, x, d, c, nth, lane, time);
        if (p.sender_waits && x.join[lane] > time) time = x.join[lane];
        if (seen > time) time = seen;
    }
    return time;
}

// The same in all lanes.
inline V allowed(const Plan& p, const Scratch& s, const Senders& g, const Exchange& x, int d, int nth, V issued) {
    if (!p.two_sided && !p.rendezvous) return issued;
    if (p.classes > 1 && !g.alike) {
        for (int l = 0; l < W; ++l)
            issued[l] = allowed_lane(p, s, g, x, d, class_of(p, g.profile[l], d), nth, l, issued[l]);
        return issued;
    }
    const std::int32_t c = class_of(p, g.profile[0], d);
    if (p.two_sided) return larger(issued, s.gate[d] + p.wire[c]);
    if (!p.asks[c]) return issued;
    V sent;
    if (x.waits || p.one_cpu) {
        for (int l = 0; l < W; ++l) sent[l] = let_go(p, s, g, x, d, c, nth, l, issued[l]);
    } else {
        sent = answered(p, s, d, issued + p.request[c]) + p.go_ahead[c];
    }
    if (p.sender_waits) sent = larger(sent, x.join);
    if (p.seen_later) sent = larger(sent, next_waiting(p, s, c, issued));
    return sent;
}

// Fills key in the order of issue.
inline void issue(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    std::int64_t n = 0;
    int turn = 0;
    V granted = wide(-kInf);
    x.issued = take_turns(p, s, [&](V begun) {
        for (int d = 0; d < p.directions; ++d, ++n) {
            V issued = begun + s.hold[d];
            if (p.granted) {
                const V at = posted(p, s, d) + p.opened;
                issued = larger(issued, at + s.hold[d]);
                granted = at > -kInf ? larger(granted, issued) : granted;
            }
            s.key[n] = allowed(p, s, g, x, d, turn, issued);
        }
        ++turn;
    });
    x.issued = larger(x.issued, granted);
}

// The same of one VCI, whose CPU has said when it issues each message, having heard in the round before of who asks.
inline void issue_by_cpu(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    const std::int64_t n = std::int64_t{p.transports} * p.directions;
    for (std::int64_t i = 0; i < n; ++i) store(g, static_cast<int>(asked_of(p, x.round) + i), wide(kInf));
    if (x.round == 0) {
        issue(p, s, g, x);
        for (int t = 0; t < p.transports; ++t) store(g, turns_of(p) + t, x.start + s.queue[t]);
        return;
    }
    const double* records[W];
    std::copy_n(g.record, W, records);
    int at = 0;
    begin_issuing(p, s);
    for (int t = 0; t < p.transports; ++t) {
        if (p.seen_later) {
            const int last = issued_of(p) + at + p.directions - 1;
            still_issuing(p, s, collect(records, turns_of(p) + t) - x.start, collect(records, last) - x.start);
        }
        for (int d = 0; d < p.directions; ++d, ++at) {
            const V issued = collect(records, issued_of(p) + at) - x.start;
            s.key[at] = allowed(p, s, g, x, d, t, issued);
            x.issued = larger(x.issued, issued);
        }
    }
}

// Fills key with when each turn begins, where all that is issued in it may leave at once.
inline void issue_turns(const Plan& p, Scratch& s, Exchange& x) {
    std::int64_t n = 0;
    x.issued = take_turns(p, s, [&](V begun) { s.key[n++] = begun; });
}

// The same as `issue` of one message per neighbour, by a thread that waits for each (timeline._one_by_one).
inline void issue_one_by_one(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    V at = s.starts[0], issued = at, nic = x.nic, turn = x.turn, held{};
    for (int d = 0; d < p.directions; ++d) {
        const V begun = at + (s.hold[d] - held);
        held = s.hold[d];
        s.key[d] = allowed(p, s, g, x, d, 0, begun);
        V left = larger(s.key[d], nic);
        const V bucket = larger(s.key[d], turn);
        if (p.shaped) {
            for (int l = 0; l < W; ++l) {
                const double late = bucket[l] - p.credit[class_of(p, g.profile[l], d)];
                if (late > left[l]) left[l] = late;
            }
        }
        for (int l = 0; l < W; ++l) {
            if (!p.present[std::int64_t{g.profile[l]} * p.directions + d]) continue;
            const std::int32_t c = class_of(p, g.profile[l], d);
            nic[l] = left[l] + p.service[c];
            turn[l] = bucket[l] + p.drain[c];
            at[l] = begun[l];
            if (p.late_done[c]) at[l] = std::max({at[l], s.key[d][l], left[l] + p.completes[c]});
            if (p.delivered[c]) at[l] = std::max(at[l], *s.enters[d * W + l] - x.start[l] + p.returned[c]);
            issued[l] = begun[l];
        }
    }
    x.issued = issued;
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
        if (p.shared) {
            const V overlap = smaller(leaves + p.crosses[0] - (begun + 2 * p.burst_hold), wide(p.crosses[0]));
            x.shared[0] = (messages > 1) & (overlap > 0) ? leaves + overlap : wide(-kInf);
        }
        const V last = leaves + (messages - 1) * p.burst_gap;
        left = messages > 0 ? last : left;
        nic = messages > 0 ? last + p.service[0] : nic;
    });
    x.nic = nic;
    x.left = left;
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
// `sent` by message. What goes nowhere comes after all that does: a network that merges the VCIs' lists takes each
// of them for sorted, by time and then by number.
inline void issue_mapped(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    const std::int32_t* member = p.vci_members;
    V issued = wide(-kInf);
    std::int64_t n = 0;
    for (int v = 0; v < p.vcis; ++v) {
        const int size = p.vci_size[v];
        line_up(p, s, v, member, s.id + n);
        begin_issuing(p, s);
        V free = wide(-kInf);
        auto* nowhere = reinterpret_cast<I*>(s.along);
        std::int64_t going[W] = {}, staying[W] = {};
        for (int i = 0; i < size; ++i) {
            const V ready = s.key[i];
            for (int l = 0; l < W; ++l) {
                const std::int64_t number = s.id[n + i][l];
                const auto d = static_cast<std::int32_t>(number % p.directions);
                const std::int32_t c = class_of(p, g.profile[l], d);
                if (!p.present[std::int64_t{g.profile[l]} * p.directions + d]) {
                    s.sent[number][l] = kInf;
                    nowhere[staying[l]++][l] = number;
                    continue;
                }
                s.id[n + going[l]++][l] = number;
                const double behind = free[l] + p.taken[v];
                const double time = (ready[l] > behind ? ready[l] : behind) + p.hold_each[c];
                free[l] = time + p.between[g.profile[l] * p.classes + c];
                if (time > issued[l]) issued[l] = time;
                for (int t = 0; p.seen_later && t < p.threads; ++t) {
                    if (ready[l] <= s.ends[t][l] + p.queues_within && time > s.busy[t][l]) s.busy[t][l] = time;
                }
                s.sent[number][l] = allowed_lane(p, s, g, x, d, c, 0, l, time);
            }
        }
        for (int l = 0; l < W; ++l) {
            for (std::int64_t i = 0; i < staying[l]; ++i) s.id[n + going[l] + i][l] = nowhere[i][l];
        }
        n += size;
        member += size;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        for (int l = 0; l < W; ++l) s.key[i][l] = s.sent[s.id[i][l]][l];
    }
    x.issued = issued;
}

}  // namespace
}  // namespace pready
