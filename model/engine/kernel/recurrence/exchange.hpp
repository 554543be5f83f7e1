// W ranks on their way through an exchange: who they are, their times, and memory to work in.
#pragma once

#include <algorithm>
#include <utility>

#include "recurrence/draws.hpp"

namespace pready {
namespace {

// Costs of what W ranks send in one direction.
struct Way {
    V service, travel, ack, completes;
    I there;  // a neighbour is
    I own;    // through the rank's own adapter, not its node's
};

// Costs of what W ranks receive from one source.
struct Origin {
    V service;  // of the receiver's port; 0 within a node
    V travel, receive;
    I own;   // not through the port
    I kind;  // class, of few
};

// A message on its way to one rank that works on it.
struct Coming {
    double at;      // leaves, arrives, is received: in turn
    double since;   // the same in whole picoseconds, after the rank can receive
    std::int32_t source, number, vci;
};

// Memory of one worker, a few KiB for the usual numbers of messages.
struct Scratch {
    V* starts;  // [jobs]
    V* queue;   // [jobs]
    V* key;     // [transports * max(directions, sources)]
    V* along;   // the same
    I* id;      // the same
    V* hold;         // [directions]
    V* hold_behind;  // [vcis]
    V* gate;         // [directions][groups]: when receivers answer, since the ranks' starts
    V* posted;       // [directions]: when they post their receives
    V* in_mpi;       // [groups]: from when on a thread of the rank itself is in MPI, since its start
    V* floor;        // [groups]: from when on a rank receives, absolute
    const double** source;   // [sources * W]: records; `nobody` where there is no neighbour
    const double** arrivals; // [sources * W]: the first of the messages that come from there
    double* nobody;          // a record of what is never
    V* through;             // the same as `key`: when messages are through the port
    V* served;              // [vcis]: when a VCI has received all
    V* later;               // [vcis]: by how much a VCI is slower than the port; when it has received its last
    double** next;          // [directions * W]: where a record has the next message to leave
    std::int32_t* kind;     // [sources * W]: the class of the messages that come from there
    std::int32_t* slot;     // mapped: the same: their sender's direction
    const double** permits;  // [directions * W]: when a receiver answers; `nobody` where there is none
    const double** posts;    // the same: when it posts its receives
    V* sent;                // mapped: [jobs] by number
    Way* ways;              // [directions]
    std::int32_t* ways_of;  // [W]: the profiles that they are of
    Origin* origin;         // of several classes: [sources]
    Coming* coming;         // [sources * transports], where a receiver is consuming
    Coming* consumers;      // [consumers]: when each is free
    V* raw;                 // [threads * theta], for tests
};

inline std::int64_t carve(const Plan& p, Scratch* s, char* memory) {
    const std::int64_t t = p.transports, d = p.directions, v = p.vcis;
    const std::int64_t wide_size = t * (d > p.sources ? d : p.sources);
    std::int64_t used = 0;
    const auto take = [&](std::int64_t n) {
        char* at = memory + used;
        used += n * static_cast<std::int64_t>(sizeof(V));
        return reinterpret_cast<V*>(at);
    };
    Scratch out{};
    out.starts = take(p.jobs);
    out.queue = take(p.jobs);
    out.key = take(wide_size);
    out.along = take(wide_size);
    out.id = reinterpret_cast<I*>(take(wide_size));
    out.hold = take(d);
    out.hold_behind = take(v);
    out.gate = take(d * p.groups);
    out.posted = take(d);
    out.in_mpi = take(p.groups);
    out.floor = take(p.groups);
    out.source = reinterpret_cast<const double**>(take(p.sources));
    out.arrivals = reinterpret_cast<const double**>(take(p.sources));
    out.nobody = reinterpret_cast<double*>(take((p.record + W - 1) / W));
    out.through = take(wide_size);
    out.served = take(v);
    out.later = take(v);
    out.next = reinterpret_cast<double**>(take(d));
    out.kind = reinterpret_cast<std::int32_t*>(take(p.sources));
    out.slot = reinterpret_cast<std::int32_t*>(take(p.sources));
    out.permits = reinterpret_cast<const double**>(take(d));
    out.posts = reinterpret_cast<const double**>(take(d));
    out.sent = take(p.mapped ? p.jobs : 0);
    out.raw = take(std::int64_t{p.threads} * p.theta);
    out.ways = reinterpret_cast<Way*>(take(d * static_cast<std::int64_t>(sizeof(Way) / sizeof(V))));
    out.ways_of = reinterpret_cast<std::int32_t*>(take(1));
    out.origin = reinterpret_cast<Origin*>(take(p.sources * static_cast<std::int64_t>(sizeof(Origin) / sizeof(V))));
    const auto comings = [&](std::int64_t n) {
        constexpr std::int64_t each = sizeof(V);
        return reinterpret_cast<Coming*>(take((n * static_cast<std::int64_t>(sizeof(Coming)) + each - 1) / each));
    };
    out.coming = comings(p.consumers == 0 ? 0 : t * p.sources);
    out.consumers = comings(p.consumers);
    if (s) *s = out;
    return used;
}

// The group of threads that makes progress for a VCI.
inline int group_of(const Plan& p, int vci) { return p.groups == 1 ? 0 : vci; }

// The class of what a rank of a profile sends in a direction.
inline std::int32_t class_of(const Plan& p, std::int32_t profile, std::int64_t direction) {
    return p.direction_class[std::int64_t{profile} * p.directions + direction];
}

inline bool present(const Plan& p, std::int32_t profile, std::int64_t direction) {
    return p.present[std::int64_t{profile} * p.directions + direction];
}

// W ranks as a send sees them. Lanes beyond `count` repeat the last rank.
struct Senders {
    int count = W;
    std::int64_t rank[W];
    std::int32_t profile[W];
    bool alike = true;  // all profiles the same
    double* record[W];
};

// In a loop that is unrolled: lanes beyond `count` come first, and the rank that they repeat has the last word.
inline void store(const Senders& g, int at, V x) {
    for (int l = W - 1; l >= 0; --l) g.record[l][at] = x[l];
}

// The same of so many values in a row.
inline void store_rows(const Senders& g, std::int64_t at, const V* rows, std::int64_t count) {
    if (g.count < W) {
        for (std::int64_t i = 0; i < count; ++i) store(g, static_cast<int>(at + i), rows[i]);
        return;
    }
    double* to[W];
    for (int l = 0; l < W; ++l) to[l] = g.record[l] + at;
    scatter_rows(to, rows, count);
}

// W ranks on their way through an exchange; times since their starts.
struct Exchange {
    V start;     // absolute
    V nic;       // when the NIC is free
    V join;      // when the threads have met
    V messages;  // to how many neighbours
    V issued = wide(-kInf), done = wide(-kInf), notify = wide(-kInf);
    V arrived = wide(-kInf);  // with a passive epoch: and acknowledged
    V early{};                // messages that arrive before the rank's own join
};

// One number of each rank, from a row of all ranks.
inline V of_ranks(const Senders& g, const double* row) {
    const double* from[W];
    for (int l = 0; l < W; ++l) from[l] = row + g.rank[l];
    return collect(from, 0);
}

inline Exchange begin(const State& state, const Plan& p, const Senders& g) {
    Exchange x;
    x.start = of_ranks(g, state.start);
    x.nic = of_ranks(g, state.nic) - x.start;
    for (int l = 0; l < W; ++l) x.messages[l] = p.degree[g.profile[l]];
    return x;
}

// `ways` of these ranks; those of the last are often the same.
inline void fill_ways(const Plan& p, Scratch& s, const Senders& g) {
    if (std::equal(g.profile, g.profile + W, s.ways_of)) return;
    std::copy_n(g.profile, W, s.ways_of);
    for (int d = 0; d < p.directions; ++d) {
        Way& way = s.ways[d];
        for (int l = 0; l < W; ++l) {
            const std::int32_t c = class_of(p, g.profile[l], d);
            way.there[l] = present(p, g.profile[l], d) ? -1 : 0;
            way.own[l] = p.nodes > 0 && !p.inside[c] ? 0 : way.there[l];
            way.service[l] = p.service[c];
            way.travel[l] = p.travel[c];
            way.ack[l] = p.confirmed ? p.ack[c] : 0.0;
            way.completes[l] = p.completes[c];
        }
    }
}

// Each lane's own of W directions.
inline Way way_of(const Scratch& s, const std::int64_t (&direction)[W]) {
    const auto lanes = [&](auto field) {
        const double* from[W];
        for (int l = 0; l < W; ++l) from[l] = reinterpret_cast<const double*>(&(s.ways[direction[l]].*field)) + l;
        return collect(from, 0);
    };
    const auto masks = [&](auto field) { return reinterpret_cast<I>(lanes(field)); };
    return {lanes(&Way::service),   lanes(&Way::travel), lanes(&Way::ack),
            lanes(&Way::completes), masks(&Way::there),  masks(&Way::own)};
}

// A time that keeps the tag of another one of its message, in its last bits, where that matters.
inline V tagged_as(const Plan& p, V other, V time) {
    return reinterpret_cast<V>((reinterpret_cast<I>(time) & ~p.vci_bits) | (reinterpret_cast<I>(other) & p.vci_bits));
}

}  // namespace
}  // namespace pready
