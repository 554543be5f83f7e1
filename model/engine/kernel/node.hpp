// Step 4 of the timeline where ranks share a node: its adapter takes what leaves the node, rank by rank in the order
// of time.
#pragma once

#include "leave.hpp"

namespace pready {
namespace {

// A message that waits for its node's adapter.
struct Leaving {
    double tick;  // whole picoseconds: rounding alone must not order ranks in step
    double at;
    double* record;
    std::int32_t slot, number, kind;
};

// What the ranks of a node have to send, one rank after the other, each in its order; returns where each ends.
inline std::int64_t waiting(const Plan& p, const Window& window, std::int64_t node, Leaving* out,
                            std::int64_t* ends, std::int32_t* next) {
    std::int64_t n = 0, k = 0;
    for (std::int64_t i = p.node_start[node]; i < p.node_start[node + 1]; ++i, ++k) {
        const std::int64_t rank = p.node_rank[i];
        const std::int32_t profile = p.rank_profile[rank];
        double* record = record_at(window, rank);
        const double* list = record + p.leaving;
        double latest = -kInf;
        std::fill_n(next, p.directions, 0);
        for (auto count = static_cast<std::int64_t>(*list); count > 0; --count) {
            const auto number = static_cast<std::int32_t>(*++list);
            const std::int32_t d = p.message_direction[number], slot = kHead + d * p.transports + next[d]++;
            latest = larger(latest, ticks(record[slot]));
            out[n++] = {latest, record[slot], record, slot, number, class_of(p, profile, d)};
        }
        ends[k] = n;
    }
    return n;
}

// Brings sorted lists, one after the other, into one order; of equals the earlier list's come first.
inline Leaving* merged(Leaving* from, Leaving* to, std::int64_t* ends, std::int64_t lists) {
    const auto before = [](const Leaving& a, const Leaving& b) { return a.tick < b.tick; };
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

// A message that came to the adapter has left at `left`.
inline void land(const Plan& p, const Leaving& m, double left) {
    double* record = m.record;
    const double arrives = left + p.travel[m.kind];
    record[m.slot] = tagged(p, m.number, arrives);
    if (arrives <= record[kJoin]) record[kEarly] += 1;
    record[kDone] = std::max({record[kDone], m.at, left + p.completes[m.kind]});
    if (!p.confirmed) return;
    const double known = arrives + p.ack[m.kind];
    record[kDone] = std::max(record[kDone], known + p.closing);
    record[kNotify] = std::max(record[kNotify], known + p.told);
}

inline std::int64_t most_ranks(const Plan& p) {
    std::int64_t most = 0;
    for (std::int64_t n = 0; n < p.nodes; ++n) most = std::max(most, p.node_start[n + 1] - p.node_start[n]);
    return most;
}

// Bytes of memory for `share_adapter`.
inline std::int64_t node_scratch_size(const Plan& p) {
    const std::int64_t messages = most_ranks(p) * p.transports * p.directions;
    return 2 * messages * static_cast<std::int64_t>(sizeof(Leaving)) + (most_ranks(p) + p.directions) * 8;
}

inline void share_adapter(const Plan& p, const State& state, const Window& window, void* memory, std::int64_t node) {
    const std::int64_t most = most_ranks(p) * p.transports * p.directions;
    auto* one = static_cast<Leaving*>(memory);
    auto* ends = reinterpret_cast<std::int64_t*>(one + 2 * most);
    auto* next = reinterpret_cast<std::int32_t*>(ends + most_ranks(p));
    const std::int64_t count = waiting(p, window, node, one, ends, next);
    const Leaving* order = merged(one, one + most, ends, p.node_start[node + 1] - p.node_start[node]);
    double free = state.adapter[node];
    for (std::int64_t i = 0; i < count; ++i) {
        const double left = larger(order[i].at, free);
        free = left + p.service[order[i].kind];
        land(p, order[i], left);
    }
    state.adapter[node] = free;
}

}  // namespace
}  // namespace pready
