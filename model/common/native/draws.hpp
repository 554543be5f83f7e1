// Random numbers by counter, and their normal quantiles: what Python draws and what the engine's kernel draws.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace pready {

// Integers below 2^53, exactly: two halves behind the exponent of 2^52, as SSE2 has no conversion.
inline double exact(std::uint64_t bits) {
    const auto half = [](std::uint64_t low) {
        const std::uint64_t of = low | 0x4330000000000000u;
        double x;
        std::memcpy(&x, &of, sizeof x);
        return x - 4503599627370496.0;
    };
    return half(bits >> 32) * 4294967296.0 + half(bits & 0xffffffffu);
}

// 53 bits of two words, centred in their cell: neither 0 nor 1 can come out.
inline double centred(std::uint64_t high, std::uint64_t low) {
    return (exact((high << 21) | (low >> 11)) + 0.5) * 0x1p-53;
}

// Philox4x32-10 (Salmon et al., SC11, https://doi.org/10.1145/2063384.2063405): 2 `blocks` numbers in (0, 1).
inline void uniforms(std::uint64_t seed, std::uint64_t rank, std::uint64_t iteration, std::uint64_t stream,
                     int blocks, double* out) {
    for (int block = 0; block < blocks; ++block) {
        std::uint64_t c0 = static_cast<std::uint64_t>(block), c1 = iteration, c2 = rank, c3 = stream;
        std::uint64_t k0 = seed & 0xffffffffu, k1 = seed >> 32;
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t p0 = (c0 & 0xffffffffu) * 0xD2511F53u, p1 = (c2 & 0xffffffffu) * 0xCD9E8D57u;
            c0 = (p1 >> 32) ^ c1 ^ k0;
            c1 = p1 & 0xffffffffu;
            c2 = (p0 >> 32) ^ c3 ^ k1;
            c3 = p0 & 0xffffffffu;
            k0 = (k0 + 0x9E3779B9u) & 0xffffffffu;
            k1 = (k1 + 0xBB67AE85u) & 0xffffffffu;
        }
        out[2 * block] = centred(c0, c1);
        out[2 * block + 1] = centred(c2, c3);
    }
}

// AS 241 PPND16 (Wichura 1988, https://doi.org/10.2307/2347330).
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

inline double polynomial(const double (&c)[8], double x) {
    double y = c[0];
    for (int i = 1; i < 8; ++i) y = y * x + c[i];
    return y;
}

inline double normal_tail(double p, double q) {
    const double r = std::sqrt(-std::log(std::min(p, 1 - p)));
    const double z = r <= 5.0 ? polynomial(kMiddleOver, r - 1.6) / polynomial(kMiddleUnder, r - 1.6)
                              : polynomial(kTailOver, r - 5.0) / polynomial(kTailUnder, r - 5.0);
    return std::copysign(z, q);
}

// The standard normal quantile of a probability in (0, 1), to about 16 digits.
inline double normal(double p) {
    const double q = p - 0.5, r = 0.180625 - q * q;
    return std::abs(q) > 0.425 ? normal_tail(p, q)
                               : q * (polynomial(kCentralOver, r) / polynomial(kCentralUnder, r));
}

}  // namespace pready
