// Step 4 of the timeline where ranks share a node: its adapter takes what leaves the node, rank by rank in the order
// of time.
#pragma once

#include <algorithm>

#include "leave.hpp"

namespace pready {
namespace {

// Where a message stands in its rank's record, what of its rank it is, and of which class.
struct Item {
    std::int32_t slot, number, kind;
};

// A message that waits for its node's adapter.
struct Leaving {
    double tick;  // whole picoseconds: ranks in step must not be put in order by rounding
    double at;
    double* record;
    Item item;
};

inline bool before(const Leaving& a, const Leaving& b) { return a.tick < b.tick; }

// Calls `each` with every message of a rank that leaves its node, in the order in which they leave, its transport
// partition and its direction.
template <class Each>
inline void leaving(const Plan& p, const double* record, std::int32_t profile, std::int32_t* next, const Each& each) {
    if (!p.lists_leaving) {
        for (std::int32_t t = 0, i = 0; t < p.transports; ++t) {
            for (std::int32_t d = 0; d < p.directions; ++d, ++i) {
                const std::int32_t kind = class_of(p, profile, d);
                if (p.present[std::int64_t{profile} * p.directions + d] && !p.inside[kind])
                    each(Item{p.message_slot[i], i, kind}, t, d);
            }
        }
        return;
    }
    const auto count = static_cast<std::int64_t>(record[p.leaving]);
    std::fill_n(next, p.directions, 0);
    for (std::int64_t m = 1; m <= count; ++m) {
        const auto number = static_cast<std::int32_t>(record[p.leaving + m]);
        const std::int32_t d = p.message_direction[number], t = next[d]++;
        each(Item{kHead + d * p.transports + t, number, class_of(p, profile, d)}, t, d);
    }
}

// When a message comes to its node's adapter.
inline double comes(const Plan& p, const double* record, std::int32_t profile, const Item& item, std::int32_t t,
                    std::int32_t d) {
    if (!p.keeps_turns) return record[item.slot];
    return record[kStart] + (record[p.leaving + t] + p.hold[std::int64_t{profile} * p.directions + d]);
}

// Brings what a rank's VCIs send to other nodes into order.
inline void line_up_leaving(Leaving* begin, Leaving* end) {
    for (Leaving* m = begin; m < end; ++m) m->tick = ticks(m->at);
    std::sort(begin, end, [](const Leaving& a, const Leaving& b) {
        if (a.tick != b.tick) return a.tick < b.tick;
        return a.at != b.at ? a.at < b.at : a.item.number < b.item.number;
    });
}

// In how many directions ranks of a profile that keep turns send to other nodes, and which.
inline const std::int32_t* ways_out(const Plan& p, std::int32_t profile) {
    return p.node_out + std::int64_t{profile} * (p.directions + 1);
}

// Brings what has arrived of it into order, by direction.
inline void line_up_arrivals(const Plan& p, double* record, std::int32_t profile) {
    const std::int32_t* ways = ways_out(p, profile);
    for (const std::int32_t* way = ways + 1; way <= ways + ways[0]; ++way) {
        double* first = record + kHead + *way * p.transports;
        std::sort(first, first + p.transports);
    }
}

// What the ranks of a node have to send, one rank after the other; returns where each ends.
inline std::int64_t waiting(const Plan& p, const Window& window, std::int64_t node, Leaving* out,
                            std::int64_t* ends, std::int32_t* next) {
    std::int64_t n = 0, k = 0;
    for (std::int64_t i = p.node_start[node]; i < p.node_start[node + 1]; ++i, ++k) {
        const std::int64_t rank = p.node_rank[i];
        const std::int32_t profile = p.rank_profile[rank];
        double* record = record_at(window, rank);
        double latest = -kInf;
        const std::int64_t begin = n;
        leaving(p, record, profile, next, [&](const Item& item, std::int32_t t, std::int32_t d) {
            const double at = comes(p, record, profile, item, t, d), tick = ticks(at);
            latest = tick > latest ? tick : latest;
            out[n++] = {latest, at, record, item};
        });
        if (p.keeps_turns && p.vcis > 1) line_up_leaving(out + begin, out + n);
        ends[k] = n;
    }
    return n;
}

// Brings sorted lists, one after the other, into one order; of equals the earlier list's come first.
inline Leaving* merged(Leaving* from, Leaving* to, std::int64_t* ends, std::int64_t lists) {
    while (lists > 1) {
        std::int64_t begin = 0, made = 0;
        for (std::int64_t k = 0; k < lists; k += 2) {
            const std::int64_t middle = ends[k], end = k + 1 < lists ? ends[k + 1] : middle;
            std::merge(from + begin, from + middle, from + middle, from + end, to + begin, before);
            ends[made++] = begin = end;
        }
        std::swap(from, to);
        lists = made;
    }
    return from;
}

// A message of an epoch that ends when all are known to have arrived.
inline void flush(const Plan& p, double* record, std::int32_t kind, double arrives) {
    const double known = arrives + p.ack[kind];
    record[kDone] = std::max(record[kDone], known + p.closing);
    record[kNotify] = std::max(record[kNotify], known + p.told);
}

// A message that came to the adapter at `at` has left at `left`.
inline void land(const Plan& p, double* record, const Item& item, double at, double left) {
    const double arrives = left + p.travel[item.kind];
    record[item.slot] = tagged(p, item.number, arrives);
    if (arrives <= record[kJoin]) record[kEarly] += 1;
    if (p.late_done[item.kind]) record[kDone] = std::max({record[kDone], at, left + p.completes[item.kind]});
    if (p.confirmed) flush(p, record, item.kind, arrives);
}

}  // namespace
}  // namespace pready
