// The adapters of W nodes at once, where all that leaves them is of one class, so that what a rank issues in a turn comes
// evenly spaced: messages are counted, and only trains of them sorted.
//
// Time is cut into slots as long as that spacing. All messages of a train lie equally far beside the middle of their slots.
// So trains are sorted by that; then each takes, in that order, the next place of every slot in which it has a message:
// sorting from the last digit on, which all messages of a train share. That is the order of whole picoseconds, then of
// ranks, where spacing is a whole number of picoseconds and no train lies where rounding decides; else it is looked at
// message by message, and put right. A message that finds a queue leaves behind the one before: when it came is asked
// only of those that may find none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "node.hpp"

namespace pready {
namespace {

typedef std::uint16_t Place;
typedef Place PlaceRow __attribute__((vector_size(W * 2)));

// The trains of a profile's turns: what stays within the node may part messages by other than whole slots.
struct Shape {
    std::int32_t trains, ways;
    double* offset;  // [trains]: where one begins, from the beginning of its turn
    Place* has;      // [trains][slots]: 1 where it has a message
    std::uint32_t* bits;  // [trains]: the same
    double* hold;    // [trains][slots]: when a message comes, from the beginning of its turn
    std::int32_t* at;  // [ways]: which of the places of its turn is its
};

struct Spaced {
    double** record;       // [ranks of a node * W]
    std::int32_t* shape;   // [ranks of a node * W]
    std::int32_t* known;   // [profiles]: the number of a profile's shape, or -1
    char* shapes;          // one after the other
    V* key;                // [trains of a node]: what they are sorted by
    V* unsure;             // [trains of a node]: rounding decides in which picosecond it begins
    Short* slot;           // [trains of a node]: of their first message
    Place* order;          // [trains of a node]: of one node
    Place* places;         // [W][trains of a node][slots]
    const Place** has;     // [trains of a node]: of one node
    Place* counts;         // [room]
    std::uint64_t* open;   // [room / 64 + 2], bits: slots in which a message may find the adapter free
    std::uint64_t* blocks; // [kBlocks / 64]: of slots that somebody needs
    std::int32_t* before;  // the same: how many before
    double* at;            // [W][stride]: when each comes to the adapter, and then when it has left, in order
    Place* rank;           // [stride]: of one node: whose it is
    std::int64_t trains, stride, room, shape_bytes;

    static constexpr std::int64_t kBlocks = std::int64_t{1} << 19;

    static std::int64_t carve(const Plan& p, Spaced* a, char* memory) {
        const NodeTrains& n = p.node_trains;
        const std::int64_t ranks = n.slots > 0 ? p.node_start[1] : 0;
        std::int64_t used = 0;
        const auto take = [&](std::int64_t bytes) {
            char* at = memory + used;
            used += (bytes + 63) / 64 * 64;
            return at;
        };
        Spaced out{};
        out.trains = ranks * n.most * p.transports;
        out.stride = (n.messages + 2 * W + 8) / 8 * 8;
        out.room = (2 * out.trains + 2) * n.slots;
        out.shape_bytes = shaped(p, 0, nullptr).second;
        const auto some = n.slots > 0 ? std::min<std::int64_t>(p.profiles, ranks * W) : 0;
        out.record = reinterpret_cast<double**>(take(ranks * W * 8));
        out.shape = reinterpret_cast<std::int32_t*>(take(ranks * W * 4));
        out.known = reinterpret_cast<std::int32_t*>(take(n.slots > 0 ? p.profiles * 4 : 0));
        out.shapes = take(some * out.shape_bytes);
        out.key = reinterpret_cast<V*>(take(out.trains * static_cast<std::int64_t>(sizeof(V))));
        out.unsure = reinterpret_cast<V*>(take(out.trains * static_cast<std::int64_t>(sizeof(V))));
        out.slot = reinterpret_cast<Short*>(take(out.trains * static_cast<std::int64_t>(sizeof(Short))));
        out.order = reinterpret_cast<Place*>(take(W * out.trains * 2));
        out.places = reinterpret_cast<Place*>(take(W * out.trains * n.slots * 2));
        out.has = reinterpret_cast<const Place**>(take(out.trains * 8));
        out.counts = reinterpret_cast<Place*>(take((out.room + n.slots) * 2));
        out.open = reinterpret_cast<std::uint64_t*>(take(n.slots > 0 ? (out.room / 64 + 3) * 8 : 0));
        out.blocks = reinterpret_cast<std::uint64_t*>(take(n.slots > 0 ? kBlocks / 8 : 0));
        out.before = reinterpret_cast<std::int32_t*>(take(n.slots > 0 ? kBlocks / 16 : 0));
        out.at = reinterpret_cast<double*>(take(n.slots > 0 ? W * out.stride * 8 : 0));
        out.rank = reinterpret_cast<Place*>(take(n.slots > 0 ? out.stride * 2 : 0));
        if (a) *a = out;
        return used;
    }

    // The i-th shape, and how much memory one takes.
    static std::pair<Shape, std::int64_t> shaped(const Plan& p, std::int64_t i, char* memory) {
        const NodeTrains& n = p.node_trains;
        const std::int64_t offset = 64, has = offset + (n.most * 8 + 63) / 64 * 64;
        const std::int64_t hold = has + (n.most * n.slots * 2 + 63) / 64 * 64, at = hold + n.most * n.slots * 8;
        const std::int64_t bit = at + p.directions * 4, bytes = (bit + n.most * 4 + 63) / 64 * 64;
        if (!memory) return {Shape{}, bytes};
        char* const mine = memory + i * bytes;
        const auto* counts = reinterpret_cast<const std::int32_t*>(mine);
        return {{counts[0], counts[1], reinterpret_cast<double*>(mine + offset), reinterpret_cast<Place*>(mine + has),
                 reinterpret_cast<std::uint32_t*>(mine + bit), reinterpret_cast<double*>(mine + hold),
                 reinterpret_cast<std::int32_t*>(mine + at)},
                bytes};
    }

    Shape of(const Plan& p, std::int64_t k, int lane) const { return shaped(p, shape[k * W + lane], shapes).first; }
};

// The trains of a profile, as shape number i. False if there are more than there can be.
inline bool shape_up(const Plan& p, const Spaced& a, std::int32_t profile, double spacing, std::int32_t i) {
    constexpr double kNear = 1e-17, kShare = 1e-15;  // seconds, and what rounding makes of them
    const NodeTrains& n = p.node_trains;
    Shape s = Spaced::shaped(p, i, a.shapes).first;
    const double* hold = p.hold + std::int64_t{profile} * p.directions;
    const std::int32_t* ways = ways_out(p, profile);
    std::fill_n(s.has, n.most * n.slots, Place{0});
    std::fill_n(s.bits, n.most, 0u);
    std::int32_t trains = 0;
    for (std::int32_t j = 0; j < ways[0]; ++j) {
        const double held = hold[ways[1 + j]];
        std::int64_t slot = 0;
        std::int32_t g = 0;
        for (; g < trains; ++g) {
            const double behind = held - s.offset[g], whole = std::nearbyint(behind / spacing);
            if (!(whole > 0 && whole < n.slots)) continue;
            slot = static_cast<std::int64_t>(whole);
            if (s.has[g * n.slots + slot] == 0 &&
                std::abs(behind - whole * spacing) < kNear + kShare * held)
                break;
        }
        if (g == trains) {
            if (g == n.most) return false;
            s.offset[trains++] = held;
            slot = 0;
        }
        s.has[g * n.slots + slot] = 1;
        s.bits[g] |= 1u << slot;
        s.hold[g * n.slots + slot] = held;
        s.at[j] = static_cast<std::int32_t>(g * p.transports * n.slots + slot);
    }
    auto* counts = reinterpret_cast<std::int32_t*>(a.shapes + i * a.shape_bytes);
    counts[0] = trains;
    counts[1] = ways[0];
    return true;
}

// Who is there; returns how many trains a turn has at most, or 0 if that is not known.
[[gnu::noinline]] std::int32_t find_shapes(const Plan& p, const Window& window, const std::int64_t* node, Spaced& a,
                                double spacing) {
    std::fill_n(a.known, p.profiles, -1);
    std::int32_t shapes = 0, most = 1;
    for (std::int64_t k = 0; k < p.node_start[1]; ++k) {
        for (int l = 0; l < W; ++l) {
            const std::int64_t rank = p.node_rank[p.node_start[node[l]] + k];
            a.record[k * W + l] = record_at(window, rank);
            const std::int32_t profile = p.rank_profile[rank];
            if (a.known[profile] < 0) {
                if (!shape_up(p, a, profile, spacing, shapes)) return 0;
                a.known[profile] = shapes++;
            }
            a.shape[k * W + l] = a.known[profile];
            most = std::max(most, a.of(p, k, l).trains);
        }
    }
    return most;
}

constexpr double kClose = 2.1;  // picoseconds: trains further apart have no messages in the same one

// What is known about the order of W nodes' trains.
struct TrainOrder {
    V first;         // when the first message comes, in picoseconds
    V slots;         // the last in which a train begins
    double spacing;  // in picoseconds
    bool whole;      // it is a whole number of them
    bool doubts[W];  // messages of some trains may come in the same picosecond, where ranks decide
};

// Do any two trains that lie so close beside each other, the i-th and one before it, have messages in the same slot?
inline bool meet(const Plan& p, const Spaced& a, const Network& net, std::int64_t i, int lane) {
    const Numbered numbered{p.node_trains.numbers};
    const V key = a.key[net.order[i]];
    const std::int64_t slot = a.slot[numbered.number(key)[lane]][lane];
    for (std::int64_t j = i - 1; j >= 0; --j) {
        const V other = a.key[net.order[j]];
        if (key[lane] - other[lane] > kClose) return false;
        const std::int64_t apart = a.slot[numbered.number(other)[lane]][lane] - slot;
        if (std::abs(apart) < p.node_trains.slots) return true;
    }
    return false;
}

// Numbers W nodes' trains in order, and finds out what is not sure about that. Messages of trains further apart than
// `kClose` come in different picoseconds. Others of two that are no whole number of picoseconds apart need not be in the
// order of ranks, nor those at the two edges of slots. Spacing of a whole number keeps messages as far apart as trains
// are, unless one is so near to where a picosecond ends that rounding decides: those lie a quarter beside.
[[gnu::noinline]] void number_trains(const Plan& p, const Spaced& a, const Network& net, TrainOrder& order) {
    constexpr double kTie = 0x1p-7;
    const Numbered numbered{p.node_trains.numbers};
    const V edge = wide(order.spacing / 2 - kClose);
    V last = wide(-1e300), before = last;
    std::fill_n(order.doubts, W, false);
    for (std::int64_t i = 0; i < net.size; ++i) {
        const V key = a.key[net.order[i]];
        const I number = numbered.number(key);
        for (int l = 0; l < W; ++l) a.order[l * a.trains + i] = static_cast<Place>(number[l]);
        I doubtful = (larger(key, -key) > edge) & (key < 1e299);
        if (order.whole) {
            const V unsure = larger(key - ((key + 0x1.8p52) - 0x1.8p52), last - ((last + 0x1.8p52) - 0x1.8p52));
            doubtful |= (unsure > 0.125) & (key - last < kClose);
        } else {
            before = key - last > kTie ? last : before;
            const I close = (key - before < kClose) & (key < 1e299);
            for (int l = 0; any(close) && l < W; ++l) {
                if (close[l] && !order.doubts[l]) order.doubts[l] = meet(p, a, net, i, l);
            }
        }
        last = key;
        for (int l = 0; any(doubtful) && l < W; ++l) order.doubts[l] |= doubtful[l] != 0;
    }
}

// In which slot each train begins and in what order; false if they are too far apart.
[[gnu::noinline]] bool order_trains(const Plan& p, const Spaced& a, std::int32_t trains, double spacing,
                                    TrainOrder& order) {
    V first = wide(kInf), late = wide(-kInf);
    V* const unsure = a.unsure;
    std::int64_t b = 0;
    for (std::int64_t k = 0; k < p.node_start[1]; ++k) {
        const double* const* record = a.record + k * W;
        for (int l = 0; k + 1 < p.node_start[1] && l < W; ++l) fetch(record[W + l] + p.leaving, p.transports);
        const V start = collect(record, kStart);
        for (std::int32_t g = 0; g < trains; ++g) {
            V offset = wide(kInf);
            for (int l = 0; l < W; ++l) {
                const Shape s = a.of(p, k, l);
                if (g < s.trains) offset[l] = s.offset[g];
            }
            for (int t = 0; t < p.transports; ++t, ++b) {
                const V comes = start + (collect(record, p.leaving + t) + offset);
                const V tick = ticks(comes), beside = (comes * 1e12 - tick) + kTickBegins;
                a.key[b] = tick;
                // Half a picosecond beside its middle one ends.
                const V near = larger(comes, -comes) * 1e12 * 0x1p-50 + 1e-4;
                unsure[b] = larger(beside, -beside) + near > 0.5 ? wide(0.25) : V{};
                first = smaller(first, tick);
                late = larger(late, tick < kInf ? tick : late);
            }
        }
    }
    const Numbered numbered{p.node_trains.numbers};
    const double ps = spacing * 1e12;
    order.spacing = std::abs(ps - std::nearbyint(ps)) < 1e-7 ? std::nearbyint(ps) : ps;
    order.whole = order.spacing == std::nearbyint(ps);
    order.first = first;
    order.slots = ((late - first) / order.spacing + 0x1.8p52) - 0x1.8p52;
    const auto most = static_cast<double>((Spaced::kBlocks - 2) * p.node_trains.slots);
    if (any((order.slots >= most) | (late - first >= 0x1p42) | (late >= 0x1p46) | (first <= -0x1p46))) return false;
    for (std::int64_t i = 0; i < b; ++i) {
        const V behind = a.key[i] - first;
        const I there = a.key[i] < kInf;
        const V slot = there ? (behind / order.spacing + 0x1.8p52) - 0x1.8p52 : V{};
        a.slot[i] = __builtin_convertvector(slot, Short);
        // To a 64th of a picosecond: trains in step must not be put in order by rounding.
        const V beside = (behind - slot * order.spacing + 0x1.8p46) - 0x1.8p46;
        a.key[i] = numbered.of(there ? beside + (order.whole ? unsure[i] : V{}) : wide(1e300), i);
    }
    const Network& net = trains == 1 ? p.node_trains.one : p.node_trains.several;
    sort_values<true>(net, a.key);
    number_trains(p, a, net, order);
    return true;
}

// Leaves out slots that nobody needs: of blocks of them. Returns how many remain.
[[gnu::noinline]] std::int64_t close_up(const Plan& p, const Spaced& a, int lane, std::int64_t trains,
                                        std::int64_t slots) {
    const std::int64_t each = p.node_trains.slots, words = (slots / each + 1) / 64 + 1;
    auto* const slot = reinterpret_cast<std::int32_t*>(a.slot) + lane;
    std::fill_n(a.blocks, words, std::uint64_t{0});
    for (std::int64_t i = 0; i < trains; ++i) {
        for (std::int64_t block = slot[i * W] / each, last = block + 1; block <= last; ++block)
            a.blocks[block / 64] |= std::uint64_t{1} << block % 64;
    }
    std::int32_t all = 0;
    for (std::int64_t w = 0; w < words; ++w) {
        a.before[w] = all;
        all += __builtin_popcountll(a.blocks[w]);
    }
    for (std::int64_t i = 0; i < trains; ++i) {
        const std::int64_t block = slot[i * W] / each, inside = slot[i * W] % each;
        const std::uint64_t below = (std::uint64_t{1} << block % 64) - 1;
        const std::int64_t there = a.before[block / 64] + __builtin_popcountll(a.blocks[block / 64] & below);
        slot[i * W] = static_cast<std::int32_t>(there * each + inside);
    }
    return all * each;
}

// As many counters as a train has slots.
template <int slots>
struct Counters {
    typedef Place Row __attribute__((vector_size(slots * 2)));
    static Row read(const Place* from) {
        Row row;
        std::memcpy(&row, from, sizeof row);
        return row;
    }
    static void write(Place* to, Row row) { std::memcpy(to, &row, sizeof row); }
};

// How many messages come before each slot; returns how many come in all.
inline std::int64_t add_up(const Spaced& a, std::int64_t slots) {
    Place sum = 0;
    for (std::int64_t i = 0; i < slots; ++i) {
        const Place here = a.counts[i];
        a.counts[i] = sum;
        sum = static_cast<Place>(sum + here);
    }
    std::fill_n(a.counts + slots, W, sum);
    return sum;
}

inline std::uint64_t bits_of(I mask) {
#if defined(__AVX512F__)
    return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask));
#else
    std::uint64_t bits = 0;
    for (int l = 0; l < W; ++l) bits |= static_cast<std::uint64_t>(mask[l] & 1) << l;
    return bits;
#endif
}

// In which slots of one node a message may find its adapter free; returns the last of them, or -1. In all others messages
// are served one after the other, from where one in these comes. Times in picoseconds since the first; `a.counts` is as
// `add_up` leaves it.
[[gnu::noinline]] std::int64_t find_open(const Spaced& a, std::int64_t slots, double spacing, double service,
                                         double free) {
    constexpr double kSlack = 64, kShare = 1e-9;  // far more than rounding makes of it
    const double slack = kSlack + kShare * spacing * static_cast<double>(slots) + spacing / 2;
    V busy = wide(free);  // from when on the adapter would be, had it served all before
    std::int64_t last = -1;
    std::fill_n(a.open, slots / 64 + 2, std::uint64_t{0});
    for (std::int64_t i = 0; i < slots; i += W) {
        if (a.counts[i] == a.counts[i + W]) continue;
        PlaceRow here, next;
        std::memcpy(&here, a.counts + i, sizeof here);
        std::memcpy(&next, a.counts + i + 1, sizeof next);
        const V before = __builtin_convertvector(__builtin_convertvector(here, Short), V);
        const V behind = __builtin_convertvector(__builtin_convertvector(next, Short), V);
        const V middle = (__builtin_convertvector(kLanes, V) + static_cast<double>(i)) * spacing - before * service;
        const I some = behind > before, open = some & (middle + slack > busy);
        if (!any(open)) continue;  // `busy` remains as it is
        const std::uint64_t bits = bits_of(open);
        a.open[i / 64] |= bits << i % 64;
        last = i + 63 - __builtin_clzll(bits);
        const V begins = some ? middle - slack : wide(-kInf);  // no message comes before its slot begins
        double latest = busy[0];
        for (int l = 0; l < W; ++l) latest = larger(latest, begins[l]);
        busy = wide(latest);
    }
    return last;
}

// Messages of one node.
struct Lined {
    std::int64_t all, apart;  // so many, and before which place some may find the adapter free
};

// The place of each message of one node, by train and slot. `trains` of a turn. With no spacing all may find the
// adapter free.
template <int slots>
[[gnu::noinline]] Lined find_places(const Plan& p, const Spaced& a, int lane, std::int32_t trains,
                                    std::int64_t all, double spacing, double service, double free) {
    using Row = Counters<slots>;
    const auto* const slot = reinterpret_cast<const std::int32_t*>(a.slot) + lane;
    const std::int64_t count = p.node_start[1] * trains * p.transports;
    std::fill_n(a.counts, all, Place{0});
    for (std::int64_t k = 0, i = 0; k < p.node_start[1]; ++k) {
        const Place* has = a.of(p, k, lane).has;
        for (std::int32_t g = 0; g < trains; ++g, has += slots) {
            const auto messages = Row::read(has);
            for (int t = 0; t < p.transports; ++t, ++i) {
                Place* const at = a.counts + slot[i * W];
                a.has[i] = has;
                Row::write(at, Row::read(at) + messages);
            }
        }
    }
    Lined out;
    out.all = out.apart = add_up(a, all);
    if (spacing > 0) out.apart = a.counts[find_open(a, all, spacing, service, free) + 1];
    const Place* const order = a.order + lane * a.trains;
    Place* const places = a.places + lane * a.trains * slots;
    for (std::int64_t n = 0; n < count; ++n) {
        const std::int64_t i = order[n];
        Place* const at = a.counts + slot[i * W];
        const auto next = Row::read(at);
        Row::write(places + i * slots, next);
        Row::write(at, next + Row::read(a.has[i]));
    }
    return out;
}

// Which messages of one node are lined up: all, or those that may find the adapter free.
enum class Line { all, ranks, open };

// When they come, in order, and whose they are if so asked. What is not told has come as the adapter is free.
template <int slots, Line line>
[[gnu::noinline]] void line_up_messages(const Plan& p, const Spaced& a, int lane, std::int32_t trains,
                                        const Lined& lined) {
    const std::int64_t each = trains * p.transports;
    const auto* const slot = reinterpret_cast<const std::int32_t*>(a.slot) + lane;
    double* const at = a.at + lane * a.stride;
    if (line == Line::open) std::fill_n(at, lined.apart, -kInf);
    // All ranks' first turns, then their second ones: these are not far apart.
    for (std::int64_t t = 0; t < p.transports; ++t) {
        for (std::int64_t k = 0; k < p.node_start[1]; ++k) {
            const double* const record = a.record[k * W + lane];
            const Shape s = a.of(p, k, lane);
            const double start = record[kStart], begun = record[p.leaving + t];
            for (std::int32_t g = 0; g < s.trains; ++g) {
                const std::int64_t i = k * each + g * p.transports + t;
                std::uint32_t bits = s.bits[g];
                if (line == Line::open) {
                    const std::uint64_t* const open = a.open + slot[i * W] / 64;
                    const int shift = slot[i * W] % 64;
                    bits &= static_cast<std::uint32_t>(open[0] >> shift | open[1] << 1 << (63 - shift));
                }
                const Place* const of = a.places + (lane * a.trains + i) * slots;
                for (; bits != 0; bits &= bits - 1) {
                    const int message = __builtin_ctz(bits);
                    at[of[message]] = start + (begun + s.hold[g * slots + message]);
                    if (line == Line::ranks) a.rank[of[message]] = static_cast<Place>(k);
                }
            }
        }
    }
    std::fill_n(at + lined.apart, W + 1, kInf);
    if (line == Line::ranks) std::fill_n(a.rank + lined.apart, W + 1, std::numeric_limits<Place>::max());
}

// Are they in order of whole picoseconds, and then of ranks, where these are told?
template <bool ranks>
[[gnu::noinline]] bool in_order(const double* at, const Place* rank, std::int64_t count) {
    I wrong{};
    for (std::int64_t i = 0; i < count; i += W) {
        V now, next;
        std::memcpy(&now, at + i, sizeof now);
        std::memcpy(&next, at + i + 1, sizeof next);
        now = ticks(now);
        next = ticks(next);
        wrong |= now > next;
        if constexpr (ranks) {
            PlaceRow of, of_next;
            std::memcpy(&of, rank + i, sizeof of);
            std::memcpy(&of_next, rank + i + 1, sizeof of_next);
            wrong |= (now == next) & (__builtin_convertvector(of, I) > __builtin_convertvector(of_next, I));
        }
    }
    return !any(wrong);
}

// The place of one of a rank's messages, which is to be another.
inline Place* place_of(const Plan& p, const Spaced& a, int lane, std::int32_t trains, std::int64_t k, Place now) {
    const std::int64_t slots = p.node_trains.slots;
    Place* const places = a.places + (lane * a.trains + k * trains * p.transports) * slots;
    const Shape s = a.of(p, k, lane);
    for (int t = 0; t < p.transports; ++t) {
        for (std::int32_t j = 0; j < s.ways; ++j) {
            if (places[t * slots + s.at[j]] == now) return places + t * slots + s.at[j];
        }
    }
    return nullptr;
}

// Brings them into order of whole picoseconds, then of ranks, if few are not.
inline bool put_right(const Plan& p, const Spaced& a, int lane, std::int32_t trains, std::int64_t count) {
    double* const at = a.at + lane * a.stride;
    Place* const rank = a.rank;
    std::int64_t left = 16 + count / 16;
    for (std::int64_t n = 1; n < count; ++n) {
        for (std::int64_t i = n; i > 0; --i) {
            const double before = ticks(at[i - 1]), now = ticks(at[i]);
            if (before < now || (before == now && rank[i - 1] <= rank[i])) break;
            if (--left < 0) return false;
            Place* const one = place_of(p, a, lane, trains, rank[i - 1], static_cast<Place>(i - 1));
            Place* const other = place_of(p, a, lane, trains, rank[i], static_cast<Place>(i));
            std::swap(*one, *other);
            std::swap(at[i - 1], at[i]);
            std::swap(rank[i - 1], rank[i]);
        }
    }
    return true;
}

// One after the other, some nodes in turns: each message waits for the one before, and has come if it is not `apart`.
template <int nodes>
[[gnu::noinline]] void serve_spaced(const Spaced& a, int first, const Lined* lined, double service, double* free) {
    double* at[nodes];
    double now[nodes];
    std::int64_t apart = lined[first].apart, all = lined[first].all;
    for (int n = 0; n < nodes; ++n) {
        at[n] = a.at + (first + n) * a.stride;
        now[n] = free[first + n];
        apart = std::max(apart, lined[first + n].apart);
        all = std::min(all, lined[first + n].all);
    }
    apart = std::min(apart, all);
    // Between its own last and the others' a node has nothing in `at` that says when a message comes.
    for (int n = 0; n < nodes; ++n) {
        for (std::int64_t i = lined[first + n].apart; i < apart; ++i) at[n][i] = -kInf;
    }
    for (std::int64_t i = 0; i < apart; ++i) {
        for (int n = 0; n < nodes; ++n) {
            const double leaves = larger(at[n][i], now[n]);
            at[n][i] = leaves;
            now[n] = leaves + service;
        }
    }
    for (std::int64_t i = apart; i < all; ++i) {
        for (int n = 0; n < nodes; ++n) {
            at[n][i] = now[n];
            now[n] += service;
        }
    }
    for (int n = 0; n < nodes; ++n) {
        for (std::int64_t i = all; i < lined[first + n].all; ++i) {
            const double leaves = i < lined[first + n].apart ? larger(at[n][i], now[n]) : now[n];
            at[n][i] = leaves;
            now[n] = leaves + service;
        }
        free[first + n] = now[n];
    }
}

// What they do to their ranks' records, as `land_turns`.
template <int slots>
[[gnu::noinline]] void land_spaced(const Plan& p, const Spaced& a, const std::int64_t* node, int lane,
                                   std::int32_t trains, std::int32_t kind) {
    const Place* place = a.places + lane * a.trains * slots;
    const double* const left = a.at + lane * a.stride;
    const double travel = p.travel[kind];
    for (std::int64_t k = 0; k < p.node_start[1]; ++k, place += trains * p.transports * slots) {
        double* const record = a.record[k * W + lane];
        if (k + 1 < p.node_start[1]) fetch(a.record[(k + 1) * W + lane], p.leaving);
        const Shape s = a.of(p, k, lane);
        if (s.ways == 0) continue;
        const std::int32_t* ways = ways_out(p, p.rank_profile[p.node_rank[p.node_start[node[lane]] + k]]);
        for (std::int32_t j = 0; j < s.ways; ++j) {
            const Place* from = place + s.at[j];
            double* const to = record + kHead + ways[1 + j] * p.transports;
            int t = 0;
            for (; t + 8 <= p.transports; t += 8, from += 8 * slots) {
#pragma GCC unroll 8
                for (int i = 0; i < 8; ++i) to[t + i] = left[from[i * slots]] + travel;
            }
            for (; t < p.transports; ++t, from += slots) to[t] = left[*from] + travel;
        }
        // A rank's messages leave in the order of turns, and within these of ways.
        const auto leaves = [&](int t, std::int32_t j) { return left[place[t * slots + s.at[j]]]; };
        const double join = record[kJoin];
        int t = 0;
        while (t < p.transports && leaves(t, s.ways - 1) + travel <= join) ++t;
        std::int32_t early = t * s.ways;
        for (std::int32_t j = 0; t < p.transports && j < s.ways && leaves(t, j) + travel <= join; ++j) ++early;
        record[kEarly] += early;
        const double last = leaves(p.transports - 1, s.ways - 1);
        if (p.late_done[kind]) record[kDone] = larger(record[kDone], last + p.completes[kind]);
        if (p.confirmed) flush(p, record, kind, last + travel);
    }
}

// The adapters of `count` nodes from `first` on; false if they have to be taken one by one.
template <int slots>
inline bool share_spaced(const Plan& p, const State& state, const Window& window, void* memory, std::int32_t only,
                         std::int64_t first, int count) {
    constexpr int kTogether = W < 4 ? W : 4;
    Spaced a;
    Spaced::carve(p, &a, static_cast<char*>(memory));
    const double spacing = p.hold_each[only];
    if (!(spacing > 1e-11)) return false;
    std::int64_t node[W];
    for (int l = 0; l < W; ++l) node[l] = first + (l < count ? l : count - 1);
    const std::int32_t trains = find_shapes(p, window, node, a, spacing);
    if (trains == 0) return false;
    const std::int32_t kept = trains > 1 ? p.node_trains.most : 1;
    TrainOrder order;
    if (!order_trains(p, a, kept, spacing, order)) return false;
    const std::int64_t each = p.node_start[1] * kept * p.transports;
    Lined lined[W];
    double free[W];
    for (int l = 0; l < count; ++l) {
        free[l] = state.adapter[node[l]];
        auto room = static_cast<std::int64_t>(order.slots[l]) + slots + 1;
        const bool closed = room > a.room, sure = order.whole && !order.doubts[l] && !closed;
        if (closed) room = close_up(p, a, l, each, room);
        lined[l] = find_places<slots>(p, a, l, kept, room, sure ? order.spacing : 0.0, p.service[only] * 1e12,
                                      free[l] * 1e12 - order.first[l]);
        const double* const at = a.at + l * a.stride;
        if (sure) {
            line_up_messages<slots, Line::open>(p, a, l, kept, lined[l]);
            continue;
        }
        if (!order.doubts[l]) {
            line_up_messages<slots, Line::all>(p, a, l, kept, lined[l]);
            if (in_order<false>(at, nullptr, lined[l].all)) continue;
        }
        line_up_messages<slots, Line::ranks>(p, a, l, kept, lined[l]);
        if (!in_order<true>(at, a.rank, lined[l].all) && !put_right(p, a, l, kept, lined[l].all)) return false;
    }
    for (int l = 0; l < count; l += kTogether) {
        if (l + kTogether <= count) {
            serve_spaced<kTogether>(a, l, lined, p.service[only], free);
            continue;
        }
        for (int one = l; one < count; ++one) serve_spaced<1>(a, one, lined, p.service[only], free);
    }
    for (int l = 0; l < count; ++l) {
        land_spaced<slots>(p, a, node, l, kept, only);
        state.adapter[node[l]] = free[l];
    }
    return true;
}

}  // namespace
}  // namespace pready
