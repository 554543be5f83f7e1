// Steps 4 and 5 of the timeline for W ranks: through the NIC and over the wire.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "port.hpp"

namespace pready {
namespace {

// Bursts at a port that sharing slows down.
inline void share_bursts(const Plan& p, const Scratch& s, Exchange& x) {
    const double service = p.service[0] * (1 + p.unevenness);
    for (int t = 0; t < p.transports; ++t) {
        const V last = s.key[t] + (x.messages - 1) * p.burst_gap;
        const V through = larger(larger(x.slowed, s.key[t]) + x.messages * service, last + service);
        x.slowed = x.messages > 0 ? through : x.slowed;
    }
    x.alone = x.nic;
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
    if (p.late_done[0]) x.done = larger(x.done, x.left + p.completes[0]);
    if (p.unevenness > 0) share_bursts(p, s, x);
    x.arrived = x.left + (p.travel[0] + (p.confirmed ? p.ack[0] : 0.0));
}

// When the first payload of a rank may leave.
inline V first_to_go(const Plan& p, const Scratch& s, const Senders& g, std::int64_t n) {
    V first = wide(kInf);
    if (g.alike && p.degree[g.profile[0]] == p.directions) {
        for (std::int64_t i = 0; i < n; ++i) first = smaller(first, s.key[i]);
        return first;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        for (int l = 0; l < W; ++l) {
            const std::int32_t d = p.message_direction[p.mapped ? s.id[i][l] : i];
            if (p.present[std::int64_t{g.profile[l]} * p.directions + d] && s.key[i][l] < first[l]) first[l] = s.key[i][l];
        }
    }
    return first;
}

// The order in which payloads may leave; equals by VCI, queue and direction. In `along` and, where threads own
// parts of faces, `id`. Messages to several peers share the cable: those that may go within a round, which takes as
// long as one to each, leave as they were issued. Else times count in whole picoseconds if go-aheads compete.
inline void order_sends(const Plan& p, Scratch& s, const Senders& g, const Exchange& x, std::int64_t n) {
    const V first = p.rounds ? first_to_go(p, s, g, n) : V{};
    // What may go just as a round ends belongs to it, so that rounding does not decide.
    const V round = larger(x.messages * (p.service[0] * (1 + 1e-6)), wide(1e-12));
    for (std::int64_t i = 0; i < n; ++i) {
        V at = s.key[i];
        if (p.rounds) {
            at = (((at - first) / round - 0.5) + 0x1.8p52) - 0x1.8p52;
        } else if (p.ticks) {
            at = ticks(at);
        }
        s.along[i] = p.mapped ? at : Numbered{p.numbers}.of(at, i);  // mapped: may hold what never leaves, at -infinity
    }
    if (p.mapped) {
        sort_numbered(p.send_network, s.along, s.id);
    } else {
        sort_values(p.send_network, s.along);
    }
}

// The same where go-aheads come late behind what others send: whenever the cable is free, of all that may go by then what
// was issued first, so that it is never idle while something may.
inline void order_busy(const Plan& p, Scratch& s, const Senders& g, const Exchange& x, std::int64_t n) {
    struct Payload {
        double tick;
        std::int64_t number;
        bool operator<(const Payload& other) const {
            return tick < other.tick || (tick == other.tick && number < other.number);
        }
    };
    std::vector<Payload> all;
    std::vector<std::int64_t> may, nowhere;  // a heap: the first issued on top
    const V* const keys = p.mapped ? s.sent : s.key;
    for (int l = 0; l < W; ++l) {
        const std::int64_t first = std::int64_t{g.profile[l]} * p.directions;
        all.clear();
        nowhere.clear();
        for (std::int64_t i = 0; i < n; ++i) {
            const bool there = p.present[first + p.message_direction[i]];
            if (there) all.push_back({ticks(keys[i][l]), i});
            if (!there) nowhere.push_back(i);
        }
        std::sort(all.begin(), all.end());
        std::int64_t place = 0;
        const auto take = [&](std::int64_t number) {
            const std::int64_t at = p.send_network.order[place++];
            if (p.mapped) s.id[at][l] = number;
            if (!p.mapped) reinterpret_cast<I*>(s.along)[at][l] = number;
        };
        double nic = x.nic[l];
        auto next = all.begin();
        while (next != all.end() || !may.empty()) {
            if (may.empty() && keys[next->number][l] > nic) nic = keys[next->number][l];
            for (; next != all.end() && next->tick <= ticks(nic); ++next) {
                may.push_back(next->number);
                std::push_heap(may.begin(), may.end(), std::greater<>());
            }
            std::pop_heap(may.begin(), may.end(), std::greater<>());
            const std::int64_t number = may.back();
            may.pop_back();
            take(number);
            nic = std::max(nic, keys[number][l]) + p.service[class_of(p, g.profile[l], p.message_direction[number])];
        }
        for (const std::int64_t number : nowhere) take(number);
    }
}

// The i-th payload to leave: its number, and from when on it may.
inline I nth_send(const Plan& p, const Scratch& s, std::int64_t i, V& sent) {
    if (!p.send_sorts) {
        sent = s.key[i];
        return p.mapped ? s.id[i] : I{} + i;
    }
    const std::int64_t at = p.send_network.order[i];
    const I number = p.mapped ? s.id[at] : Numbered{p.numbers}.number(s.along[at]);
    const auto* keys = reinterpret_cast<const double*>(p.mapped ? s.sent : s.key);
    std::int64_t place[W];
    const I places = number * W;
    std::memcpy(place, &places, sizeof place);
    const double* from[W];
    for (int l = 0; l < W; ++l) from[l] = keys + place[l] + l;
    sent = collect(from, 0);
    return number;
}

// For how long after a message has left its send is not complete. Each peer has a socket, and all of them are filled.
inline double completes(const Plan& p, std::int32_t profile, std::int32_t c) {
    const std::int32_t others = p.degree[profile] - 1;
    return others > 0 ? p.completes[c] - others * p.buffered[c] : p.completes[c];
}

// Messages of one size in the same directions, in the order of issue: the common case.
inline void leave_in_order(const Plan& p, const Scratch& s, const Senders& g, std::int64_t n, Exchange& y) {
    Exchange x = y;
    const double complete = completes(p, g.profile[0], 0);
    const double acknowledged = p.confirmed ? p.ack[0] : 0.0, slowed = p.service[0] * (1 + p.unevenness);
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t d = p.message_direction[i];
        if (!p.present[std::int64_t{g.profile[0]} * p.directions + d]) continue;
        x.left = larger(s.key[i], x.nic);
        x.nic = x.left + p.service[0];
        if (p.unevenness > 0) x.slowed = larger(x.slowed, x.left) + slowed;
        x.arrived = x.left + p.travel[0] + acknowledged;
        x.early = x.left + p.travel[0] <= x.join ? x.early + 1.0 : x.early;
        if (p.late_done[0]) x.done = larger(x.done, larger(s.key[i], x.left + complete));
        store(g, p.message_slot[i], x.start + (x.left + p.travel[0]));
    }
    x.alone = x.nic;
    y = x;
}

// An arrival that tells in its last bits which VCI receives it, where that matters.
inline double tagged(const Plan& p, std::int64_t number, double arrival) {
    std::int64_t bits;
    std::memcpy(&bits, &arrival, sizeof bits);
    bits = (bits & ~p.vci_bits) | p.message_vci[number];
    std::memcpy(&arrival, &bits, sizeof bits);
    return arrival;
}

// The same in all lanes.
inline V tagged(const Plan& p, const std::int64_t* number, V arrival) {
    I vci;
    for (int l = 0; l < W; ++l) vci[l] = p.message_vci[number[l]];
    return reinterpret_cast<V>((reinterpret_cast<I>(arrival) & ~p.vci_bits) | vci);
}

// What leaves to a direction is noted from here on.
inline void begin_notes(const Plan& p, Scratch& s, const Senders& g) {
    for (int d = 0; d < p.directions; ++d) {
        for (int l = 0; l < W; ++l) s.next[d * W + l] = g.record[l] + kHead + d * p.transports;
    }
}

// Notes in a lane's record a time of a message: after those that left before it.
inline void note(const Plan& p, Scratch& s, int lane, std::int64_t number, double time) {
    *s.next[p.message_direction[number] * W + lane]++ = time;
}

// One size and a neighbour in every direction: only the order differs between lanes.
inline void leave_everywhere(const Plan& p, Scratch& s, const Senders& g, std::int64_t n, Exchange& y) {
    Exchange x = y;
    const double complete = completes(p, g.profile[0], 0);
    const double acknowledged = p.confirmed ? p.ack[0] : 0.0, slowed = p.service[0] * (1 + p.unevenness);
    for (std::int64_t i = 0; i < n; ++i) {
        V sent;
        const I number = nth_send(p, s, i, sent);
        x.left = larger(sent, x.nic);
        x.nic = x.left + p.service[0];
        if (p.unevenness > 0) x.slowed = larger(x.slowed, x.left) + slowed;
        const V lands = x.left + p.travel[0];
        x.arrived = lands + acknowledged;
        x.early = lands <= x.join ? x.early + 1.0 : x.early;
        if (p.late_done[0]) x.done = larger(x.done, larger(sent, x.left + complete));
        std::int64_t numbers[W];
        std::memcpy(numbers, &number, sizeof numbers);
        const V absolute = tagged(p, numbers, x.start + lands);
        double times[W];
        std::memcpy(times, &absolute, sizeof times);
        for (int l = 0; l < W; ++l) note(p, s, l, numbers[l], times[l]);
    }
    x.alone = x.nic;
    y = x;
}

inline void fill_ways(const Plan& p, const Senders& g, Ways& ways) {
    std::copy_n(g.profile, W, ways.profile);
    std::fill_n(ways.inside, p.directions * W, -1);
    int inside[W] = {};
    for (int d = 0; d < p.directions; ++d) {
        Way& way = ways.way[d];
        for (int l = 0; l < W; ++l) {
            const std::int32_t c = class_of(p, g.profile[l], d);
            way.there[l] = p.present[std::int64_t{g.profile[l]} * p.directions + d] ? -1 : 0;
            way.own[l] = p.inside[c] ? way.there[l] : 0;
            way.late[l] = p.late_done[c] ? way.own[l] : 0;
            if (way.own[l]) ways.inside[inside[l]++ * W + l] = d;
        }
        for (int l = 0; any(way.own) && l < W; ++l) {
            const std::int32_t c = class_of(p, g.profile[l], d);
            way.service[l] = p.service[c];
            way.travel[l] = p.travel[c];
            way.ack[l] = p.confirmed ? p.ack[c] : 0.0;
            way.completes[l] = p.completes[c];
        }
    }
    ways.most = *std::max_element(inside, inside + W);
}

inline const Ways& find_ways(const Plan& p, Scratch& s, const Senders& g) {
    for (int i = 0; i < s.known && i < kWays; ++i) {
        if (std::equal(g.profile, g.profile + W, s.ways[i].profile)) return s.ways[i];
    }
    Ways& ways = s.ways[s.known++ % kWays];
    fill_ways(p, g, ways);
    return ways;
}

// A message of W ranks that share nodes, ready to leave at `goes`: what stays within the node does so through the rank's
// own NIC, what does not waits for the node's adapter (see node.hpp). Returns the time to note.
inline V leave_node(const Plan& p, const Way& way, V goes, Exchange& x) {
    const V left = larger(goes, x.nic), arrives = left + way.travel;
    x.nic = way.own ? left + way.service : x.nic;
    x.left = way.own ? left : x.left;
    x.early = way.own & (arrives <= x.join) ? x.early + 1.0 : x.early;
    if (p.confirmed) x.arrived = way.own ? larger(x.arrived, arrives + way.ack) : x.arrived;
    if (p.acknowledged || p.rendezvous || p.two_sided)
        x.done = way.late ? larger(x.done, larger(goes, left + way.completes)) : x.done;
    return x.start + (way.own ? arrives : goes);
}

// Where ranks share a node, in the order of issue.
inline void leave_node_in_order(const Plan& p, Scratch& s, const Senders& g, std::int64_t n, Exchange& y) {
    Exchange x = y;
    const Way* const ways = find_ways(p, s, g).way;
    for (std::int64_t i = 0; i < n; ++i)
        store(g, p.message_slot[i], leave_node(p, ways[p.message_direction[i]], s.key[i], x));
    y = x;
}

// The class of what stays within nodes, if there is one.
inline std::int32_t class_inside(const Plan& p) {
    std::int32_t only = -1;
    for (std::int32_t c = 0; c < p.classes; ++c) {
        if (!p.inside[c]) continue;
        if (only >= 0) return -1;
        only = c;
    }
    return only;
}

// What stays within nodes of turns through several VCIs, as it comes. In `through`: when, if ever.
inline void leave_inside_sorted(const Plan& p, Scratch& s, const Senders& g, const Ways& ways, Exchange& x) {
    if (ways.most == 0) return;
    const Numbered numbered{p.numbers};
    // A lane that sends less repeats its last.
    for (int j = 0; j < ways.most; ++j) {
        V& hold = s.hold_inside[j];
        for (int l = 0; l < W; ++l) {
            int last = j;
            while (last > 0 && ways.inside[last * W + l] < 0) --last;
            const std::int32_t d = ways.inside[last * W + l];
            hold[l] = s.hold[d < 0 ? p.directions - 1 : d][l];
        }
    }
    auto* const turns = reinterpret_cast<std::int32_t*>(s.id);
    int size = 0;
    for (std::int32_t t = 0; t < p.transports; ++t) {
        for (int j = 0; j < ways.most; ++j, ++size) {
            turns[size] = t;
            const V comes = s.key[t] + s.hold_inside[j];
            s.along[size] = numbered.of(comes, size);
            s.through[size] = comes;
            for (int l = 0; l < W; ++l) {
                if (ways.inside[j * W + l] < 0) s.through[size][l] = kInf;
            }
        }
    }
    const Network& net = p.inside_networks[ways.most];
    sort_values(net, s.along);
    begin_notes(p, s, g);
    const std::int32_t only = class_inside(p);
    Way same{};
    if (only >= 0) {
        same.service = wide(p.service[only]);
        same.travel = wide(p.travel[only]);
        same.ack = wide(p.confirmed ? p.ack[only] : 0.0);
        same.completes = wide(p.completes[only]);
    }
    const auto* times = reinterpret_cast<const double*>(s.through);
    for (int i = 0; i < net.size; ++i) {
        const I number = numbered.number(s.along[net.order[i]]);
        const V comes = Places(number).pick(times);
        const I there = comes < kInf;
        std::int32_t turn[W], way[W];
        for (int l = 0; l < W; ++l) {
            turn[l] = turns[number[l]];
            way[l] = ways.inside[(number[l] - turn[l] * ways.most) * W + l];
        }
        if (only >= 0) {
            same.own = there;
            same.late = p.late_done[only] ? there : I{};
        } else {
            const Way* each[W];
            for (int l = 0; l < W; ++l) each[l] = ways.way + (way[l] < 0 ? 0 : way[l]);
            same = Way::of(each);
            same.own &= there;
            same.late &= there;
        }
        const V noted = leave_node(p, same, comes, x);
        for (int l = 0; l < W; ++l) {
            const std::int64_t message = std::int64_t{turn[l]} * p.directions + way[l];
            if (there[l]) note(p, s, l, message, tagged(p, message, noted[l]));
        }
    }
}

// The same where `s.key` has when the turn of each transport partition begins. A record keeps that; what leaves the
// node follows from it.
inline void leave_node_in_turns(const Plan& p, Scratch& s, const Senders& g, Exchange& y) {
    Exchange x = y;
    const Ways& ways = find_ways(p, s, g);
    store_rows(g, p.leaving, s.key, p.transports);
    if (p.vcis > 1) {
        leave_inside_sorted(p, s, g, ways, x);
        y = x;
        return;
    }
    int n = 0;
    for (int d = 0; d < p.directions; ++d) {
        if (any(ways.way[d].own)) s.inside[n++] = d;
    }
    for (int t = 0; t < p.transports; ++t) {
        for (int i = 0; i < n; ++i) {
            const std::int32_t d = s.inside[i];
            s.through[i * p.transports + t] = leave_node(p, ways.way[d], s.key[t] + s.hold[d], x);
        }
    }
    for (int i = 0; i < n; ++i)
        store_rows(g, kHead + s.inside[i] * p.transports, s.through + i * p.transports, p.transports);
    y = x;
}

// The same in any order, which a record keeps of what leaves the node.
inline void leave_node_sorted(const Plan& p, Scratch& s, const Senders& g, std::int64_t n, Exchange& y) {
    Exchange x = y;
    const Way* const known = find_ways(p, s, g).way;
    double* list[W];
    for (int l = 0; l < W; ++l) list[l] = g.record[l] + p.leaving + 1;
    for (std::int64_t i = 0; i < n; ++i) {
        V sent;
        const I number = nth_send(p, s, i, sent);
        std::int64_t numbers[W];
        std::memcpy(numbers, &number, sizeof numbers);
        const Way* ways[W];
        for (int l = 0; l < W; ++l) ways[l] = known + p.message_direction[numbers[l]];
        const V noted = leave_node(p, Way::of(ways), sent, x);
        double times[W];
        std::memcpy(times, &noted, sizeof times);
        for (int l = 0; l < W; ++l) {
            const Way& way = *ways[l];
            double*& next = s.next[(&way - known) * W + l];
            // Written in any case, and kept if it is to be.
            *next = way.own[l] ? tagged(p, numbers[l], times[l]) : times[l];
            next -= way.there[l];
            *list[l] = static_cast<double>(numbers[l]);
            list[l] -= way.there[l] & ~way.own[l];
        }
    }
    for (int l = 0; l < W; ++l) {
        double* first = g.record[l] + p.leaving;
        *first = static_cast<double>(list[l] - first - 1);
    }
    y = x;
}

// What can wait for the link without anyone inside MPI, in one lane. If calls push, each hands over what the link has
// made room for since the one before.
class Room {
public:
    // The next message was issued at `sent`, of class c.
    void call(const Plan& p, const Exchange& x, int lane, int c, double sent) {
        const double inside = x.attended[lane];
        const bool handed = p.calls_push || taken_ >= work_;
        work_ += p.service[c];
        step(std::min(std::max(sent, before_), inside));
        if (before_ >= inside) {
            taken_ = kInf;
        } else if (handed) {
            taken_ = std::max(taken_, std::min(work_, passed_ + x.messages[lane] * p.room[c]));
        }
        calls_.push_back({before_, passed_, taken_, work_});
    }

    // Somebody is inside MPI from now on.
    void close(double inside) {
        step(inside);
        calls_.push_back({before_, passed_, kInf, work_});
    }

    // When the next one goes, in the same order.
    double goes(const Plan& p, int c, double sent) {
        const std::size_t own = seen_++;
        if (calls_[own].taken >= calls_[own].work) return sent;
        for (at_ = std::max(at_, own); calls_[at_].taken < calls_[own].work;) ++at_;
        return std::max(sent, calls_[at_].now + calls_[own].work - calls_[at_].passed - p.service[c]);
    }

private:
    struct Call {
        double now, passed, taken, work;
    };

    void step(double now) {
        if (calls_.empty()) before_ = now;
        passed_ = std::min(passed_ + (now - before_), taken_);
        before_ = now;
    }

    std::vector<Call> calls_;
    std::size_t seen_ = 0, at_ = 0;
    double before_ = -kInf, passed_ = 0, taken_ = 0, work_ = 0;
};

// Flows to both peers of a sweep's rank share its cable, message by message: the last to one of them is as much later as
// what may go to the other takes meanwhile. In one lane.
struct CableShared {
    double ends[2] = {-kInf, -kInf};  // when the last to each is through, had it the cable for itself
    double takes[2] = {};
    double shared[2] = {-kInf, -kInf};
    int latest = -1;

    void add(int d, double goes, double leaves, double crosses) {
        const int other = 1 - d;
        if (latest == other) {
            const double overlap = std::min({ends[other] - goes, crosses, takes[other]});
            if (overlap > 0) shared[other] = ends[other] - takes[other] + overlap;
        }
        ends[d] = leaves + crosses;
        takes[d] = crosses;
        shared[d] = -kInf;
        latest = d;
    }
};

// A payload that its node's adapter sends when it has come to it: see node.hpp.
inline void queue_outside(const Plan& p, Scratch& s, const Senders& g, int lane, std::int64_t number, double at) {
    note(p, s, lane, number, at);
    if (!p.lists_leaving) return;
    double* count = g.record[lane] + p.leaving;
    count[1 + static_cast<std::int64_t>(*count)] = static_cast<double>(number);
    *count += 1;
}

// All calls of an exchange, before it is known when anything goes.
inline void hand_over(const Plan& p, const Scratch& s, const Senders& g, std::int64_t n, const Exchange& x, Room* rooms) {
    for (std::int64_t i = 0; i < n; ++i) {
        V sent;
        const I numbers = nth_send(p, s, i, sent);
        for (int l = 0; l < g.count; ++l) {
            const std::int32_t d = p.message_direction[numbers[l]];
            if (!p.present[std::int64_t{g.profile[l]} * p.directions + d]) continue;
            const std::int32_t c = class_of(p, g.profile[l], d);
            if (!p.inside[c]) rooms[l].call(p, x, l, c, sent[l]);
        }
    }
    for (int l = 0; l < g.count; ++l) rooms[l].close(x.attended[l]);
}

// A port, with a bucket where the link is shaped, that takes `times` as long for each message: when all are through.
struct SlowedPort {
    double times = 1, free = -kInf, turn = -kInf, through = -kInf;

    void add(const Plan& p, std::int32_t c, double comes) {
        double leaves = std::max(comes, free);
        free = leaves + p.service[c] * times;
        if (p.shaped) {
            turn = std::max(comes, turn);
            leaves = std::max(leaves, turn - p.credit[c]);
            turn += p.drain[c] * times;
        }
        through = std::max(through, leaves + p.service[c] * times);
    }
};

// Any sizes and directions, any link.
inline void leave_each(const Plan& p, Scratch& s, const Senders& g, std::int64_t n, Exchange& x) {
    Room rooms[W];
    PortNotes ports[W];
    CableShared cables[W];
    SlowedPort alone[W], slowed[W];
    for (SlowedPort& port : slowed) port.times = 1 + p.unevenness;
    for (int l = 0; p.keeps_ports && l < g.count; ++l) ports[l] = {p, g.record[l], x, l};
    for (int l = 0; p.lists_leaving && l < g.count; ++l) g.record[l][p.leaving] = 0;
    if (p.attended) hand_over(p, s, g, n, x, rooms);
    for (std::int64_t i = 0; i < n; ++i) {
        V sent;
        const I numbers = nth_send(p, s, i, sent);
        for (int l = 0; l < g.count; ++l) {
            const std::int64_t number = numbers[l];
            const std::int32_t d = p.message_direction[number];
            if (!p.present[std::int64_t{g.profile[l]} * p.directions + d]) continue;
            const std::int32_t c = class_of(p, g.profile[l], d);
            const double goes = p.attended && !p.inside[c] ? rooms[l].goes(p, c, sent[l]) : sent[l];
            if (p.nodes > 0 && !p.inside[c]) {
                queue_outside(p, s, g, l, number, x.start[l] + goes);
                continue;
            }
            double leaves = goes > x.nic[l] ? goes : x.nic[l];
            x.nic[l] = leaves + p.service[c];
            if (p.shaped) {
                const double turn = goes > x.turn[l] ? goes : x.turn[l];
                x.turn[l] = turn + p.drain[c];
                if (turn - p.credit[c] > leaves) leaves = turn - p.credit[c];
            }
            x.left[l] = leaves;
            if (p.shared) cables[l].add(d, goes, leaves, p.crosses[c]);
            if (p.keeps_ports) ports[l].add(x.start[l] + goes, x.start[l] + x.nic[l]);
            if (p.unevenness > 0) {
                alone[l].add(p, c, leaves);
                slowed[l].add(p, c, leaves);
            }
            const double arrives = leaves + p.travel[c];
            const double lands = p.confirmed ? arrives + p.ack[c] : arrives;
            if (lands > x.arrived[l]) x.arrived[l] = lands;
            if (arrives <= x.join[l]) x.early[l] += 1;
            if (p.late_done[c]) x.done[l] = std::max({x.done[l], goes, leaves + completes(p, g.profile[l], c)});
            note(p, s, l, number, tagged(p, number, x.start[l] + arrives));
        }
    }
    for (int l = 0; p.keeps_ports && l < g.count; ++l) ports[l].close(p, g.record[l], x);
    for (int l = 0; p.unevenness > 0 && l < g.count; ++l) {
        x.alone[l] = alone[l].through;
        x.slowed[l] = slowed[l].through;
    }
    for (int d = 0; p.shared && d < 2; ++d) {
        for (int l = 0; l < g.count; ++l) x.shared[d][l] = cables[l].shared[d];
    }
}

// The NIC is one server.
inline void leave(const Plan& p, Scratch& s, const Senders& g, Exchange& x) {
    const std::int64_t n = p.mapped ? p.jobs : std::int64_t{p.transports} * p.directions;
    if (p.send_sorts) (p.rounds && p.backs_up ? order_busy : order_sends)(p, s, g, x, n);
    const bool numbered = p.send_sorts || p.mapped;
    const bool alike = p.classes == 1 && g.alike && !p.shaped && !p.attended && p.nodes == 0 && !p.keeps_ports && !p.shared;
    begin_notes(p, s, g);
    if (p.nodes > 0 && !p.attended) {
        numbered ? leave_node_sorted(p, s, g, n, x) : leave_node_in_order(p, s, g, n, x);
    } else if (alike && !numbered) {
        leave_in_order(p, s, g, n, x);
    } else if (alike && p.degree[g.profile[0]] == p.directions) {
        leave_everywhere(p, s, g, n, x);
    } else {
        leave_each(p, s, g, n, x);
    }
}

}  // namespace
}  // namespace pready
