// Threads that work in step while the caller watches.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace pready {

// All workers wait for the last one, which also decides for all whether to go on.
class Barrier {
   public:
    explicit Barrier(int workers) : workers_(workers) {}

    template <class Decide>
    bool wait(Decide decide) {
        if (workers_ == 1) return decide();
        std::unique_lock<std::mutex> lock(mutex_);
        const std::uint64_t mine = generation_.load(std::memory_order_relaxed);
        if (++waiting_ == workers_) {
            waiting_ = 0;
            go_on_ = decide();
            generation_.store(mine + 1, std::memory_order_release);
            lock.unlock();
            changed_.notify_all();
            return go_on_;
        }
        lock.unlock();
        for (int spin = 0; spin < 4000; ++spin) {
            if (generation_.load(std::memory_order_acquire) != mine) return go_on_;
        }
        lock.lock();
        changed_.wait(lock, [&] { return generation_.load(std::memory_order_relaxed) != mine; });
        return go_on_;
    }

   private:
    const int workers_;
    int waiting_ = 0;
    bool go_on_ = true;
    std::atomic<std::uint64_t> generation_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
};

// How far the workers are, and whether they are to stop.
struct Progress {
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> done{0};
    double all = 1;

    bool go_on() const { return !stop.load(std::memory_order_relaxed); }
    void add(std::int64_t some) { done.fetch_add(some, std::memory_order_relaxed); }
};

// Runs workers while the calling thread polls (signals can only be seen there); a single worker of a caller
// that does not want to poll is the caller.
void supervise(int workers, const std::function<void(int)>& work, Progress& progress,
               const std::function<bool(double)>& poll);

}  // namespace pready
