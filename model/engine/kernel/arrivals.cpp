#include "arrivals.hpp"

#include <algorithm>
#include <cmath>

#include "draws.hpp"

namespace pready {
namespace {

constexpr std::int64_t kMostKept = std::int64_t{1} << 22;  // doubles: 32 MiB
constexpr std::uint64_t kTimesStream = 0, kLateThread = 1;

constexpr int kAtOnce = 64;

// `normal` of so many probabilities, in place: those in the middle, which are most, several at a time.
void normals(double* p, int count) {
    double z[kAtOnce];
    for (int first = 0; first < count; first += kAtOnce, p += kAtOnce) {
        const int n = std::min(kAtOnce, count - first);
        int tails = 0;
        for (int i = 0; i < n; ++i) {
            const double q = p[i] - 0.5, r = 0.180625 - q * q;
            z[i] = q * (polynomial(kCentralOver, r) / polynomial(kCentralUnder, r));
            tails += r < 0.180625 - 0.425 * 0.425 ? 1 : 0;
        }
        for (int i = 0; tails > 0 && i < n; ++i) {
            const double q = p[i] - 0.5;
            if (std::abs(q) > 0.425) z[i] = normal_tail(p[i], q);
        }
        std::copy_n(z, n, p);
    }
}

}  // namespace

std::shared_ptr<const Arrivals::Kept> Arrivals::kept() const {
    const std::lock_guard<std::mutex> lock(keeping_);
    return kept_;
}

void Arrivals::keep(std::int64_t ranks, std::int64_t iterations) {
    const std::lock_guard<std::mutex> lock(keeping_);
    if (times == Times::table || (ranks <= kept_->ranks && iterations <= kept_->iterations)) return;
    if (iterations > kMostKept / (ranks * partitions())) return;
    auto more = std::make_shared<Kept>();
    more->ranks = ranks;
    more->iterations = iterations;
    more->times.resize(static_cast<std::size_t>(ranks * iterations * partitions()));
    std::vector<double> out(room());
    double* to = more->times.data();
    for (std::int64_t k = 0; k < iterations; ++k) {
        for (std::int64_t r = 0; r < ranks; ++r, to += partitions())
            std::copy_n(at(*kept_, r, k, out.data()), partitions(), to);
    }
    kept_ = std::move(more);
}

const double* Arrivals::row(std::int64_t rank, std::int64_t iteration) const {
    const auto rows = static_cast<std::int64_t>(table.size()) / partitions();
    std::int64_t at = 0;
    if (select == Select::turn) at = (iteration + rank) % rows;
    if (select == Select::draw) {
        double u[2];
        uniforms(seed, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(iteration), kLateThread, 1, u);
        at = static_cast<std::int64_t>(u[0] * static_cast<double>(rows));
    }
    return table.data() + at * partitions();
}

const double* Arrivals::draw(std::int64_t rank, std::int64_t iteration, double* out) const {
    if (times == Times::table) return row(rank, iteration);
    const auto r = static_cast<std::uint64_t>(rank), k = static_cast<std::uint64_t>(iteration);
    if (times == Times::gaussian) {
        const int n = partitions();
        if (sd == 0) {
            std::fill_n(out, n, base);
        } else {
            uniforms(seed, r, k, kTimesStream, (n + 1) / 2, out);
            for (int i = 0; i < n; ++i) out[i] = cut + out[i] * (1 - cut);
            normals(out, n);
            for (int i = 0; i < n; ++i) out[i] = base + sd * out[i];
        }
        for (int t = 0; t < threads; ++t) {
            for (int j = 1; j < theta; ++j) out[t * theta + j] = out[t * theta + j - 1] + out[t * theta + j];
        }
        return out;
    }
    threads_times(r, k, out);
    for (int t = threads - 1; t >= 0; --t) {
        const double time = out[t];
        for (int j = theta - 1; j >= 0; --j) out[t * theta + j] = time * share[static_cast<std::size_t>(j)];
    }
    return out;
}

void Arrivals::threads_times(std::uint64_t rank, std::uint64_t iteration, double* out) const {
    if (density == Density::normal && sd == 0) {
        std::fill_n(out, threads, base);
        return;
    }
    if (density != Density::kernel) {
        uniforms(seed, rank, iteration, kTimesStream, (threads + 1) / 2, out);
        if (density == Density::uniform) {
            for (int t = 0; t < threads; ++t) out[t] = base * (1 + noise * out[t]);
            return;
        }
        for (int t = 0; t < threads; ++t) out[t] = cut + out[t] * (1 - cut);
        normals(out, threads);
        for (int t = 0; t < threads; ++t) out[t] = base + sd * out[t];
        return;
    }
    std::vector<double> u(2 * static_cast<std::size_t>(threads) + 2), z(static_cast<std::size_t>(threads));
    uniforms(seed, rank, iteration, kTimesStream, threads + 1, u.data());
    const auto pick = [&](int t) {
        return static_cast<std::size_t>(u[static_cast<std::size_t>(t)] * static_cast<double>(centre.size()));
    };
    for (int t = 0; t < threads; ++t) {
        const double below = centre_cut[pick(t)];
        z[static_cast<std::size_t>(t)] = below + u[static_cast<std::size_t>(threads + t)] * (1 - below);
    }
    if (width != 0) normals(z.data(), threads);
    for (int t = 0; t < threads; ++t)
        out[t] = centre[pick(t)] + (width == 0 ? 0.0 : width * z[static_cast<std::size_t>(t)]);
}

}  // namespace pready
