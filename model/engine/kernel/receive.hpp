// Steps 6 and 7 for W ranks: from the arrivals in their neighbours' records to their ends.
#pragma once

#include "send.hpp"

namespace pready {
namespace {

// When W ranks have received everything, and how far their neighbours were when: the latest of each.
struct Received {
    V end;      // everything is complete
    V arrival;  // the last message is there
    V left;     // has left its sender's NIC
    V issued;   // all neighbours have issued what they send
    V ready;    // and had their last partition ready
};

// One message of every source, `back` places before the last of list `q`; -infinity where there is none.
inline V gather(const Plan& p, const Scratch& s, const Inbox& in, int q, int back) {
    const int j = in.source[q], at = in.from[q] + in.begin[q + 1] - in.begin[q] - 1 - back;
    const V v = collect(s.arrivals + j * W, at);
    return p.burst ? v + s.lag[j] : v;
}

// When a server with one service time has served everything.
//
// With n messages and service c, its end is the largest of: arrival + c times the messages from it on;
// `floor` + n c. A message that arrives n c before some lower bound of that cannot decide it, nor can
// one before it, so only the last few of each list are looked at: 1, 3, 7, ... until those left out
// are early enough in every lane.
inline V served(const Plan& p, Scratch& s, const Inbox& in, V latest, V cost, V bound) {
    const V all = cost * static_cast<double>(in.size);
    const V least = larger(bound, latest + cost);
    int have = 1;
    for (int level = 0;; ++level) {
        const bool last = level + 1 == in.levels;
        const int want = last ? in.size : 2 * have;
        V left_out = wide(-kInf);
        for (int q = 0; q < in.lists; ++q) {
            const int size = in.begin[q + 1] - in.begin[q];
            for (int back = have; back < want && back < size; ++back) {
                const V v = gather(p, s, in, q, back);
                s.key[in.begin[q + 1] - 1 - back] = v;
                if (back + 1 == want) left_out = larger(left_out, v);
            }
        }
        have = want;
        if (!last && any(left_out + all > least)) continue;
        const Network& net = in.network[level];
        sort_values(net, s.key);
        V end = least;
        for (int i = 0; i < net.size; ++i)
            end = larger(end, s.key[net.order[i]] + cost * static_cast<double>(net.size - i));
        return end;
    }
}

// The same for service times that differ by direction; returns -infinity if there is no message.
inline V served_by_class(const Plan& p, Scratch& s, const Inbox& in, V cost, V& waiting) {
    for (int q = 0; q < in.lists; ++q) {
        const int j = in.source[q], size = in.begin[q + 1] - in.begin[q];
        V each = cost + (p.receive[p.direction_class[j]] - p.receive[0]);
        for (int l = 0; l < W; ++l) {
            if (s.source[j * W + l] == s.nobody) each[l] = 0.0;
        }
        for (int back = 0; back < size; ++back) {
            s.key[in.begin[q + 1] - 1 - back] = gather(p, s, in, q, back);
            s.along[in.begin[q + 1] - 1 - back] = each;
        }
        waiting = waiting + each * static_cast<double>(size);
    }
    const Network& net = in.network[in.levels - 1];
    sort_with(net, s.key, s.along);
    V end = wide(-kInf), rest{};
    for (int i = net.size - 1; i >= 0; --i) {
        rest += s.along[net.order[i]];
        end = larger(end, s.key[net.order[i]] + rest);
    }
    return end;
}

// `s.source`, `s.arrivals` and `s.lag` say where the messages are; `floor` is when the ranks can begin.
inline Received receive(const Plan& p, Scratch& s, V floor) {
    Received r{wide(-kInf), wide(-kInf), wide(-kInf), wide(-kInf), wide(-kInf)};
    V notify = wide(-kInf), peers{};
    for (int j = 0; j < p.sources; ++j) {
        const double* const* from = s.source + j * W;
        const V ready = collect(from, kReady);
        peers = ready > -kInf ? peers + 1.0 : peers;
        r.ready = larger(r.ready, ready);
        r.issued = larger(r.issued, collect(from, kIssued));
        if (p.sync != Sync::none) notify = larger(notify, collect(from, kNotify));
    }
    V cost = wide(p.receive[0]);
    if (p.per_entry > 0) {
        const V queued = peers * static_cast<double>(p.transports) / static_cast<double>(p.vcis);
        cost = cost + p.per_entry * (queued - 1) / 2;
    }
    const int servers = p.receivers == Receivers::threads ? p.vcis : 1;
    for (int server = 0; server < servers; ++server) {
        const Inbox& in = p.inbox[server];
        V latest = wide(-kInf), messages{};
        for (int q = 0; q < in.lists; ++q) {
            const V last = gather(p, s, in, q, 0);
            const int j = in.source[q], c = p.pattern == Pattern::list ? 0 : p.direction_class[j];
            s.key[in.begin[q + 1] - 1] = last;
            latest = larger(latest, last);
            r.left = larger(r.left, last - p.travel[c]);
            const V there = last > -kInf ? wide(1.0) : V{};
            messages = messages + there * static_cast<double>(in.begin[q + 1] - in.begin[q]);
        }
        r.arrival = larger(r.arrival, latest);
        if (p.receivers == Receivers::none) continue;
        if (p.classes > 1) {
            V waiting{};
            const V end = served_by_class(p, s, in, cost, waiting);
            r.end = larger(r.end, larger(end, floor + waiting));
        } else if (p.serves) {
            r.end = larger(r.end, served(p, s, in, latest, cost, floor + messages * cost));
        } else {
            r.end = larger(r.end, larger(latest, floor));
        }
    }
    if (p.receivers == Receivers::none) r.end = r.arrival;
    if (p.receivers == Receivers::master) r.end = r.end + p.poll;
    if (p.sync == Sync::active) r.end = larger(r.end, notify) + p.closing;
    if (p.sync == Sync::passive) r.end = larger(r.end, notify);
    r.end = peers > 0 ? r.end : floor;
    return r;
}

// Where the time between a rank's own last ready partition (or whatever it had to do before it could
// wait) and the end of its receives went. Five parts that add up to end - from.
struct Causes {
    V late, issue, nic, wire, receive;
};

inline Causes attribute(const Received& r, V from, V end) {
    const V arrival = clip(r.arrival, from, end);
    const V left = clip(r.left, from, arrival);
    const V issued = clip(r.issued, from, left);
    const V ready = clip(r.ready, from, issued);
    return {ready - from, issued - ready, left - issued, arrival - left, end - arrival};
}

}  // namespace
}  // namespace pready
