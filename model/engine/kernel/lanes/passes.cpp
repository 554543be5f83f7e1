// The passes over ranks, compiled once per instruction set (PREADY_PASSES names the version).
#include "recurrence/consume.hpp"
#include "recurrence/node.hpp"
#include "recurrence/relay.hpp"

namespace pready {
namespace {

Scratch carved(const Plan& p, void* memory) {
    Scratch s;
    carve(p, &s, static_cast<char*>(memory));
    std::fill_n(s.nobody, p.record, -kInf);
    std::fill_n(s.ways_of, W, -1);
    std::fill_n(s.kind, p.sources * W, 0);
    return s;
}

std::int64_t scratch_size(const Plan& p) { return carve(p, nullptr, nullptr); }

// One rank of a grid: what its neighbours are in window coordinates, by step -1, 0, +1 along each axis.
struct Site {
    std::int64_t delta[3][3];
    std::uint8_t there[3][3];
};

inline void locate(const Plan& p, std::int64_t rank, Site& site) {
    const std::int64_t x = rank % p.dims[0], rest = rank / p.dims[0];
    const std::int64_t at[3] = {x, rest % p.dims[1], rest / p.dims[1]};
    std::int64_t stride = 1;
    for (int a = 0; a < 3; ++a) {
        const std::int64_t n = p.dims[a];
        const bool wraps = p.periodic[a] && n > 1;
        const bool unrolled = a == p.outer;
        site.there[a][1] = 1;
        site.delta[a][1] = 0;
        site.there[a][0] = at[a] > 0 || wraps;
        site.delta[a][0] = at[a] > 0 || unrolled ? -stride : (n - 1) * stride;
        site.there[a][2] = at[a] < n - 1 || wraps;
        site.delta[a][2] = at[a] < n - 1 || unrolled ? stride : -(n - 1) * stride;
        stride *= n;
    }
}

// The profile of a rank: which neighbours it has, two bits along each axis.
inline std::int32_t profile_at(const Plan& p, std::int64_t rank) {
    Site site;
    locate(p, rank, site);
    std::int32_t bits = 0;
    for (int a = 0; a < 3; ++a) bits |= (site.there[a][0] | site.there[a][2] << 1) << (2 * a);
    return bits;
}

inline std::int64_t wrapped(std::int64_t u, std::int64_t ranks) {
    return u < 0 ? u + ranks : u >= ranks ? u - ranks : u;
}

inline I wrapped(I u, std::int64_t ranks) { return u + ((u < 0) & ranks) - ((u >= ranks) & ranks); }

// The lanes, of which those beyond `count` repeat the last.
inline I first_lanes(int count) { return kLanes < count ? kLanes : I{} + (count - 1); }

// Ranks from `u` on, as many as there are lanes; returns how many of them come before `last`.
inline int take_lanes(std::int64_t u, std::int64_t last, std::int64_t (&rank)[W]) {
    const int count = last - u < W ? static_cast<int>(last - u) : W;
    const I ranks = first_lanes(count) + u;
    std::memcpy(rank, &ranks, sizeof rank);
    return count;
}

// Where the records of the ranks at window coordinates begin, in doubles from the first.
inline I records_at(const Window& window, I u) {
    const I i = window.mask < 0 ? wrapped(u, window.ranks) : u & window.mask;
    return reinterpret_cast<I>(product32(reinterpret_cast<U>(i), static_cast<std::uint64_t>(window.record)));
}

// W addresses, so many doubles behind one.
template <class T>
inline void point(T** to, T* from, I at) {
    const I address = (at << 3) + reinterpret_cast<std::intptr_t>(from);
    static_assert(sizeof(double*) == sizeof(std::int64_t) && sizeof(double) == 8, "addresses are lanes");
    std::memcpy(to, &address, sizeof address);
}

std::int32_t profile_of(const Plan& p, std::int64_t rank) {
    if (p.placed) return p.rank_profile[rank];
    switch (p.pattern) {
        case Pattern::grid: return p.profiles == 1 ? 0 : profile_at(p, rank);
        case Pattern::list: return static_cast<std::int32_t>(p.out_start[rank + 1] - p.out_start[rank]);
        default: return 0;
    }
}

// The neighbours of W ranks in a row along x that have all of them: only those of its ends differ. Calls
// `each` with a direction and the ranks `sign` steps away, in window coordinates; false if the ranks
// at `u` are no such row.
template <class Each>
inline bool in_row(const Plan& p, std::int64_t u, int sign, const Each& each) {
    if (p.pattern != Pattern::grid || !(p.profiles == 1 || p.everywhere) || p.dims[0] < W) return false;
    const std::int64_t rank = wrapped(u, p.ranks), n = p.dims[0], x = rank % n;
    if (x + W > n) return false;
    Site site;
    locate(p, rank, site);
    const std::int64_t back = p.outer == 0 ? 1 : 1 - n;  // from the end of a row to its beginning
    for (int d = 0; d < p.directions; ++d) {
        const std::int32_t* step = p.step + 3 * d;
        const std::int64_t beside = u + site.delta[1][1 + sign * step[1]] + site.delta[2][1 + sign * step[2]];
        const std::int64_t along = sign * step[0];
        I at = kLanes + (beside + along);
        if (along < 0 && x == 0) at[0] = beside - back;
        if (along > 0 && x + W == n) at[W - 1] = beside + W - 1 + back;
        each(d, at);
    }
    return true;
}

// When a rank's receivers answer, and when they post their receives: `from` and `post` by rank, and by group if in MPI.
inline void find_receivers(const Plan& p, Scratch& s, std::int64_t rank, int lane, const double* from,
                           const double* post) {
    const auto tell = [&](int d, std::int64_t to) {
        s.permits[d * W + lane] = to < 0 ? s.nobody : from + to * (p.gated ? p.groups : 1);
        s.posts[d * W + lane] = to < 0 ? s.nobody : post + to;
    };
    if (p.pattern == Pattern::grid) {
        Site site;
        locate(p, rank, site);
        for (int d = 0; d < p.directions; ++d) {
            const std::int32_t* step = p.step + 3 * d;
            bool there = true;
            std::int64_t to = rank;
            for (int a = 0; a < 3; ++a) {
                there = there && site.there[a][step[a] + 1];
                to += site.delta[a][step[a] + 1];
            }
            tell(d, there ? wrapped(to, p.ranks) : -1);
        }
    } else if (p.pattern == Pattern::pairs) {
        tell(0, rank ^ 1);
    } else {
        for (int d = 0; d < p.directions; ++d) {
            const std::int64_t e = p.out_start[rank] + d;
            tell(d, e < p.out_start[rank + 1] ? p.out_rank[e] : -1);
        }
    }
}

void send_pass(const Plan& p, const State& state, const Window& window, void* memory,
               std::int64_t iteration, std::int64_t first, std::int64_t last) {
    Scratch s = carved(p, memory);
    const double* from = p.gated ? state.gate : state.start;
    for (std::int64_t u = first; u < last; u += W) {
        Senders g;
        g.count = last - u < W ? static_cast<int>(last - u) : W;
        const auto tell = [&](int d, I to) {
            const I ranks = wrapped(to, p.ranks);
            point(s.permits + d * W, from, p.gated ? ranks * p.groups : ranks);
            if (p.gated) point(s.posts + d * W, static_cast<const double*>(state.start), ranks);
        };
        const bool alone = p.needs_out && !(g.count == W && in_row(p, u, 1, tell));
        const I at = first_lanes(g.count) + u, rank = wrapped(at, p.ranks);
        std::memcpy(g.rank, &rank, sizeof rank);
        point(g.record, window.data, records_at(window, at));
        for (int l = 0; l < W; ++l) {
            g.profile[l] = profile_of(p, g.rank[l]);
            g.alike = g.alike && g.profile[l] == g.profile[0];
            if (alone) find_receivers(p, s, g.rank[l], l, from, state.start);
        }
        send(p, state, s, g, iteration);
    }
}

// From whom a lane receives, by the number of a neighbour: the record, which of its messages, and their class.
inline void hear(const Plan& p, Scratch& s, int j, int lane, const double* from, std::int64_t direction,
                 std::int32_t kind) {
    s.source[j * W + lane] = from;
    s.arrivals[j * W + lane] = from + kHead + direction * p.transports;
    s.kind[j * W + lane] = kind;
    s.slot[j * W + lane] = static_cast<std::int32_t>(direction);
}

inline void hear_nobody(Scratch& s, int j, int lane) {
    s.source[j * W + lane] = s.arrivals[j * W + lane] = s.nobody;
    s.kind[j * W + lane] = s.slot[j * W + lane] = 0;
}

// The class of what a rank sends in a direction; without ranks' own profiles all profiles agree.
inline std::int32_t kind_of(const Plan& p, std::int64_t rank, std::int64_t direction) {
    return p.classes == 1 ? 0 : class_of(p, p.placed ? p.rank_profile[rank] : 0, direction);
}

// A rank's neighbours on a grid.
inline void find_on_grid(const Plan& p, const Window& window, Scratch& s, std::int64_t u, int lane) {
    const std::int64_t rank = wrapped(u, p.ranks);
    Site site;
    locate(p, rank, site);
    for (int d = 0; d < p.directions; ++d) {
        const std::int32_t* step = p.step + 3 * d;
        const bool there = site.there[0][1 - step[0]] & site.there[1][1 - step[1]] & site.there[2][1 - step[2]];
        if (!there) {
            hear_nobody(s, d, lane);
            continue;
        }
        const std::int64_t from = u + site.delta[0][1 - step[0]] + site.delta[1][1 - step[1]] +
                                  site.delta[2][1 - step[2]];
        hear(p, s, d, lane, record_at(window, from), d, kind_of(p, wrapped(from, p.ranks), d));
    }
}

// The same of W ranks in a row.
inline bool find_in_row(const Plan& p, const Window& window, Scratch& s, std::int64_t u) {
    return in_row(p, u, -1, [&](int d, I from) {
        const I at = records_at(window, from);
        const double* records = window.data;
        point(s.source + d * W, records, at);
        point(s.arrivals + d * W, records + kHead + d * p.transports, at);
        if (p.mapped) std::fill_n(s.slot + d * W, W, d);
        if (p.classes == 1) return;
        const I rank = wrapped(from, p.ranks);
        std::int64_t ranks[W];
        std::memcpy(ranks, &rank, sizeof ranks);
        for (int l = 0; l < W; ++l) s.kind[d * W + l] = kind_of(p, ranks[l], d);
    });
}

inline void find_sources(const Plan& p, const Window& window, Scratch& s, std::int64_t u, int lane) {
    if (p.pattern == Pattern::grid) {
        find_on_grid(p, window, s, u, lane);
    } else if (p.pattern == Pattern::pairs) {
        hear(p, s, 0, lane, record_at(window, u ^ 1), 0, kind_of(p, u ^ 1, 0));
    } else {
        const std::int64_t rank = wrapped(u, p.ranks);
        for (int j = 0; j < p.sources; ++j) {
            const std::int64_t e = p.in_start[rank] + j;
            const bool there = e < p.in_start[rank + 1];
            if (there) {
                const std::int64_t from = p.in_rank[e], slot = p.in_slot[e];
                hear(p, s, j, lane, record_at(window, from), slot, kind_of(p, from, slot));
            } else {
                hear_nobody(s, j, lane);
            }
        }
    }
}

// `rank` is a multiple of W.
inline void add(double* cells, int count, std::int64_t rank, Sum which, V x) {
    double* cell = cells + which * kCells + rank % kCells;
    if (count < W) {
        for (int l = 0; l < count; ++l) cell[l] += x[l];
        return;
    }
    V sum;
    std::memcpy(&sum, cell, sizeof sum);
    sum += x;
    std::memcpy(cell, &sum, sizeof sum);
}

// From when on ranks receive, in `floor`. Returns when the threads meet of those who do: alone, other ranks.
inline V receivers_join(const Plan& p, Scratch& s, const Window& window, I at, V start) {
    const double* records[W];
    point(records, static_cast<const double*>(window.data), records_at(window, at + p.alone));
    const V join = collect(records, kJoin);
    for (int i = 0; i < p.groups; ++i)
        s.floor[i] = !p.waits ? start : p.own_threads ? collect(records, p.in_mpi + i) : join;
    return join;
}

void receive_pass(const Plan& p, const State& state, const Window& window, void* memory,
                  std::int64_t first, std::int64_t last, Extremes& extremes) {
    Scratch s = carved(p, memory);
    for (std::int64_t block = first; block < last; block += kBlock) {
        double cells[kSums * kCells] = {};
        const std::int64_t stop = std::min({block + kBlock, last, p.alone > 0 ? p.alone : last});
        for (std::int64_t u = block; u < stop; u += W) {
            const int count = stop - u < W ? static_cast<int>(stop - u) : W;
            const double* own[W];
            const bool found = count == W && find_in_row(p, window, s, u);
            const I at = first_lanes(count) + u;
            point(own, static_cast<const double*>(window.data), records_at(window, at));
            for (int l = 0; !found && l < W; ++l) find_sources(p, window, s, at[l] + p.alone, l);
            const V start = collect(own, kStart), opened = collect(own, kFirst), ready = collect(own, kReady);
            const V join = collect(own, kJoin), early = collect(own, kEarly);
            const V theirs = receivers_join(p, s, window, at, start);
            const V done = collect(own, kDone);
            const Received r = receive(p, s);
            // Where each thread has completed its own messages, they meet.
            const V met = p.own_threads ? wide(p.barrier) : V{};
            const V complete = r.end + met;
            const V received = p.receiver_computes ? larger(complete, theirs) : complete;
            const V told = larger(p.waits_for_sends ? larger(received, done + met) : received, join);
            const Causes cause = attribute(r, ready, told);
            const V end = p.consumers == 0 ? told : consume(p, s, told, p.alone > 0 && !p.receiver_computes ? start : theirs, count);
            for (int l = 0; l < count; ++l) {
                state.next_start[u + l] = state.next_start[u + l + p.alone] = end[l];
                state.next_nic[u + l] = own[l][kNic];
                if (state.received) state.received[u + l] = received[l];
                extremes.take(end[l] - start[l], end[l]);
            }
            add(cells, count, u, kDuration, end - start);
            add(cells, count, u, kCompute, ready - start);
            add(cells, count, u, kLate, cause.late);
            add(cells, count, u, kIssue, cause.issue);
            add(cells, count, u, kNicTime, cause.nic);
            add(cells, count, u, kWire, cause.wire);
            add(cells, count, u, kReceive, cause.receive);
            add(cells, count, u, kSpread, ready - opened);
            add(cells, count, u, kToJoin, join - ready);
            add(cells, count, u, kEarlyCount, early);
            add(cells, count, u, kConsume, end - told);
        }
        double* sums = state.sums + block / kBlock * kSums;
        for (int which = 0; which < kSums; ++which) {
            double sum = 0;
            for (int c = 0; c < kCells; ++c) sum += cells[which * kCells + c];
            sums[which] = sum;
        }
    }
}

void gate_pass(const Plan& p, const double* start, double* gate, void* memory,
               std::int64_t iteration, std::int64_t first, std::int64_t last) {
    Scratch s = carved(p, memory);
    for (std::int64_t u = first; u < last; u += W) {
        std::int64_t rank[W];
        const int count = take_lanes(u, last, rank);
        const Ready ready = draw(p, rank, iteration, {s.starts, s.in_mpi, nullptr});
        for (int i = 0; i < p.groups; ++i) {
            const V enters = p.own_threads ? s.in_mpi[i] : ready.marked + p.barrier;
            for (int l = 0; l < count; ++l) gate[(u + l) * p.groups + i] = start[u + l] + enters[l];
        }
    }
}

void node_pass(const Plan& p, const State& state, const Window& window, void* memory, std::int64_t first,
               std::int64_t last) {
    for (std::int64_t node = first; node < last; ++node) share_adapter(p, state, window, memory, node);
}

// The times of ranks' partitions in one iteration, as `Plan::times` has those of all.
void times_pass(const Plan& p, void* memory, std::int64_t iteration, std::int64_t first, std::int64_t last,
                double* out) {
    Scratch s = carved(p, memory);
    for (std::int64_t u = first; u < last; u += W) {
        std::int64_t rank[W];
        const int count = take_lanes(u, last, rank);
        draw(p, rank, iteration, {s.starts, s.in_mpi, s.raw});
        for (std::int64_t i = 0; i < p.threads * p.theta; ++i) {
            for (int l = 0; l < count; ++l) out[i * (last - first) + u - first + l] = s.raw[i][l];
        }
    }
}

// W ranks on one diagonal of a sweep: receive from upstream, compute, send downstream.
void sweep_pass(const Plan& p, const State& state, const Window& window, void* memory,
                std::int64_t step, const std::int64_t* members, const std::int64_t* up,
                const std::int64_t* down, std::int64_t count_all) {
    Scratch s = carved(p, memory);
    for (std::int64_t first = 0; first < count_all; first += W) {
        Senders g;
        g.count = count_all - first < W ? static_cast<int>(count_all - first) : W;
        V free;
        for (int l = 0; l < W; ++l) {
            const std::int64_t i = first + (l < g.count ? l : g.count - 1);
            g.rank[l] = members[i];
            g.record[l] = record_at(window, members[i]);
            free[l] = state.start[members[i]];
            g.profile[l] = (down[2 * i] >= 0 ? 1 : 0) + (down[2 * i + 1] >= 0 ? 2 : 0);
            g.alike = g.alike && g.profile[l] == g.profile[0];
            for (int d = 0; d < 2; ++d) {
                const std::int64_t from = up[2 * i + d], to = down[2 * i + d];
                s.permits[d * W + l] = to < 0 ? s.nobody : state.start + to;
                if (from < 0) {
                    hear_nobody(s, d, l);
                } else {
                    hear(p, s, d, l, record_at(window, from), d, kind_of(p, from, d));
                }
            }
        }
        std::fill_n(s.floor, p.groups, free);
        const Received r = receive(p, s);
        const V begun = larger(r.end, free);
        for (int l = 0; l < g.count; ++l) state.next_start[g.rank[l]] = begun[l];
        send(p, state, s, g, step);
        V end, ready, spread, join;
        for (int l = 0; l < W; ++l) {
            const double* own = g.record[l];
            join[l] = own[kJoin];
            end[l] = larger(own[kDone] + (p.own_threads ? p.barrier : 0.0), own[kJoin]);
            ready[l] = own[kReady];
            spread[l] = own[kReady] - own[kFirst];
        }
        const Causes cause = attribute(r, free, begun);
        for (int l = 0; l < g.count; ++l) {
            state.next_start[g.rank[l]] = end[l];
            state.next_nic[g.rank[l]] = g.record[l][kNic];
            state.sums[kCompute] += ready[l] - begun[l];
            state.sums[kLate] += cause.late[l];
            state.sums[kIssue] += cause.issue[l] + (end[l] - ready[l]);
            state.sums[kNicTime] += cause.nic[l];
            state.sums[kWire] += cause.wire[l];
            state.sums[kReceive] += cause.receive[l];
            state.sums[kSpread] += spread[l];
            state.sums[kToJoin] += join[l] - ready[l];
            state.sums[kEarlyCount] += g.record[l][kEarly];
        }
    }
}

// W ranks of one level of a tree: receive from above, and send on below what has come. Only the root draws times. Sums are
// of the rank that is last, since the root's last partition was ready.
void tree_pass(const Plan& p, const State& state, const Window& window, void* memory, std::int64_t iteration,
               std::int64_t first, std::int64_t last, Extremes& extremes) {
    Scratch s = carved(p, memory);
    const double* const root = record_at(window, 0);
    for (std::int64_t u = first; u < last; u += W) {
        Senders g;
        g.count = take_lanes(u, last, g.rank);
        for (int l = 0; l < W; ++l) {
            g.record[l] = record_at(window, g.rank[l]);
            g.profile[l] = profile_of(p, g.rank[l]);
            g.alike = g.alike && g.profile[l] == g.profile[0];
            find_receivers(p, s, g.rank[l], l, state.start, state.start);
            find_sources(p, window, s, g.rank[l], l);
        }
        if (u == 0) {
            send(p, state, s, g, iteration);
            const double begun = root[kStart], met = p.own_threads ? p.barrier : 0.0;
            const double sent = root[kDone] + met, end = sent > root[kJoin] ? sent : root[kJoin];
            state.next_start[0] = end;
            state.next_nic[0] = root[kNic];
            extremes = {end - begun, end - begun, end, end};
            state.sums[kCompute] = root[kReady] - begun;
            state.sums[kSpread] = root[kReady] - root[kFirst];
            state.sums[kToJoin] = root[kJoin] - root[kReady];
            state.sums[kIssue] = end - root[kReady];
            state.sums[kEarlyCount] = root[kEarly];
            state.sums[kDuration] = end - begun;
            continue;
        }
        const V start = of_ranks(g, state.start), ready = wide(root[kReady]);
        std::fill_n(s.floor, p.groups, start);
        const Received r = receive(p, s);
        const Ready relayed = relay(p, s, start, wide(root[kJoin]));
        bool leaves = true;
        for (int l = 0; l < W; ++l) leaves = leaves && p.degree[g.profile[l]] == 0;
        if (!leaves) send(p, state, s, g, iteration, &relayed);
        const V met = p.own_threads ? wide(p.barrier) : V{};
        for (int l = 0; l < g.count; ++l) {
            double end = r.end[l] + met[l];
            if (p.degree[g.profile[l]] > 0) {
                end = larger(end, g.record[l][kDone] + met[l]);
                state.next_nic[g.rank[l]] = g.record[l][kNic];
                state.sums[kEarlyCount] += g.record[l][kEarly];
            }
            state.next_start[g.rank[l]] = end;
            const double took = end - start[l];
            extremes.shortest = took < extremes.shortest ? took : extremes.shortest;
            extremes.first_end = end < extremes.first_end ? end : extremes.first_end;
            if (end <= extremes.last_end) continue;
            extremes.longest = took;
            extremes.last_end = end;
            const Causes cause = attribute(r, ready, wide(end));
            state.sums[kDuration] = took;
            state.sums[kLate] = cause.late[l];
            state.sums[kIssue] = cause.issue[l];
            state.sums[kNicTime] = cause.nic[l];
            state.sums[kWire] = cause.wire[l];
            state.sums[kReceive] = cause.receive[l];
        }
    }
}

const Passes kPasses = {PREADY_NAME, scratch_size, send_pass, receive_pass,      gate_pass,
                        sweep_pass,  tree_pass,    node_pass, node_scratch_size, times_pass};

}  // namespace

const Passes& PREADY_PASSES() { return kPasses; }

}  // namespace pready
