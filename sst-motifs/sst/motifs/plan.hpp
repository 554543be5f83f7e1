// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// What a rank does in one phase of an iteration: receives it posts, until when it computes, what it sends to whom.
//
// Plain C++: no SST, no simulated time but the ready times that are handed in. The rules are those of the
// model (steps 1 and 2 of model/engine/kernel/recurrence.hpp):
//
//   * a transport partition is ready when the last of its contiguous user partitions is, and then goes to
//     every peer, one message after the other;
//   * bulk sends one message per peer when the threads have met: `barrier_ns` after the last partition;
//   * the rank enters MPI to wait when its threads have met;
//   * where each thread completes messages of its own (many), they meet again at the end.

#pragma once

#include <algorithm>
#include <cstdint>
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

// Bytes of message `index` of `count` of one buffer, off from its part by less than one; they add up to the buffer.
inline std::uint32_t share(Count bytes, Count index, Count count)
{
    return static_cast<std::uint32_t>(bytes * (index + 1) / count - bytes * index / count);
}

// Two iterations can be under way between two ranks, so that tags alternate.
inline std::uint32_t tag_of(const Peer& peer, Count message, Count messages, Count iteration)
{
    return static_cast<std::uint32_t>((peer.direction * 2 + iteration % 2) * messages + message);
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
    out.ready = *std::max_element(ready.begin(), ready.end());
    out.join = out.ready + s.barrier_ns;
    if (phase.to.empty()) return out;
    if (s.bulk() || phase.whole) {
        out.steps.push_back({out.join, list(phase.to, 0, 1)});
        return out;
    }
    const std::size_t bin = ready.size() / messages;
    for (Count m = 0; m < messages; ++m) {
        const auto first = ready.begin() + static_cast<std::ptrdiff_t>(m * bin);
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
