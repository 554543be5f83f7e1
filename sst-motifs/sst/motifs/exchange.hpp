// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// Who exchanges with whom, from a text file of edges. Plain C++, no SST.
//
// A line for each: phase, sender, receiver, bytes, tag. Phases count from 0; tags differ between two ranks in a phase. A
// rank sends in the order of the lines. Lines that begin with # are comments.

#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan.hpp"

namespace pready {

struct Edge {
    Count phase, sender, receiver, bytes, tag;
};

class Edges {
   public:
    // Those of a file, which is read once in a process: all ranks ask for it.
    static std::shared_ptr<const Edges> of(const std::string& path, std::int32_t ranks)
    {
        static std::mutex lock;
        static std::map<std::string, std::shared_ptr<const Edges>> known;
        const std::lock_guard<std::mutex> held(lock);
        auto& found = known[std::to_string(ranks) + " " + path];
        if (!found) found = std::make_shared<const Edges>(path, static_cast<Count>(ranks));
        return found;
    }

    Edges(const std::string& path, Count ranks) : sent(ranks), received(ranks)
    {
        std::ifstream file(path);
        if (!file) throw std::invalid_argument("edges = " + path + ": cannot be read");
        std::string text;
        for (Count number = 1; std::getline(file, text); ++number) {
            std::istringstream words(text);
            if ((words >> std::ws).eof() || words.peek() == '#') continue;
            Edge e{};
            words >> e.phase >> e.sender >> e.receiver >> e.bytes >> e.tag;
            if (!words || !(words >> std::ws).eof() || e.sender >= ranks || e.receiver >= ranks || e.sender == e.receiver ||
                e.bytes < 1 || e.bytes >> 31 || e.phase > 1'000'000 || e.tag > 1'000'000)
                throw std::invalid_argument(path + ": line " + std::to_string(number) + " is no edge; valid: phase, two of " +
                    std::to_string(ranks) + " ranks, bytes below 2 GiB, tag");
            phases = std::max(phases, e.phase + 1);
            tags = std::max(tags, e.tag + 1);
            sent[e.sender].push_back(e);
            received[e.receiver].push_back(e);
        }
        if (phases == 0) throw std::invalid_argument(path + ": no edges; valid: at least one");
    }

    Count phases = 0, tags = 0;                     // one more than the largest
    std::vector<std::vector<Edge>> sent, received;  // by rank
};

// An iteration's phases: those of the file, or as many as `phases`, which have these in turn, each equally often.
inline std::vector<Phase> exchange(const Settings& s, std::int32_t rank, std::int32_t ranks)
{
    const auto edges = Edges::of(s.edges, ranks);
    const auto here = static_cast<std::size_t>(rank);
    std::vector<Phase> out(s.phases ? s.phases : edges->phases);
    for (Count number = 0; number < out.size(); ++number) {
        Phase& phase = out[number];
        phase.receives_first = s.receives_first;
        phase.draw = number;
        phase.draws = out.size();
        const auto list = [&](const std::vector<Edge>& some, Count Edge::*peer) {
            std::vector<Peer> peers;
            for (const Edge& e : some)
                if (e.phase == number * edges->phases / out.size())
                    peers.push_back({static_cast<std::int32_t>(e.*peer),
                        static_cast<std::uint32_t>(number * edges->tags + e.tag), e.bytes});
            return peers;
        };
        phase.from = list(edges->received[here], &Edge::sender);
        phase.to = list(edges->sent[here], &Edge::receiver);
    }
    return out;
}

}  // namespace pready
