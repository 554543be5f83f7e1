#include "run.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace pready {
namespace {

constexpr std::int64_t kBlock = 64;  // ranks whose sums are added up first
constexpr double kLargestTime = 292.0 * 365.25 * 86400;  // beyond it times do not fit 63 bits of nanoseconds

// How far the workers are, and whether they are to stop.
struct Progress {
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> done{0};
    double all = 1;
};

// Runs workers while the calling thread polls (signals can only be seen there); a single worker of a caller that does
// not poll is the caller.
void supervise(int workers, const std::function<void(int)>& work, Progress& progress,
               const std::function<bool(double)>& poll) {
    if (workers == 1 && !poll) return work(0);
    std::mutex mutex;
    std::condition_variable finished;
    int running = workers;
    std::exception_ptr error;
    std::vector<std::thread> threads;
    for (int i = 0; i < workers; ++i) {
        threads.emplace_back([&, i] {
            try {
                work(i);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex);
                error = std::current_exception();
                progress.stop = true;
            }
            const std::lock_guard<std::mutex> lock(mutex);
            if (--running == 0) finished.notify_one();
        });
    }
    std::unique_lock<std::mutex> lock(mutex);
    while (!finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) {
        lock.unlock();
        if (poll && !poll(static_cast<double>(progress.done) / progress.all)) progress.stop = true;
        lock.lock();
    }
    lock.unlock();
    for (std::thread& t : threads) t.join();
    if (error) std::rethrow_exception(error);
}

class Run {
   public:
    Run(const std::vector<Exchange>& step, std::size_t row, std::int64_t first, const Options& options)
        : step_(step), options_(options), ranks_(step[0].plan->pattern.ranks), counted_(step[0].plan->pattern.counted()),
          ordered_(step[0].plan->pattern.ordered()), blocks_(static_cast<std::size_t>((ranks_ + kBlock - 1) / kBlock)),
          workers_(ordered_ ? 1 : static_cast<int>(std::min<std::int64_t>(options.cores, static_cast<std::int64_t>(blocks_.size())))),
          next_(static_cast<std::size_t>(workers_)), barrier_(workers_) {
        for (std::atomic<std::size_t>& next : next_) next = blocks_.size();
        state_.ranks.resize(static_cast<std::size_t>(ranks_));
        state_.adapter.assign(static_cast<std::size_t>(step[0].plan->pattern.nodes()), kNever);
        state_.port.assign(static_cast<std::size_t>(ranks_), kNever);
        if (step.size() > 1) begun_.resize(static_cast<std::size_t>(ranks_));
        sent_.reserve(step.size());  // as steps refer to them
        for (const Exchange& e : step) {
            sent_.emplace_back(*e.plan, options.kept != nullptr);
            steps_.emplace_back();
            for (int w = 0; w < workers_; ++w)
                steps_.back().emplace_back(*e.plan, e.rows[row], *e.arrivals, first, state_, sent_.back());
            progress_.all += static_cast<double>(ranks_ * e.plan->pattern.steps() * options.iterations);
        }
    }

    Outcome operator()() {
        supervise(workers_, [this](int worker) { work(static_cast<std::size_t>(worker)); }, progress_, options_.poll);
        outcome_.interrupted = progress_.stop;
        return std::move(outcome_);
    }

   private:
    void work(std::size_t worker) {
        for (std::int64_t k = 0; k < options_.iterations && go_on_; ++k) {
            for (std::size_t e = 0; e < step_.size() && go_on_; ++e) {
                if (ordered_) {
                    in_order(k);
                } else {
                    exchange(worker, k, e);
                }
            }
        }
    }

    // All ranks send, then all receive. Workers wait for each other where one reads what others have written.
    void exchange(std::size_t worker, std::int64_t k, std::size_t e) {
        const Plan& plan = *step_[e].plan;
        const Neighbours& table = plan.pattern.tables[0];
        Steps& steps = steps_[e][worker];
        const bool answers = std::any_of(plan.protocols.begin(), plan.protocols.end(), [](const Protocol& x) { return x.in_mpi; });
        if (options_.received) steps.note_received(options_.received + (k * count() + static_cast<std::int64_t>(e)) * ranks_);
        for (int pass = 0; pass < (answers ? 2 : 1); ++pass) {  // a sender may have to know when its receivers are in MPI
            if (pass > 0) wait();
            each(worker, ranks_, [&](std::int64_t rank, Sums&) {
                if (pass == 0) {
                    Rank& r = state_.ranks[static_cast<std::size_t>(rank)];
                    r.start = r.end;
                    steps.ready(rank, k);
                }
                if (pass > 0 || !answers) steps.send(rank, table);
            });
        }
        wait();
        if (const std::int64_t nodes = plan.pattern.nodes(); nodes > 0) {
            const auto w = static_cast<std::int64_t>(worker);
            for (std::int64_t n = nodes * w / workers_; n < nodes * (w + 1) / workers_ && !progress_.stop; ++n)
                steps.adapter(n, table);
            wait();
        }
        if (steps.holds_up()) {
            each(worker, ranks_, [&](std::int64_t rank, Sums&) { steps.pass_port(rank, table); });
            wait();
            each(worker, ranks_, [&](std::int64_t rank, Sums&) { steps.land(rank, table); });
            wait();
        }
        each(worker, counted_, [&](std::int64_t rank, Sums& sums) { steps.finish(rank, table, sums); });
        wait();
        if (worker == 0) complete(k, e);
        wait();
    }

    // A sweep or a broadcast, whose ranks wait for others of the same iteration.
    void in_order(std::int64_t k) {
        const Pattern& pattern = step_[0].plan->pattern;
        Steps& steps = steps_[0][0];
        std::vector<double> before;
        for (const Rank& r : state_.ranks) before.push_back(r.end);
        Sums all;
        for (std::int64_t s = 0; s < pattern.steps(); ++s) {
            const Neighbours& table = pattern.tables[pattern.blocks > 0 ? static_cast<std::size_t>(s / (2 * pattern.blocks)) : 0];
            for (const Index rank : table.order) {
                if (pattern.tree) {
                    steps.pass_on(rank, table, k, all);
                } else {
                    steps.cross(rank, table, k * pattern.steps() + s, all);
                }
            }
            progress_.done += ranks_;
            if (progress_.stop) {
                go_on_ = false;
                return;
            }
            keep(k, 0);
        }
        for (std::size_t r = 0; r < before.size(); ++r) {
            Rank& rank = state_.ranks[r];
            if (options_.ends) options_.ends[k * ranks_ + static_cast<std::int64_t>(r)] = rank.end;
            if (pattern.tree) {
                rank.end = all.last_end;
                continue;
            }
            all.of[kDuration] += rank.end - before[r];
            all.take(rank.end - before[r], rank.end);
        }
        add(all);
        outcome_.extremes.push_back(all);
        ++outcome_.iterations;
        go_on_ = !outcome_.overflowed;
    }

    // Ranks by blocks, a row of these for each worker, who then takes what others have not begun.
    template <class Each>
    void each(std::size_t worker, std::int64_t ranks, const Each& one) {
        const auto workers = next_.size();
        next_[worker] = blocks_.size() * worker / workers;
        for (std::size_t row = worker; row < worker + workers; ++row) {
            std::atomic<std::size_t>& next = next_[row % workers];
            const std::size_t end = blocks_.size() * (row % workers + 1) / workers;
            for (std::size_t b = next++; b < end && !progress_.stop; b = next++) {
                const auto first = static_cast<std::int64_t>(b) * kBlock;
                blocks_[b] = {};
                for (std::int64_t rank = first; rank < std::min(ranks, first + kBlock); ++rank) one(rank, blocks_[b]);
            }
        }
    }

    void wait() {
        if (workers_ > 1) barrier_.arrive_and_wait();
    }

    std::int64_t count() const { return static_cast<std::int64_t>(step_.size()); }

    void keep(std::int64_t k, std::size_t e) {
        if (!options_.kept || k < options_.kept->from) return;
        options_.kept->ranks.push_back(state_.ranks);
        options_.kept->traces.push_back(sent_[e].traces);
    }

    void add(const Sums& all) {
        outcome_.sums.push_back(all);
        outcome_.overflowed = !(all.last_end < kLargestTime);
    }

    // An exchange of all ranks is over; the last of a step ends an iteration.
    void complete(std::int64_t k, std::size_t e) {
        if (progress_.stop) {
            go_on_ = false;
            return;
        }
        Sums all;
        for (const Sums& block : blocks_) {
            all.add(block.of);
            all.widen(block);
        }
        progress_.done += ranks_;
        if (options_.ends) {
            double* ends = options_.ends + (k * count() + static_cast<std::int64_t>(e)) * ranks_;
            for (const Rank& r : state_.ranks) *ends++ = r.end;
        }
        keep(k, e);
        add(all);
        if (e + 1 < step_.size()) return;
        for (std::size_t r = 0; r < begun_.size(); ++r) {
            if (r == 0) all.shortest = kInf, all.longest = kNever;
            const double end = state_.ranks[r].end;
            all.take(end - std::exchange(begun_[r], end), end);
        }
        outcome_.extremes.push_back(all);
        ++outcome_.iterations;
        go_on_ = !outcome_.overflowed;
    }

    const std::vector<Exchange>& step_;
    const Options& options_;
    const std::int64_t ranks_, counted_;
    const bool ordered_;
    std::vector<Sums> blocks_;
    const int workers_;
    std::vector<std::atomic<std::size_t>> next_;  // by worker: the next block of its row; past the end before it begins
    std::barrier<> barrier_;
    State state_;
    std::vector<double> begun_;            // of several exchanges: when each rank began the step
    std::vector<Sent> sent_;               // by exchange
    std::vector<std::vector<Steps>> steps_;  // by exchange and worker
    Progress progress_;
    Outcome outcome_;
    bool go_on_ = true;
};

}  // namespace

Outcome run(const std::vector<Exchange>& step, std::size_t row, std::int64_t first, const Options& options) {
    return Run(step, row, first, options)();
}

std::int64_t memory(const std::vector<Exchange>& step) {
    std::int64_t bytes = 0;
    for (const Exchange& e : step) {
        const Plan& p = *e.plan;
        const std::int64_t each = p.jobs() + p.groups();
        bytes += p.pattern.ranks * (8 * (each + (p.shares() ? 2 : 1) * p.sent()) + (p.by_vci() ? 2 : 0) * p.sent() +
                                    (p.pattern.nodes() > 0 ? 4 * (p.sent() + 1) : 0));
        for (const Neighbours& t : p.pattern.tables)
            bytes += static_cast<std::int64_t>(4 * (t.to.size() + t.from.size() + t.slot.size() + t.order.size()));
    }
    return bytes + step[0].plan->pattern.ranks * static_cast<std::int64_t>(sizeof(Rank));
}

std::vector<std::vector<Outcome>> run_all(const std::vector<Job>& jobs, int cores,
                                          const std::function<bool(double)>& poll) {
    struct Unit {
        std::size_t job, row;
        double messages;
    };
    std::vector<Unit> units;
    std::vector<std::vector<Outcome>> out;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const Job& job = jobs[j];
        double messages = 0;
        for (const Exchange& e : job.step) {
            const Pattern& pattern = e.plan->pattern;
            messages += static_cast<double>(pattern.ranks * (8 + e.plan->sent()) * pattern.steps() * job.iterations);
            // Many jobs have the same arrivals: they are drawn once.
            const std::int64_t each = pattern.alone > 0 ? pattern.alone : job.iterations * pattern.steps();
            std::int64_t last = each;
            for (const std::int64_t first : job.firsts) last = std::max(last, first + each);
            e.arrivals->keep(pattern.alone > 0 ? 2 : pattern.ranks, last);
        }
        out.emplace_back(job.step[0].rows.size());
        for (std::size_t r = 0; r < out.back().size(); ++r) units.push_back({j, r, messages});
    }
    // The longest first, so that no core is left alone with one in the end.
    std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) { return a.messages > b.messages; });
    Progress progress;
    progress.all = static_cast<double>(units.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&](int) {
        for (std::size_t i = next++; i < units.size() && !progress.stop; i = next++) {
            const Job& job = jobs[units[i].job];
            Options options;
            options.iterations = job.iterations;
            const std::size_t row = units[i].row;
            out[units[i].job][row] = run(job.step, row, job.firsts.empty() ? 0 : job.firsts[row], options);
            ++progress.done;
        }
    };
    // By no more threads than there is to do: to start one takes as long as a small simulation.
    supervise(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(cores), std::max<std::size_t>(units.size(), 1))),
              work, progress, poll);
    return out;
}

}  // namespace pready
