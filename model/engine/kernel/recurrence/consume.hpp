// Receivers that start early: the threads of a rank work on user partitions as these come, rank by rank.
#pragma once

#include <algorithm>

#include "recurrence/receive.hpp"

namespace pready {
namespace {

// Into the order in which they come; in the same picosecond by source, then as they left.
inline void line_up(Coming* first, Coming* last, double since) {
    for (Coming* c = first; c < last; ++c) c->since = ticks(c->at - since);
    std::sort(first, last, [](const Coming& a, const Coming& b) {
        if (a.since != b.since) return a.since < b.since;
        return a.source != b.source ? a.source < b.source : a.number < b.number;
    });
}

// The messages that come to one lane's rank, as they left; returns where they end.
inline Coming* comings_of(const Plan& p, const Scratch& s, int l) {
    Coming* to = s.coming;
    for (std::int32_t j = 0; j < p.sources; ++j) {
        const double* arrivals = s.arrivals[j * W + l];
        for (std::int32_t i = 0; i < p.transports && arrivals[i] > -kInf; ++i) {
            std::int64_t bits;
            std::memcpy(&bits, arrivals + i, sizeof bits);
            *to++ = {arrivals[i] - s.origin[j].travel[l], 0.0, j, i, static_cast<std::int32_t>(bits & p.vci_bits)};
        }
    }
    return to;
}

// When each of them is received: through the port, and by the server of its VCI.
inline void receive_each(const Plan& p, const Scratch& s, int l, Coming* last, double floor) {
    line_up(s.coming, last, floor);
    double free = -kInf;
    for (Coming* c = s.coming; c < last; ++c) {
        const Origin& from = s.origin[c->source];
        double begun = c->at;
        if (!from.own[l]) {
            begun = std::max(begun, free);
            free = begun + from.service[l];
        }
        c->at = begun + from.travel[l];
    }
    if (p.receivers == Receivers::none) return;
    line_up(s.coming, last, floor);
    for (int v = 0; v < (p.tags ? p.vcis : 1); ++v) s.served[v][l] = p.tags ? s.floor[group_of(p, v)][l] : floor;
    for (Coming* c = s.coming; c < last; ++c) {
        const int v = p.tags ? c->vci : 0;
        s.served[v][l] = c->at = std::max(s.served[v][l], c->at) + s.origin[c->source].receive[l];
    }
}

// When the threads have worked on all that has come; the exchange is `told` to be over then, without this work, and
// they have nothing else to do from `free` on.
inline V consume(const Plan& p, Scratch& s, V told, V free, int count) {
    const auto later = [](const Coming& a, const Coming& b) { return a.at > b.at; };
    V end = told;
    for (int l = 0; l < count; ++l) {
        double floor = s.floor[0][l];
        for (int i = 1; i < p.groups; ++i) floor = std::min(floor, s.floor[i][l]);
        Coming* const last = comings_of(p, s, l);
        receive_each(p, s, l, last, floor);
        for (Coming* c = s.coming; c < last; ++c) c->at = p.tells ? c->at + p.tested : told[l] + p.released;
        line_up(s.coming, last, floor);
        Coming *const threads = s.consumers, *const threads_end = threads + p.consumers;
        std::fill(threads, threads_end, Coming{free[l], 0.0, 0, 0, 0});
        for (const Coming* c = s.coming; c < last; ++c) {
            const double work = p.work[s.kind[c->source * W + l]];
            for (int i = 0; i < p.received_in; ++i) {
                std::pop_heap(threads, threads_end, later);
                double& at = threads_end[-1].at;
                at = std::max(at, c->at) + work;
                end[l] = std::max(end[l], at);
                std::push_heap(threads, threads_end, later);
            }
        }
    }
    return end;
}

}  // namespace
}  // namespace pready
