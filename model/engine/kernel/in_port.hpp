// Ports that are overrun: more comes to a rank than it sends. What lies there when an exchange is over is in the way of
// the next, and a receiver's word goes back behind it.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "receive.hpp"

namespace pready {
namespace {

inline double untagged(const Plan& p, double arrival) {
    std::int64_t bits;
    std::memcpy(&bits, &arrival, sizeof bits);
    bits &= ~p.vci_bits;
    std::memcpy(&arrival, &bits, sizeof bits);
    return arrival;
}

// A message that comes to a port.
struct Coming {
    double since;  // in whole picoseconds, then by number
    std::int64_t number;
    double left;
    const double* arrived;
    double* through;
    std::int32_t kind;

    bool operator<(const Coming& other) const {
        return since < other.since || (since == other.since && number < other.number);
    }
};

// What comes to a rank, one edge after the other.
inline void of_edges(const Plan& p, const Window& window, std::int64_t rank, std::vector<Coming>& all) {
    all.clear();
    for (std::int64_t e = p.in_start[rank]; e < p.in_start[rank + 1]; ++e) {
        const std::int64_t from = p.in_rank[e], first = std::int64_t{p.in_slot[e]} * p.transports;
        const std::int32_t c = class_of(p, p.placed ? p.rank_profile[from] : 0, p.in_slot[e]);
        double* record = record_at(window, from);
        for (std::int64_t i = first; i < first + p.transports; ++i) {
            const double* arrived = record + kHead + i;
            const double left = untagged(p, *arrived) - p.travel[c];
            const auto number = static_cast<std::int64_t>(all.size());
            all.push_back({ticks(left), number, left, arrived, record + p.through + i, c});
        }
    }
}

inline void pass_port(const Plan& p, const State& state, std::int64_t rank, std::vector<Coming>& all) {
    std::sort(all.begin(), all.end());
    Through<double> port{state.in_port[rank], state.in_turn[rank]};
    for (const Coming& m : all) {
        const double begun = port.next(m.left, p.service[m.kind], p.shaped ? p.drain[m.kind] : 0.0, p.credit[m.kind]);
        const double arrived = begun + p.travel[m.kind];
        std::int64_t bits, about;
        std::memcpy(&bits, &arrived, sizeof bits);
        std::memcpy(&about, m.arrived, sizeof about);
        bits = (bits & ~p.vci_bits) | (about & p.vci_bits);
        std::memcpy(m.through, &bits, sizeof bits);
    }
    state.in_port[rank] = port.free;
    state.in_turn[rank] = port.turn;
}

// When a rank's sends are done that end with their receivers' words.
inline double heard(const Plan& p, const double* record, std::int64_t rank, double done) {
    const auto there = static_cast<std::int32_t>(p.out_start[rank + 1] - p.out_start[rank]);
    const std::int32_t profile = p.placed ? p.rank_profile[rank] : 0;  // without their own all profiles agree
    for (std::int32_t d = 0; d < there; ++d) {
        const std::int32_t c = class_of(p, profile, d);
        const double last = untagged(p, record[p.through + (d + 1) * p.transports - 1]);
        if (p.delivered[c]) done = std::max(done, last + p.returned[c]);
    }
    return done;
}

}  // namespace
}  // namespace pready
