#include "run/workers.hpp"

#include <chrono>
#include <exception>
#include <thread>
#include <vector>

namespace pready {

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
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (!finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) {
            lock.unlock();
            if (poll && !poll(static_cast<double>(progress.done.load()) / progress.all)) progress.stop = true;
            lock.lock();
        }
    }
    for (std::thread& t : threads) t.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace pready
