#include "run/sweep_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "run/memory.hpp"
#include "run/workers.hpp"

namespace pready {
namespace {

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

// Ranks of one diagonal need only the diagonal before. One worker; the diagonals of a 2D grid are too
// short to share.
class SweepRun {
   public:
    SweepRun(const Plan& plan, const Passes& passes, const Options& options)
        : plan_(plan),
          passes_(passes),
          options_(options),
          steps_(8 * plan.blocks),
          start_(allocate(plan.ranks * 8)),
          nic_(allocate(plan.ranks * 8)),
          before_(allocate(plan.ranks * 8)),
          records_(allocate(plan.ranks * plan.record * 8)),
          scratch_(allocate(passes.scratch(plan))) {
        std::fill_n(doubles(start_), plan.ranks, 0.0);
        std::fill_n(doubles(nic_), plan.ranks, -std::numeric_limits<double>::infinity());
        progress_.all = static_cast<double>(plan.ranks) * static_cast<double>(steps_) *
                        static_cast<double>(options.iterations);
    }

    Outcome run() {
        supervise(1, [this](int) { work(); }, progress_, options_.poll);
        outcome_.interrupted = progress_.stop.load();
        return std::move(outcome_);
    }

   private:
    void work() {
        for (std::int64_t k = 0; k < options_.iterations; ++k) {
            std::copy_n(doubles(start_), plan_.ranks, doubles(before_));
            double sums[kSums] = {};
            for (std::int64_t step = 0; step < steps_; ++step) {
                if (!cross(k * steps_ + step, step, sums)) return;
                progress_.add(plan_.ranks);
            }
            if (!finish(k, sums)) return;
        }
    }

    // One block of one octant, from its corner to the opposite one; false if interrupted.
    bool cross(std::int64_t number, std::int64_t step, double (&sums)[kSums]) {
        // Four corners, and from each corner both directions of z.
        static constexpr int kTowards[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
        const int(&towards)[2] = kTowards[step / (2 * plan_.blocks)];
        const Window window{doubles(records_), -1, plan_.ranks, plan_.record};
        const State state{doubles(start_), doubles(nic_), nullptr, doubles(start_), doubles(nic_),
                          nullptr,         nullptr,       nullptr, sums};
        for (std::int64_t d = 0; d < plan_.dims[0] + plan_.dims[1] - 1; ++d) {
            if (!progress_.go_on()) return false;
            diagonal_.fill(plan_, towards, d);
            passes_.sweep(plan_, state, window, scratch_.get(), number, diagonal_.members.data(),
                          diagonal_.up.data(), diagonal_.down.data(),
                          static_cast<std::int64_t>(diagonal_.members.size()));
        }
        keep(options_, plan_, doubles(records_), number);
        return true;
    }

    bool finish(std::int64_t k, double (&sums)[kSums]) {
        Extremes all = kNone;
        for (std::int64_t r = 0; r < plan_.ranks; ++r) {
            const double end = doubles(start_)[r], took = end - doubles(before_)[r];
            sums[kDuration] += took;
            widen(all, {took, took, end, end});
        }
        if (options_.ends) std::copy_n(doubles(start_), plan_.ranks, options_.ends + k * plan_.ranks);
        outcome_.add(all, sums);
        outcome_.complete(all);
        return !outcome_.overflowed;
    }

    const Plan& plan_;
    const Passes& passes_;
    const Options& options_;
    const std::int64_t steps_;
    const Memory start_, nic_, before_, records_, scratch_;
    Diagonal diagonal_;
    Progress progress_;
    Outcome outcome_;
};

}  // namespace

Outcome run_sweep(const Plan& plan, const Passes& passes, const Options& options) {
    return SweepRun(plan, passes, options).run();
}

}  // namespace pready
