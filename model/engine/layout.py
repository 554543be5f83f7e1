"""Which ranks of a workload are simulated: all of them, or a part that stands for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from pready.model import abilities
from pready.model.engine.pattern import Pattern, pattern
from pready.model.errors import PreadyError
from pready.model.workload import HALOS, Workload

DEFAULT_GRID = {"halo3d": (8, 8, 8), "halo3d26": (8, 8, 8), "sweep3d": (8, 8), "pt2pt": (2,)}
"""Ranks where a workload does not say."""
PART = {"halo3d": 4, "halo3d26": 4, "sweep3d": 8}
"""At most so many ranks along an axis stand for the others."""

MOST_LISTED = 1024
"""Listed ranks that a prediction simulates: a list has no part that stands for it."""


@dataclass(frozen=True)
class Layout:
    """Arguments of `simulate` that a workload's fields decide."""

    grid: tuple[int, ...]
    periodic: tuple[bool, bool, bool]
    blocks: int
    sizes: tuple[float, float, float] | None
    neighbours: Sequence[Sequence[int]] | None
    thread_grid: tuple[int, int, int] | None

    @property
    def options(self) -> dict[str, Any]:
        """By name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def pattern(self, workload: Workload) -> Pattern:
        """Who talks to whom."""
        return pattern(
            workload.pattern,
            self.grid,
            periodic=self.periodic,
            own_sizes=self.sizes is not None,
            neighbours=self.neighbours,
        )


def layout(workload: Workload) -> Layout:
    """All ranks of a workload.

    Raises
    ------
    PreadyError
        Pattern "neighbours" with a count, but no list.
    """
    lists = workload.neighbour_lists
    if workload.pattern == "neighbours" and lists is None:
        raise PreadyError("pattern = 'neighbours' without a neighbour list", valid="a neighbour_list")
    grid = workload.grid or (DEFAULT_GRID[workload.pattern] if lists is None else (len(lists),))
    sizes = None
    if workload.edge is not None or workload.corner is not None:
        face = workload.buffer
        sizes = (face, workload.edge or face, workload.corner or face)
    wraps = workload.boundaries == "periodic"
    return Layout(grid, (wraps, wraps, wraps), workload.blocks, sizes, lists, workload.thread_grid)


def part(workload: Workload) -> Layout:
    """As `layout`, axes cut to `PART` ranks; an axis that is cut wraps around, as it does far from its ends."""
    whole, most = layout(workload), PART.get(workload.pattern)
    if most is None:
        return whole
    x, y, z = (*whole.grid, 1, 1)[:3]
    periodic = whole.periodic
    if workload.pattern in HALOS:
        a, b, c = (p or n > most for p, n in zip(periodic, (x, y, z), strict=True))
        periodic = a, b, c
    grid = tuple(min(n, most) for n in (x, y, z))
    return Layout(grid, periodic, whole.blocks, whole.sizes, whole.neighbours, whole.thread_grid)


def cut(workload: Workload) -> str | None:
    """What to say where a part of the ranks answers only roughly for all of them."""
    whole, some = layout(workload).grid, part(workload).grid
    if workload.pattern != "sweep3d" or math.prod(whole) == math.prod(some):
        return None
    of, simulated = (" × ".join(str(n) for n in g if n > 1) for g in (whole, some))
    return (
        f"of {of} ranks {simulated} were simulated; a longer sweep fills and drains longer (pready simulate takes all)"
    )


def unable(workload: Workload) -> str | None:
    """Why a prediction cannot simulate a workload's ranks, or None if it can."""
    needs = abilities.beyond(workload, "engine")
    if needs is not None:
        return f"the engine does not simulate {needs}"
    if workload.pattern != "neighbours":
        return None
    if workload.neighbour_lists is None:
        return "pattern 'neighbours' has no neighbour_list"
    if len(workload.neighbour_lists) > MOST_LISTED:
        return f"the neighbour list has more than {MOST_LISTED} ranks"
    return None
