// Steps 6 and 7 for W ranks: from the arrivals in their neighbours' records to their ends.
#pragma once

#include <algorithm>

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

// One message of source `j`, `back` places before its last; -infinity where there is none.
inline V gather(const Plan& p, const Scratch& s, int j, int back) {
    return collect(s.arrivals + j * W, p.inbox.each - 1 - back);
}

// Calls `each` with every message that a network sorts, and its source.
template <class Each>
inline void of_sources(const Plan& p, const Network& net, const Each& each) {
    const int kept = net.size / p.sources;
    for (int j = 0; j < p.sources; ++j) {
        for (int at = (j + 1) * p.inbox.each - kept; at < (j + 1) * p.inbox.each; ++at) each(at, j);
    }
}

// Does nothing wait at its receiver's port? What one rank alone sends has waited at its own.
inline bool through_already(const Plan& p) { return p.sources == 1 || p.alone > 0; }

// From whom messages of several classes come, that take `cost` to receive if of the first.
inline void find_origins(const Plan& p, Scratch& s, V cost) {
    for (int j = 0; j < p.sources; ++j) {
        Origin& o = s.origin[j];
        o.receive = cost;
        const std::int32_t* const kinds = s.kind + j * W;
        if (p.classes > kFew) {
            for (int l = 0; l < W; ++l) {
                const std::int32_t c = kinds[l];
                const bool own = p.inside[c] || through_already(p);
                o.own[l] = own ? -1 : 0;
                o.service[l] = own ? 0.0 : p.service[c];
                o.travel[l] = p.travel[c];
                o.receive[l] += p.receive[c] - p.receive[0];
            }
            continue;
        }
        I& kind = o.kind;
        for (int l = 0; l < W; ++l) kind[l] = kinds[l];
        for (std::int32_t c = 0; c < p.classes; ++c) {
            const bool own = p.inside[c] || through_already(p);
            const I here = kind == c;
            o.own = here ? I{} - own : o.own;
            o.service = here ? wide(own ? 0.0 : p.service[c]) : o.service;
            o.travel = here ? wide(p.travel[c]) : o.travel;
            o.receive = here ? cost + (p.receive[c] - p.receive[0]) : o.receive;
        }
    }
}

// How long a rank's port takes for a message of one size. Several sizes come here only where the port does not matter.
inline double port_service(const Plan& p) {
    return !through_already(p) && p.classes == 1 && !p.inside[0] ? p.service[0] : 0.0;
}

// Looks at the last 1, 3, 7, ... messages of each source until those left out are `all` before `least` in every lane:
// they come too early to decide anything. Fills `s.key`, of which the last are there; returns the network.
inline const Network& latest_of(const Plan& p, Scratch& s, V all, V least) {
    const Inbox& in = p.inbox;
    int have = 1;
    for (int level = 0;; ++level) {
        const bool last = level + 1 == in.levels;
        const int want = last ? in.each : 2 * have;
        V left_out = wide(-kInf);
        for (int j = 0; j < p.sources; ++j) {
            for (int back = have; back < want && back < in.each; ++back) {
                const V v = gather(p, s, j, back);
                s.key[(j + 1) * in.each - 1 - back] = v;
                if (back + 1 == want) left_out = larger(left_out, v);
            }
        }
        have = want;
        if (last || !any(left_out + all > least)) return in.network[level];
    }
}

// When a server with one service time has served everything that comes through the port.
//
// The port lets a message through every `service` seconds; the server takes `cost` for each. With n messages, the
// last is served at the largest of: arrival + cost + max(service, cost) times the messages after it; `bound`.
inline V served(const Plan& p, Scratch& s, double service, V latest, V cost, V bound) {
    const V each = larger(wide(service), cost);
    const V least = larger(bound, latest + cost);
    const Network& net = latest_of(p, s, each * static_cast<double>(p.inbox.size), least);
    sort_values(net, s.key);
    V end = least;
    for (int i = 0; i < net.size; ++i)
        end = larger(end, s.key[net.order[i]] + each * static_cast<double>(net.size - 1 - i) + cost);
    return end;
}

// When each VCI has received what comes through the port, where receiving takes longer than the port does. A thread for
// each: its messages begin `cost` after one another, so message i is followed by cost times those of its VCI behind it.
inline V served_by_threads(const Plan& p, Scratch& s, double service, V latest, V cost, V bound, V floor) {
    const Inbox& in = p.inbox;
    const V others = wide(service), each = larger(others, cost);
    const V least = larger(bound, latest + cost);
    const V all = others * static_cast<double>(in.size - in.most) + each * static_cast<double>(in.most);
    const Network& net = latest_of(p, s, all, least);
    // In whole picoseconds, then by number.
    const Numbered numbered{in.numbers};
    const V origin = floor + p.travel[0];
    for (int i = 0; i < net.size; ++i) {
        const std::int32_t at = net.order[i];
        s.along[at] = numbered.of(larger(ticks(s.key[at] - origin), wide(-1e300)), at);
    }
    sort_values(net, s.along);
    const auto* keys = reinterpret_cast<const double*>(s.key);
    V free = wide(-kInf);
    for (int i = 0; i < net.size; ++i) {
        const V arrival = Places(numbered.number(s.along[net.order[i]])).pick(keys);
        s.id[i] = reinterpret_cast<I>(arrival) & p.vci_bits;
        s.through[i] = larger(arrival, free);
        free = s.through[i] + service;
    }
    V end = least;
    if (p.vcis <= 8 && in.most < 256) {  // as many counters of a byte
        U behind{};
        for (int i = net.size - 1; i >= 0; --i) {
            const U at = reinterpret_cast<U>(s.id[i]) << 3;
            behind += (U{} + 1) << at;
            end = larger(end, s.through[i] + cost * real((behind >> at) & 255));
        }
        return end;
    }
    for (int v = 0; v < p.vcis; ++v) s.served[v] = wide(-kInf);
    auto* ends = reinterpret_cast<double*>(s.served);
    for (int i = 0; i < net.size; ++i) {
        for (int l = 0; l < W; ++l) {
            double& served = ends[s.id[i][l] * W + l];
            served = (s.through[i][l] > served ? s.through[i][l] : served) + cost[l];
        }
    }
    for (int v = 0; v < p.vcis; ++v) end = larger(end, s.served[v]);
    return end;
}

// When each VCI has received everything that comes, had all been there at `floor`; in `served`. Returns how long it
// takes at most until the port and a VCI are done with what one message can delay.
inline V bound_kinds(const Plan& p, Scratch& s, V floor) {
    const int servers = p.tags ? p.vcis : 1;
    V all{};
    for (int v = 0; v < servers; ++v) {
        s.served[v] = floor;
        s.later[v] = V{};
    }
    for (int j = 0; j < p.sources; ++j) {
        const I there = s.key[(j + 1) * p.inbox.each - 1] > -kInf;
        const V takes = there && p.receivers != Receivers::none ? s.origin[j].receive : V{};
        const V through = there ? s.origin[j].service : V{};
        all = all + through * static_cast<double>(p.inbox.each);
        for (int v = 0; v < servers; ++v) {
            const double count = p.tags ? p.vci_messages[v * p.directions + (p.mapped ? j : 0)] : p.inbox.each;
            s.served[v] = s.served[v] + takes * count;
            s.later[v] = s.later[v] + larger(takes - through, V{}) * count;
        }
    }
    V most{};
    for (int v = 0; v < servers; ++v) most = larger(most, s.later[v]);
    return all + most;
}

// The network of the last so many of each source; `level` counts from the last 1, 2, 3, 5 and 7 on, which then doubles.
inline const Network& latest_network(const Inbox& in, int level, int& kept) {
    constexpr int kBetween = 5;
    const int doubled = level < kBetween ? (level + 1) / 2 : level - 2;  // of those without 2 and 5
    const bool between = level == 1 || level == 3;
    kept = between ? 3 * level / 2 + 1 : (1 << (doubled + 1)) - 1;
    if (kept < in.each) return between ? in.between[level / 2] : in.network[doubled];
    kept = in.each;
    return in.network[in.levels - 1];
}

// Fills `s.key` with when the last few messages of each source left, and more until those left out come too early to
// decide anything; a lane that needs no more has none. Returns the network.
inline const Network& latest_of_kinds(const Plan& p, Scratch& s, V all, V least) {
    const Inbox& in = p.inbox;
    double slowest = 0;  // what comes through the port may wait for another size
    for (int c = 0; c < p.classes; ++c) slowest = p.inside[c] ? slowest : larger(slowest, p.travel[c]);
    I enough{};
    for (int level = 0, have = 0, want;; ++level, have = want) {
        const Network& network = latest_network(in, level, want);
        const bool last = want == in.each;
        V left_out = wide(-kInf);
        for (int j = 0; j < p.sources; ++j) {
            const V travel = s.origin[j].travel;
            for (int back = have; back < want; ++back) {
                const V v = enough ? wide(-kInf) : gather(p, s, j, back);
                s.key[(j + 1) * in.each - 1 - back] = v - travel;
            }
            if (!last) left_out = larger(left_out, gather(p, s, j, want) + (slowest - smaller(travel, wide(slowest))));
        }
        if (last) return network;
        enough = enough | (left_out + all <= least);
        if (!any(~enough)) return network;
    }
}

// When each message of `s.key` is through the port, where they differ in size, by source: in the order in which they
// left. What stays within a node does not come through it.
inline void go_through(const Plan& p, Scratch& s, const Network& net, V floor) {
    const Inbox& in = p.inbox;
    const Numbered numbered{in.numbers};
    V* const comes = reinterpret_cast<V*>(s.id);
    of_sources(p, net, [&](int at, int j) {
        const Origin& from = s.origin[j];
        comes[at] = from.own ? wide(-kInf) : s.key[at];
        s.through[at] = from.service;
        s.along[at] = numbered.of(larger(ticks(comes[at] - floor), wide(-1e300)), at);
    });
    sort_values(net, s.along);
    const auto* left = reinterpret_cast<const double*>(comes);
    auto* through = reinterpret_cast<double*>(s.through);
    V free = wide(-kInf);  // as long as those come that never do
    for (int i = 0; i < net.size; ++i) {
        const Places place(numbered.number(s.along[net.order[i]]));
        const V begun = larger(place.pick(left), free);
        free = begun + place.pick(through);
        place.put(through, begun);
    }
    of_sources(p, net, [&](int at, int j) {
        const Origin& from = s.origin[j];
        s.through[at] = (from.own ? s.key[at] : s.through[at]) + from.travel;
    });
}

// When one server has received what is in `s.through`, whose order is that of `net`.
inline V serve_kinds(const Plan& p, Scratch& s, const Network& net) {
    of_sources(p, net, [&](int at, int j) {
        s.key[at] = s.through[at];
        s.along[at] = s.origin[j].receive;
    });
    sort_with(net, s.key, s.along);
    V served = wide(-kInf);
    for (int i = 0; i < net.size; ++i) served = larger(s.key[net.order[i]], served) + s.along[net.order[i]];
    return served;
}

constexpr int kVciBits = 32;

// The same where each VCI is a server; in `served`.
inline void serve_kinds_by_vci(const Plan& p, Scratch& s, const Network& net) {
    const Inbox& in = p.inbox;
    of_sources(p, net, [&](int at, int j) {
        const I about = reinterpret_cast<I>(gather(p, s, j, (j + 1) * in.each - 1 - at)) & p.vci_bits;
        s.key[at] = s.through[at];
        s.along[at] = reinterpret_cast<V>(about | std::int64_t{j} << kVciBits);
    });
    sort_with(net, s.key, s.along);
    V* const bound = s.served;
    V* const served = s.later;
    for (int v = 0; v < p.vcis; ++v) served[v] = wide(-kInf);
    auto* ends = reinterpret_cast<double*>(served);
    for (int i = 0; i < net.size; ++i) {
        const I about = reinterpret_cast<I>(s.along[net.order[i]]);
        const V arrival = s.key[net.order[i]];
        for (int l = 0; l < W; ++l) {
            if (!(arrival[l] > -kInf)) continue;
            const std::int64_t v = about[l] & p.vci_bits, j = about[l] >> kVciBits;
            double& end = ends[v * W + l];
            end = (arrival[l] > end ? arrival[l] : end) + s.origin[j].receive[l];
        }
    }
    for (int v = 0; v < p.vcis; ++v) bound[v] = larger(bound[v], served[v]);
}

// Whether ports and servers are as one server, where all that comes through the port is of one class, and nothing is
// received or by one server that is no faster than the port: of what waits in the port it has as much to do as of what
// came before, and ends as if there were none.
inline bool serves_as_one(const Plan& p, std::int32_t& outside) {
    outside = -1;
    for (std::int32_t c = 0; c < p.classes; ++c) {
        if (p.inside[c]) continue;
        if (outside >= 0) return false;
        outside = c;
    }
    if (p.tags || p.classes > kFew || outside < 0) return false;
    return p.receivers == Receivers::none || p.service[outside] <= p.receive[outside];
}

// Fills `s.key` with the last few messages of each source, and more until those left out come too early to decide
// anything; a lane that needs no more has none. One of each source takes `round` to receive. Returns the network.
inline const Network& latest_of_rounds(const Plan& p, Scratch& s, V round, V least) {
    constexpr int kAhead = 2;  // so many of those left out are looked at
    const Inbox& in = p.inbox;
    I enough{};
    for (int level = 0, have = 0, looked = 1, want;; ++level, have = want) {
        const Network& network = latest_network(in, level, want);
        const int ahead = std::min(want + kAhead, in.each);
        V left_out[kAhead] = {wide(-kInf), wide(-kInf)};
        for (int j = 0; j < p.sources; ++j) {
            V* const last = s.key + (j + 1) * in.each - 1;
            for (int back = looked; back < ahead; ++back) last[-back] = gather(p, s, j, back);
            for (int back = have; back < want; ++back) last[-back] = enough ? wide(-kInf) : last[-back];
            for (int back = want; back < ahead; ++back)
                left_out[back - want] = larger(left_out[back - want], last[-back]);
        }
        if (want == in.each) return network;
        looked = ahead;
        // Before whatever comes after the second of those left out, no more than the first of each is to be received.
        enough = enough | ((left_out[0] + round * static_cast<double>(want + 1) <= least) &
                           (left_out[1] + round * static_cast<double>(in.each) <= least));
        if (!any(~enough)) return network;
    }
}

// When everything is received by what is one server. A message tells its class in its last bits, if they differ.
inline V receive_by_one(const Plan& p, Scratch& s, V floor, V cost, V latest, std::int32_t outside) {
    const std::int64_t bits = kFew - 1;
    const bool serves = p.receivers != Receivers::none;  // else it is the port, whose last message is there as it begins
    V takes[kFew];
    bool alike = true;
    for (std::int32_t c = 0; c < p.classes; ++c) {
        takes[c] = serves ? cost + (p.receive[c] - p.receive[0]) : wide(p.inside[c] ? 0.0 : p.service[c]);
        alike = alike && (serves ? p.receive[c] == p.receive[0] : c == outside);
    }
    V round{};
    for (int j = 0; j < p.sources; ++j) {
        const V each = serves ? s.origin[j].receive : s.origin[j].service;
        round = round + (s.key[(j + 1) * p.inbox.each - 1] > -kInf ? each : V{});
    }
    const V begun = serves ? V{} : takes[outside];
    const V least = serves ? larger(latest, floor + round * static_cast<double>(p.inbox.each)) : latest + begun;
    const Network& net = latest_of_rounds(p, s, round, least);
    if (!alike) {
        of_sources(p, net, [&](int at, int j) {
            const I tagged = (reinterpret_cast<I>(s.key[at]) & ~bits) | s.origin[j].kind;
            s.key[at] = s.key[at] > -kInf ? reinterpret_cast<V>(tagged) : s.key[at];
        });
    }
    sort_values(net, s.key);
    V served = wide(-kInf);
    for (int i = 0; i < net.size; ++i) {
        const V comes = s.key[net.order[i]];
        const I kind = reinterpret_cast<I>(comes) & bits;
        V now = takes[0];
        for (std::int32_t c = 1; !alike && c < p.classes; ++c) now = kind == c ? takes[c] : now;
        served = larger(comes, served) + now;
    }
    return larger(latest, larger(least, served) - begun);
}

// When everything is received of messages of several sizes, the last of which is there at `latest`.
[[gnu::noinline]] V receive_kinds(const Plan& p, Scratch& s, V floor, V cost, V latest) {
    std::int32_t outside;
    if (serves_as_one(p, outside)) return receive_by_one(p, s, floor, cost, latest, outside);
    const bool serves = p.receivers != Receivers::none;
    const V all = bound_kinds(p, s, floor);
    V end = latest;
    for (int v = 0; serves && v < (p.tags ? p.vcis : 1); ++v) end = larger(end, s.served[v]);
    const Network& net = latest_of_kinds(p, s, all, end);
    go_through(p, s, net, floor);
    if (!serves) {
        for (int i = 0; i < net.size; ++i) end = larger(end, s.through[net.order[i]]);
        return end;
    }
    if (!p.tags) return larger(s.served[0], serve_kinds(p, s, net));
    serve_kinds_by_vci(p, s, net);
    end = wide(-kInf);
    for (int v = 0; v < p.vcis; ++v) end = larger(end, s.served[v]);
    return end;
}

// How many messages one server has at most.
inline V most_of_a_server(const Plan& p, const Scratch& s, V peers) {
    if (p.receivers != Receivers::threads) return peers * static_cast<double>(p.inbox.each);
    if (!p.mapped) return peers * (static_cast<double>(p.inbox.most) / p.sources);
    V most{};
    for (int v = 0; v < p.vcis; ++v) {
        V messages{};
        for (int j = 0; j < p.sources; ++j) {
            const V there = s.key[(j + 1) * p.inbox.each - 1] > -kInf ? wide(1.0) : V{};
            messages = messages + there * static_cast<double>(p.vci_messages[v * p.directions + j]);
        }
        most = larger(most, messages);
    }
    return most;
}

// The same where they have one size, or all that matters is a server: from the last of each source, which is in `s.key`.
inline V receive_alike(const Plan& p, Scratch& s, V floor, V cost, V latest, V peers) {
    const double service = port_service(p);
    if (p.receivers == Receivers::none) return served(p, s, service, latest, V{}, wide(-kInf));
    const V bound = floor + most_of_a_server(p, s, peers) * cost;
    const double queued = static_cast<double>(p.sources) * p.transports / p.vcis;
    const bool slower = p.receive[0] + p.per_entry * (queued - 1) / 2 > service;
    if (p.tags && slower) return served_by_threads(p, s, service, latest, cost, bound, floor);
    return served(p, s, service, latest, cost, bound);
}

// `s.source` and `s.arrivals` say where the messages are; `floor` is when the ranks can begin.
inline Received receive(const Plan& p, Scratch& s, V floor) {
    Received r{wide(-kInf), wide(-kInf), wide(-kInf), wide(-kInf), wide(-kInf)};
    V notify = wide(-kInf), peers{};
    for (int j = 0; j < p.sources; ++j) {
        const double* const* from = s.source + j * W;
        const V ready = collect(from, kReady), last = gather(p, s, j, 0);
        peers = ready > -kInf ? peers + 1.0 : peers;
        r.ready = larger(r.ready, ready);
        r.issued = larger(r.issued, collect(from, kIssued));
        if (p.sync != Sync::none) notify = larger(notify, collect(from, p.notify));
        s.key[(j + 1) * p.inbox.each - 1] = last;
        r.arrival = larger(r.arrival, last);
        if (p.classes == 1) r.left = larger(r.left, last - p.travel[0]);
    }
    V cost = wide(p.receive[0]);
    if (p.per_entry > 0) {
        const V queued = peers * static_cast<double>(p.transports) / static_cast<double>(p.vcis);
        cost = cost + p.per_entry * (queued - 1) / 2;
    }
    if (p.classes > 1) {
        find_origins(p, s, cost);
        for (int j = 0; j < p.sources; ++j)
            r.left = larger(r.left, s.key[(j + 1) * p.inbox.each - 1] - s.origin[j].travel);
    }
    r.end = p.classes > 1 ? receive_kinds(p, s, floor, cost, r.arrival)
                          : receive_alike(p, s, floor, cost, r.arrival, peers);
    if (p.receivers == Receivers::master) r.end = r.end + p.poll;
    // What was put comes through the port before its acknowledgement goes.
    if (p.confirmed) r.end = r.end + p.ack[0] + p.told;
    if (p.sync != Sync::none) r.end = larger(r.end, notify);
    if (p.sync == Sync::active) r.end = r.end + p.closing;
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
