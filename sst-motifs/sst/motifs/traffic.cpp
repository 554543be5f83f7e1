// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// Background traffic: every rank sends messages to one rank after the other, without end.

#include <cstdint>
#include <queue>

#include "motif.hpp"

namespace pready {

class Traffic : public SST::Ember::EmberMessagePassingGenerator {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(Traffic, "pready", "TrafficMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Messages to a random rank after the other until the other jobs end", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(
        {"arg.bytes", "bytes of each message", "1048576"},
        {"arg.pause_ns", "computing between two messages", "0"},
        {"arg.seed", "of the partners", "0"})

    Traffic(SST::ComponentId_t id, SST::Params& params) : EmberMessagePassingGenerator(id, params, "Traffic")
    {
        try {
            check_arguments(params, "Traffic", ELI_getParams());
            if (const auto text = argument(params, "bytes")) parse("bytes", *text, bytes_);
            if (const auto text = argument(params, "pause_ns")) parse("pause_ns", *text, pause_ns_);
            if (const auto text = argument(params, "seed")) parse("seed", *text, seed_);
            if (bytes_ < 1 || bytes_ >> 31)
                throw std::invalid_argument("bytes = " + std::to_string(bytes_) + "; valid: 1 to 2147483647");
        } catch (const std::exception& error) {
            fatal(CALL_INFO, 1, "pready: error: %s\n", error.what());
        }
    }

    // The simulation does not wait for it.
    bool primary() override { return false; }

    bool generate(std::queue<SST::Ember::EmberEvent*>& events) override
    {
        const auto ranks = static_cast<std::uint64_t>(size()), here = static_cast<std::uint64_t>(rank());
        if (ranks < 2) return true;
        // All ranks send as far along the ring, so that who receives knows from whom.
        const std::uint64_t step = 1 + mixed(seed_ + ++round_) % (ranks - 1);
        const auto other = [&](std::uint64_t by) { return static_cast<std::uint32_t>((here + by) % ranks); };
        const auto tag = static_cast<std::uint32_t>(round_ % 1024);
        enQ_irecv(events, static_cast<SST::Hermes::MP::Addr>(nullptr), static_cast<std::uint32_t>(bytes_),
            SST::Hermes::MP::CHAR, other(ranks - step), tag, SST::Hermes::MP::GroupWorld, &requests_[0]);
        enQ_isend(events, static_cast<SST::Hermes::MP::Addr>(nullptr), static_cast<std::uint32_t>(bytes_),
            SST::Hermes::MP::CHAR, other(step), tag, SST::Hermes::MP::GroupWorld, &requests_[1]);
        enQ_waitall(events, 2, requests_);
        if (pause_ns_ >= 0.5) enQ_compute(events, static_cast<std::uint64_t>(pause_ns_ + 0.5));
        return false;
    }

   private:
    // SplitMix64.
    static std::uint64_t mixed(std::uint64_t x)
    {
        x += 0x9e3779b97f4a7c15U;
        x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
        x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
        return x ^ x >> 31U;
    }

    Count bytes_ = 1048576, seed_ = 0;
    Time pause_ns_ = 0;
    std::uint64_t round_ = 0;
    SST::Hermes::MP::MessageRequest requests_[2] = {};
};

}  // namespace pready
