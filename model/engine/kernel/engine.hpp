// One simulation: owns the plan's numbers and the ranks' state, and runs iterations on threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plan.hpp"

namespace pready {

// Sorted lists in, one sorted list out: Batcher's odd-even merges for any lengths.
struct MergeNetwork {
    std::vector<std::int32_t> pairs, order;
    explicit MergeNetwork(const std::vector<int>& lengths);
    MergeNetwork() = default;
    Network view() const;
};

using Numbers = std::map<std::string, std::vector<double>>;
using Integers = std::map<std::string, std::vector<std::int64_t>>;

struct Outcome {
    std::int64_t iterations = 0;          // completed
    std::vector<double> sums;             // [iterations][kSums]
    std::vector<Extremes> extremes;       // [iterations]
    bool interrupted = false;
    bool overflowed = false;
};

struct Options {
    std::int64_t iterations = 1;
    int cores = 1;
    std::int64_t chunk = 0;    // ranks per chunk; 0: one chunk per core
    double* ends = nullptr;      // [iterations][ranks]
    double* received = nullptr;  // [iterations][ranks]
    // Called about 20 times a second with the share of the work done; false stops the run.
    std::function<bool(double)> poll;
};

class Engine {
   public:
    Engine(const Numbers& numbers, const Integers& integers, const std::string& level);

    // The same ranks with other costs and another seed; false, and nothing changed, if more would change.
    bool reprice(const Numbers& numbers, const Integers& integers);
    Outcome run(const Options& options);
    std::vector<double> draw(std::int64_t rank, std::int64_t iteration) const;
    std::int64_t memory(int cores, std::int64_t chunk) const;  // bytes that `run` allocates
    std::string level() const { return passes_->name; }
    std::int64_t record_bytes() const { return plan_.record * 8; }
    std::int64_t scratch_bytes() const { return passes_->scratch(plan_); }

   private:
    struct Layout {
        std::int64_t chunk, chunks, capacity;
        bool shared;  // one window for all ranks
    };
    void read_scalars();
    void build_networks(int used);
    Layout layout(int cores, std::int64_t chunk) const;
    void run_grid(const Options& options, Outcome& outcome);
    void run_sweep(const Options& options, Outcome& outcome);

    Plan plan_{};
    const Passes* passes_;
    std::int64_t reach_ = 0;
    std::vector<std::int32_t> ints_[16];
    std::vector<std::uint8_t> bytes_[2];
    Numbers numbers_;
    Integers integers_;
    struct InboxData {
        std::vector<std::int32_t> source, from, begin;
        std::vector<MergeNetwork> networks;
        std::vector<Network> views;
    };
    std::vector<InboxData> inboxes_;
    std::vector<Inbox> inbox_views_;
    std::vector<MergeNetwork> queue_networks_;
    std::vector<Network> queue_views_;
    MergeNetwork send_network_;
};

}  // namespace pready
