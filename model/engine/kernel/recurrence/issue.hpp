// Steps 2 and 3 of the timeline for W ranks: from ready partitions to payloads that may leave.
#pragma once

#include "recurrence/exchange.hpp"

namespace pready {
namespace {

// When a receiver posts its receives.
inline V posted(const Plan& p, const Scratch& s, int d) { return p.gated ? s.posted[d] : s.gate[d * p.groups]; }

// When it answers messages of a VCI.
inline V gate(const Plan& p, const Scratch& s, int d, int vci) {
    return s.gate[d * p.groups + (p.gated ? group_of(p, vci) : 0)];
}

// Fills in when receivers answer; returns when the last of them has posted its receives, or, where each of them lets
// its own message go, the first.
inline V receivers_ready(const Plan& p, Scratch& s, V start) {
    V last = wide(-kInf), first = wide(kInf);
    for (int d = 0; d < p.directions; ++d) {
        for (int i = 0; i < (p.gated ? p.groups : 1); ++i)
            s.gate[d * p.groups + i] = collect(s.permits + d * W, i) - start;
        if (p.gated) s.posted[d] = collect(s.posts + d * W, 0) - start;
        const V at = posted(p, s, d);
        last = larger(last, at);
        first = at > -kInf ? smaller(first, at) : first;
    }
    return p.granted ? smaller(first, last) : last;
}

// From the last mark of each job to when it queues for its VCI.
inline void release(const Plan& p, Scratch& s, V opened, V join, bool relayed) {
    for (int t = 0; t < p.jobs; ++t) {
        V start = s.starts[t];
        if (p.joins && !relayed) start = larger(start + p.barrier, join);
        if (p.opens || p.granted) start = larger(start, opened + p.opened);
        if (p.deferred) start = larger(start, join);
        s.starts[t] = start;
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

// A VCI's lock is a FIFO; its holder issues a transport partition to all peers, and then receives as many messages,
// unless nobody waits. Who waits for the lock pays for that. Calls `each` with the VCI and when a partition takes its
// lock; returns when the last message is issued.
template <class Each>
inline V take_locks(const Plan& p, Scratch& s, Each each) {
    const std::int32_t* member = p.vci_members;
    const V held = s.hold[p.directions - 1];
    V issued = wide(-kInf);
    for (int v = 0; v < p.vcis; ++v) {
        const int size = p.vci_size[v];
        for (int i = 0; i < size; ++i) s.queue[i] = s.starts[*member++];
        insertion_sort(s.queue, size);
        V end = wide(-kInf);
        for (int i = 0; i < size; ++i) {
            end = larger(s.queue[i] + held, end + s.hold_behind[v]);
            each(v, end - held);
        }
        issued = larger(issued, end);
    }
    return issued;
}

// When a payload of class c may leave that was issued at `issued`, in all lanes or in one: its receiver answers as it
// posts its receives, and from then on at once or in MPI, from `gate` on.
template <class T>
inline T allowed(const Plan& p, std::int32_t c, T gate, T posted, T issued) {
    if (p.two_sided) return larger(issued, posted + p.wire[c]);
    if (!p.asks[c]) return issued;
    const T asked = issued + p.half_shake[c];
    T answered = larger(asked, posted);
    if (p.answered_in_mpi[c]) answered = asked < posted ? posted : larger(asked, gate);
    return answered + p.half_shake[c];
}

inline double allowed_lane(const Plan& p, const Scratch& s, int d, int vci, std::int32_t c, int lane, double issued) {
    if (!p.two_sided && !p.rendezvous) return issued;
    return allowed<double>(p, c, gate(p, s, d, vci)[lane], posted(p, s, d)[lane], issued);
}

inline V allowed_to(const Plan& p, const Scratch& s, const Senders& g, int d, int vci, V issued) {
    if (!p.two_sided && !p.rendezvous) return issued;
    if (p.classes == 1 || g.alike) {
        const std::int32_t c = class_of(p, g.profile[0], d);
        return allowed<V>(p, c, gate(p, s, d, vci), posted(p, s, d), issued);
    }
    for (int l = 0; l < W; ++l) issued[l] = allowed_lane(p, s, d, vci, class_of(p, g.profile[l], d), l, issued[l]);
    return issued;
}

// Fills key in the order of issue.
inline void issue(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    std::int64_t n = 0;
    V granted = wide(-kInf);
    x.issued = take_locks(p, s, [&](int v, V begun) {
        for (int d = 0; d < p.directions; ++d, ++n) {
            V issued = begun + s.hold[d];
            if (p.granted) {
                const V at = posted(p, s, d) + p.opened;
                issued = larger(issued, at + s.hold[d]);
                granted = at > -kInf ? larger(granted, issued) : granted;
            }
            s.key[n] = allowed_to(p, s, g, d, v, issued);
        }
    });
    x.issued = larger(x.issued, granted);
}

// The same of one message per neighbour, by a thread that waits for each (recurrence.Ranks._blocked).
inline void issue_one_by_one(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    V at = s.starts[0], issued = at, nic = x.nic, held{};
    for (int d = 0; d < p.directions; ++d) {
        const V begun = at + (s.hold[d] - held);
        held = s.hold[d];
        s.key[d] = allowed_to(p, s, g, d, 0, begun);
        const V left = larger(s.key[d], nic);
        for (int l = 0; l < W; ++l) {
            if (!present(p, g.profile[l], d)) continue;
            const std::int32_t c = class_of(p, g.profile[l], d);
            nic[l] = left[l] + p.service[c];
            at[l] = larger(larger(begun[l], s.key[d][l]), left[l] + p.completes[c]);
            issued[l] = begun[l];
        }
    }
    x.issued = issued;
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
        V free = wide(-kInf);
        auto* nowhere = reinterpret_cast<I*>(s.along);
        std::int64_t going[W] = {}, staying[W] = {};
        for (int i = 0; i < size; ++i) {
            const V ready = s.key[i];
            for (int l = 0; l < W; ++l) {
                const std::int64_t number = s.id[n + i][l];
                const auto d = static_cast<std::int32_t>(number % p.directions);
                const std::int32_t c = class_of(p, g.profile[l], d);
                if (!present(p, g.profile[l], d)) {
                    s.sent[number][l] = kInf;
                    nowhere[staying[l]++][l] = number;
                    continue;
                }
                s.id[n + going[l]++][l] = number;
                const double time = larger(ready[l], free[l] + p.taken[v]) + p.hold_each[c];
                free[l] = time + p.between[g.profile[l] * p.classes + c];
                issued[l] = larger(issued[l], time);
                s.sent[number][l] = allowed_lane(p, s, d, v, c, l, time);
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
