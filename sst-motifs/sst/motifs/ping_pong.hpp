// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// Ping-pong: ranks 2k and 2k + 1 are pairs. Plain C++, no SST.

#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace pready {

// Ranks (2k, 2k + 1) are pairs; a last rank without partner does nothing.
inline std::vector<Phase> pingpong(const Settings& s, std::int32_t rank, std::int32_t ranks)
{
    const std::int32_t other = rank ^ 1;
    if (other >= ranks) return {};
    const bool sender = rank % 2 == 0;
    const Peer ping{other, 0, s.bytes};
    const Peer pong{other, 1, s.pong ? s.bytes : 1};
    Phase first, second;
    const bool both = s.receiver == "computing";
    (sender ? first.to : first.from) = {ping};
    (sender ? second.from : second.to) = {pong};
    first.computes = sender || both;
    second.computes = s.pong && (!sender || both);
    second.whole = !s.pong;
    return {first, second};
}

}  // namespace pready
