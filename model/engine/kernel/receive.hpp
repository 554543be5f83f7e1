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

// When a server with one service time has served everything that comes through the port.
//
// The port lets a message through every `port` seconds; the server takes `cost` for each. With n messages, the last
// is served at the largest of: arrival + cost + max(port, cost) times the messages after it; `floor` + n cost. A
// message that arrives too early for some lower bound of that cannot decide it, nor can one before it, so only
// the last few of each list are looked at: 1, 3, 7, ... until those left out are early enough in every lane.
inline V served(const Plan& p, Scratch& s, const Inbox& in, V latest, V port, V cost, V bound) {
    const V each = larger(port, cost);
    const V all = each * static_cast<double>(in.size);
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
            end = larger(end, s.key[net.order[i]] + each * static_cast<double>(net.size - 1 - i) + cost);
        return end;
    }
}

// The same where each VCI is a server and `cost` may exceed `port`: they go through the port in the order of `order`,
// and each is then received by its own VCI.
inline V served_by_threads(const Plan& p, Scratch& s, V latest, V port, V cost, V bound, V floor) {
    const Inbox& in = p.port;
    const V all = port * static_cast<double>(in.size - in.most) + larger(port, cost) * static_cast<double>(in.most);
    const V least = larger(bound, latest + cost);
    const V origin = floor + p.travel[0];
    const Numbered numbered{in.numbers};
    int have = 0;
    for (int level = 0;; ++level) {
        const bool last = level + 1 == in.levels;
        const int want = last ? in.size : have == 0 ? 2 : 2 * have;
        V left_out = wide(-kInf);
        for (int q = 0; q < in.lists; ++q) {
            const int size = in.begin[q + 1] - in.begin[q];
            for (int back = have; back < want && back < size; ++back) {
                const int at = in.begin[q + 1] - 1 - back;
                s.key[at] = gather(p, s, in, q, back);
                s.along[at] = numbered.of(larger(ticks(s.key[at] - origin), wide(-1e300)), at);
                if (back > 0 && back + 1 == want) left_out = larger(left_out, s.key[at]);
            }
        }
        have = want;
        if (!last && any(left_out + all > least)) continue;
        const Network& net = in.network[level];
        sort_values(net, s.along);
        for (int v = 0; v < p.vcis; ++v) s.served[v] = wide(-kInf);
        const auto* keys = reinterpret_cast<const double*>(s.key);
        auto* ends = reinterpret_cast<double*>(s.served);
        V through = wide(-kInf);
        for (int i = 0; i < net.size; ++i) {
            const I number = numbered.number(s.along[net.order[i]]);
            std::int64_t place[W];
            std::memcpy(place, &number, sizeof place);
            const double* from[W];
            for (int l = 0; l < W; ++l) from[l] = keys + place[l] * W + l;
            through = larger(collect(from, 0), through + port);
            for (int l = 0; l < W; ++l) {
                double& end = ends[in.vci[place[l]] * W + l];
                end = (through[l] > end ? through[l] : end) + cost[l];
            }
        }
        V end = least;
        for (int v = 0; v < p.vcis; ++v) end = larger(end, s.served[v]);
        return end;
    }
}

// When each message is through the port, where they differ in size: in the order in which they left.
inline void go_through(const Plan& p, Scratch& s, V floor) {
    const Inbox& in = p.port;
    const Numbered numbered{in.numbers};
    auto* source = reinterpret_cast<std::int64_t*>(s.id);
    for (int q = 0; q < in.lists; ++q) {
        const double travel = p.travel[p.direction_class[in.source[q]]];
        for (int back = 0; back < in.begin[q + 1] - in.begin[q]; ++back) {
            const int at = in.begin[q + 1] - 1 - back;
            s.key[at] = gather(p, s, in, q, back) - travel;
            s.along[at] = numbered.of(larger(ticks(s.key[at] - floor), wide(-1e300)), at);
            source[at] = q;
        }
    }
    const Network& net = in.network[in.levels - 1];
    sort_values(net, s.along);
    double free[W];
    for (double& f : free) f = -kInf;
    for (int i = 0; i < net.size; ++i) {
        const I number = numbered.number(s.along[net.order[i]]);
        for (int l = 0; l < W; ++l) {
            const auto at = static_cast<std::int32_t>(number[l]);
            const auto q = static_cast<int>(source[at]);
            const int j = in.source[q], c = p.direction_class[j];
            const double left = s.key[at][l], begun = left > free[l] ? left : free[l];
            if (left > -kInf) free[l] = begun + p.service[c];
            s.through[j * p.transports + in.from[q] + at - in.begin[q]][l] = begun + p.travel[c];
        }
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
            const int from = j * p.transports + in.from[q] + size - 1 - back;
            s.key[in.begin[q + 1] - 1 - back] = s.through[from];
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

// When everything is received of messages of several sizes.
inline V receive_kinds(const Plan& p, Scratch& s, V floor, V cost) {
    go_through(p, s, floor);
    V end = wide(-kInf);
    if (p.receivers == Receivers::none) {
        for (int i = 0; i < p.sources * p.transports; ++i) end = larger(end, s.through[i]);
        return end;
    }
    for (int server = 0; server < (p.receivers == Receivers::threads ? p.vcis : 1); ++server) {
        V waiting{};
        const V last = served_by_class(p, s, p.inbox[server], cost, waiting);
        end = larger(end, larger(last, floor + waiting));
    }
    return end;
}

// The same where they have one size, from the last of each list, which is in `s.key`.
inline V receive_alike(const Plan& p, Scratch& s, V floor, V cost, V latest) {
    const V port = wide(p.sources > 1 ? p.service[0] : 0.0);  // what one rank sends comes in step with its own port
    if (p.receivers == Receivers::none) return served(p, s, p.port, latest, port, V{}, wide(-kInf));
    const int servers = p.receivers == Receivers::threads ? p.vcis : 1;
    V most{};
    for (int v = 0; v < servers; ++v) most = larger(most, s.waiting[v]);
    const V bound = floor + most * cost;
    const double queued = static_cast<double>(p.sources) * p.transports / p.vcis;
    const bool slower = p.receive[0] + p.per_entry * (queued - 1) / 2 > port[0];
    if (servers > 1 && slower) return served_by_threads(p, s, latest, port, cost, bound, floor);
    return served(p, s, p.port, latest, port, cost, bound);
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
    const Inbox& in = p.port;
    for (int v = 0; v < p.vcis; ++v) s.waiting[v] = V{};
    for (int q = 0; q < in.lists; ++q) {
        const V last = gather(p, s, in, q, 0);
        const int j = in.source[q], c = p.pattern == Pattern::list ? 0 : p.direction_class[j];
        s.key[in.begin[q + 1] - 1] = last;
        r.arrival = larger(r.arrival, last);
        r.left = larger(r.left, last - p.travel[c]);
        V& waiting = s.waiting[p.receivers == Receivers::threads ? in.vci[in.begin[q]] : 0];
        const V there = last > -kInf ? wide(1.0) : V{};
        waiting = waiting + there * static_cast<double>(in.begin[q + 1] - in.begin[q]);
    }
    r.end = p.classes > 1 ? receive_kinds(p, s, floor, cost) : receive_alike(p, s, floor, cost, r.arrival);
    if (p.receivers == Receivers::master) r.end = r.end + p.poll;
    if (p.sync == Sync::active) r.end = larger(r.end, notify) + p.closing;
    // What was put comes through the port before its acknowledgement goes.
    if (p.sync == Sync::passive) r.end = larger(r.end + p.ack + p.closing + p.control, notify);
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
