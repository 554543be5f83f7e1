#include "run/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "run/engine.hpp"
#include "run/workers.hpp"

namespace pready {
namespace {

constexpr std::int64_t kMostTimes = std::int64_t{1} << 24;  // of a batch: 128 MiB
constexpr std::int64_t kMostKept = std::int64_t{1} << 22;   // for later ones: 32 MiB

// What several simulations draw alike is drawn once.
struct Times {
    const Fields* fields;
    std::int64_t iterations, users;
    KeptTimes::Values values;
    std::shared_ptr<std::vector<double>> drawn;  // the same while they are being drawn

    std::int64_t each() const { return fields->ranks * fields->threads * fields->theta; }
};

class Batch {
   public:
    Batch(const std::vector<Job>& jobs, int cores, KeptTimes* kept) : jobs_(jobs), cores_(cores), kept_(kept) {
        for (const Job& job : jobs_) {
            outcomes_.emplace_back(job.rows.size());
            times_of_.emplace_back();
            for (const std::vector<Fields>& row : job.rows) {
                times_of_.back().emplace_back();
                for (const Fields& exchange : row) times_of_.back().back().push_back(find(exchange, job.iterations));
            }
        }
        share();
        cut();
    }

    Outcomes run(const std::function<bool(double)>& poll) {
        progress_.all = static_cast<double>(draws_.size() + units_.size());
        all(draws_, [this](const Draw& d) { draw(d); }, poll);
        for (const Times& t : times_) {
            if (kept_ != nullptr && t.drawn && progress_.go_on()) kept_->keep(*t.fields, t.iterations, t.values);
        }
        all(units_, [this](const Unit& u) { simulate(u); }, poll);
        return std::move(outcomes_);
    }

   private:
    struct Draw {
        std::size_t times;
        std::int64_t iteration;
    };

    // Rows of one job for one core at a time.
    struct Unit {
        std::size_t job, first, last;
        double messages;
    };

    static constexpr std::size_t kNone = ~std::size_t{0};

    std::size_t find(const Fields& row, std::int64_t iterations) {
        if (!row.drawn()) return kNone;
        const std::int64_t steps = row.pattern == Pattern::sweep ? 8 * row.blocks : 1;
        const auto like = [&](const Times& t) { return t.fields->draws_as(row); };
        auto found = std::find_if(times_.rbegin(), times_.rend(), like);
        if (found == times_.rend()) {
            times_.push_back({&row, 0, 0, {}, {}});
            found = times_.rbegin();
        }
        found->iterations = std::max(found->iterations, iterations * steps);
        ++found->users;
        return static_cast<std::size_t>(times_.rend() - found) - 1;
    }

    // Times that more than one simulation draws, or a later batch may draw: kept ones, or as far as there is room.
    void share() {
        std::int64_t left = kMostTimes;
        for (std::size_t i = 0; i < times_.size(); ++i) {
            Times& t = times_[i];
            if (kept_ != nullptr) t.values = kept_->find(*t.fields, t.iterations);
            if (t.values) continue;
            const std::int64_t most = t.users > 1 ? left : kept_ != nullptr ? std::min(left, kMostKept) : 0;
            if (t.iterations > most / t.each()) continue;
            left -= t.iterations * t.each();
            t.drawn = std::make_shared<std::vector<double>>(static_cast<std::size_t>(t.iterations * t.each()));
            t.values = t.drawn;
            for (std::int64_t k = 0; k < t.iterations; ++k) draws_.push_back({i, k});
        }
    }

    // The longest units first, so that no core is left alone with one in the end.
    void cut() {
        const std::size_t wanted = 4 * static_cast<std::size_t>(cores_);
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            const std::size_t rows = jobs_[j].rows.size();
            const std::size_t parts = jobs_.size() >= wanted ? 1 : wanted / jobs_.size();
            const std::size_t step = std::max<std::size_t>(1, (rows + parts - 1) / parts);
            for (std::size_t r = 0; r < rows; r += step) {
                const std::size_t last = std::min(rows, r + step);
                double each = 0;
                for (const Fields& f : jobs_[j].rows[r])
                    each += static_cast<double>(f.ranks) * (8.0 + static_cast<double>(f.transports) * f.directions);
                units_.push_back({j, r, last,
                                  each * static_cast<double>(jobs_[j].iterations) *
                                      static_cast<double>(last - r)});
            }
        }
        std::stable_sort(units_.begin(), units_.end(),
                         [](const Unit& a, const Unit& b) { return a.messages > b.messages; });
    }

    // By no more threads than there is to do: to start one takes as long as a small simulation.
    template <class Some, class Do>
    void all(const std::vector<Some>& of, const Do& one, const std::function<bool(double)>& poll) {
        if (of.empty()) return;
        next_ = 0;
        const auto work = [&](int) {
            while (progress_.go_on()) {
                const std::size_t i = next_.fetch_add(1);
                if (i >= of.size()) return;
                one(of[i]);
                progress_.add(1);
            }
        };
        const auto most = static_cast<std::size_t>(cores_);
        supervise(static_cast<int>(std::min(most, of.size())), work, progress_, poll);
    }

    void draw(const Draw& d) {
        Times& t = times_[d.times];
        draw_times(*t.fields, d.iteration, t.drawn->data() + d.iteration * t.each());
    }

    void simulate(const Unit& u) {
        const Job& job = jobs_[u.job];
        Engine engine(job.rows[u.first], "");
        Options options;
        options.iterations = job.iterations;
        for (std::size_t r = u.first; r < u.last && progress_.go_on(); ++r) {
            engine.reprice(job.rows[r]);
            for (std::size_t e = 0; e < engine.exchanges(); ++e) {
                const std::size_t t = times_of_[u.job][r][e];
                engine.take_times(e, t == kNone || !times_[t].values ? nullptr : times_[t].values->data());
            }
            outcomes_[u.job][r] = engine.run(options);
        }
    }

    const std::vector<Job>& jobs_;
    const int cores_;
    KeptTimes* const kept_;
    std::vector<Times> times_;
    std::vector<std::vector<std::vector<std::size_t>>> times_of_;
    std::vector<Draw> draws_;
    std::vector<Unit> units_;
    std::atomic<std::size_t> next_{0};
    Progress progress_;
    Outcomes outcomes_;
};

}  // namespace

KeptTimes::Values KeptTimes::find(const Fields& fields, std::int64_t iterations) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Kept& k : kept_) {
        if (k.iterations >= iterations && k.fields.draws_as(fields)) return k.values;
    }
    return nullptr;
}

void KeptTimes::keep(const Fields& fields, std::int64_t iterations, const Values& values) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto more = static_cast<std::int64_t>(values->size());
    if (more > kMostKept - count_) return;
    kept_.push_back({fields, iterations, values});
    count_ += more;
}

std::int64_t KeptTimes::count() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
}

Outcomes run_all(const std::vector<Job>& jobs, int cores, const std::function<bool(double)>& poll, KeptTimes* kept) {
    return jobs.empty() ? Outcomes{} : Batch(jobs, cores, kept).run(poll);
}

}  // namespace pready
