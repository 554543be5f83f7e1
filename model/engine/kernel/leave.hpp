// Steps 4 and 5 of the timeline for W ranks: through the NIC and over the wire.
#pragma once

#include "exchange.hpp"

namespace pready {
namespace {

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

// The order in which payloads may leave; equals by VCI, queue and direction. In `along` and, where threads own
// parts of faces, `id`.
inline void order_sends(const Plan& p, Scratch& s, std::int64_t n) {
    if (p.mapped) {  // may hold what never leaves, at -infinity
        for (std::int64_t i = 0; i < n; ++i) s.along[i] = p.ticks ? ticks(s.key[i]) : s.key[i];
        sort_numbered(p.send_network, s.along, s.id);
        return;
    }
    const Numbered numbered{p.numbers};
    for (std::int64_t i = 0; i < n; ++i) s.along[i] = numbered.of(p.ticks ? ticks(s.key[i]) : s.key[i], i);
    sort_values(p.send_network, s.along);
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
        const I number = nth_send(p, s, i, sent);
        x.left = larger(sent, x.nic);
        x.nic = x.left + p.service[0];
        const V lands = x.left + p.travel[0];
        x.arrived = lands + acknowledged;
        x.early = lands <= x.join ? x.early + 1.0 : x.early;
        if (p.late_done[0]) x.done = larger(x.done, x.left + p.stream[0]);
        const V absolute = x.start + lands;
        std::int64_t numbers[W];
        double times[W];
        std::memcpy(numbers, &number, sizeof numbers);
        std::memcpy(times, &absolute, sizeof times);
        for (int l = 0; l < g.count; ++l) g.record[l][p.message_slot[numbers[l]]] = times[l];
    }
    y = x;
}

// Any sizes and directions.
inline void leave_each(const Plan& p, const Scratch& s, const Senders& g, std::int64_t n, Exchange& x) {
    for (std::int64_t i = 0; i < n; ++i) {
        V sent;
        const I numbers = nth_send(p, s, i, sent);
        for (int l = 0; l < g.count; ++l) {
            const std::int64_t number = numbers[l];
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

}  // namespace
}  // namespace pready
