// Steps 4 and 5 of the timeline for W ranks: through the NIC and over the wire.
#pragma once

#include "recurrence/issue.hpp"

namespace pready {
namespace {

// When the first payload of a rank may leave.
inline V first_to_go(const Plan& p, const Scratch& s, const Senders& g, std::int64_t n) {
    V first = wide(kInf);
    for (std::int64_t i = 0; i < n; ++i) {
        if (p.everywhere) {
            first = smaller(s.key[i], first);
            continue;
        }
        for (int l = 0; l < W; ++l) {
            const std::int32_t d = p.message_direction[p.mapped ? s.id[i][l] : i];
            if (present(p, g.profile[l], d)) first[l] = s.key[i][l] < first[l] ? s.key[i][l] : first[l];
        }
    }
    return first;
}

// The order in which payloads may leave; equals by VCI, queue and direction. In `along` and, where threads own
// parts of faces, `id`. Messages to several peers share the cable: those that may go within a round, which takes as
// long as one to each, leave as they were issued. Else times count in whole picoseconds if clear-to-sends compete.
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

// The i-th payload to leave: its number, and from when on it may.
inline I nth_send(const Plan& p, const Scratch& s, std::int64_t i, V& sent) {
    if (!p.send_sorts) {
        sent = s.key[i];
        return p.mapped ? s.id[i] : I{} + i;
    }
    const std::int64_t at = p.send_network.order[i];
    const I number = p.mapped ? s.id[at] : Numbered{p.numbers}.number(s.along[at]);
    sent = Places(number).pick(reinterpret_cast<const double*>(p.mapped ? s.sent : s.key));
    return number;
}

// An arrival that tells in its last bits which VCI receives it, where that matters.
inline double tagged(const Plan& p, std::int64_t number, double arrival) {
    std::int64_t bits;
    std::memcpy(&bits, &arrival, sizeof bits);
    bits = (bits & ~p.vci_bits) | p.message_vci[number];
    std::memcpy(&arrival, &bits, sizeof bits);
    return arrival;
}

// A message of W ranks, which may leave at `goes`: through the rank's own NIC, and on to its node's adapter (node.hpp).
// Returns the time to note: when it arrives, or comes to that adapter.
inline V leave_one(const Plan& p, const Way& way, V goes, Exchange& x) {
    const V left = larger(goes, x.nic), arrives = left + way.travel;
    x.nic = way.there ? left + way.service : x.nic;
    x.early = way.own & (arrives <= x.join) ? x.early + 1.0 : x.early;
    if (p.confirmed) x.arrived = way.own ? larger(x.arrived, arrives + way.ack) : x.arrived;
    x.done = way.there ? larger(x.done, goes) : x.done;
    x.done = way.own ? larger(x.done, left + way.completes) : x.done;
    return x.start + (way.own ? arrives : way.there ? left : goes);
}

// All messages through the NIC, which is one server. Notes each in its rank's record: by direction, in the order in
// which they leave.
inline void leave(const Plan& p, Scratch& s, const Senders& g, Exchange& y) {
    Exchange x = y;
    const std::int64_t n = p.mapped ? p.jobs : std::int64_t{p.transports} * p.directions;
    if (p.send_sorts) order_sends(p, s, g, x, n);
    fill_ways(p, s, g);
    if (!p.send_sorts && !p.mapped) {  // all lanes in the same order
        for (std::int64_t i = 0; i < n; ++i)
            s.along[p.message_slot[i] - kHead] = leave_one(p, s.ways[p.message_direction[i]], s.key[i], x);
        store_rows(g, kHead, s.along, n);
        y = x;
        return;
    }
    for (int d = 0; d < p.directions; ++d) {
        for (int l = 0; l < W; ++l) s.next[d * W + l] = g.record[l] + kHead + d * p.transports;
    }
    double* list[W];  // what leaves the node, in order
    for (int l = 0; l < W; ++l) list[l] = g.record[l] + p.leaving + 1;
    const bool same = p.classes == 1 && g.alike && p.degree[g.profile[0]] == p.directions;
    for (std::int64_t i = 0; i < n; ++i) {
        V sent;
        const I number = nth_send(p, s, i, sent);
        std::int64_t numbers[W], directions[W];
        std::memcpy(numbers, &number, sizeof numbers);
        for (int l = 0; l < W; ++l) directions[l] = p.message_direction[numbers[l]];
        const Way way = same ? s.ways[0] : way_of(s, directions);
        const V noted = leave_one(p, way, sent, x);
        double times[W];
        std::memcpy(times, &noted, sizeof times);
        for (int l = 0; l < W; ++l) {
            if (!same && !way.there[l]) continue;
            double*& next = s.next[directions[l] * W + l];
            if (p.lists_leaving && !way.own[l]) *list[l]++ = static_cast<double>(next - g.record[l]);
            *next++ = p.tags ? tagged(p, numbers[l], times[l]) : times[l];
        }
    }
    for (int l = 0; p.lists_leaving && l < W; ++l) {
        double* first = g.record[l] + p.leaving;
        *first = static_cast<double>(list[l] - first - 1);
    }
    y = x;
}

}  // namespace
}  // namespace pready
