// Ranks of a tree: what comes from above is ready to go on below, message by message.
#pragma once

#include "recurrence/receive.hpp"

namespace pready {
namespace {

// When what comes to W ranks is received, message by message: fills `s.starts`, since their `start`, with what each job
// then waits for. One thread receives all, or each VCI's messages its own; where MPI tells of the whole only, nothing is
// known before the last. `join` is when the root's threads meet.
inline Ready relay(const Plan& p, Scratch& s, V start, V join) {
    const int servers = p.tags ? p.vcis : 1;
    double cost = p.receive[0];
    if (p.per_entry > 0) cost += p.per_entry * (static_cast<double>(p.transports) / p.vcis - p.in_order) / 2;
    auto* ends = reinterpret_cast<double*>(s.later);
    auto* taken = reinterpret_cast<std::int64_t*>(s.served);
    for (int v = 0, first = 0; v < servers; first += p.vci_size[v++]) {
        s.later[v] = s.floor[group_of(p, v)] - start;
        for (int l = 0; l < W; ++l) taken[v * W + l] = first;
    }
    V first = wide(kInf), last = wide(-kInf);
    for (int i = 0; i < p.transports; ++i) {
        const V arrival = collect(s.arrivals, i), since = arrival - start;
        for (int l = 0; l < W; ++l) {
            const std::int64_t v = p.tags ? reinterpret_cast<I>(arrival)[l] & p.vci_bits : 0;
            double& end = ends[v * W + l];
            end = larger(since[l], end) + cost;
            const double ready = end;
            s.starts[p.vci_members[taken[v * W + l]++]][l] = ready;
            first[l] = ready < first[l] ? ready : first[l];
            last[l] = larger(last[l], ready);
        }
    }
    for (int t = 0; !p.tells && t < p.jobs; ++t) {
        s.starts[t] = last;
        if (t == 0) first = last;
    }
    return {first, last, join - start};
}

}  // namespace
}  // namespace pready
