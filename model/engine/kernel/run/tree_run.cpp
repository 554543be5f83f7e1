#include "run/tree_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "run/memory.hpp"
#include "run/workers.hpp"

namespace pready {
namespace {

// Ranks are numbered level by level, from the root on. An iteration ends for all of them when the last has everything.
class TreeRun {
   public:
    TreeRun(const Plan& plan, const Passes& passes, const Options& options)
        : plan_(plan),
          passes_(passes),
          options_(options),
          start_(allocate(plan.ranks * 8)),
          nic_(allocate(plan.ranks * 8)),
          ended_(allocate(plan.ranks * 8)),
          records_(allocate(plan.ranks * plan.record * 8)),
          scratch_(allocate(passes.scratch(plan))) {
        std::fill_n(doubles(start_), plan.ranks, 0.0);
        std::fill_n(doubles(nic_), plan.ranks, -std::numeric_limits<double>::infinity());
        std::vector<int> level(static_cast<std::size_t>(plan.ranks), 0);
        levels_ = {0, 1};
        for (std::int64_t r = 1; r < plan.ranks; ++r) {
            const auto here = static_cast<std::size_t>(r);
            level[here] = level[static_cast<std::size_t>(plan.in_rank[plan.in_start[r]])] + 1;
            if (r > 1 && level[here] != level[here - 1]) levels_.push_back(r);
        }
        levels_.push_back(plan.ranks);
        progress_.all = static_cast<double>(plan.ranks) * static_cast<double>(options.iterations);
    }

    Outcome run() {
        supervise(1, [this](int) { work(); }, progress_, options_.poll);
        outcome_.interrupted = progress_.stop.load();
        return std::move(outcome_);
    }

   private:
    void work() {
        const Window window{doubles(records_), -1, plan_.ranks, plan_.record};
        for (std::int64_t k = 0; k < options_.iterations; ++k) {
            double sums[kSums] = {};
            const State state{doubles(start_), doubles(nic_), nullptr, doubles(ended_), doubles(nic_),
                              nullptr,         nullptr,       nullptr, sums};
            Extremes all = kNone;
            for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
                if (!progress_.go_on()) return;
                passes_.tree(plan_, state, window, scratch_.get(), k, levels_[i], levels_[i + 1], all);
                progress_.add(levels_[i + 1] - levels_[i]);
            }
            if (options_.ends) std::copy_n(doubles(ended_), plan_.ranks, options_.ends + k * plan_.ranks);
            keep(options_, plan_, doubles(records_), k);
            std::fill_n(doubles(start_), plan_.ranks, all.last_end);
            outcome_.add(all, sums);
            outcome_.complete(all);
            if (outcome_.overflowed) return;
        }
    }

    const Plan& plan_;
    const Passes& passes_;
    const Options& options_;
    std::vector<std::int64_t> levels_;  // the first rank of each, and their number
    const Memory start_, nic_, ended_, records_, scratch_;
    Progress progress_;
    Outcome outcome_;
};

}  // namespace

Outcome run_tree(const Plan& plan, const Passes& passes, const Options& options) {
    return TreeRun(plan, passes, options).run();
}

}  // namespace pready
