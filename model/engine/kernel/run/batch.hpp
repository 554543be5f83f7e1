// Many small simulations in one call. Each gives the bits that it gives alone, on any number of cores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "fields.hpp"
#include "run/run.hpp"

namespace pready {

// The same ranks and messages at several prices.
struct Job {
    std::vector<std::vector<Fields>> rows;  // of the exchanges of a step; differ in costs and seed alone
    std::int64_t iterations = 1;
};

// By job and row; rows that were not reached when `poll` stopped the batch have no iterations.
using Outcomes = std::vector<std::vector<Outcome>>;

// Ready times that batches have drawn, for later ones that draw alike. Several may use it at a time.
class KeptTimes {
   public:
    using Values = std::shared_ptr<const std::vector<double>>;

    // Of at least so many iterations, if there are.
    Values find(const Fields& fields, std::int64_t iterations) const;
    // Nothing where there is no room.
    void keep(const Fields& fields, std::int64_t iterations, const Values& values);
    std::int64_t count() const;

   private:
    struct Kept {
        Fields fields;
        std::int64_t iterations;
        Values values;
    };

    mutable std::mutex mutex_;
    std::vector<Kept> kept_;
    std::int64_t count_ = 0;
};

// `kept` may be absent.
Outcomes run_all(const std::vector<Job>& jobs, int cores, const std::function<bool(double)>& poll, KeptTimes* kept);

}  // namespace pready
