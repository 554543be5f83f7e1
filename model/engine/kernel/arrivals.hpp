// Step 1 begins here: when the user partitions of a rank are ready, drawn by counters: an iteration is a sample, and a rank
// has draws of its own. Loops are over a rank's partitions, which the compiler takes several at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace pready {

enum class Times : int { table = 0, threads = 1, gaussian = 2 };
enum class Select : int { first = 0, turn = 1, draw = 2 };
enum class Density : int { uniform = 0, normal = 1, kernel = 2 };

// A table of times, or how to draw them.
struct Distribution {
    Times times;
    Select select;    // of a table: which row
    Density density;  // of threads
    std::uint64_t seed;
    int threads, theta;
    double base, noise, sd, cut;  // of uniform and normal; of one partition for Gaussian
    double width;                 // of a density's kernels
    std::vector<double> share;    // [theta]: of a thread's time
    std::vector<double> table;    // [rows][threads * theta]
    std::vector<double> centre, centre_cut;

    int partitions() const { return threads * theta; }
};

class Arrivals : Distribution {
   public:
    explicit Arrivals(Distribution from) : Distribution(std::move(from)) {}
    using Distribution::partitions;

    // Times that were drawn once for all that simulate them.
    struct Kept {
        std::int64_t ranks = 0, iterations = 0;
        std::vector<double> times;  // [iterations][ranks][partitions]
    };

    // Times of all partitions, of `kept` or drawn into `out`, which has room for `room()` of them.
    const double* at(const Kept& kept, std::int64_t rank, std::int64_t iteration, double* out) const {
        if (rank < kept.ranks && iteration < kept.iterations)
            return kept.times.data() + (iteration * kept.ranks + rank) * partitions();
        return draw(rank, iteration, out);
    }
    std::size_t room() const { return static_cast<std::size_t>(partitions()) + 2; }

    // What is kept; `keep` draws more, if there is room.
    std::shared_ptr<const Kept> kept() const;
    void keep(std::int64_t ranks, std::int64_t iterations);

   private:
    const double* draw(std::int64_t rank, std::int64_t iteration, double* out) const;
    const double* row(std::int64_t rank, std::int64_t iteration) const;
    void threads_times(std::uint64_t rank, std::uint64_t iteration, double* out) const;

    mutable std::mutex keeping_;
    std::shared_ptr<const Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace pready
