// Ranks as a grid: its extents, and who is where. Plain C++, no SST.

#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "settings.hpp"

namespace pready {

using Extents = std::array<std::int64_t, 3>;

// Extents of a process grid: those given, or the split of `ranks` into `dims` factors with the least surface.
inline Extents process_grid(const Settings& s, std::int64_t ranks, int dims)
{
    const auto given = [](Count n) { return static_cast<std::int64_t>(n); };
    if (s.pex || s.pey || (dims == 3 && s.pez)) {
        const Extents grid{given(s.pex), given(s.pey), dims == 3 ? given(s.pez) : 1};
        if (grid[0] * grid[1] * grid[2] != ranks)
            throw std::invalid_argument("pex x pey x pez = " + std::to_string(grid[0]) + " x " + std::to_string(grid[1]) + " x " +
                std::to_string(grid[2]) + "; valid: a product of " + std::to_string(ranks) + " ranks");
        return grid;
    }
    Extents best{ranks, 1, 1};
    for (std::int64_t z = 1; z * z * z <= ranks && (dims == 3 || z == 1); ++z) {
        if (ranks % z) continue;
        for (std::int64_t y = z; y * y <= ranks / z; ++y) {
            if (ranks / z % y) continue;
            const std::int64_t x = ranks / z / y;
            if (x + y + z < best[0] + best[1] + best[2]) best = {x, y, z};
        }
    }
    return best;
}

inline Extents place(std::int64_t rank, const Extents& grid)
{
    return {rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]};
}

inline std::int32_t rank_at(const Extents& at, const Extents& grid)
{
    return static_cast<std::int32_t>((at[2] * grid[1] + at[1]) * grid[0] + at[0]);
}

}  // namespace pready
