// Iterations of many ranks, and many simulations at once. Results do not depend on the number of cores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "arrivals.hpp"
#include "plan.hpp"
#include "recurrence.hpp"

namespace pready {

// One exchange of a step: how it is sent, what that costs, and when partitions are ready.
struct Exchange {
    std::shared_ptr<const Plan> plan;
    std::vector<Costs> rows;  // machines
    std::shared_ptr<Arrivals> arrivals;
};

// What a run keeps of its last iterations: by exchange (of a sweep by step), all ranks, and what they sent.
struct Kept {
    std::int64_t from = 0;  // the first iteration
    std::vector<std::vector<Rank>> ranks;
    std::vector<std::vector<Trace>> traces;
};

struct Options {
    std::int64_t iterations = 1;
    int cores = 1;
    double* ends = nullptr;      // [iterations * exchanges][ranks]
    double* received = nullptr;  // the same
    Kept* kept = nullptr;
    std::function<bool(double)> poll;  // called about 20 times a second with the share that is done; false stops
};

struct Outcome {
    std::int64_t iterations = 0;   // completed
    std::vector<Sums> sums;        // [iterations * exchanges]
    std::vector<Sums> extremes;    // [iterations]: of the whole step
    bool interrupted = false, overflowed = false;
};

// The exchanges of `step` one after the other, iteration after iteration: a rank begins one when it has ended the last.
Outcome run(const std::vector<Exchange>& step, std::size_t row, std::int64_t first, const Options& options);
// Bytes that it takes.
std::int64_t memory(const std::vector<Exchange>& step);

struct Job {
    std::vector<Exchange> step;
    std::vector<std::int64_t> firsts;  // by row: the iteration whose arrivals the first one has
    std::int64_t iterations = 1;
};
// By job and row.
std::vector<std::vector<Outcome>> run_all(const std::vector<Job>& jobs, int cores, const std::function<bool(double)>& poll);

}  // namespace pready
