// When the partitions of W ranks become ready: as Python draws them (`arrivals.draw`), from the same counters.
#pragma once

#include "lanes/lanes.hpp"
#include "recurrence/plan.hpp"

namespace pready {
namespace {

// Philox4x32-10 (Salmon et al., https://doi.org/10.1145/2063384.2063405), as in Python.
struct Pair {
    V first, second;
};

inline V unit(U high, U low) {
    // 53 bits of two words, centred in their cell.
    return (real((high << 21) | (low >> 11)) + 0.5) * 0x1p-53;
}

inline Pair uniforms(std::uint64_t seed, U rank, U iteration, std::uint64_t block, std::uint64_t stream) {
    U c0 = U{} + block, c1 = iteration, c2 = rank, c3 = U{} + stream;
    std::uint64_t k0 = seed & 0xffffffffu, k1 = seed >> 32;
    for (int round = 0; round < 10; ++round) {
        const U p0 = product32(c0, 0xD2511F53u), p1 = product32(c2, 0xCD9E8D57u);
        c0 = (p1 >> 32) ^ c1 ^ k0;
        c1 = p1 & 0xffffffffu;
        c2 = (p0 >> 32) ^ c3 ^ k1;
        c3 = p0 & 0xffffffffu;
        k0 = (k0 + 0x9E3779B9u) & 0xffffffffu;
        k1 = (k1 + 0xBB67AE85u) & 0xffffffffu;
    }
    return {unit(c0, c1), unit(c2, c3)};
}

// AS 241 PPND16 (Wichura 1988, https://doi.org/10.2307/2347330), as in Python.
constexpr double kCentralOver[8] = {
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
constexpr double kCentralUnder[8] = {
    5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0};
constexpr double kMiddleOver[8] = {
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
    1.27045825245236838258,   3.64784832476320460504,   5.7694972214606914055,
    4.6303378461565452959,    1.42343711074968357734};
constexpr double kMiddleUnder[8] = {
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
    0.14810397642748007459,    0.68976733498510000455,  1.6763848301838038494,
    2.05319162663775882187,    1.0};
constexpr double kTailOver[8] = {
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
    0.026532189526576123093,   0.29656057182850489123,    1.7848265399172913358,
    5.4637849111641143699,     6.6579046435011037772};
constexpr double kTailUnder[8] = {
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
    7.868691311456132591e-4,    0.0148753612908506148525, 0.13692988092273580531,
    0.59983220655588793769,     1.0};

template <class T>
inline T polynomial(const double (&c)[8], T x) {
    T y = x * 0.0 + c[0];
    for (int i = 1; i < 8; ++i) y = y * x + c[i];
    return y;
}

inline double normal_tail(double p, double q) {
    const double r = std::sqrt(-std::log(p < 1 - p ? p : 1 - p));
    const double z = r <= 5.0
                         ? polynomial(kMiddleOver, r - 1.6) / polynomial(kMiddleUnder, r - 1.6)
                         : polynomial(kTailOver, r - 5.0) / polynomial(kTailUnder, r - 5.0);
    return std::copysign(z, q);
}

inline V normal(V p) {
    const V q = p - 0.5, r = 0.180625 - q * q;
    V z = q * (polynomial(kCentralOver, r) / polynomial(kCentralUnder, r));
    const I tail = (q > 0.425) | (q < -0.425);
    if (any(tail)) {
        for (int l = 0; l < W; ++l) {
            if (tail[l]) z[l] = normal_tail(p[l], q[l]);
        }
    }
    return z;
}

// Ready times of W ranks, relative to their starts.
struct Ready {
    V first, last;
    V marked;  // when the last MPI_Pready has returned
};

struct DrawBuffers {
    V* starts;   // [jobs]
    V* in_mpi;   // [groups]: when the first thread of each has marked its last partition, and waits in MPI
    V* raw;      // [threads * theta], only if asked for
};

constexpr std::uint64_t kTimes = 0, kLateThread = 1;

inline V kernel_density(const Plan& p, V pick, V offset) {
    V centre, cut;
    for (int l = 0; l < W; ++l) {
        const auto i = static_cast<std::int64_t>(pick[l] * static_cast<double>(p.kernels));
        centre[l] = p.centre[i];
        cut[l] = p.centre_cut[i];
    }
    if (p.width == 0) return centre;
    return centre + p.width * normal(cut + offset * (1 - cut));
}

// Marks one partition after the other and keeps the latest of each transport partition.
struct Marker {
    const Plan& plan;
    DrawBuffers out;
    V first = wide(kInf), last = wide(-kInf), marked = wide(-kInf);
    V thread_latest = wide(-kInf), bin_latest = wide(-kInf);
    int in_bin = 0, bin = 0, index = 0, part = 0, now = -1;

    void thread() {
        if (now >= 0) through();
        ++now;
        thread_latest = wide(-kInf);
    }

    void through() {
        for (std::int32_t e = plan.serve_start[now]; e < plan.serve_start[now + 1]; ++e) {
            V& first_of_group = out.in_mpi[plan.serve_group[e]];
            first_of_group = smaller(first_of_group, thread_latest);
        }
    }

    void partition(V time) {
        if (out.raw) out.raw[index++] = time;
        first = smaller(first, time);
        last = larger(last, time);
        thread_latest = larger(thread_latest, time);
        marked = larger(marked, time);
        if (plan.mapped) {
            for (std::int32_t e = plan.part_start[part]; e < plan.part_start[part + 1]; ++e) {
                V& start = out.starts[plan.part_job[e]];
                start = larger(start, time);
            }
            ++part;
            return;
        }
        bin_latest = larger(bin_latest, time);
        if (++in_bin == plan.per_bin) {
            out.starts[bin++] = bin_latest;
            bin_latest = wide(-kInf);
            in_bin = 0;
        }
    }

    Ready ready() {
        through();
        return {first, last, marked};
    }
};

// The same from times that were drawn before.
inline Ready mark(const Plan& p, const std::int64_t* rank, std::int64_t iteration, Marker& m) {
    bool in_a_row = true;
    for (int l = 1; l < W; ++l) in_a_row = in_a_row && rank[l] == rank[0] + l;
    const double* row = p.times + iteration * p.threads * p.theta * p.ranks;
    for (int n = 0; n < p.threads; ++n) {
        m.thread();
        for (int j = 0; j < p.theta; ++j, row += p.ranks) {
            V time;
            if (in_a_row) {
                std::memcpy(&time, row + rank[0], sizeof time);
            } else {
                for (int l = 0; l < W; ++l) time[l] = row[rank[l]];
            }
            m.partition(time);
        }
    }
    return m.ready();
}

inline Ready draw(const Plan& p, const std::int64_t* rank, std::int64_t iteration, DrawBuffers out) {
    U ranks{}, k = U{} + static_cast<std::uint64_t>(iteration);
    for (int l = 0; l < W; ++l) {
        ranks[l] = static_cast<std::uint64_t>(p.alone > 0 ? rank[l] / p.alone : rank[l]);
        if (p.alone > 0) k[l] = p.first + static_cast<std::uint64_t>(rank[l] % p.alone);
    }
    if (p.arrivals == Arrivals::table) {
        I row{};
        if (p.select == Select::turn) {
            for (int l = 0; l < W; ++l) row[l] = static_cast<std::int64_t>(k[l] + ranks[l]) % p.table_rows;
        } else if (p.select == Select::draw) {
            const V u = uniforms(p.seed, ranks, k, 0, kLateThread).first;
            row = __builtin_convertvector(u * static_cast<double>(p.table_rows), I);
        }
        const double* line[W];
        for (int l = 0; l < W; ++l) line[l] = p.table + row[l] * (3 + p.groups + p.jobs);
        for (int i = 0; i < p.groups; ++i) out.in_mpi[i] = collect(line, 3 + i);
        for (int t = 0; t < p.jobs; ++t) out.starts[t] = collect(line, 3 + p.groups + t);
        return {collect(line, 0), collect(line, 1), collect(line, 2)};
    }
    Marker m{p, out};
    for (int i = 0; i < p.groups; ++i) out.in_mpi[i] = wide(kInf);
    if (p.mapped) {
        for (int t = 0; t < p.jobs; ++t) out.starts[t] = wide(-kInf);
    }
    if (p.times) return mark(p, rank, iteration, m);
    if (p.arrivals == Arrivals::gaussian) {
        Pair u{};
        std::uint64_t drawn = 0;
        for (int n = 0; n < p.threads; ++n) {
            m.thread();
            V sum{};
            for (int j = 0; j < p.theta; ++j, ++drawn) {
                if (drawn % 2 == 0) u = uniforms(p.seed, ranks, k, drawn / 2, kTimes);
                const V x = drawn % 2 == 0 ? u.first : u.second;
                const V each = p.sd == 0 ? wide(p.base)
                                         : p.base + p.sd * normal(p.cut + x * (1 - p.cut));
                sum = j == 0 ? each : sum + each;
                m.partition(sum);
            }
        }
        return m.ready();
    }
    Pair u{}, offset{};
    std::uint64_t offset_block = ~std::uint64_t{0};
    for (int n = 0; n < p.threads; ++n) {
        if (n % 2 == 0) u = uniforms(p.seed, ranks, k, static_cast<std::uint64_t>(n / 2), kTimes);
        const V x = n % 2 == 0 ? u.first : u.second;
        V time;
        if (p.density == Density::uniform) {
            time = p.base * (1 + p.noise * x);
        } else if (p.density == Density::normal) {
            time = p.sd == 0 ? wide(p.base) : p.base + p.sd * normal(p.cut + x * (1 - p.cut));
        } else {
            const auto drawn = static_cast<std::uint64_t>(p.threads + n);
            if (drawn / 2 != offset_block) {
                offset_block = drawn / 2;
                offset = uniforms(p.seed, ranks, k, offset_block, kTimes);
            }
            time = kernel_density(p, x, drawn % 2 == 0 ? offset.first : offset.second);
        }
        m.thread();
        for (int j = 0; j < p.theta; ++j) m.partition(time * p.share[j]);
    }
    return m.ready();
}

}  // namespace
}  // namespace pready
