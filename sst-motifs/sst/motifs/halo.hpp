// Halo exchanges: 6 peers of a 3-D grid, or 26. Plain C++, no SST.

#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "process_grid.hpp"

namespace pready {

// Bytes for the neighbour at a step of -1, 0 or 1 along each axis.
inline Count bytes_towards(const Settings& s, const Extents& step)
{
    const auto or_else = [](Count size, Count other) { return size ? size : other; };
    const Count edge = or_else(s.edge_bytes, s.bytes);
    const Count faces[3] = {s.bytes, or_else(s.face_y_bytes, s.bytes), or_else(s.face_z_bytes, s.bytes)};
    const Count edges[3] = {edge, or_else(s.edge_y_bytes, edge), or_else(s.edge_z_bytes, edge)};
    int axes = 0;
    std::size_t across = 0, along = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        axes += step[axis] != 0;
        (step[axis] ? across : along) = axis;
    }
    return axes == 1 ? faces[across] : axes == 2 ? edges[along] : or_else(s.corner_bytes, s.bytes);
}

// One exchange with all neighbours of a 3-D grid: 6 of them, or 26 with `corners`. Along an axis with a single rank there
// are none, whether it wraps around or not: neither a face, nor an edge or a corner beyond it.
inline std::vector<Phase> halo(const Settings& s, std::int32_t rank, std::int32_t ranks, bool corners)
{
    const Extents grid = process_grid(s, ranks, 3), here = place(rank, grid);
    Phase phase;
    for (std::uint32_t direction = 0; direction < 27; ++direction) {
        const Extents step{direction % 3 - 1LL, direction / 3 % 3 - 1LL, direction / 9 - 1LL};
        const int axes = (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
        if (axes == 0 || (axes > 1 && !corners)) continue;
        Extents there{};
        bool inside = true;
        for (std::size_t d = 0; d < 3; ++d) {
            there[d] = here[d] + step[d];
            inside = inside && (step[d] == 0 || grid[d] > 1);
            if (s.periodic)
                there[d] = (there[d] + grid[d]) % grid[d];
            else
                inside = inside && there[d] >= 0 && there[d] < grid[d];
        }
        if (!inside) continue;
        const Count size = bytes_towards(s, step);
        const std::int32_t peer = rank_at(there, grid);
        phase.to.push_back({peer, direction, size});
        // What comes from there was sent in the opposite direction.
        phase.from.push_back({peer, 26 - direction, size});
    }
    return {phase};
}

inline std::vector<Phase> halo3d(const Settings& s, std::int32_t rank, std::int32_t ranks)
{
    return halo(s, rank, ranks, false);
}

inline std::vector<Phase> halo3d26(const Settings& s, std::int32_t rank, std::int32_t ranks)
{
    return halo(s, rank, ranks, true);
}

}  // namespace pready
