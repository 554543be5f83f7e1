#include "grid_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "workers.hpp"

namespace pready {
namespace {

// State of all ranks, of this exchange and of the next.
struct Ranks {
    Memory start[2], nic[2], gate[2], adapter;

    explicit Ranks(const Step& step) {
        const auto n = static_cast<std::size_t>(step[0]->ranks);
        const std::int64_t nodes = step[0]->nodes;
        const bool gates = std::any_of(step.begin(), step.end(), [](const Plan* p) { return p->gates; });
        for (int i = 0; i < 2; ++i) {
            start[i] = allocate(step[0]->ranks * 8);
            nic[i] = allocate(step[0]->ranks * 8);
            std::fill_n(doubles(start[i]), n, 0.0);
            std::fill_n(doubles(nic[i]), n, -std::numeric_limits<double>::infinity());
            if (gates) gate[i] = allocate(step[0]->ranks * 8);
        }
        if (nodes > 0) {
            adapter = allocate(nodes * 8);
            std::fill_n(doubles(adapter), nodes, -std::numeric_limits<double>::infinity());
        }
    }
};

// How far a worker is: up to which rank it has sent, which node it has served, which rank has received.
struct Wave {
    std::int64_t sent, served, received;
};

// What one worker does of an exchange whose ranks share nodes: it sends, serves and receives in turns, so that records
// are looked at again while they are in its cache.
struct Share {
    std::int64_t first, last;           // its ranks
    std::int64_t first_node, last_node; // nodes in a row that have no others
    std::int64_t early;                 // from where on ranks receive before all workers have sent
    std::vector<Wave> waves;
};

struct Shares {
    std::vector<Share> each;                                   // by worker
    std::vector<std::pair<std::int64_t, std::int64_t>> between;  // nodes that are no worker's: from, to
};

Shares shares_of(const Plan& p, int workers) {
    constexpr std::int64_t kAbreast = 8;  // nodes at once, of the widest instruction set
    Shares out;
    if (p.nodes == 0) return out;
    std::vector<std::int64_t> node(static_cast<std::size_t>(p.ranks));
    const auto of = [&](std::int64_t rank) -> std::int64_t& { return node[static_cast<std::size_t>(rank)]; };
    for (std::int64_t n = 0; n < p.nodes; ++n) {
        for (std::int64_t i = p.node_start[n]; i < p.node_start[n + 1]; ++i) of(p.node_rank[i]) = n;
    }
    const bool open = !p.periodic[p.outer] && p.pattern == Pattern::grid;
    const std::int64_t blocks = (p.ranks + kBlock - 1) / kBlock;
    for (std::int64_t w = 0; w < workers; ++w) {
        Share s{};
        s.first = blocks * w / workers * kBlock;
        s.last = std::min(p.ranks, blocks * (w + 1) / workers * kBlock);
        const auto whole = [&](std::int64_t n) {
            return n < p.nodes && std::all_of(p.node_rank + p.node_start[n], p.node_rank + p.node_start[n + 1],
                                              [&](std::int64_t r) { return r >= s.first && r < s.last; });
        };
        while (s.first_node < p.nodes && !whole(s.first_node)) ++s.first_node;
        if (s.first_node == p.nodes) s.first_node = 0;
        s.last_node = s.first_node;
        while (whole(s.last_node)) ++s.last_node;
        s.early = s.first;
        while (s.early < s.last && s.early - p.reach < s.first && !(open && s.first == 0))
            s.early = std::min(s.last, s.early + kBlock);
        Wave at{s.first, s.first_node, s.early};
        std::int64_t served = s.first;  // all ranks up to here are
        while (at.served < s.last_node) {
            const std::int64_t next = std::min(at.served + kAbreast, s.last_node);
            for (std::int64_t i = p.node_start[at.served]; i < p.node_start[next]; ++i) {
                const std::int64_t block = p.node_rank[i] / kBlock * kBlock;
                at.sent = std::max(at.sent, std::min(s.last, block + kBlock));
            }
            at.served = next;
            while (served < s.last && of(served) >= s.first_node && of(served) < next) ++served;
            while (at.received < s.last) {
                const std::int64_t end = std::min(s.last, at.received + kBlock), needs = end + p.reach;
                if ((open ? std::min(p.ranks, needs) : needs) > served) break;
                at.received = end;
            }
            s.waves.push_back(at);
        }
        out.each.push_back(std::move(s));
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const Share& s : out.each) taken.emplace_back(s.first_node, s.last_node);
    taken.emplace_back(p.nodes, p.nodes);
    std::sort(taken.begin(), taken.end());
    std::int64_t begun = 0;
    for (const auto& [first, last] : taken) {
        if (begun < first) out.between.emplace_back(begun, first);
        begun = std::max(begun, last);
    }
    return out;
}

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
        for (const Plan* plan : step) shares_.push_back(shares_of(*plan, workers_));
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
            const Window window{doubles(records_[t.layout.shared ? 0 : i]), t.layout.shared ? -1 : t.layout.capacity - 1,
                                ranks_count_, t.plan.record};
            me.extremes = kNone;
            if (t.layout.shared) {
                if (t.plan.nodes > 0) {
                    if (!share_nodes(me, t, state, window)) return;
                } else {
                    send_all(me, t, state, window);
                    if (!barrier_.wait([&] { return progress_.go_on(); })) return;
                    receive_all(me, t, state, window);
                }
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
    void blocks(std::int64_t first, std::int64_t last, const Each& each, std::int64_t block = kBlock) {
        for (std::int64_t u = first; u < last && progress_.go_on(); u += block)
            each(u, std::min(last, u + block));
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

    // Sends, nodes and receives of ranks that share nodes. What a node computes depends on no other node. False: the
    // run is stopped.
    bool share_nodes(Worker& me, const Turn& t, const State& state, const Window& window) {
        constexpr std::int64_t kSends = 16 * kBlock;  // ranks at a time: each time their ways are found anew
        const auto send_up_to = [&](std::int64_t first, std::int64_t last) {
            const auto send = [&](std::int64_t a, std::int64_t b) {
                passes_.send(t.plan, state, window, me.scratch, t.iteration, a, b);
            };
            blocks(first, last, send, kSends);
        };
        const auto serve = [&](std::int64_t first, std::int64_t last) {
            if (progress_.go_on()) passes_.nodes(t.plan, state, window, me.scratch, first, last);
        };
        const auto receive_up_to = [&](std::int64_t first, std::int64_t last) {
            blocks(first, last, [&](std::int64_t a, std::int64_t b) { receive(me, t, state, window, a, b); });
        };
        const Shares& shares = shares_[static_cast<std::size_t>(t.exchange)];
        const Share& mine = shares.each[static_cast<std::size_t>(me.number)];
        Wave at{mine.first, mine.first_node, mine.early};
        for (const Wave& next : mine.waves) {
            send_up_to(at.sent, next.sent);
            serve(at.served, next.served);
            receive_up_to(at.received, next.received);
            at = next;
        }
        send_up_to(at.sent, mine.last);
        if (!barrier_.wait([&] { return progress_.go_on(); })) return false;
        for (const auto& [first, last] : shares.between) {
            const std::int64_t some = last - first;
            serve(first + some * me.number / workers_, first + some * (me.number + 1) / workers_);
        }
        if (!shares.between.empty() && !barrier_.wait([&] { return progress_.go_on(); })) return false;
        receive_up_to(mine.first, mine.early);
        receive_up_to(at.received, mine.last);
        return true;
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
        for (const Extremes& e : extremes_) widen(all, e);
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
    std::vector<Shares> shares_;  // with nodes, by exchange and worker
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
