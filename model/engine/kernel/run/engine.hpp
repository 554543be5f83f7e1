// One simulation: owns what plans point to, and chooses the passes and the way to run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fields.hpp"
#include "lanes/passes.hpp"
#include "order/sorting.hpp"
#include "recurrence/plan.hpp"
#include "run/run.hpp"

namespace pready {

class Engine {
   public:
    // The exchanges of a step, of the same ranks.
    Engine(const std::vector<Fields>& step, const std::string& level);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // The same ranks with other costs and another seed.
    void reprice(const std::vector<Fields>& step);
    // An exchange takes its arrivals from times drawn before (see `Plan::times`); null: draws them itself.
    void take_times(std::size_t exchange, const double* times) { parts_[exchange]->plan.times = times; }
    Outcome run(const Options& options) const;
    std::vector<double> draw(std::int64_t rank, std::int64_t iteration) const;  // of the first exchange
    std::int64_t memory(int cores, std::int64_t chunk) const;  // bytes that `run` allocates
    std::size_t exchanges() const { return parts_.size(); }
    std::string level() const { return passes_.name; }
    std::int64_t widest_record() const;  // doubles of a rank, of all exchanges

   private:
    struct Part {
        Fields fields;
        Plan plan;
        Sorting sorting;

        explicit Part(Fields made);
    };

    const Plan& first() const { return parts_[0]->plan; }
    Step step() const;

    const Passes& passes_;
    std::vector<std::unique_ptr<Part>> parts_;
};

// One iteration of what an engine of these numbers draws: out[partition][rank].
void draw_times(const Fields& fields, std::int64_t iteration, double* out);

}  // namespace pready
