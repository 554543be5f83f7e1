// As many ranks side by side as the instruction set has lanes.
//
// Every operation is elementwise and nothing is contracted, so a rank's result depends neither on
// its lane nor on the number of lanes. This header is compiled once per instruction set; everything
// in it has internal linkage, so that the linker never mixes two versions.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "lanes/passes.hpp"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace pready {
namespace {

#if defined(__AVX512F__)
constexpr int W = 8;
typedef double V __attribute__((vector_size(64)));
typedef std::int64_t I __attribute__((vector_size(64)));
typedef std::uint64_t U __attribute__((vector_size(64)));
#elif defined(__AVX2__)
constexpr int W = 4;
typedef double V __attribute__((vector_size(32)));
typedef std::int64_t I __attribute__((vector_size(32)));
typedef std::uint64_t U __attribute__((vector_size(32)));
#else
constexpr int W = 2;
typedef double V __attribute__((vector_size(16)));
typedef std::int64_t I __attribute__((vector_size(16)));
typedef std::uint64_t U __attribute__((vector_size(16)));
#endif

#if defined(__AVX512F__)
constexpr I kLanes = {0, 1, 2, 3, 4, 5, 6, 7};
#elif defined(__AVX2__)
constexpr I kLanes = {0, 1, 2, 3};
#else
constexpr I kLanes = {0, 1};
#endif

constexpr double kInf = std::numeric_limits<double>::infinity();

inline V wide(double x) { return V{} + x; }

inline V smaller(V a, V b) {
#if defined(__AVX512F__)
    return _mm512_maskz_min_pd(0xff, a, b);
#else
    return a < b ? a : b;
#endif
}

inline V larger(V a, V b) {
#if defined(__AVX512F__)
    return _mm512_maskz_max_pd(0xff, a, b);
#else
    return a > b ? a : b;
#endif
}

inline double larger(double a, double b) { return a > b ? a : b; }

inline V clip(V x, V low, V high) { return larger(low, smaller(x, high)); }

inline bool any(I mask) {
#if defined(__AVX512F__)
    return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask)) != 0;
#else
    std::int64_t all = 0;
    for (int l = 0; l < W; ++l) all |= mask[l];
    return all != 0;
#endif
}

// The product of the low 32 bits of each lane.
inline U product32(U a, std::uint64_t b) {
#if defined(__AVX512F__)
    return reinterpret_cast<U>(_mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a),
                                                _mm512_set1_epi64(static_cast<long long>(b))));
#elif defined(__AVX2__)
    return reinterpret_cast<U>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a),
                                                _mm256_set1_epi64x(static_cast<long long>(b))));
#else
    return (a & 0xffffffffu) * b;
#endif
}

// Integers below 2^53, exactly: two halves behind the exponent of 2^52.
inline V real(U bits) {
    const U exponent = U{} + 0x4330000000000000u;
    const V bias = wide(4503599627370496.0);
    const V high = reinterpret_cast<V>((bits >> 32) | exponent) - bias;
    const V low = reinterpret_cast<V>((bits & 0xffffffffu) | exponent) - bias;
    return high * 4294967296.0 + low;
}

// What lies `at` doubles behind W addresses. Called from so many places that compilers leave it a call, by far dearer.
[[gnu::always_inline]] inline V collect(const double* const* from, std::int64_t at) {
#if defined(__AVX512F__)
    return V{from[0][at], from[1][at], from[2][at], from[3][at], from[4][at], from[5][at], from[6][at], from[7][at]};
#elif defined(__AVX2__)
    return V{from[0][at], from[1][at], from[2][at], from[3][at]};
#else
    return V{from[0][at], from[1][at]};
#endif
}

// Which of W values side by side each lane has. Taken apart once: instructions that gather take as long as what they do
// one by one, and those that scatter longer.
struct Places {
    std::int64_t at[W];

    explicit Places(I number) {
        const I places = number * W + kLanes;
        std::memcpy(at, &places, sizeof at);
    }
    V pick(const double* values) const {
        const double* from[W];
        for (int l = 0; l < W; ++l) from[l] = values + at[l];
        return collect(from, 0);
    }
    void put(double* values, V x) const {
        for (int l = 0; l < W; ++l) values[at[l]] = x[l];
    }
};

// Writes what W lanes have behind as many addresses, row by row.
inline void scatter_rows(double* const* to, const V* rows, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const V x = rows[i];
        for (int l = 0; l < W; ++l) to[l][i] = x[l];
    }
}

// A value and, in its last bits, the number that decides between values that differ in nothing else: finite
// values then sort by both, as numbers. Below zero more is less, so the number counts backwards there.
struct Numbered {
    std::int64_t last;  // a mask

    V of(V x, std::int64_t number) const {
        const I bits = reinterpret_cast<I>(x + 0.0);  // no negative zero
        return reinterpret_cast<V>((bits & ~last) | ((number ^ (bits >> 63)) & last));
    }
    I number(V x) const {
        const I bits = reinterpret_cast<I>(x);
        return (bits ^ (bits >> 63)) & last;
    }
};

// Whole picoseconds: times that differ by rounding alone must not decide an order. Messages' times end in tenths or
// halves of one, such as 50000 B at 81.30081 ps/B; intervals begin where no such time is, or rounding would decide.
constexpr double kTickBegins = 0.1234567;
template <class T>
inline T ticks(T time) {
    return ((time * 1e12 + kTickBegins) + 0x1.8p52) - 0x1.8p52;
}

// The record of the rank at a window coordinate.
inline double* record_at(const Window& window, std::int64_t u) {
    std::int64_t i = u & window.mask;
    if (window.mask < 0) i = u < 0 ? u + window.ranks : u >= window.ranks ? u - window.ranks : u;
    return window.data + i * window.record;
}

// Compares values by halves, then those of each half, and so on.
template <int N, class X, class Compare>
inline void by_halves(X* x, const Compare& compare) {
    for (int i = 0; i < N / 2; ++i) compare(x[i], x[i + N / 2]);
    if constexpr (N > 2) {
        by_halves<N / 2>(x, compare);
        by_halves<N / 2>(x + N / 2, compare);
    }
}

// The fewest comparators that sort so many values (D. E. Knuth, "The Art of Computer Programming", vol. 3, 5.3.4).
template <int N, class X, class Compare>
inline void by_pairs(X* x, const Compare& compare) {
    static_assert(N == 4 || N == 6 || N == 8, "the networks there are");
    const auto order = [&](int low, int high) { compare(x[low], x[high]); };
    if constexpr (N == 4) {
        order(0, 2); order(1, 3); order(0, 1); order(2, 3); order(1, 2);
    } else if constexpr (N == 6) {
        order(0, 5); order(1, 3); order(2, 4); order(1, 2); order(3, 4); order(0, 3); order(2, 5); order(0, 1);
        order(2, 3); order(4, 5); order(1, 2); order(3, 4);
    } else {
        order(0, 2); order(1, 3); order(4, 6); order(5, 7); order(0, 4); order(1, 5); order(2, 6); order(3, 7);
        order(0, 1); order(2, 3); order(4, 5); order(6, 7); order(2, 4); order(3, 5); order(1, 4); order(3, 6);
        order(1, 2); order(3, 4); order(5, 6);
    }
}

// Steps of a network over values that `read` and `write` find by position.
template <int N, bool sorts, class X, class Read, class Write, class Compare>
inline void steps(const std::int32_t* at, const std::int32_t* end, const Read& read, const Write& write,
                  const Compare& compare) {
    for (; at < end; at += N) {
        X x[N];
        for (int i = 0; i < N; ++i) x[i] = read(at[i]);
        if constexpr (sorts) {
            by_pairs<N>(x, compare);
        } else {
            by_halves<N>(x, compare);
        }
        for (int i = 0; i < N; ++i) write(at[i], x[i]);
    }
}

// Merges lists whose lengths the network was made for. Those of one value are sorted first, some at a time: in a loop
// of their own, for more cases in that of merges cost 4 % of all.
template <class X, class Read, class Write, class Compare>
inline void merge(const Network& net, const Read& read, const Write& write, const Compare& compare) {
    const std::int32_t* at = net.steps;
    while (at < net.end && at[0] > kSorts) {
        const std::int32_t size = at[0] - kSorts;
        const std::int32_t* const end = at + 2 + size * at[1];
        at += 2;
        if (size == 4) steps<4, true, X>(at, end, read, write, compare);
        if (size == 6) steps<6, true, X>(at, end, read, write, compare);
        if (size == 8) steps<8, true, X>(at, end, read, write, compare);
        at = end;
    }
    while (at < net.end) {
        const std::int32_t size = at[0];
        const std::int32_t* const end = at + 2 + size * at[1];
        at += 2;
        switch (size) {
            case 2:
                steps<2, false, X>(at, end, read, write, compare);
                break;
            case 4:
                steps<4, false, X>(at, end, read, write, compare);
                break;
            default:
                steps<8, false, X>(at, end, read, write, compare);
        }
        at = end;
    }
}

inline void sort_values(const Network& net, V* v) {
    merge<V>(
        net, [=](std::int32_t i) { return v[i]; }, [=](std::int32_t i, V x) { v[i] = x; },
        [](V& low, V& high) {
            const V a = low, b = high;
            low = smaller(a, b);
            high = larger(a, b);
        });
}

// The same for values that carry something along; equal values may come out in any order.
inline void sort_with(const Network& net, V* v, V* w) {
    struct Both {
        V v, w;
    };
    merge<Both>(
        net, [=](std::int32_t i) { return Both{v[i], w[i]}; },
        [=](std::int32_t i, const Both& x) {
            v[i] = x.v;
            w[i] = x.w;
        },
        [](Both& low, Both& high) {
            const Both a = low, b = high;
            const I swap = a.v > b.v;
            low = {swap ? b.v : a.v, swap ? b.w : a.w};
            high = {swap ? a.v : b.v, swap ? a.w : b.w};
        });
}

// The same for values with distinct numbers that decide between equal values.
inline void sort_numbered(const Network& net, V* v, I* id) {
    struct Both {
        V v;
        I id;
    };
    merge<Both>(
        net, [=](std::int32_t i) { return Both{v[i], id[i]}; },
        [=](std::int32_t i, const Both& x) {
            v[i] = x.v;
            id[i] = x.id;
        },
        [](Both& low, Both& high) {
            const Both a = low, b = high;
            const I swap = (a.v > b.v) | ((a.v == b.v) & (a.id > b.id));
            low = {swap ? b.v : a.v, swap ? b.id : a.id};
            high = {swap ? a.v : b.v, swap ? a.id : b.id};
        });
}

// Few values that come in no order at all.
inline void insertion_sort(V* v, int n) {
    for (int i = 1; i < n; ++i) {
        for (int j = i; j > 0; --j) {
            const V a = v[j - 1], b = v[j];
            if (!any(a > b)) break;  // sorted in every lane
            v[j - 1] = smaller(a, b);
            v[j] = larger(a, b);
        }
    }
}

}  // namespace
}  // namespace pready
