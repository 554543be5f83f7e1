// One simulation: owns what a plan points to, and chooses the passes and the way to run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fields.hpp"
#include "plan.hpp"
#include "run.hpp"
#include "sorting.hpp"

namespace pready {

class Engine {
   public:
    Engine(Fields fields, const std::string& level);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // The same ranks with other costs and another seed; false, and nothing changed, if more would change.
    bool reprice(const Fields& fields);
    // Takes its arrivals from times drawn before (see `Plan::times`); null: draws them itself.
    void take_times(const double* times) { plan_.times = times; }
    Outcome run(const Options& options) const;
    std::vector<double> draw(std::int64_t rank, std::int64_t iteration) const;
    std::int64_t memory(int cores, std::int64_t chunk) const;  // bytes that `run` allocates
    std::string level() const { return passes_.name; }
    std::int64_t record_bytes() const { return plan_.record * 8; }
    std::int64_t scratch_bytes() const { return passes_.scratch(plan_); }

   private:
    const Passes& passes_;
    Fields fields_;
    Plan plan_;
    Sorting sorting_;
};

// One iteration of what an engine of these numbers draws: out[partition][rank].
void draw_times(const Fields& fields, const std::string& level, std::int64_t iteration, double* out);

}  // namespace pready
