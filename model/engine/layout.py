"""Ranks of a workload that are simulated: all, or a part that stands for them; and the memory that their plans need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pready.model.common.errors import PreadyError
from pready.model.common.memory import refuse_beyond
from pready.model.engine.messages import owners
from pready.model.engine.pattern import Pattern, as_grid, pattern
from pready.model.workload.edges import PATTERNS
from pready.model.workload.sizes import Sizes
from pready.model.workload.workload import Workload

HELD = 40
"""Bytes that a plan holds for each user partition; of 20 to 190 plans of 8192 and 65536 partitions, 28 to 34."""
HELD_ON_A_GRID = 110
"""The same for each partition at a side of a grid of threads, whose messages are listed one by one: 100 to 105."""
SIMULATED = 64
"""Bytes of a simulation for each partition, rank and direction: 40 to 55 of halos of 8 and 64 ranks."""

MOST_LISTED = 1024
"""Listed ranks that a prediction simulates: a list has no part that stands for it."""


@dataclass(frozen=True)
class Layout:
    """Arguments of `simulate` on ranks, which a workload's fields decide."""

    grid: Sequence[int]
    periodic: bool | Sequence[bool] = True
    blocks: int = 1
    sizes: Sizes | None = None
    neighbours: Sequence[Iterable[int]] | None = None
    neighbour_sizes: Sequence[Sequence[float]] | None = None
    ranks_per_node: int | None = None
    node_grid: Sequence[int] | None = None
    thread_grid: tuple[int, int, int] | None = None
    radix: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """By name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def pattern(self, workload: Workload) -> Pattern:
        """Who talks to whom."""
        of_ranks = {name: value for name, value in self.options.items() if name not in ("blocks", "thread_grid")}
        return pattern(workload.pattern, **of_ranks)

    def buffers(self, workload: Workload, of: Pattern) -> tuple[float, ...]:
        """Bytes for a neighbour by class of a pattern with these classes."""
        return of.buffers(workload.buffer, self.sizes, self.neighbour_sizes)


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
    grid = workload.grid or (PATTERNS[workload.pattern].grid if lists is None else (len(lists),))
    return Layout(
        grid=grid,
        periodic=workload.boundaries == "periodic",
        blocks=workload.blocks,
        sizes=workload.sizes,
        neighbours=lists,
        neighbour_sizes=workload.neighbour_sizes,
        ranks_per_node=workload.ranks_of_a_node,
        node_grid=workload.node_grid,
        thread_grid=workload.thread_grid,
        radix=workload.radix,
    )


def part(workload: Workload, *, even: bool = False) -> Layout:
    """As `layout`, axes cut to what is `enough`; one that is cut wraps around, as it does far from its ends.

    With pairs in the same step (`even`), one rank more of an odd number.

    Nodes stay whole, and there are at least two along an axis that is cut.
    """
    whole, along = layout(workload), PATTERNS[workload.pattern].enough
    if along is None:
        return whole
    along += even and along % 2
    size = (*whole.grid, 1, 1)[:3]
    by: tuple[int, ...] = (1, 1, 1)
    if whole.ranks_per_node is not None:
        of_a_node = (*whole.node_grid, 1, 1)[:3] if whole.node_grid else as_grid(size, whole.ranks_per_node)
        if of_a_node is None:
            return whole
        by = of_a_node
    x, y, z = (min(n, max(2, -(-along // b)) * b) for n, b in zip(size, by, strict=True))
    all_wrap = workload.boundaries == "periodic"
    wraps = tuple(all_wrap or n > less for n, less in zip(size, (x, y, z), strict=True))
    return replace(whole, grid=(x, y, z), periodic=wraps, node_grid=None if by == (1, 1, 1) else by)


def of_a_step(workload: Workload, *, some: bool = False) -> list[Layout]:
    """All ranks of each exchange of a step, or of some the part that stands for them, the same of all.

    Raises
    ------
    PreadyError
        Exchanges of different numbers of ranks.
    """
    parts = workload.parts
    wholes = [layout(w) for w in parts]
    counts = [math.prod(w.grid) for w in wholes]
    given = [w.grid for w, p in zip(wholes, parts, strict=True) if p.grid or p.pattern == "neighbours"]
    grid = given[0] if given else max((w.grid for w in wholes), key=math.prod)
    for number, (count, part_) in enumerate(zip(counts, parts, strict=True)):
        if count != math.prod(grid) and (part_.grid or part_.pattern == "neighbours"):
            raise PreadyError(
                f"exchanges[{number}] has {count} ranks, others {math.prod(grid)}", valid="a grid, and lists of as many"
            )
        if part_.pattern == "pt2pt" and math.prod(grid) % 2:
            raise PreadyError(
                f"exchanges[{number}] has pairs, others {math.prod(grid)} ranks", valid="an even number of ranks"
            )
    wholes = [replace(w, grid=grid) for w in wholes]
    if not some or any(p.pattern == "neighbours" for p in parts):
        return wholes  # a list has no part that stands for it
    first = next((p for p in parts if PATTERNS[p.pattern].enough is not None), None)
    if first is None:
        return wholes
    less = part(first.model_copy(update={"grid": grid}), even=any(p.pattern == "pt2pt" for p in parts))
    shorter = [a != b for a, b in zip((*grid, 1, 1), less.grid, strict=False)]
    wraps = [tuple(p.boundaries == "periodic" or short for short in shorter) for p in parts]
    return [
        replace(w, grid=less.grid, periodic=p, node_grid=less.node_grid) for w, p in zip(wholes, wraps, strict=True)
    ]


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
    """Why a prediction cannot simulate the ranks of a workload that the engine can, or None if it can."""
    for part_ in workload.parts:
        if part_.pattern != "neighbours":
            continue
        if part_.neighbour_lists is None:
            return "pattern 'neighbours' has no neighbour_list"
        if len(part_.neighbour_lists) > MOST_LISTED:
            return f"the neighbour list has more than {MOST_LISTED} ranks"
    return None


def check_memory_of(workload: Workload, pattern: Pattern, approaches: int, at_once: int) -> None:
    """Refuse to compare so many approaches where memory has no room for their plans and `at_once` simulations.

    Raises
    ------
    PreadyError
        They need more than is available; it names threads and partitions.
    """
    n, grid = workload.n_partitions, workload.thread_grid
    held = HELD * n
    if grid is not None:
        sides = sum(len(owners(grid, step)) for step in pattern.steps)
        held = HELD_ON_A_GRID * sides * workload.partitions_per_thread
    simulated = min(at_once, approaches) * SIMULATED * n * pattern.ranks * pattern.directions
    fields = f"threads × partitions_per_thread = {workload.threads} × {workload.partitions_per_thread}"
    what = f"{fields}: comparing {approaches} approaches on {pattern.ranks} ranks"
    refuse_beyond(approaches * held + simulated, what, "fewer partitions, or a few transport_partitions")
