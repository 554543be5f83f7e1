// Step 4 of the timeline where ranks share a node: its adapter takes what leaves the node, rank by rank in the order
// of time.
#pragma once

#include "recurrence/leave.hpp"

namespace pready {
namespace {

// A message that waits for its node's adapter, which a rank's record has at `slot`.
struct Leaving {
    std::uint64_t tick;  // whole picoseconds since the first: rounding alone must not order ranks in step
    std::uint32_t rank;
    std::int32_t slot;
};

inline std::int64_t most_leaving(const Plan& p) {
    std::int64_t most = 0;
    for (std::int64_t n = 0; n < p.nodes; ++n) most = std::max(most, p.node_start[n + 1] - p.node_start[n]);
    return most * p.transports * p.directions;
}

// Bytes of memory for `share_adapter`.
inline std::int64_t node_scratch_size(const Plan& p) {
    return 2 * most_leaving(p) * static_cast<std::int64_t>(sizeof(Leaving)) + (p.directions + 1) * 8;
}

// Calls `each` with the slot of each message of a rank that leaves the node, in its order; `out` is memory to work in.
template <class Each>
inline void leaving(const Plan& p, const double* record, std::int32_t profile, std::int32_t* out, const Each& each) {
    if (p.lists_leaving) {
        const double* list = record + p.leaving;
        for (auto count = static_cast<std::int64_t>(*list); count > 0; --count)
            each(static_cast<std::int32_t>(*++list));
        return;
    }
    std::int32_t* to = out;  // directions in which messages leave
    for (std::int32_t d = 0; d < p.directions; ++d) {
        *to = d;
        to += present(p, profile, d) && !p.inside[class_of(p, profile, d)] ? 1 : 0;
    }
    for (std::int32_t t = 0; t < p.transports; ++t) {
        for (const std::int32_t* d = out; d < to; ++d) each(kHead + *d * p.transports + t);
    }
}

// What the ranks of a node have to send, one rank after the other.
inline std::int64_t waiting(const Plan& p, const Window& window, std::int64_t node, Leaving* out,
                            std::int32_t* directions) {
    double first = kInf;
    for (std::int64_t i = p.node_start[node]; i < p.node_start[node + 1]; ++i)
        first = std::min(first, record_at(window, p.node_rank[i])[kFirst]);  // no message leaves before its partition
    first = ticks(first);
    std::int64_t n = 0;
    for (std::int64_t i = p.node_start[node]; i < p.node_start[node + 1]; ++i) {
        const std::int64_t rank = p.node_rank[i];
        const double* record = record_at(window, rank);
        double latest = 0;
        leaving(p, record, p.rank_profile[rank], directions, [&](std::int32_t slot) {
            latest = larger(latest, ticks(record[slot]) - first);
            out[n++] = {static_cast<std::uint64_t>(latest), static_cast<std::uint32_t>(rank), slot};
        });
    }
    return n;
}

// In the order of time, then as they come: few by comparing, many by their digits from the last to the first.
inline const Leaving* in_order(Leaving* from, Leaving* to, std::int64_t count) {
    constexpr std::int64_t kFewLeaving = 128;
    constexpr int kDigit = 9, kValues = 1 << kDigit;
    if (count < kFewLeaving) {
        std::stable_sort(from, from + count, [](const Leaving& a, const Leaving& b) { return a.tick < b.tick; });
        return from;
    }
    std::uint64_t all = 0;
    for (std::int64_t i = 0; i < count; ++i) all |= from[i].tick;
    for (int shift = 0; shift < 64 && all >> shift > 0; shift += kDigit) {
        std::int32_t at[kValues] = {};
        for (std::int64_t i = 0; i < count; ++i) ++at[from[i].tick >> shift & (kValues - 1)];
        std::int32_t before = 0;
        for (std::int32_t& x : at) before += std::exchange(x, before);
        for (std::int64_t i = 0; i < count; ++i) to[at[from[i].tick >> shift & (kValues - 1)]++] = from[i];
        std::swap(from, to);
    }
    return from;
}

// A message of class c that came to the adapter has left at `left`; its slot, where a tag is kept, tells when it came.
inline void land(const Plan& p, double* record, double& slot, std::int32_t c, double left) {
    const double came = slot, arrives = left + p.travel[c];
    slot = tagged_as(p, wide(came), wide(arrives))[0];
    if (arrives <= record[kJoin]) record[kEarly] += 1;
    record[kDone] = larger(record[kDone], left + p.completes[c]);
    if (!p.confirmed) return;
    const double known = arrives + p.ack[c];
    record[kDone] = std::max(record[kDone], known + p.closing);
    record[p.notify] = std::max(record[p.notify], known + p.told);
}

inline void share_adapter(const Plan& p, const State& state, const Window& window, void* memory, std::int64_t node) {
    auto* some = static_cast<Leaving*>(memory);
    auto* directions = reinterpret_cast<std::int32_t*>(some + 2 * most_leaving(p));
    const std::int64_t count = waiting(p, window, node, some, directions);
    const Leaving* order = in_order(some, some + most_leaving(p), count);
    double free = state.adapter[node];
    for (std::int64_t i = 0; i < count; ++i) {
        const Leaving& m = order[i];
        double* record = record_at(window, m.rank);
        const std::int32_t c = class_of(p, p.rank_profile[m.rank], p.slot_direction[m.slot]);
        const double left = larger(record[m.slot], free);
        free = left + p.shared[c];
        land(p, record, record[m.slot], c, left);
    }
    state.adapter[node] = free;
}

}  // namespace
}  // namespace pready
