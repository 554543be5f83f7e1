// Steps 6 and 7 for W ranks: from the arrivals in their neighbours' records to their ends.
#pragma once

#include <algorithm>

#include "recurrence/send.hpp"

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

// From whom messages come, that take `cost` to receive if of the first class.
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

// Of source `j`, by how many messages a VCI is reached, or the one server of all.
inline V messages_of(const Plan& p, const Scratch& s, int j, int vci) {
    if (!p.tags) return wide(p.inbox.each);
    const std::int32_t* const of_vci = p.vci_messages + std::int64_t{vci} * p.directions;
    V count = wide(of_vci[0]);
    for (int l = 0; p.mapped && l < W; ++l) count[l] = of_vci[s.slot[j * W + l]];
    return count;
}

// When each VCI has received everything that comes, had all been there from the beginning; in `served`. Returns how long
// it takes at most until the port and a VCI are done with what one message can delay.
inline V bound_servers(const Plan& p, Scratch& s, V floor) {
    const int servers = p.tags ? p.vcis : 1;
    V all{};
    for (int v = 0; v < servers; ++v) {
        s.served[v] = p.tags ? s.floor[group_of(p, v)] : floor;
        s.later[v] = V{};
    }
    for (int j = 0; j < p.sources; ++j) {
        const I there = s.key[(j + 1) * p.inbox.each - 1] > -kInf;
        const V takes = there && p.receivers != Receivers::none ? s.origin[j].receive : V{};
        const V through = there ? s.origin[j].service : V{};
        all = all + through * static_cast<double>(p.inbox.each);
        for (int v = 0; v < servers; ++v) {
            const V count = messages_of(p, s, j, v);
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

// Fills `s.key` with when the last few messages of each source left, tagged as their arrivals, and more until those
// left out come too early to decide anything; a lane that needs no more has none. Returns the network.
inline const Network& latest_of_each(const Plan& p, Scratch& s, V all, V least) {
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
                s.key[(j + 1) * in.each - 1 - back] = tagged_as(p, v, v - travel);
            }
            if (!last) left_out = larger(left_out, gather(p, s, j, want) + (slowest - smaller(travel, wide(slowest))));
        }
        if (last) return network;
        enough = enough | (left_out + all <= least);
        if (!any(~enough)) return network;
    }
}

// Brings messages of `s.key` into the order in which they come to the port: in `s.along`, by number. What stays within
// a node does not.
inline void line_up_at_port(const Plan& p, Scratch& s, const Network& net, V floor) {
    const Numbered numbered{p.inbox.numbers};
    of_sources(p, net, [&](int at, int j) {
        const V comes = s.origin[j].own ? wide(-kInf) : s.key[at];
        s.along[at] = numbered.of(larger(ticks(comes - floor), wide(-1e300)), at);
    });
    sort_values(net, s.along);
}

// When each message of `s.key` is through the port, by source.
inline void go_through(const Plan& p, Scratch& s, const Network& net) {
    const Numbered numbered{p.inbox.numbers};
    V* const comes = reinterpret_cast<V*>(s.id);
    of_sources(p, net, [&](int at, int j) {
        comes[at] = s.origin[j].own ? wide(-kInf) : s.key[at];
        s.through[at] = s.origin[j].service;
    });
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
inline V serve(const Plan& p, Scratch& s, const Network& net) {
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

// The same where each VCI is a server; in `later`.
inline void serve_by_vci(const Plan& p, Scratch& s, const Network& net) {
    of_sources(p, net, [&](int at, int j) {
        const I vci = reinterpret_cast<I>(s.key[at]) & p.vci_bits;
        s.key[at] = s.through[at];
        s.along[at] = reinterpret_cast<V>(vci | std::int64_t{j} << kVciBits);
    });
    sort_with(net, s.key, s.along);
    auto* ends = reinterpret_cast<double*>(s.later);
    for (int i = 0; i < net.size; ++i) {
        const V arrival = s.key[net.order[i]];
        std::int64_t of[W];
        std::memcpy(of, s.along + net.order[i], sizeof of);
        for (int l = 0; l < W; ++l) {
            if (!(arrival[l] > -kInf)) continue;
            double& end = ends[(of[l] & p.vci_bits) * W + l];
            end = larger(arrival[l], end) + s.origin[of[l] >> kVciBits].receive[l];
        }
    }
}

// The same of one class, which arrives as it goes through the port.
inline void pass_to_vcis(const Plan& p, Scratch& s, const Network& net) {
    const Numbered numbered{p.inbox.numbers};
    const V cost = s.origin[0].receive;
    auto* ends = reinterpret_cast<double*>(s.later);
    V free = wide(-kInf);
    for (int i = 0; i < net.size; ++i) {
        const V left = Places(numbered.number(s.along[net.order[i]])).pick(reinterpret_cast<const double*>(s.key));
        const V begun = larger(left, free), arrival = begun + p.travel[0];
        free = begun + p.service[0];
        for (int l = 0; l < W; ++l) {
            double& end = ends[(reinterpret_cast<I>(left)[l] & p.vci_bits) * W + l];
            if (left[l] > -kInf) end = larger(arrival[l], end) + cost[l];
        }
    }
}

// Whether port and server are as one server that takes the longer of both for each message: where all that comes
// through the port is of one class, and nothing else is received, or by one server that is no faster than the port.
inline bool serves_as_one(const Plan& p, std::int32_t& outside) {
    outside = -1;
    for (std::int32_t c = 0; c < p.classes; ++c) {
        if (p.inside[c]) continue;
        if (outside >= 0) return false;
        outside = c;
    }
    if (p.tags || p.classes > kFew || outside < 0) return false;
    return p.classes == 1 || p.receivers == Receivers::none || p.service[outside] <= p.receive[outside];
}

// Fills `s.key` with the last few messages of each source, and more until those left out come too early to decide
// anything; a lane that needs no more has none. One of each source takes `round`. Returns the network.
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
    const bool serves = p.receivers != Receivers::none;
    V takes[kFew] = {};
    bool alike = true;
    for (std::int32_t c = 0; c < p.classes; ++c) {
        takes[c] = serves ? cost + (p.receive[c] - p.receive[0]) : V{};
        if (c == outside && !through_already(p)) takes[c] = larger(takes[c], wide(p.service[c]));
        alike = alike && (serves ? p.receive[c] == p.receive[0] : c == outside);
    }
    V round{}, own{};  // of the server alone
    for (int j = 0; j < p.sources; ++j) {
        const I there = s.key[(j + 1) * p.inbox.each - 1] > -kInf;
        const V each = serves ? s.origin[j].receive : V{};
        own = own + (there ? each : V{});
        round = round + (there ? larger(each, s.origin[j].service) : V{});
    }
    // The port is done with its last message only after that is there.
    const V begun = takes[outside] - (serves ? cost + (p.receive[outside] - p.receive[0]) : V{});
    const V received = serves ? floor + own * static_cast<double>(p.inbox.each) : latest;
    const V least = larger(latest, received) + begun;
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

// When everything is received, the last of which is there at `latest`.
[[gnu::noinline]] V receive_all(const Plan& p, Scratch& s, V floor, V cost, V latest) {
    std::int32_t outside;
    if (serves_as_one(p, outside)) return receive_by_one(p, s, floor, cost, latest, outside);
    const bool serves = p.receivers != Receivers::none;
    const V all = bound_servers(p, s, floor);
    V end = latest;
    for (int v = 0; serves && v < (p.tags ? p.vcis : 1); ++v) end = larger(end, s.served[v]);
    const Network& net = latest_of_each(p, s, all, end);
    line_up_at_port(p, s, net, floor);
    if (p.tags) std::fill_n(s.later, p.vcis, wide(-kInf));
    if (p.tags && p.classes == 1 && !p.inside[0] && !through_already(p)) {
        pass_to_vcis(p, s, net);
    } else {
        go_through(p, s, net);
        if (p.tags) serve_by_vci(p, s, net);
    }
    if (!serves) {
        for (int i = 0; i < net.size; ++i) end = larger(end, s.through[net.order[i]]);
        return end;
    }
    if (!p.tags) return larger(s.served[0], serve(p, s, net));
    end = wide(-kInf);
    for (int v = 0; v < p.vcis; ++v) end = larger(end, larger(s.served[v], s.later[v]));
    return end;
}

// `s.source` and `s.arrivals` say where the messages are, `s.floor` when the ranks can begin.
inline Received receive(const Plan& p, Scratch& s) {
    V floor = s.floor[0];
    for (int i = 1; i < p.groups; ++i) floor = smaller(floor, s.floor[i]);
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
    }
    V cost = wide(p.receive[0]);
    if (p.per_entry > 0) {
        const V queued = peers * static_cast<double>(p.transports) / static_cast<double>(p.vcis);
        cost = cost + p.per_entry * (queued - p.in_order) / 2;
    }
    find_origins(p, s, cost);
    for (int j = 0; j < p.sources; ++j)
        r.left = larger(r.left, s.key[(j + 1) * p.inbox.each - 1] - s.origin[j].travel);
    r.end = receive_all(p, s, floor, cost, r.arrival);
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
