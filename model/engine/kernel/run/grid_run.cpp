#include "run/grid_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "run/memory.hpp"
#include "run/workers.hpp"

namespace pready {
namespace {

// State of all ranks, of this exchange and of the next.
struct Ranks {
    Memory start[2], nic[2], gate[2], adapter;

    explicit Ranks(const Step& step) {
        const auto n = static_cast<std::size_t>(step[0]->ranks);
        const std::int64_t nodes = step[0]->nodes;
        int gates = 0;
        for (const Plan* p : step) gates = std::max(gates, p->gates ? p->groups : 0);
        for (int i = 0; i < 2; ++i) {
            start[i] = allocate(step[0]->ranks * 8);
            nic[i] = allocate(step[0]->ranks * 8);
            std::fill_n(doubles(start[i]), n, 0.0);
            std::fill_n(doubles(nic[i]), n, -std::numeric_limits<double>::infinity());
            if (gates > 0) gate[i] = allocate(step[0]->ranks * gates * 8);
        }
        if (nodes > 0) {
            adapter = allocate(nodes * 8);
            std::fill_n(doubles(adapter), nodes, -std::numeric_limits<double>::infinity());
        }
    }
};

class GridRun {
   public:
    GridRun(const Step& step, const Passes& passes, const Options& options)
        : step_(step),
          passes_(passes),
          options_(options),
          layouts_(layouts(step, options)),
          ranks_count_(step[0]->ranks),
          workers_(static_cast<int>(std::min<std::int64_t>(options.cores, layouts_[0].chunks))),
          blocks_((ranks_count_ + kBlock - 1) / kBlock),
          ranks_(step),
          sums_(allocate(blocks_ * kSums * 8)),
          begun_(step.size() > 1 ? ranks_count_ : 0, 0.0),
          extremes_(static_cast<std::size_t>(workers_)),
          barrier_(workers_) {
        const RunMemory need = memory_of(step, passes, layouts_);
        for (int i = 0; i < workers_; ++i) {
            records_.push_back(allocate(i == 0 ? std::max(need.shared, need.window) : need.window));
            scratches_.push_back(allocate(need.scratch));
        }
        progress_.all = static_cast<double>(ranks_count_) * static_cast<double>(options.iterations) *
                        static_cast<double>(step.size());
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
        Extremes extremes;
    };

    // One exchange of a step: which, in which iteration, and how many went before.
    struct Turn {
        const Plan& plan;
        const Layout& layout;
        std::int64_t iteration, exchange, number;
    };

    Turn turn(std::int64_t number) const {
        const auto exchanges = static_cast<std::int64_t>(step_.size());
        const std::int64_t e = number % exchanges;
        const auto i = static_cast<std::size_t>(e);
        return {*step_[i], layouts_[i], number / exchanges, e, number};
    }

    std::int64_t turns() const { return options_.iterations * static_cast<std::int64_t>(step_.size()); }

    void work(int number) {
        const auto i = static_cast<std::size_t>(number);
        Worker me{number, scratches_[i].get(), kNone};
        if (step_[0]->gates && !first_gates(me)) return;
        for (std::int64_t k = 0; k < turns(); ++k) {
            const Turn t = turn(k);
            const State state = at(t);
            const bool shared = t.layout.shared;
            const Window window{doubles(records_[shared ? 0 : i]), shared ? -1 : t.layout.capacity - 1, ranks_count_,
                                t.plan.record};
            me.extremes = kNone;
            if (shared) {
                send_all(me, t, state, window);
                if (!barrier_.wait([&] { return progress_.go_on(); })) return;
                if (!serve_nodes(me, t, state, window)) return;
                receive_all(me, t, state, window);
            } else {
                stream(me, t, state, window);
            }
            extremes_[i] = me.extremes;
            if (!barrier_.wait([&] { return finish(t, state); })) return;
        }
    }

    // Every worker takes every workers-th chunk; what a chunk computes depends on nobody's order.
    template <class Each>
    void chunks(const Worker& me, const Each& each) {
        const Layout& layout = layouts_[0];  // chunks are those of the ranks, the same for all exchanges
        for (std::int64_t c = me.number; c < layout.chunks; c += workers_) {
            const std::int64_t first = c * layout.chunk;
            each(first, std::min(ranks_count_, first + layout.chunk));
        }
    }

    // The same a block at a time, until somebody stops the run.
    template <class Each>
    void blocks(std::int64_t first, std::int64_t last, const Each& each) {
        for (std::int64_t u = first; u < last && progress_.go_on(); u += kBlock)
            each(u, std::min(last, u + kBlock));
    }

    State at(const Turn& t) const {
        const int now = static_cast<int>(t.number % 2), next = 1 - now;
        return {doubles(ranks_.start[now]), doubles(ranks_.nic[now]), doubles(ranks_.gate[now]),
                doubles(ranks_.start[next]), doubles(ranks_.nic[next]), doubles(ranks_.gate[next]),
                doubles(ranks_.adapter),
                options_.received ? options_.received + t.number * ranks_count_ : nullptr, doubles(sums_)};
    }

    bool first_gates(const Worker& me) {
        chunks(me, [&](std::int64_t a, std::int64_t b) {
            passes_.gates(*step_[0], doubles(ranks_.start[0]), doubles(ranks_.gate[0]), me.scratch, 0, a, b);
        });
        return barrier_.wait([&] { return progress_.go_on(); });
    }

    void send_all(const Worker& me, const Turn& t, const State& state, const Window& window) {
        chunks(me, [&](std::int64_t first, std::int64_t last) {
            blocks(first, last, [&](std::int64_t a, std::int64_t b) {
                passes_.send(t.plan, state, window, me.scratch, t.iteration, a, b);
            });
        });
    }

    // What leaves nodes goes through their adapters. What a node computes depends on no other node. False: the run is
    // stopped.
    bool serve_nodes(const Worker& me, const Turn& t, const State& state, const Window& window) {
        const std::int64_t nodes = t.plan.nodes;
        if (nodes == 0) return true;
        const auto serve = [&](std::int64_t a, std::int64_t b) {
            passes_.nodes(t.plan, state, window, me.scratch, a, b);
        };
        blocks(nodes * me.number / workers_, nodes * (me.number + 1) / workers_, serve);
        return barrier_.wait([&] { return progress_.go_on(); });
    }

    void receive_all(Worker& me, const Turn& t, const State& state, const Window& window) {
        chunks(me, [&](std::int64_t first, std::int64_t last) {
            blocks(first, last, [&](std::int64_t a, std::int64_t b) { receive(me, t, state, window, a, b); });
        });
    }

    // Sends run ahead of receives as far as neighbours are away, through a window of records.
    void stream(Worker& me, const Turn& t, const State& state, const Window& window) {
        const std::int64_t reach = t.plan.reach;
        const bool open = !t.plan.periodic[t.plan.outer] && t.plan.pattern == Pattern::grid;
        chunks(me, [&](std::int64_t first, std::int64_t last) {
            std::int64_t sent = open ? std::max<std::int64_t>(0, first - reach) : first - reach;
            const std::int64_t high = open ? std::min(ranks_count_, last + reach) : last + reach;
            blocks(first, last, [&](std::int64_t a, std::int64_t b) {
                const std::int64_t need = std::min(high, b + reach);
                passes_.send(t.plan, state, window, me.scratch, t.iteration, sent, need);
                sent = need;
                receive(me, t, state, window, a, b);
            });
        });
    }

    void receive(Worker& me, const Turn& t, const State& state, const Window& window, std::int64_t a, std::int64_t b) {
        passes_.receive(t.plan, state, window, me.scratch, a, b, me.extremes);
        if (t.number + 1 < turns()) {
            const Turn next = turn(t.number + 1);
            if (next.plan.gates)
                passes_.gates(next.plan, state.next_start, state.next_gate, me.scratch, next.iteration, a, b);
        }
        progress_.add(b - a);
    }

    // By the last worker of an exchange; false if there is to be no further one.
    bool finish(const Turn& t, const State& state) {
        if (!progress_.go_on()) return false;
        Extremes all = kNone;
        for (const Extremes& e : extremes_) all.widen(e);
        double total[kSums];
        for (int which = 0; which < kSums; ++which) {
            double sum = 0;
            for (std::int64_t b = 0; b < blocks_; ++b) sum += state.sums[b * kSums + which];
            total[which] = sum;
        }
        if (options_.ends) std::copy_n(state.next_start, ranks_count_, options_.ends + t.number * ranks_count_);
        keep(options_, t.plan, doubles(records_[0]), t.number);
        outcome_.add(all, total);
        if (t.exchange + 1 < static_cast<std::int64_t>(step_.size())) return true;
        outcome_.complete(step_extremes(all, state));
        return !outcome_.overflowed;
    }

    // Of a whole step: from a rank's start to its end.
    Extremes step_extremes(const Extremes& last, const State& state) {
        if (begun_.empty()) return last;
        Extremes all{kNone.shortest, kNone.longest, last.first_end, last.last_end};
        for (std::size_t r = 0; r < begun_.size(); ++r) {
            const double took = state.next_start[r] - begun_[r];
            all.shortest = std::min(all.shortest, took);
            all.longest = std::max(all.longest, took);
            begun_[r] = state.next_start[r];
        }
        return all;
    }

    const Step& step_;
    const Passes& passes_;
    const Options& options_;
    const std::vector<Layout> layouts_;
    const std::int64_t ranks_count_;
    const int workers_;
    const std::int64_t blocks_;
    const Ranks ranks_;
    const Memory sums_;
    std::vector<double> begun_;  // of several exchanges: when each rank began the step
    std::vector<Memory> records_, scratches_;
    std::vector<Extremes> extremes_;
    Barrier barrier_;
    Progress progress_;
    Outcome outcome_;
};

}  // namespace

Layout::Layout(const Plan& plan, const Options& options) {
    const std::int64_t size = options.chunk > 0 ? options.chunk : (plan.ranks + options.cores - 1) / options.cores;
    chunk = (size + kBlock - 1) / kBlock * kBlock;
    chunks = (plan.ranks + chunk - 1) / chunk;
    capacity = 1;
    while (capacity < 2 * plan.reach + 2 * kBlock) capacity *= 2;
    shared = plan.nodes > 0 || plan.pattern == Pattern::sweep || plan.pattern == Pattern::list ||
             4 * plan.reach >= chunk || capacity >= plan.ranks || options.kept != nullptr;
    if (shared) capacity = plan.ranks;
}

std::vector<Layout> layouts(const Step& step, const Options& options) {
    std::vector<Layout> out;
    for (const Plan* plan : step) out.emplace_back(*plan, options);
    return out;
}

RunMemory memory_of(const Step& step, const Passes& passes, const std::vector<Layout>& layouts) {
    RunMemory need;
    for (std::size_t e = 0; e < step.size(); ++e) {
        const Plan& plan = *step[e];
        std::int64_t& records = layouts[e].shared ? need.shared : need.window;
        records = std::max(records, layouts[e].capacity * plan.record * 8);
        need.scratch = std::max({need.scratch, passes.scratch(plan), passes.node_scratch(plan)});
    }
    return need;
}

Outcome run_grid(const Step& step, const Passes& passes, const Options& options) {
    return GridRun(step, passes, options).run();
}

}  // namespace pready
