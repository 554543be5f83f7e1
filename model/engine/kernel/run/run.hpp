// What a run is asked for and what came of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "lanes/passes.hpp"

namespace pready {

struct Options {
    std::int64_t iterations = 1;
    int cores = 1;
    std::int64_t chunk = 0;    // ranks per chunk; 0: one chunk per core
    double* ends = nullptr;      // [iterations * exchanges][ranks]
    double* received = nullptr;  // the same
    // Whole records of all ranks, of each exchange (of a sweep: of each of its steps) from number `kept_from` on:
    // [exchanges][ranks][kept_size].
    double* kept = nullptr;
    std::int64_t kept_from = 0, kept_size = 0;
    // Called about 20 times a second with the share of the work done; false stops the run.
    std::function<bool(double)> poll;
};

// Keeps the records of all ranks, if exchange `number` is one to be kept.
inline void keep(const Options& options, const Plan& plan, const double* records, std::int64_t number) {
    if (options.kept == nullptr || number < options.kept_from) return;
    double* to = options.kept + (number - options.kept_from) * plan.ranks * options.kept_size;
    for (std::int64_t r = 0; r < plan.ranks; ++r)
        std::copy_n(records + r * plan.record, plan.record, to + r * options.kept_size);
}

// The exchanges of an iteration, in order.
using Step = std::vector<const Plan*>;

struct Outcome {
    std::int64_t iterations = 0;          // completed
    std::vector<double> sums;             // [iterations * exchanges][kSums]
    std::vector<Extremes> extremes;       // [iterations]
    bool interrupted = false;
    bool overflowed = false;

    // One more exchange.
    void add(const Extremes& all, const double (&sum)[kSums]) {
        constexpr double kLargestTime = 292.0 * 365.25 * 86400;
        sums.insert(sums.end(), sum, sum + kSums);
        overflowed = !(all.last_end < kLargestTime);  // times no longer fit 63 bits of nanoseconds
    }

    // The last of them ends an iteration.
    void complete(const Extremes& all) {
        extremes.push_back(all);
        ++iterations;
    }
};

constexpr Extremes kNone{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

}  // namespace pready
