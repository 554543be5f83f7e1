// Who talks to whom: ping-pong pairs, 7- and 27-point halos, wavefront sweeps. Plain C++, no SST.

#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan.hpp"

namespace pready {

using Extents = std::array<std::int64_t, 3>;

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

// Extents of a process grid: those given, or the split of `ranks` into `dims` factors with the least surface.
inline Extents process_grid(const Settings& s, std::int64_t ranks, int dims)
{
    const auto given = [](Count n) { return static_cast<std::int64_t>(n); };
    if (s.px || s.py || (dims == 3 && s.pz)) {
        const Extents grid{given(s.px), given(s.py), dims == 3 ? given(s.pz) : 1};
        if (grid[0] * grid[1] * grid[2] != ranks)
            throw std::invalid_argument("px x py x pz = " + std::to_string(grid[0]) + " x " + std::to_string(grid[1]) + " x " +
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
