// W ranks on their way through an exchange: who they are, their times, and memory to work in.
#pragma once

#include "draws.hpp"

namespace pready {
namespace {

// What messages of W ranks in one direction meet, which lie differently in their nodes.
struct Way {
    V service, travel, ack, completes;
    I there;  // somebody is
    I own;    // stays within the node: through the rank's own NIC
    I late;   // and completes later than it is issued

    // Each lane's own.
    static Way of(const Way* const* ways) {
        const auto lanes = [&](auto field) {
            const double* from[W];
            for (int l = 0; l < W; ++l) from[l] = reinterpret_cast<const double*>(&(ways[l]->*field)) + l;
            return collect(from, 0);
        };
        const auto masks = [&](auto field) { return reinterpret_cast<I>(lanes(field)); };
        return {lanes(&Way::service), lanes(&Way::travel), lanes(&Way::ack), lanes(&Way::completes),
                masks(&Way::there), masks(&Way::own), masks(&Way::late)};
    }
};

// The ways of W ranks: those of most others of a block are the same.
struct Ways {
    Way* way;              // [directions]
    std::int32_t* inside;  // [directions][W]: in which directions a lane's messages stay within its node, then -1
    int most;              // of these, in any lane
    std::int32_t profile[W];
};

constexpr int kWays = 4;  // so many are kept

// What messages of one source meet on their way to W ranks.
struct Origin {
    V service;  // of the receiver's port; 0 within a node
    V travel, receive;
    I own;   // they do not come through the port
    I kind;  // their class, of few
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
    V* gate;         // [directions]
    V* posted;       // [directions]
    const double** source;   // [sources * W]: records; `nobody` where there is no neighbour
    const double** arrivals; // [sources * W]: the first of the messages that come from there
    double* nobody;          // a record of what is never
    V* lag;                 // [sources]: place in a burst, in seconds
    V* through;             // the same as `key`: when messages are through the port
    V* served;              // [vcis]: when a VCI has received all
    V* later;               // [vcis]: by how much a VCI is slower than the port; what it receives last
    V* ends;                // [threads]: their last marks
    V* busy;                // [threads]: until when they issue, of those messages that a VCI has issued so far
    double** next;          // [directions * W]: where a record has the next message to leave
    std::int32_t* kind;     // [sources * W]: the class of the messages that come from there
    const double** permits;  // [directions * W]: when a receiver lets its senders go; `nobody` where there is none
    const double** posts;    // the same: when it posts its receives
    const double** enters;   // the same: when it can say what it has received
    const double** ports;    // the same: what lay in its port in the round before, or when it answers
    V* sent;                // mapped: [jobs] by number
    V* hold_inside;         // [directions], of a lane's messages that stay within its node
    std::int32_t* inside;   // [directions]: in which some do
    Ways ways[kWays];       // with nodes
    int known;              // of these, so far
    Origin* origin;         // of several classes: [sources]
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
    out.gate = take(d);
    out.posted = take(d);
    out.source = reinterpret_cast<const double**>(take(p.sources));
    out.arrivals = reinterpret_cast<const double**>(take(p.sources));
    out.nobody = reinterpret_cast<double*>(take((p.record + W - 1) / W));
    out.lag = take(p.sources);
    out.through = take(wide_size);
    out.served = take(v);
    out.later = take(v);
    out.ends = take(p.threads);
    out.busy = take(p.threads);
    out.next = reinterpret_cast<double**>(take(d));
    out.kind = reinterpret_cast<std::int32_t*>(take(p.sources));
    out.permits = reinterpret_cast<const double**>(take(d));
    out.posts = reinterpret_cast<const double**>(take(d));
    out.enters = reinterpret_cast<const double**>(take(d));
    out.ports = reinterpret_cast<const double**>(take(d));
    out.sent = take(p.mapped ? p.jobs : 0);
    out.raw = take(std::int64_t{p.threads} * p.theta);
    out.hold_inside = take(d);
    out.inside = reinterpret_cast<std::int32_t*>(take(d));
    for (Ways& ways : out.ways) {
        const std::int64_t each = p.nodes > 0 ? d : 0;
        ways.way = reinterpret_cast<Way*>(take(each * static_cast<std::int64_t>(sizeof(Way) / sizeof(V))));
        ways.inside = reinterpret_cast<std::int32_t*>(take(each));
    }
    out.origin = reinterpret_cast<Origin*>(take(p.sources * static_cast<std::int64_t>(sizeof(Origin) / sizeof(V))));
    if (s) *s = out;
    return used;
}

// The class of what a rank of a profile sends in a direction.
inline std::int32_t class_of(const Plan& p, std::int32_t profile, std::int64_t direction) {
    return p.direction_class[std::int64_t{profile} * p.directions + direction];
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
    scatter_rows(to, rows, nullptr, count);
}

// W ranks on their way through an exchange; times since their starts.
struct Exchange {
    V start;     // absolute
    int round;   // of those in which it sends (kRounds)
    bool waits;  // its go-aheads, behind what lies in ports
    V nic;       // when the NIC is free
    V turn;      // when a shaped link would be, had all left at its rate
    V join;      // when the threads have met
    V attended;  // when one of them is inside MPI, so that what waits for the link moves
    V messages;  // to how many neighbours
    V issued = wide(-kInf), left = wide(-kInf), done = wide(-kInf), notify = wide(-kInf);
    V arrived = wide(-kInf);  // with a passive epoch: and acknowledged
    // When all are through a port that nobody shares, and through one that sharing slows down.
    V alone = wide(-kInf), slowed = wide(-kInf);
    // Sweep: by direction, when the last message has left, had what may go to the other peer shared the cable with it.
    V shared[2] = {wide(-kInf), wide(-kInf)};
    V early{};                // messages that arrive before the rank's own join
};

// What stands of each rank in a row of all ranks.
inline V of_ranks(const Senders& g, const double* row) {
    const double* from[W];
    for (int l = 0; l < W; ++l) from[l] = row + g.rank[l];
    return collect(from, 0);
}

inline Exchange begin(const Plan& p, const State& state, const Senders& g, int round) {
    Exchange x;
    x.round = round;
    x.waits = p.queues && (round > 0 || !p.keeps_ports);
    x.start = of_ranks(g, state.start);
    x.nic = of_ranks(g, state.nic);
    x.turn = p.shaped ? of_ranks(g, state.turn) : wide(-kInf);
    if (g.alike) {
        x.messages = wide(p.degree[g.profile[0]]);
    } else {
        for (int l = 0; l < W; ++l) x.messages[l] = p.degree[g.profile[l]];
    }
    x.nic -= x.start;
    x.turn -= x.start;
    return x;
}

}  // namespace
}  // namespace pready
