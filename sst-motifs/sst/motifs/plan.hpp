// What a rank does in one phase of an iteration: receives it posts, until when it computes, what it sends to whom.
//
// Plain C++: no SST, no simulated time but the ready times that are handed in. The rules are those of the
// model (steps 1 and 2 of model/timeline.py):
//
//   * MPI_Pready costs `pready_ns` on the partition's own thread, one after the other (partitioned only);
//   * a transport partition is ready when the last of its contiguous user partitions is, and then goes to
//     every peer, one message after the other;
//   * bulk sends one message per peer when the threads have met: `barrier_ns` after the last partition;
//   * the rank enters MPI to wait when its threads have met;
//   * where each thread completes messages of its own (many), they meet again at the end.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "settings.hpp"

namespace pready {

// The other end of a buffer. `direction` names the buffer: both ends use the same number.
struct Peer {
    std::int32_t rank;
    std::uint32_t direction;
    Count bytes;
};

// Who exchanges with whom in one phase.
struct Phase {
    std::vector<Peer> from;
    std::vector<Peer> to;
    bool computes = true;         // the rank's threads compute before it waits
    bool receives_first = false;  // and only when everything has been received (a sweep)
    bool whole = false;           // each buffer is one message, whatever the approach
    Count draw = 0;               // which of the iteration's draws of ready times
    Count draws = 1;              // of so many
};

struct Message {
    std::int32_t rank;
    std::uint32_t tag;
    std::uint32_t bytes;
};

// Messages that leave together once the rank has computed until `at`.
struct Step {
    double at;  // ns after the start of the phase
    std::vector<Message> sends;
};

struct Plan {
    std::vector<Message> receives;
    std::vector<Step> steps;  // by time
    double ready = 0;         // ns: the last user partition
    double join = 0;          // ns: the threads have met
    double meet = 0;          // ns from the last message to the threads' having met again
};

// Bytes of message `index` of `count` of one buffer: they differ by at most one and add up to the buffer.
inline std::uint32_t share(Count bytes, Count index, Count count)
{
    return static_cast<std::uint32_t>(bytes * (index + 1) / count - bytes * index / count);
}

// Two iterations can be under way between two ranks, so that tags alternate.
inline std::uint32_t tag_of(const Peer& peer, Count message, Count messages, Count iteration)
{
    return static_cast<std::uint32_t>((peer.direction * 2 + iteration % 2) * messages + message);
}

// When each MPI_Pready returns; a thread marks its partitions in the order in which they become ready.
inline std::vector<double> marked(const std::vector<double>& ready, Count threads, double cost)
{
    if (cost == 0) return ready;
    std::vector<double> out(ready.size());
    const std::size_t each = ready.size() / threads;
    std::vector<std::size_t> order(each);
    for (std::size_t first = 0; first < ready.size(); first += each) {
        std::iota(order.begin(), order.end(), first);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ready[a] < ready[b]; });
        double free = 0;
        for (const std::size_t j : order) free = out[j] = std::max(ready[j], free) + cost;
    }
    return out;
}

// The plan of one phase. `ready`: user_partitions() times in ns after the start, unused if the phase does not compute.
inline Plan plan(const Settings& s, const Phase& phase, const std::vector<double>& ready, Count iteration)
{
    Plan out;
    const Count messages = s.bulk() || phase.whole ? 1 : s.transport;
    const auto list = [&](const std::vector<Peer>& peers, Count first, Count last) {
        std::vector<Message> all;
        for (Count m = first; m < last; ++m)
            for (const Peer& peer : peers)
                all.push_back({peer.rank, tag_of(peer, m, s.transport, iteration), share(peer.bytes, m, messages)});
        return all;
    };
    out.receives = list(phase.from, 0, messages);
    if (s.approach == "many" && !phase.whole) out.meet = s.barrier_ns;
    if (!phase.computes) {
        if (!phase.to.empty()) out.steps.push_back({0, list(phase.to, 0, messages)});
        return out;
    }
    const std::vector<double> times = marked(ready, s.threads, s.approach == "partitioned" ? s.pready_ns : 0);
    out.ready = *std::max_element(ready.begin(), ready.end());
    out.join = *std::max_element(times.begin(), times.end()) + s.barrier_ns;
    if (phase.to.empty()) return out;
    if (s.bulk() || phase.whole) {
        out.steps.push_back({out.join, list(phase.to, 0, 1)});
        return out;
    }
    const std::size_t bin = times.size() / messages;
    for (Count m = 0; m < messages; ++m) {
        const auto first = times.begin() + static_cast<std::ptrdiff_t>(m * bin);
        out.steps.push_back({*std::max_element(first, first + static_cast<std::ptrdiff_t>(bin)), list(phase.to, m, m + 1)});
    }
    std::stable_sort(out.steps.begin(), out.steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
    return out;
}

// Ready times without a file: all after `compute_ns`, the last one `laggard_ns` later.
inline std::vector<double> built_in(const Settings& s)
{
    std::vector<double> ready(s.user_partitions(), s.compute_ns);
    ready.back() += s.laggard_ns;
    return ready;
}

}  // namespace pready
