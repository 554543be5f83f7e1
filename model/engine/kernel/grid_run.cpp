#include "grid_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "workers.hpp"

namespace pready {
namespace {

// State of all ranks, of this iteration and of the next.
struct Ranks {
    Memory start[2], nic[2], turn[2], gate[2];

    explicit Ranks(const Plan& p) {
        const auto n = static_cast<std::size_t>(p.ranks);
        for (int i = 0; i < 2; ++i) {
            start[i] = allocate(p.ranks * 8);
            nic[i] = allocate(p.ranks * 8);
            std::fill_n(doubles(start[i]), n, 0.0);
            std::fill_n(doubles(nic[i]), n, -std::numeric_limits<double>::infinity());
            if (p.shaped) {
                turn[i] = allocate(p.ranks * 8);
                std::fill_n(doubles(turn[i]), n, -std::numeric_limits<double>::infinity());
            }
            if (p.gate_is_join) gate[i] = allocate(p.ranks * 8);
        }
    }
};

class GridRun {
   public:
    GridRun(const Plan& plan, const Passes& passes, const Options& options)
        : plan_(plan),
          passes_(passes),
          options_(options),
          layout_(plan, options.cores, options.chunk),
          workers_(static_cast<int>(std::min<std::int64_t>(options.cores, layout_.chunks))),
          blocks_((plan.ranks + kBlock - 1) / kBlock),
          ranks_(plan),
          sums_(allocate(blocks_ * kSums * 8)),
          extremes_(static_cast<std::size_t>(workers_)),
          barrier_(workers_) {
        const int windows = layout_.shared ? 1 : workers_;
        for (int i = 0; i < windows; ++i) records_.push_back(allocate(layout_.capacity * plan.record * 8));
        for (int i = 0; i < workers_; ++i) scratches_.push_back(allocate(passes.scratch(plan)));
        progress_.all = static_cast<double>(plan.ranks) * static_cast<double>(options.iterations);
    }

    Outcome run() {
        supervise(workers_, [this](int number) { work(number); }, progress_, options_.poll);
        outcome_.interrupted = progress_.stop.load();
        return std::move(outcome_);
    }

   private:
    struct Worker {
        int number;
        void* scratch;
        Window window;
        Extremes extremes;
    };

    void work(int number) {
        const auto i = static_cast<std::size_t>(number);
        Worker me{number, scratches_[i].get(),
                  {doubles(records_[layout_.shared ? 0 : i]), layout_.shared ? -1 : layout_.capacity - 1,
                   plan_.ranks, plan_.record},
                  kNone};
        if (plan_.gate_is_join && !first_gates(me)) return;
        for (std::int64_t k = 0; k < options_.iterations; ++k) {
            const State state = at(k);
            me.extremes = kNone;
            if (layout_.shared) {
                send_all(me, state, k);
                if (!barrier_.wait([&] { return progress_.go_on(); })) return;
                receive_all(me, state, k);
            } else {
                stream(me, state, k);
            }
            extremes_[i] = me.extremes;
            if (!barrier_.wait([&] { return finish(state, k); })) return;
        }
    }

    // Every worker takes every workers-th chunk; what a chunk computes depends on nobody's order.
    template <class Each>
    void chunks(const Worker& me, const Each& each) {
        for (std::int64_t c = me.number; c < layout_.chunks; c += workers_) {
            const std::int64_t first = c * layout_.chunk;
            each(first, std::min(plan_.ranks, first + layout_.chunk));
        }
    }

    // The same a block at a time, until somebody stops the run.
    template <class Each>
    void blocks(std::int64_t first, std::int64_t last, const Each& each) {
        for (std::int64_t u = first; u < last && progress_.go_on(); u += kBlock)
            each(u, std::min(last, u + kBlock));
    }

    State at(std::int64_t k) const {
        const int now = static_cast<int>(k % 2), next = 1 - now;
        return {doubles(ranks_.start[now]), doubles(ranks_.nic[now]), doubles(ranks_.turn[now]),
                doubles(ranks_.gate[now]), doubles(ranks_.start[next]), doubles(ranks_.nic[next]),
                doubles(ranks_.turn[next]), doubles(ranks_.gate[next]),
                options_.received ? options_.received + k * plan_.ranks : nullptr, doubles(sums_)};
    }

    bool first_gates(const Worker& me) {
        chunks(me, [&](std::int64_t a, std::int64_t b) {
            passes_.gates(plan_, doubles(ranks_.start[0]), doubles(ranks_.gate[0]), me.scratch, 0, a, b);
        });
        return barrier_.wait([&] { return progress_.go_on(); });
    }

    void send_all(const Worker& me, const State& state, std::int64_t k) {
        chunks(me, [&](std::int64_t first, std::int64_t last) {
            blocks(first, last, [&](std::int64_t a, std::int64_t b) {
                passes_.send(plan_, state, me.window, me.scratch, k, a, b);
            });
        });
    }

    void receive_all(Worker& me, const State& state, std::int64_t k) {
        chunks(me, [&](std::int64_t first, std::int64_t last) {
            blocks(first, last, [&](std::int64_t a, std::int64_t b) { receive(me, state, k, a, b); });
        });
    }

    // Sends run ahead of receives as far as neighbours are away, through a window of records.
    void stream(Worker& me, const State& state, std::int64_t k) {
        const std::int64_t reach = plan_.reach;
        const bool open = !plan_.periodic[plan_.outer] && plan_.pattern == Pattern::grid;
        chunks(me, [&](std::int64_t first, std::int64_t last) {
            std::int64_t sent = open ? std::max<std::int64_t>(0, first - reach) : first - reach;
            const std::int64_t high = open ? std::min(plan_.ranks, last + reach) : last + reach;
            blocks(first, last, [&](std::int64_t a, std::int64_t b) {
                const std::int64_t need = std::min(high, b + reach);
                passes_.send(plan_, state, me.window, me.scratch, k, sent, need);
                sent = need;
                receive(me, state, k, a, b);
            });
        });
    }

    void receive(Worker& me, const State& state, std::int64_t k, std::int64_t a, std::int64_t b) {
        passes_.receive(plan_, state, me.window, me.scratch, a, b, me.extremes);
        if (plan_.gate_is_join && k + 1 < options_.iterations)
            passes_.gates(plan_, state.next_start, state.next_gate, me.scratch, k + 1, a, b);
        progress_.add(b - a);
    }

    // By the last worker of an iteration; false if there is to be no further one.
    bool finish(const State& state, std::int64_t k) {
        if (!progress_.go_on()) return false;
        Extremes all = kNone;
        for (const Extremes& e : extremes_) widen(all, e);
        double total[kSums];
        for (int which = 0; which < kSums; ++which) {
            double sum = 0;
            for (std::int64_t b = 0; b < blocks_; ++b) sum += state.sums[b * kSums + which];
            total[which] = sum;
        }
        if (options_.ends) std::copy_n(state.next_start, plan_.ranks, options_.ends + k * plan_.ranks);
        return outcome_.add(all, total);
    }

    const Plan& plan_;
    const Passes& passes_;
    const Options& options_;
    const Layout layout_;
    const int workers_;
    const std::int64_t blocks_;
    const Ranks ranks_;
    const Memory sums_;
    std::vector<Memory> records_, scratches_;
    std::vector<Extremes> extremes_;
    Barrier barrier_;
    Progress progress_;
    Outcome outcome_;
};

}  // namespace

Layout::Layout(const Plan& plan, int cores, std::int64_t asked) {
    const std::int64_t size = asked > 0 ? asked : (plan.ranks + cores - 1) / cores;
    chunk = (size + kBlock - 1) / kBlock * kBlock;
    chunks = (plan.ranks + chunk - 1) / chunk;
    capacity = 1;
    while (capacity < 2 * plan.reach + 2 * kBlock) capacity *= 2;
    shared = plan.pattern == Pattern::sweep || plan.pattern == Pattern::list || 4 * plan.reach >= chunk ||
             capacity >= plan.ranks;
    if (shared) capacity = plan.ranks;
}

Outcome run_grid(const Plan& plan, const Passes& passes, const Options& options) {
    return GridRun(plan, passes, options).run();
}

}  // namespace pready
