// Wavefront sweeps over a 2-D grid. Plain C++, no SST.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "plan.hpp"
#include "process_grid.hpp"

namespace pready {

// Whereto an octant's sweep goes along x and y: from one corner after the other, as the engine has them, and from each in
// both directions of z if there are that many.
inline const std::int32_t* towards(const Settings& s, std::uint32_t octant)
{
    static constexpr std::int32_t kTowards[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    return kTowards[s.octants > 4 ? octant / 2 : octant];
}

// A wavefront over a 2-D grid (KBA): per octant and block of planes, receive from upstream in x and y, compute, send on.
inline std::vector<Phase> sweep(const Settings& s, std::int32_t rank, std::int32_t ranks)
{
    const Extents grid = process_grid(s, ranks, 2), here = place(rank, grid);
    if (s.consumers) throw std::invalid_argument("consumers in a sweep; valid: 0, its ranks compute on what they receive");
    std::vector<Phase> phases;
    for (std::uint32_t octant = 0; octant < s.octants; ++octant) {
        for (Count block = 0; block < s.blocks; ++block) {
            Phase phase;
            phase.receives_first = true;
            phase.draw = phases.size();
            phase.draws = s.octants * s.blocks;
            for (std::uint32_t axis = 0; axis < 2; ++axis) {
                const std::int32_t step = towards(s, octant)[axis];
                Extents up = here, down = here;
                up[axis] -= step;
                down[axis] += step;
                const std::uint32_t direction = static_cast<std::uint32_t>(phases.size()) * 2 + axis;
                if (up[axis] >= 0 && up[axis] < grid[axis]) phase.from.push_back({rank_at(up, grid), direction, s.bytes});
                if (down[axis] >= 0 && down[axis] < grid[axis]) phase.to.push_back({rank_at(down, grid), direction, s.bytes});
            }
            phases.push_back(phase);
        }
    }
    return phases;
}

}  // namespace pready
