// The adapters of W nodes at once: as node.hpp, with a network of comparators in place of merging.
#pragma once

#include "node.hpp"

namespace pready {
namespace {

// The messages that leave W nodes, rank by rank; a rank that sends less than another node's has some that never come.
struct Abreast {
    V* at;            // [size]: when each comes to the adapter
    V* key;           // [size]: what it is sorted by
    V* left;          // [size]
    Item* item;       // [size * W]; where a rank's lanes are alike, only the first is told
    double** record;  // [ranks of a node * W]
    std::uint8_t* alike;  // [ranks of a node]: the same messages in all lanes

    static std::int64_t carve(const Plan& p, Abreast* a, char* memory) {
        const std::int64_t size = p.node_network.size, ranks = size > 0 ? p.node_start[1] : 0;
        std::int64_t used = 0;
        const auto take = [&](std::int64_t bytes) {
            char* at = memory + used;
            used += (bytes + 63) / 64 * 64;
            return at;
        };
        constexpr auto wide_bytes = static_cast<std::int64_t>(sizeof(V));
        Abreast out{};
        out.at = reinterpret_cast<V*>(take(size * wide_bytes));
        out.key = reinterpret_cast<V*>(take(size * wide_bytes));
        out.left = reinterpret_cast<V*>(take(size * wide_bytes));
        out.item = reinterpret_cast<Item*>(take(size * W * static_cast<std::int64_t>(sizeof(Item))));
        out.record = reinterpret_cast<double**>(take(ranks * W * static_cast<std::int64_t>(sizeof(double*))));
        out.alike = reinterpret_cast<std::uint8_t*>(take(ranks));
        if (a) *a = out;
        return used;
    }
};

// Who is there, and when their messages come to the adapter.
inline void gather_nodes(const Plan& p, const Window& window, const std::int64_t* node, Abreast& a,
                         std::int32_t* next) {
    for (std::int64_t k = 0; k < p.node_start[1]; ++k) {
        double** record = a.record + k * W;
        std::int32_t profile[W];
        bool alike = !p.lists_leaving;
        for (int l = 0; l < W; ++l) {
            const std::int64_t rank = p.node_rank[p.node_start[node[l]] + k];
            record[l] = record_at(window, rank);
            profile[l] = p.rank_profile[rank];
            alike = alike && profile[l] == profile[0];
        }
        a.alike[k] = alike;
        const std::int64_t end = p.node_first[k + 1];
        if (alike) {
            std::int64_t m = p.node_first[k];
            const double* hold = p.hold + std::int64_t{profile[0]} * p.directions;
            const V start = collect(record, kStart);
            V turn{};
            std::int32_t of = -1;  // transport partition
            leaving(p, record[0], profile[0], next, [&](const Item& item, std::int32_t t, std::int32_t d) {
                if (p.keeps_turns && t != of) turn = collect(record, p.leaving + (of = t));
                a.at[m] = p.keeps_turns ? start + (turn + hold[d]) : collect(record, item.slot);
                a.item[m++ * W] = item;
            });
            for (; m < end; ++m) a.at[m] = wide(kInf);
            continue;
        }
        for (int l = 0; l < W; ++l) {
            std::int64_t m = p.node_first[k];
            leaving(p, record[l], profile[l], next, [&](const Item& item, std::int32_t t, std::int32_t d) {
                a.at[m][l] = comes(p, record[l], profile[l], item, t, d);
                a.item[m++ * W + l] = item;
            });
            for (; m < end; ++m) a.at[m][l] = kInf;
        }
    }
}

// By whole picoseconds, then rank by rank; false if they are too far apart for numbers in the last bits.
inline bool sort_nodes(const Plan& p, Abreast& a) {
    const Numbered numbered{p.node_numbers};
    const std::int64_t ranks = p.node_start[1];
    V base = wide(kInf), span = wide(-kInf);
    for (std::int64_t k = 0; k < ranks; ++k) {
        if (p.node_first[k] < p.node_first[k + 1]) base = smaller(base, ticks(a.at[p.node_first[k]]));
    }
    for (std::int64_t k = 0; k < ranks; ++k) {
        V latest = wide(-kInf);
        for (std::int64_t m = p.node_first[k]; m < p.node_first[k + 1]; ++m) {
            const I there = a.at[m] < kInf;
            latest = larger(latest, ticks(a.at[m]) - base);
            span = there ? larger(span, latest) : span;
            a.key[m] = numbered.of(there ? latest : wide(1e300), m);
        }
    }
    if (any(span * static_cast<double>(p.node_numbers + 1) >= 0x1p52)) return false;
    sort_values(p.node_network, a.key);
    return true;
}

// One after the other, in that order.
inline V serve_nodes(const Plan& p, Abreast& a, V free, std::int32_t only) {
    const Numbered numbered{p.node_numbers};
    const auto* at = reinterpret_cast<const double*>(a.at);
    auto* left = reinterpret_cast<double*>(a.left);
    V service = wide(p.service[only < 0 ? 0 : only]);
    for (int i = 0; i < p.node_network.size; ++i) {
        const I number = numbered.number(a.key[p.node_network.order[i]]);
        std::int64_t place[W];
        const I places = number * W;
        std::memcpy(place, &places, sizeof place);
        const double* from[W];
        for (int l = 0; l < W; ++l) from[l] = at + place[l] + l;
        const V comes = collect(from, 0), leaves = larger(comes, free);
        const I there = comes < kInf;
        for (int l = 0; only < 0 && l < W; ++l) {
            // Numbers of a rank that is alike in all lanes are told in the first.
            if (there[l]) service[l] = p.service[a.item[place[l] + (a.alike[p.node_owner[number[l]]] ? 0 : l)].kind];
        }
        free = there ? leaves + service : free;
        for (int l = 0; l < W; ++l) left[place[l] + l] = leaves[l];
    }
    return free;
}

// What they do to their ranks' records.
inline void land_nodes(const Plan& p, const Abreast& a, int count) {
    for (std::int64_t k = 0; k < p.node_start[1]; ++k) {
        double* const* record = a.record + k * W;
        const std::int64_t first = p.node_first[k], end = p.node_first[k + 1];
        if (!a.alike[k]) {
            for (int l = 0; l < count; ++l) {
                for (std::int64_t m = first; m < end && a.at[m][l] < kInf; ++m) {
                    land(p, record[l], a.item[m * W + l], a.at[m][l], a.left[m][l]);
                }
            }
            continue;
        }
        const V join = collect(record, kJoin);
        V early = collect(record, kEarly), done = collect(record, kDone), notify = collect(record, kNotify);
        for (std::int64_t m = first; m < end && a.at[m][0] < kInf; ++m) {
            const Item& it = a.item[m * W];
            const V arrives = a.left[m] + p.travel[it.kind];
            early = arrives <= join ? early + 1.0 : early;
            if (p.late_done[it.kind]) done = larger(done, larger(a.at[m], a.left[m] + p.completes[it.kind]));
            if (p.sync == Sync::passive) {
                const V flushed = arrives + p.ack[it.kind] + p.closing;
                done = larger(done, flushed);
                notify = larger(notify, flushed + p.control);
            }
            for (int l = 0; l < count; ++l) record[l][it.slot] = arrives[l];
        }
        for (int l = 0; l < count; ++l) {
            record[l][kEarly] = early[l];
            record[l][kDone] = done[l];
            record[l][kNotify] = notify[l];
        }
    }
}

// The adapters of `count` nodes from `first` on; false if they have to be taken one by one.
inline bool share_abreast(const Plan& p, const State& state, const Window& window, void* memory, std::int32_t only,
                          std::int64_t first, int count) {
    Abreast a;
    const std::int64_t used = Abreast::carve(p, &a, static_cast<char*>(memory));
    std::int64_t node[W];
    const double* adapter[W];
    for (int l = 0; l < W; ++l) {
        node[l] = first + (l < count ? l : count - 1);
        adapter[l] = state.adapter + node[l];
    }
    gather_nodes(p, window, node, a, reinterpret_cast<std::int32_t*>(static_cast<char*>(memory) + used));
    if (!sort_nodes(p, a)) return false;
    const V free = serve_nodes(p, a, collect(adapter, 0), only);
    land_nodes(p, a, count);
    for (int l = 0; l < count; ++l) state.adapter[node[l]] = free[l];
    return true;
}

}  // namespace
}  // namespace pready
