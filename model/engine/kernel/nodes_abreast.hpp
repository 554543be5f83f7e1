// The adapters of W nodes at once: as node.hpp, with a network of comparators in place of merging.
#pragma once

#include "node.hpp"

namespace pready {
namespace {

// The messages that leave W nodes, list by list: a rank's or, of several VCIs that keep turns, a VCI's. One that sends
// less than another node's has some that never come.
struct Abreast {
    V* at;            // [size]: when each comes to the adapter
    V* key;           // [size]: what it is sorted by
    V* left;          // [size]; of ranks that keep turns in place of `at`, which is never after `kDone`
    Item* item;       // [size * W]; where a rank's lanes are alike, only the first is told
    double** record;  // [ranks of a node * W]
    std::uint8_t* alike;  // [ranks of a node]: the same messages in all lanes
    V* row;               // [transports]: those of a rank to one other
    V* base;              // what the times in keys are counted from

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
        out.left = p.keeps_turns ? out.at : reinterpret_cast<V*>(take(size * wide_bytes));
        out.item = reinterpret_cast<Item*>(take(size * W * static_cast<std::int64_t>(sizeof(Item))));
        out.record = reinterpret_cast<double**>(take(ranks * W * static_cast<std::int64_t>(sizeof(double*))));
        out.alike = reinterpret_cast<std::uint8_t*>(take(ranks));
        out.row = reinterpret_cast<V*>(take(p.transports * wide_bytes));
        out.base = reinterpret_cast<V*>(take(wide_bytes));
        if (a) *a = out;
        return used;
    }
};

// Numbers messages in the order of a list: by whole picoseconds, none before the one in front.
struct Keys {
    Numbered numbered;
    V base;      // that times are counted from
    V span{};    // how far away they are
    V latest{};  // in the list

    void begin() { latest = wide(-kInf); }

    V next(V comes, std::int64_t number) {
        latest = larger(latest, ticks(comes) - base);
        return numbered.of(latest, number);
    }

    // Of a list that rises, its two ends are the furthest away.
    void reaches() { span = larger(span, larger(latest, -latest)); }

    V never(std::int64_t number) const { return numbered.of(wide(1e300), number); }
};

// When the messages of a rank come that keeps turns and sends the same in all lanes.
inline void gather_turns(const Plan& p, Abreast& a, std::int64_t k, std::int32_t profile, std::int32_t only,
                         Keys& keys) {
    const double* const* record = a.record + k * W;
    const double* hold = p.hold + std::int64_t{profile} * p.directions;
    const std::int32_t* const ways = ways_out(p, profile);
    const V start = collect(record, kStart);
    std::int64_t turn = p.leaving;
    for (std::int64_t q = k * p.node_lists, v = 0; v < p.node_lists; ++v, ++q) {
        std::int64_t m = p.node_first[q];
        keys.begin();
        for (int i = 0; i < p.vci_size[v]; ++i, ++turn) {
            const V begun = collect(record, turn);
            for (const std::int32_t* way = ways + 1; way <= ways + ways[0]; ++way, ++m) {
                a.at[m] = start + (begun + hold[*way]);
                a.key[m] = keys.next(a.at[m], m);
                if (m == p.node_first[q]) keys.reaches();
                if (only < 0) a.item[m * W].kind = class_of(p, profile, *way);
            }
        }
        if (ways[0] > 0) keys.reaches();
        for (; m < p.node_first[q + 1]; ++m) {
            a.at[m] = wide(kInf);
            a.key[m] = keys.never(m);
        }
    }
}

// The same in one lane.
inline void gather_turns_of(const Plan& p, Abreast& a, std::int64_t k, int lane, std::int32_t profile) {
    const double* const record = a.record[k * W + lane];
    const double* hold = p.hold + std::int64_t{profile} * p.directions;
    const std::int32_t* const ways = ways_out(p, profile);
    std::int32_t t = 0;
    for (std::int64_t q = k * p.node_lists, v = 0; v < p.node_lists; ++v, ++q) {
        std::int64_t m = p.node_first[q];
        for (int i = 0; i < p.vci_size[v]; ++i, ++t) {
            for (const std::int32_t* way = ways + 1; way <= ways + ways[0]; ++way, ++m) {
                const std::int32_t number = t * p.directions + *way;
                a.at[m][lane] = record[kStart] + (record[p.leaving + t] + hold[*way]);
                a.item[m * W + lane] = {p.message_slot[number], number, class_of(p, profile, *way)};
            }
        }
        for (; m < p.node_first[q + 1]; ++m) a.at[m][lane] = kInf;
    }
}

// The same of ranks that do not keep turns.
inline void gather_lists(const Plan& p, Abreast& a, std::int64_t k, const std::int32_t* profile, std::int32_t* next) {
    double** record = a.record + k * W;
    const std::int64_t first = p.node_first[k], end = p.node_first[k + 1];
    if (a.alike[k]) {
        std::int64_t m = first;
        leaving(p, record[0], profile[0], next, [&](const Item& item, std::int32_t, std::int32_t) {
            a.at[m] = collect(record, item.slot);
            a.item[m++ * W] = item;
        });
        for (; m < end; ++m) a.at[m] = wide(kInf);
        return;
    }
    for (int l = 0; l < W; ++l) {
        std::int64_t m = first;
        leaving(p, record[l], profile[l], next, [&](const Item& item, std::int32_t t, std::int32_t d) {
            a.at[m][l] = comes(p, record[l], profile[l], item, t, d);
            a.item[m++ * W + l] = item;
        });
        for (; m < end; ++m) a.at[m][l] = kInf;
    }
}

// Who is there, when their messages come to the adapter, and their order: by whole picoseconds, then list by list.
// False if they are too far apart for numbers in the last bits.
inline bool order_nodes(const Plan& p, const Window& window, const std::int64_t* node, Abreast& a, std::int32_t only,
                        std::int32_t* next) {
    Keys keys{{p.node_numbers}, V{}};
    for (std::int64_t k = 0; k < p.node_start[1]; ++k) {
        double** record = a.record + k * W;
        std::int32_t profile[W];
        bool alike = true;
        for (int l = 0; l < W; ++l) {
            const std::int64_t rank = p.node_rank[p.node_start[node[l]] + k];
            record[l] = record_at(window, rank);
            profile[l] = p.rank_profile[rank];
            alike = alike && profile[l] == profile[0];
        }
        a.alike[k] = alike && !p.lists_leaving;
        if (k + 1 < p.node_start[1]) {
            for (int l = 0; l < W; ++l) {
                const double* next = record_at(window, p.node_rank[p.node_start[node[l]] + k + 1]);
                fetch(next, kEarly + 1);
                if (p.keeps_turns) fetch(next + p.leaving, p.transports);
            }
        }
        if (k == 0) keys.base = ticks(collect(record, kStart));
        if (p.keeps_turns && alike) {
            gather_turns(p, a, k, profile[0], only, keys);
            continue;
        }
        if (p.keeps_turns) {
            for (int l = 0; l < W; ++l) gather_turns_of(p, a, k, l, profile[l]);
        } else {
            gather_lists(p, a, k, profile, next);
        }
        for (std::int64_t q = k * p.node_lists; q < (k + 1) * p.node_lists; ++q) {
            keys.begin();
            for (std::int64_t m = p.node_first[q]; m < p.node_first[q + 1]; ++m) {
                const I there = a.at[m] < kInf;
                const V span = keys.span, key = keys.next(a.at[m], m);
                keys.reaches();
                keys.span = there ? keys.span : span;
                a.key[m] = there ? key : keys.never(m);
            }
        }
    }
    if (any(keys.span * static_cast<double>(p.node_numbers + 1) >= 0x1p52)) return false;
    *a.base = keys.base;
    sort_values<true>(p.node_network, a.key);
    return true;
}

// One after the other, in that order; false if a rank's VCIs send within a picosecond, and not in the order of their
// numbers. `same`: all that leaves is of one class; `lists`: ranks have several.
template <bool same, bool lists>
inline bool serve_in_order(const Plan& p, Abreast& a, V& adapter, V service) {
    constexpr int kRun = 8;  // messages of which all or none are asked
    constexpr double kSlack = 4, kSurely = 1e12 * (1 - 0x1p-48);  // picoseconds: more than keys and rounding are off by
    const Numbered numbered{p.node_numbers};
    const V base = *a.base + kSlack;
    const auto* at = reinterpret_cast<const double*>(a.at);
    auto* left = reinterpret_cast<double*>(a.left);
    const std::int32_t* const order = p.node_network.order;
    V free = adapter, before = wide(-kInf);
    I last{};
    const int size = p.node_network.size;
    for (int begin = 0, end; begin < size; begin = end) {
        end = std::min(begin + kRun, size);
        if constexpr (same && !lists) {
            // Most find a queue and leave as it lets them: of what surely came before, nobody asks when.
            if (!any(a.key[order[end - 1]] > free * kSurely - base)) {
                for (int i = begin; i < end; ++i, free += service)
                    Places(numbered.number(a.key[order[i]])).put(left, free);
                continue;
            }
        }
        for (int i = begin; i < end; ++i) {
            const I number = numbered.number(a.key[order[i]]);
            const Places place(number);
            const V comes = place.pick(at), leaves = larger(comes, free);
            const I there = comes < kInf;
            if constexpr (lists) {
                const I sooner = there & (comes < before);
                for (int l = 0; any(sooner) && l < W; ++l) {
                    if (sooner[l] && p.node_owner[number[l]] == p.node_owner[last[l]]) return false;
                }
                before = comes;
                last = number;
            }
            for (int l = 0; !same && l < W; ++l) {
                // Numbers of a rank that is alike in all lanes are told in the first.
                if (!there[l]) continue;
                const std::int64_t first = a.alike[p.node_owner[number[l]]] ? l : 0;
                service[l] = p.service[a.item[place.at[l] - first].kind];
            }
            free = there ? leaves + service : free;
            place.put(left, leaves);
        }
    }
    adapter = free;
    return true;
}

inline bool serve_nodes(const Plan& p, Abreast& a, V& adapter, std::int32_t only) {
    const V service = wide(p.service[only < 0 ? 0 : only]);
    if (p.node_lists > 1)
        return only < 0 ? serve_in_order<false, true>(p, a, adapter, service)
                        : serve_in_order<true, true>(p, a, adapter, service);
    return only < 0 ? serve_in_order<false, false>(p, a, adapter, service)
                    : serve_in_order<true, false>(p, a, adapter, service);
}

// What the turns of a rank do to its record, in lanes that are alike. A send may be over later than its message leaves,
// but not sooner.
inline void land_turns(const Plan& p, const Abreast& a, std::int64_t k, std::int32_t profile) {
    double* const* record = a.record + k * W;
    const std::int32_t* ways = ways_out(p, profile);
    const V join = collect(record, kJoin);
    V early = collect(record, kEarly), done = collect(record, kDone), notify = collect(record, kNotify);
    const V* const first = a.left + p.node_first[k * p.node_lists];
    const std::int32_t last = (p.transports - 1) * ways[0];
    for (std::int32_t j = 0; j < ways[0]; ++j) {
        const std::int32_t d = ways[1 + j], kind = class_of(p, profile, d);
        double* to[W];
        for (int l = 0; l < W; ++l) to[l] = record[l] + kHead + d * p.transports;
        V left = wide(-kInf);
        if (p.vcis == 1) {  // what one VCI sends leaves as it is issued
            left = first[last + j];
            const V* from = first + j;
            const bool some = any(*from + p.travel[kind] <= join);
            for (std::int32_t t = 0; t < p.transports; ++t, from += ways[0]) {
                a.row[t] = *from + p.travel[kind];
                if (some) early = a.row[t] <= join ? early + 1.0 : early;
            }
            scatter_rows(to, a.row, nullptr, p.transports);
        } else {
            for (std::int32_t v = 0, t = 0; v < p.vcis; ++v) {
                const V* from = a.left + p.node_first[k * p.node_lists + v] + j;
                for (std::int32_t i = 0; i < p.vci_size[v]; ++i, ++t, from += ways[0]) {
                    const V arrives = *from + p.travel[kind];
                    left = larger(left, *from);
                    early = arrives <= join ? early + 1.0 : early;
                    const I bits = reinterpret_cast<I>(arrives) & ~p.vci_bits;
                    a.row[t] = reinterpret_cast<V>(bits | p.message_vci[t * p.directions]);
                }
            }
            sort_values(p.turns_network, a.row);
            scatter_rows(to, a.row, p.turns_network.order, p.transports);
        }
        if (p.late_done[kind]) done = larger(done, left + p.completes[kind]);
        if (p.confirmed) {
            const V known = left + p.travel[kind] + p.ack[kind];
            done = larger(done, known + p.closing);
            notify = larger(notify, known + p.told);
        }
    }
    for (int l = 0; l < W; ++l) {
        record[l][kEarly] = early[l];
        record[l][kDone] = done[l];
        record[l][kNotify] = notify[l];
    }
}

// What they do to their ranks' records.
inline void land_nodes(const Plan& p, const std::int64_t* node, const Abreast& a, int count) {
    for (std::int64_t k = 0; k < p.node_start[1]; ++k) {
        double* const* record = a.record + k * W;
        for (int l = 0; k + 1 < p.node_start[1] && l < W; ++l) fetch(record[W + l], p.leaving);
        const auto profile = [&](int l) { return p.rank_profile[p.node_rank[p.node_start[node[l]] + k]]; };
        if (a.alike[k] && p.keeps_turns) {
            land_turns(p, a, k, profile(0));
            continue;
        }
        if (!a.alike[k]) {
            for (int l = 0; l < count; ++l) {
                for (std::int64_t q = k * p.node_lists; q < (k + 1) * p.node_lists; ++q) {
                    for (std::int64_t m = p.node_first[q]; m < p.node_first[q + 1] && a.left[m][l] < kInf; ++m)
                        land(p, record[l], a.item[m * W + l], p.keeps_turns ? -kInf : a.at[m][l], a.left[m][l]);
                }
                if (p.keeps_turns && p.vcis > 1) line_up_arrivals(p, record[l], profile(l));
            }
            continue;
        }
        const std::int64_t first = p.node_first[k], end = p.node_first[k + 1];
        const V join = collect(record, kJoin);
        V early = collect(record, kEarly), done = collect(record, kDone), notify = collect(record, kNotify);
        for (std::int64_t m = first; m < end && a.left[m][0] < kInf; ++m) {
            const Item& it = a.item[m * W];
            const V arrives = a.left[m] + p.travel[it.kind];
            early = arrives <= join ? early + 1.0 : early;
            if (p.late_done[it.kind]) done = larger(done, larger(a.at[m], a.left[m] + p.completes[it.kind]));
            if (p.confirmed) {
                const V known = arrives + p.ack[it.kind];
                done = larger(done, known + p.closing);
                notify = larger(notify, known + p.told);
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
    auto* const next = reinterpret_cast<std::int32_t*>(static_cast<char*>(memory) + used);
    if (!order_nodes(p, window, node, a, only, next)) return false;
    V free = collect(adapter, 0);
    if (!serve_nodes(p, a, free, only)) return false;
    land_nodes(p, node, a, count);
    for (int l = 0; l < count; ++l) state.adapter[node[l]] = free[l];
    return true;
}

}  // namespace
}  // namespace pready
