// Many small simulations in one call. Each gives the bits that it gives alone, on any number of cores.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fields.hpp"
#include "run.hpp"

namespace pready {

// The same ranks and messages at several prices.
struct Job {
    std::vector<std::vector<Fields>> rows;  // of the exchanges of a step; differ in costs and seed alone
    std::int64_t iterations = 1;
};

// By job and row; rows that were not reached when `poll` stopped the batch have no iterations.
using Outcomes = std::vector<std::vector<Outcome>>;

Outcomes run_all(const std::vector<Job>& jobs, int cores, const std::string& level,
                 const std::function<bool(double)>& poll);

}  // namespace pready
