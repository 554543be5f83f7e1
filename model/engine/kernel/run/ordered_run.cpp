#include "run/ordered_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "run/memory.hpp"
#include "run/workers.hpp"

namespace pready {
namespace {

// One worker, and records of all ranks.
class OrderedRun {
   public:
    OrderedRun(const Plan& plan, const Passes& passes, const Options& options, std::int64_t steps)
        : plan_(plan),
          passes_(passes),
          options_(options),
          start_(allocate(plan.ranks * 8)),
          nic_(allocate(plan.ranks * 8)),
          other_(allocate(plan.ranks * 8)),
          records_(allocate(plan.ranks * plan.record * 8)),
          scratch_(allocate(passes.scratch(plan))),
          window_{doubles(records_), -1, plan.ranks, plan.record} {
        std::fill_n(doubles(start_), plan.ranks, 0.0);
        std::fill_n(doubles(nic_), plan.ranks, -std::numeric_limits<double>::infinity());
        progress_.all = static_cast<double>(plan.ranks) * static_cast<double>(steps) *
                        static_cast<double>(options.iterations);
    }
    virtual ~OrderedRun() = default;

    Outcome run() {
        supervise(1, [this](int) { work(); }, progress_, options_.poll);
        outcome_.interrupted = progress_.stop.load();
        return std::move(outcome_);
    }

   protected:
    // One iteration; false if interrupted.
    virtual bool iterate(std::int64_t k, double (&sums)[kSums], Extremes& all) = 0;

    State state(double* ends, double (&sums)[kSums]) const {
        return {doubles(start_), doubles(nic_), nullptr, ends, doubles(nic_), nullptr, nullptr, nullptr, sums};
    }

    const Plan& plan_;
    const Passes& passes_;
    const Options& options_;
    const Memory start_, nic_, other_, records_, scratch_;
    const Window window_;
    Progress progress_;

   private:
    void work() {
        for (std::int64_t k = 0; k < options_.iterations && !outcome_.overflowed; ++k) {
            double sums[kSums] = {};
            Extremes all = kNone;
            if (!iterate(k, sums, all)) return;
            outcome_.add(all, sums);
            outcome_.complete(all);
        }
    }

    Outcome outcome_;
};

// Ranks that are as far from the corner where a sweep begins, and their neighbours along x and y;
// -1 beyond the border.
struct Diagonal {
    std::vector<std::int64_t> members, up, down;

    void fill(const Plan& p, const int (&towards)[2], std::int64_t number) {
        const std::int64_t nx = p.dims[0], ny = p.dims[1], sx = towards[0], sy = towards[1];
        members.clear();
        up.clear();
        down.clear();
        const std::int64_t i0 = std::max<std::int64_t>(0, number - ny + 1);
        const std::int64_t i1 = std::min(number, nx - 1);
        for (std::int64_t i = i0; i <= i1; ++i) {
            const std::int64_t j = number - i;
            const std::int64_t x = sx > 0 ? i : nx - 1 - i, y = sy > 0 ? j : ny - 1 - j;
            const std::int64_t r = x + nx * y;
            members.push_back(r);
            up.push_back(i > 0 ? r - sx : -1);
            up.push_back(j > 0 ? r - sy * nx : -1);
            down.push_back(i < nx - 1 ? r + sx : -1);
            down.push_back(j < ny - 1 ? r + sy * nx : -1);
        }
    }
};

// Eight octants of wavefronts. Ranks of one diagonal need only the diagonal before; the diagonals of a 2D grid are too
// short to share among workers.
class SweepRun final : public OrderedRun {
   public:
    SweepRun(const Plan& plan, const Passes& passes, const Options& options)
        : OrderedRun(plan, passes, options, 8 * plan.blocks) {}

   private:
    bool iterate(std::int64_t k, double (&sums)[kSums], Extremes& all) override {
        double *const ends = doubles(start_), *const before = doubles(other_);
        std::copy_n(ends, plan_.ranks, before);
        for (std::int64_t step = 0; step < 8 * plan_.blocks; ++step) {
            if (!cross(k * 8 * plan_.blocks + step, step, sums)) return false;
            progress_.add(plan_.ranks);
        }
        for (std::int64_t r = 0; r < plan_.ranks; ++r) {
            sums[kDuration] += ends[r] - before[r];
            all.take(ends[r] - before[r], ends[r]);
        }
        if (options_.ends) std::copy_n(ends, plan_.ranks, options_.ends + k * plan_.ranks);
        return true;
    }

    // One block of one octant, from its corner to the opposite one; false if interrupted.
    bool cross(std::int64_t number, std::int64_t step, double (&sums)[kSums]) {
        // Four corners, and from each corner both directions of z.
        static constexpr int kTowards[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
        const int(&towards)[2] = kTowards[step / (2 * plan_.blocks)];
        for (std::int64_t d = 0; d < plan_.dims[0] + plan_.dims[1] - 1; ++d) {
            if (!progress_.go_on()) return false;
            diagonal_.fill(plan_, towards, d);
            passes_.sweep(plan_, state(doubles(start_), sums), window_, scratch_.get(), number, diagonal_.members.data(),
                          diagonal_.up.data(), diagonal_.down.data(),
                          static_cast<std::int64_t>(diagonal_.members.size()));
        }
        keep(options_, plan_, doubles(records_), number);
        return true;
    }

    Diagonal diagonal_;
};

// Ranks are numbered level by level, from the root on. An iteration ends for all of them when the last has everything.
class TreeRun final : public OrderedRun {
   public:
    TreeRun(const Plan& plan, const Passes& passes, const Options& options) : OrderedRun(plan, passes, options, 1) {
        std::vector<int> level(static_cast<std::size_t>(plan.ranks), 0);
        levels_ = {0, 1};
        for (std::int64_t r = 1; r < plan.ranks; ++r) {
            const auto here = static_cast<std::size_t>(r);
            level[here] = level[static_cast<std::size_t>(plan.in_rank[plan.in_start[r]])] + 1;
            if (r > 1 && level[here] != level[here - 1]) levels_.push_back(r);
        }
        levels_.push_back(plan.ranks);
    }

   private:
    bool iterate(std::int64_t k, double (&sums)[kSums], Extremes& all) override {
        double* const ends = doubles(other_);
        for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
            if (!progress_.go_on()) return false;
            passes_.tree(plan_, state(ends, sums), window_, scratch_.get(), k, levels_[i], levels_[i + 1], all);
            progress_.add(levels_[i + 1] - levels_[i]);
        }
        if (options_.ends) std::copy_n(ends, plan_.ranks, options_.ends + k * plan_.ranks);
        keep(options_, plan_, doubles(records_), k);
        std::fill_n(doubles(start_), plan_.ranks, all.last_end);
        return true;
    }

    std::vector<std::int64_t> levels_;  // the first rank of each, and their number
};

}  // namespace

Outcome run_sweep(const Plan& plan, const Passes& passes, const Options& options) {
    return SweepRun(plan, passes, options).run();
}

Outcome run_tree(const Plan& plan, const Passes& passes, const Options& options) {
    return TreeRun(plan, passes, options).run();
}

}  // namespace pready
