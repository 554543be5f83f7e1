#include "engine.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace pready {
namespace {

constexpr double kLargestTime = 292.0 * 365.25 * 86400;  // seconds that fit 63 bits of nanoseconds
constexpr std::int64_t kAlign = 64;

const Passes& choose(const std::string& level) {
#ifdef PREADY_X86_LEVELS
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    if (v4 && (level.empty() || level == "avx512")) return passes_avx512();
    if (__builtin_cpu_supports("avx2") && (level.empty() || level == "avx2")) return passes_avx2();
#endif
    if (!level.empty() && level != "baseline")
        throw std::invalid_argument("this processor or build has no version for " + level);
    return passes_baseline();
}

struct Release {
    void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Release>;

Memory allocate(std::int64_t bytes) {
    const std::int64_t whole = (bytes + kAlign - 1) / kAlign * kAlign + kAlign;
    void* memory = std::aligned_alloc(kAlign, static_cast<std::size_t>(whole));
    if (!memory) throw std::bad_alloc();
#ifdef PREADY_POISON
    std::memset(memory, 0xff, static_cast<std::size_t>(whole));  // not a number: reading it shows
#endif
    return Memory(memory);
}

double* doubles(const Memory& memory) { return static_cast<double*>(memory.get()); }

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

// Runs workers while the calling thread polls (signals can only be seen there).
void supervise(int workers, const std::function<void(int)>& work, std::atomic<bool>& stop,
               const std::atomic<std::int64_t>& done, double all,
               const std::function<bool(double)>& poll) {
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
                stop = true;
            }
            const std::lock_guard<std::mutex> lock(mutex);
            if (--running == 0) finished.notify_one();
        });
    }
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (!finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) {
            lock.unlock();
            if (poll && !poll(static_cast<double>(done.load()) / all)) stop = true;
            lock.lock();
        }
    }
    for (std::thread& t : threads) t.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace

Engine::Engine(const Numbers& numbers, const Integers& integers, const std::string& level)
    : passes_(&choose(level)), numbers_(numbers), integers_(integers) {
    Plan& p = plan_;
    const auto reals = [&](const char* name) { return numbers_.at(name).data(); };
    const auto whole = [&](const char* name) { return integers_.at(name).at(0); };
    const auto small = [&](const char* name) { return static_cast<int>(whole(name)); };
    const auto wholes = [&](const char* name) { return integers_.at(name).data(); };
    int used = 0;
    const auto narrow = [&](const char* name) {
        const std::vector<std::int64_t>& from = integers_.at(name);
        ints_[used].assign(from.begin(), from.end());
        return ints_[used++].data();
    };
    int used_bytes = 0;
    const auto flags = [&](const char* name) {
        const std::vector<std::int64_t>& from = integers_.at(name);
        bytes_[used_bytes].assign(from.begin(), from.end());
        return bytes_[used_bytes++].data();
    };
    p.ranks = whole("ranks");
    p.pattern = static_cast<Pattern>(whole("pattern"));
    for (int a = 0; a < 3; ++a) {
        p.dims[a] = integers_.at("dims").at(static_cast<std::size_t>(a));
        p.periodic[a] = integers_.at("periodic").at(static_cast<std::size_t>(a)) != 0;
        if (p.dims[a] > 1) p.outer = a;
    }
    p.directions = small("directions");
    p.sources = small("sources");
    p.step = narrow("step");
    p.direction_class = narrow("direction_class");
    p.classes = small("classes");
    p.out_start = wholes("out_start");
    p.out_rank = wholes("out_rank");
    p.in_start = wholes("in_start");
    p.in_rank = wholes("in_rank");
    p.in_slot = narrow("in_slot");
    p.blocks = whole("blocks");
    p.profiles = small("profiles");
    p.present = flags("present");
    p.nth = narrow("nth");
    p.degree = narrow("degree");
    p.hold = reals("hold");
    p.hold_all = reals("hold_all");
    p.arrivals = static_cast<Arrivals>(whole("arrivals"));
    p.select = static_cast<Select>(whole("select"));
    p.table_rows = whole("table_rows");
    p.table = reals("table");
    p.density = static_cast<Density>(whole("density"));
    p.threads = small("threads");
    p.theta = small("theta");
    p.per_bin = small("per_bin");
    p.share = reals("share");
    p.kernels = static_cast<std::int64_t>(numbers_.at("centre").size());
    p.centre = reals("centre");
    p.centre_cut = reals("centre_cut");
    p.counts = whole("counts") != 0;
    p.joins = whole("joins") != 0;
    p.transports = small("transports");
    p.mapped = whole("mapped") != 0;
    p.jobs = p.mapped ? p.transports * p.directions : p.transports;
    p.part_start = narrow("part_start");
    p.part_job = narrow("part_job");
    p.hold_each = reals("hold_each");
    p.between = reals("between");
    p.vcis = small("vcis");
    p.vci_size = narrow("vci_size");
    p.vci_members = narrow("vci_members");
    p.burst = whole("burst") != 0;
    p.opens = whole("opens") != 0;
    p.late_puts = whole("late_puts") != 0;
    p.two_sided = whole("two_sided") != 0;
    p.rendezvous = whole("rendezvous") != 0;
    p.sender_waits = whole("sender_waits") != 0;
    p.gate_is_join = whole("gate_is_join") != 0;
    p.needs_out = p.opens || p.two_sided || p.rendezvous;
    p.half = reals("half");
    p.service = reals("service");
    p.travel = reals("travel");
    p.stream = reals("stream");
    p.wire = reals("wire");
    p.late_done = flags("late_done");
    p.receivers = static_cast<Receivers>(whole("receivers"));
    p.waits = whole("waits") != 0;
    p.receiver_computes = whole("receiver_computes") != 0;
    p.receive = reals("receive");
    p.serves = whole("serves") != 0;
    p.sync = static_cast<Sync>(whole("sync"));
    p.window_per_thread = whole("window_per_thread") != 0;
    reach_ = whole("reach");

    read_scalars();
    build_networks(used);
}

void Engine::read_scalars() {
    Plan& p = plan_;
    const auto real = [&](const char* name) { return numbers_.at(name).at(0); };
    const auto whole = [&](const char* name) {
        return static_cast<std::uint64_t>(integers_.at(name).at(0));
    };
    p.seed = whole("seed_low") | whole("seed_high") << 32;
    p.base = real("base");
    p.noise = real("noise");
    p.sd = real("sd");
    p.cut = real("cut");
    p.width = real("width");
    p.pready = real("pready");
    p.barrier = real("barrier");
    p.burst_hold = real("burst_hold");
    p.burst_gap = real("burst_gap");
    p.opened = real("opened");
    p.wake = real("wake");
    p.waking = real("waking");
    p.link = real("link");
    p.cold = real("cold");
    p.cooling = real("cooling");
    p.per_entry = real("per_entry");
    p.poll = real("poll");
    p.closing = real("closing");
    p.control = real("control");
    p.ack = real("ack");
}

bool Engine::reprice(const Numbers& numbers, const Integers& integers) {
    const auto is_seed = [](const std::string& name) { return name == "seed_low" || name == "seed_high"; };
    if (numbers.size() != numbers_.size() || integers.size() != integers_.size()) return false;
    for (const auto& [name, values] : integers) {
        const auto mine = integers_.find(name);
        if (mine == integers_.end() || (!is_seed(name) && mine->second != values)) return false;
    }
    for (const auto& [name, values] : numbers) {
        const auto mine = numbers_.find(name);
        if (mine == numbers_.end() || mine->second.size() != values.size()) return false;
    }
    // In place: the plan points into these vectors.
    for (const auto& [name, values] : numbers)
        std::copy(values.begin(), values.end(), numbers_[name].begin());
    for (const auto& [name, values] : integers) {
        if (is_seed(name)) integers_[name] = values;
    }
    read_scalars();
    return true;
}

void Engine::build_networks(int used) {
    Plan& p = plan_;
    const auto vcis = static_cast<std::size_t>(p.vcis), directions = static_cast<std::size_t>(p.directions);
    const int n = p.transports * p.directions;
    const bool gated = p.two_sided || p.rendezvous;
    p.send_sorts = !p.burst && (gated ? p.directions > 1 || p.vcis > 1 : p.vcis > 1);
    p.ticks = p.needs_out && p.directions > 1;

    // Where a message lies in its sender's record: by direction, then by VCI.
    std::vector<std::int32_t>& direction = ints_[used++];
    std::vector<std::int32_t>& slot = ints_[used++];
    std::vector<std::int32_t>& size = ints_[used++];
    std::vector<std::int32_t>& begin = ints_[used++];
    size.assign(vcis * directions, 0);
    begin.assign(vcis * directions, 0);
    slot.assign(static_cast<std::size_t>(n), 0);
    for (int i = 0; i < n; ++i) direction.push_back(i % p.directions);
    const std::int32_t* member = p.vci_members;
    std::vector<std::int32_t> filled(directions, 0);
    std::int32_t m = 0;
    for (std::size_t v = 0; v < vcis; ++v) {
        for (std::size_t d = 0; d < directions; ++d) begin[v * directions + d] = filled[d];
        for (int i = 0; i < p.vci_size[v]; ++i, ++member, ++m) {
            // A transport partition is a message to every neighbour, numbered as it queues.
            const std::int32_t first = p.mapped ? *member : m * p.directions;
            for (std::int32_t number = first; number < first + (p.mapped ? 1 : p.directions); ++number) {
                const auto d = static_cast<std::size_t>(number % p.directions);
                slot[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(
                    kHead + static_cast<int>(d) * p.transports + filled[d]++);
                ++size[v * directions + d];
            }
        }
    }
    p.message_direction = direction.data();
    p.message_slot = slot.data();
    p.share_size = size.data();
    p.share_begin = begin.data();
    p.record = kHead + (p.burst ? p.transports + 1 : n);

    // Messages of one VCI to one neighbour are in order, unless each queues by itself.
    const auto lists = [&](std::vector<int>& lengths, int length) {
        if (!p.mapped) {
            lengths.push_back(length);
        } else {
            lengths.insert(lengths.end(), static_cast<std::size_t>(length), 1);
        }
    };
    if (p.mapped) {
        for (std::size_t v = 0; v < vcis; ++v)
            queue_networks_.emplace_back(std::vector<int>(static_cast<std::size_t>(p.vci_size[v]), 1));
        for (const MergeNetwork& network : queue_networks_) queue_views_.push_back(network.view());
        p.queue_network = queue_views_.data();
    }
    if (p.send_sorts && p.mapped) {
        std::vector<int> lengths;
        for (std::size_t v = 0; v < vcis; ++v) {
            if (gated) {
                lists(lengths, p.vci_size[v]);
            } else {
                lengths.push_back(p.vci_size[v]);
            }
        }
        send_network_ = MergeNetwork(lengths);
        p.send_network = send_network_.view();
    } else if (p.send_sorts && !gated) {
        std::vector<int> lengths;  // all that one VCI issues is in order
        for (std::size_t v = 0; v < vcis; ++v) lengths.push_back(p.vci_size[v] * p.directions);
        send_network_ = MergeNetwork(lengths);
        p.send_network = send_network_.view();
    } else if (p.send_sorts) {
        // Lists in the network's numbering are contiguous; here they are strided, so renumber.
        std::vector<int> lengths;
        std::vector<std::int32_t> place;
        int at = 0;
        for (std::size_t v = 0; v < vcis; ++v) {
            for (int d = 0; d < p.directions; ++d) {
                lengths.push_back(p.vci_size[v]);
                for (int i = 0; i < p.vci_size[v]; ++i) place.push_back((at + i) * p.directions + d);
            }
            at += p.vci_size[v];
        }
        send_network_ = MergeNetwork(lengths);
        for (std::int32_t& i : send_network_.pairs) i = place[static_cast<std::size_t>(i)];
        for (std::int32_t& i : send_network_.order) i = place[static_cast<std::size_t>(i)];
        p.send_network = send_network_.view();
    }
    const int servers = p.receivers == Receivers::threads ? p.vcis : 1;
    inboxes_.resize(static_cast<std::size_t>(servers));
    for (int s = 0; s < servers; ++s) {
        InboxData& in = inboxes_[static_cast<std::size_t>(s)];
        in.begin.push_back(0);
        int longest = 0;
        for (int j = 0; j < p.sources; ++j) {
            const std::size_t d = p.pattern == Pattern::list ? 0 : static_cast<std::size_t>(j);
            for (std::size_t v = 0; v < vcis; ++v) {
                const int count = size[v * directions + d];
                if (count == 0 || (servers > 1 && static_cast<int>(v) != s)) continue;
                const int length = p.mapped ? 1 : count;
                for (int i = 0; i < count; i += length) {
                    in.source.push_back(j);
                    in.from.push_back(begin[v * directions + d] + i);
                    in.begin.push_back(in.begin.back() + length);
                    longest = std::max(longest, length);
                }
            }
        }
        for (int keep = 1;; keep = 2 * keep + 1) {
            const bool all = keep >= longest;
            std::vector<int> lengths;
            std::vector<std::int32_t> place;
            for (std::size_t q = 0; q + 1 < in.begin.size(); ++q) {
                const int length = std::min(keep, in.begin[q + 1] - in.begin[q]);
                lengths.push_back(length);
                for (int i = length; i > 0; --i) place.push_back(in.begin[q + 1] - i);
            }
            in.networks.emplace_back(lengths);
            for (std::int32_t& i : in.networks.back().pairs) i = place[static_cast<std::size_t>(i)];
            for (std::int32_t& i : in.networks.back().order) i = place[static_cast<std::size_t>(i)];
            if (all) break;
        }
        for (const MergeNetwork& network : in.networks) in.views.push_back(network.view());
        inbox_views_.push_back({static_cast<int>(in.source.size()), in.begin.back(), in.source.data(),
                                in.from.data(), in.begin.data(), static_cast<int>(in.views.size()),
                                in.views.data()});
    }
    p.inbox = inbox_views_.data();
}

std::vector<double> Engine::draw(std::int64_t rank, std::int64_t iteration) const {
    const Memory scratch = allocate(passes_->scratch(plan_));
    std::vector<double> out(static_cast<std::size_t>(plan_.threads) *
                            static_cast<std::size_t>(plan_.theta));
    passes_->draw(plan_, scratch.get(), rank, iteration, out.data());
    return out;
}

Engine::Layout Engine::layout(int cores, std::int64_t chunk) const {
    Layout l{};
    std::int64_t size = chunk > 0 ? chunk : (plan_.ranks + cores - 1) / cores;
    size = (size + kBlock - 1) / kBlock * kBlock;
    l.chunk = size;
    l.chunks = (plan_.ranks + size - 1) / size;
    l.capacity = 1;
    while (l.capacity < 2 * reach_ + 2 * kBlock) l.capacity *= 2;
    l.shared = plan_.pattern == Pattern::sweep || plan_.pattern == Pattern::list ||
               4 * reach_ >= size || l.capacity >= plan_.ranks;
    if (l.shared) l.capacity = plan_.ranks;
    return l;
}

std::int64_t Engine::memory(int cores, std::int64_t chunk) const {
    const Layout l = layout(cores, chunk);
    const std::int64_t arrays = plan_.pattern == Pattern::sweep ? 3 : plan_.gate_is_join ? 6 : 4;
    const std::int64_t windows = l.shared ? 1 : std::min<std::int64_t>(cores, l.chunks);
    std::int64_t bytes = plan_.ranks * 8 * arrays;
    bytes += windows * l.capacity * plan_.record * 8;
    bytes += (plan_.ranks / kBlock + 1) * kSums * 8;
    bytes += cores * passes_->scratch(plan_);
    return bytes;
}

Outcome Engine::run(const Options& options) {
    Outcome outcome;
    if (plan_.pattern == Pattern::sweep) {
        run_sweep(options, outcome);
    } else {
        run_grid(options, outcome);
    }
    return outcome;
}

void Engine::run_grid(const Options& options, Outcome& outcome) {
    const Plan& p = plan_;
    const Layout l = layout(options.cores, options.chunk);
    const int workers = static_cast<int>(std::min<std::int64_t>(options.cores, l.chunks));
    const auto n = static_cast<std::size_t>(p.ranks);
    const std::int64_t blocks = (p.ranks + kBlock - 1) / kBlock;
    Memory start[2], nic[2], gate[2];
    for (int i = 0; i < 2; ++i) {
        start[i] = allocate(p.ranks * 8);
        nic[i] = allocate(p.ranks * 8);
        std::fill_n(doubles(start[i]), n, 0.0);
        std::fill_n(doubles(nic[i]), n, -std::numeric_limits<double>::infinity());
        if (p.gate_is_join) gate[i] = allocate(p.ranks * 8);
    }
    const Memory sums = allocate(blocks * kSums * 8);
    const int windows = l.shared ? 1 : workers;
    std::vector<Memory> records, scratches;
    for (int i = 0; i < windows; ++i) records.push_back(allocate(l.capacity * p.record * 8));
    for (int i = 0; i < workers; ++i) scratches.push_back(allocate(passes_->scratch(p)));
    std::vector<Extremes> extremes(static_cast<std::size_t>(workers));

    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> done{0};
    Barrier barrier(workers);
    const auto go_on = [&] { return !stop.load(std::memory_order_relaxed); };

    const auto work = [&](int worker) {
        void* scratch = scratches[static_cast<std::size_t>(worker)].get();
        const Window window{doubles(records[l.shared ? 0 : static_cast<std::size_t>(worker)]),
                            l.shared ? -1 : l.capacity - 1, p.ranks, p.record};
        // Every worker takes every workers-th chunk; what a chunk computes depends on nobody's order.
        const auto chunks = [&](const auto& each) {
            for (std::int64_t c = worker; c < l.chunks; c += workers) {
                const std::int64_t first = c * l.chunk;
                each(first, std::min(p.ranks, first + l.chunk));
            }
        };
        if (p.gate_is_join) {
            chunks([&](std::int64_t a, std::int64_t b) {
                passes_->gates(p, doubles(start[0]), doubles(gate[0]), scratch, 0, a, b);
            });
            if (!barrier.wait(go_on)) return;
        }
        for (std::int64_t k = 0; k < options.iterations; ++k) {
            const int now = static_cast<int>(k % 2), next = 1 - now;
            State state{doubles(start[now]), doubles(nic[now]), doubles(gate[now]),
                        doubles(start[next]), doubles(nic[next]), doubles(gate[next]),
                        options.received ? options.received + k * p.ranks : nullptr, doubles(sums)};
            constexpr double inf = std::numeric_limits<double>::infinity();
            Extremes mine{inf, -inf, inf, -inf};
            const auto receive = [&](std::int64_t a, std::int64_t b) {
                passes_->receive(p, state, window, scratch, k, a, b, mine);
                if (p.gate_is_join && k + 1 < options.iterations)
                    passes_->gates(p, state.next_start, state.next_gate, scratch, k + 1, a, b);
                done.fetch_add(b - a, std::memory_order_relaxed);
            };
            if (l.shared) {
                chunks([&](std::int64_t a, std::int64_t b) {
                    for (std::int64_t u = a; u < b && go_on(); u += kBlock)
                        passes_->send(p, state, window, scratch, k, u, std::min(b, u + kBlock));
                });
                if (!barrier.wait(go_on)) return;
                chunks([&](std::int64_t a, std::int64_t b) {
                    for (std::int64_t u = a; u < b && go_on(); u += kBlock)
                        receive(u, std::min(b, u + kBlock));
                });
            } else {
                chunks([&](std::int64_t a, std::int64_t b) {
                    const bool open = !p.periodic[p.outer] && p.pattern == Pattern::grid;
                    const std::int64_t low = open ? std::max<std::int64_t>(0, a - reach_) : a - reach_;
                    const std::int64_t high = open ? std::min(p.ranks, b + reach_) : b + reach_;
                    std::int64_t sent = low;
                    for (std::int64_t u = a; u < b && go_on(); u += kBlock) {
                        const std::int64_t stop_at = std::min(b, u + kBlock);
                        const std::int64_t need = std::min(high, stop_at + reach_);
                        passes_->send(p, state, window, scratch, k, sent, need);
                        sent = need;
                        receive(u, stop_at);
                    }
                });
            }
            extremes[static_cast<std::size_t>(worker)] = mine;
            const auto finish = [&] {
                if (!go_on()) return false;
                Extremes all{inf, -inf, inf, -inf};
                for (const Extremes& e : extremes) {
                    all.shortest = std::min(all.shortest, e.shortest);
                    all.longest = std::max(all.longest, e.longest);
                    all.first_end = std::min(all.first_end, e.first_end);
                    all.last_end = std::max(all.last_end, e.last_end);
                }
                outcome.extremes.push_back(all);
                for (int which = 0; which < kSums; ++which) {
                    double sum = 0;
                    for (std::int64_t b = 0; b < blocks; ++b) sum += doubles(sums)[b * kSums + which];
                    outcome.sums.push_back(sum);
                }
                if (options.ends)
                    std::copy_n(state.next_start, n, options.ends + k * p.ranks);
                ++outcome.iterations;
                outcome.overflowed = !(all.last_end < kLargestTime);
                return !outcome.overflowed;
            };
            if (!barrier.wait(finish)) return;
        }
    };
    const double all = static_cast<double>(p.ranks) * static_cast<double>(options.iterations);
    supervise(workers, work, stop, done, all, options.poll);
    outcome.interrupted = stop.load();
}

void Engine::run_sweep(const Options& options, Outcome& outcome) {
    // A wavefront: ranks of one diagonal need only the diagonal before. One worker; the diagonals of a
    // 2D grid are too short to share.
    const Plan& p = plan_;
    const std::int64_t nx = p.dims[0], ny = p.dims[1], n = p.ranks;
    const Memory start = allocate(n * 8), nic = allocate(n * 8), before = allocate(n * 8);
    std::fill_n(doubles(start), n, 0.0);
    std::fill_n(doubles(nic), n, -std::numeric_limits<double>::infinity());
    const Memory records = allocate(n * p.record * 8), scratch = allocate(passes_->scratch(p));
    const Window window{doubles(records), -1, n, p.record};
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> done{0};
    const std::int64_t steps = 8 * p.blocks;

    const auto work = [&](int) {
        std::vector<std::int64_t> members, up, down;
        for (std::int64_t k = 0; k < options.iterations; ++k) {
            std::copy_n(doubles(start), n, doubles(before));
            double sums[kSums] = {};
            State state{doubles(start), doubles(nic), nullptr, doubles(start), doubles(nic),
                        nullptr, nullptr, sums};
            for (std::int64_t step = 0; step < steps; ++step) {
                // Four corners, and from each corner both directions of z.
                static constexpr int kTowards[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
                const int* to = kTowards[step / (2 * p.blocks)];
                const std::int64_t sx = to[0], sy = to[1];
                for (std::int64_t diagonal = 0; diagonal < nx + ny - 1; ++diagonal) {
                    if (stop.load(std::memory_order_relaxed)) return;
                    members.clear();
                    up.clear();
                    down.clear();
                    const std::int64_t i0 = std::max<std::int64_t>(0, diagonal - ny + 1);
                    const std::int64_t i1 = std::min(diagonal, nx - 1);
                    for (std::int64_t i = i0; i <= i1; ++i) {
                        const std::int64_t j = diagonal - i;
                        const std::int64_t x = sx > 0 ? i : nx - 1 - i, y = sy > 0 ? j : ny - 1 - j;
                        const std::int64_t r = x + nx * y;
                        members.push_back(r);
                        up.push_back(i > 0 ? r - sx : -1);
                        up.push_back(j > 0 ? r - sy * nx : -1);
                        down.push_back(i < nx - 1 ? r + sx : -1);
                        down.push_back(j < ny - 1 ? r + sy * nx : -1);
                    }
                    passes_->sweep(p, state, window, scratch.get(), k * steps + step, members.data(),
                                   up.data(), down.data(), static_cast<std::int64_t>(members.size()));
                }
                done.fetch_add(n, std::memory_order_relaxed);
            }
            constexpr double inf = std::numeric_limits<double>::infinity();
            Extremes all{inf, -inf, inf, -inf};
            for (std::int64_t r = 0; r < n; ++r) {
                const double end = doubles(start)[r], took = end - doubles(before)[r];
                sums[kDuration] += took;
                all.shortest = std::min(all.shortest, took);
                all.longest = std::max(all.longest, took);
                all.first_end = std::min(all.first_end, end);
                all.last_end = std::max(all.last_end, end);
            }
            if (options.ends)
                std::copy_n(doubles(start), n, options.ends + k * n);
            outcome.extremes.push_back(all);
            outcome.sums.insert(outcome.sums.end(), sums, sums + kSums);
            ++outcome.iterations;
            outcome.overflowed = !(all.last_end < kLargestTime);
            if (outcome.overflowed) return;
        }
    };
    const double all = static_cast<double>(n) * static_cast<double>(steps) *
                       static_cast<double>(options.iterations);
    supervise(1, work, stop, done, all, options.poll);
    outcome.interrupted = stop.load();
}

}  // namespace pready
