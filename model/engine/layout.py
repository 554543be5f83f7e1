"""Ranks of a workload that are simulated: all, or a part that stands for them; and the memory that their plans need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError, shown
from pready.model.common.memory import refuse_beyond
from pready.model.engine.messages import owners
from pready.model.engine.pattern import MOST_RANKS, Pattern, as_grid, check_memory, pattern
from pready.model.timeline.costs import SHARING
from pready.model.workload import supported_by
from pready.model.workload.arrivals import NoArrivals
from pready.model.workload.edges import PATTERNS, RADIX, Ranks
from pready.model.workload.workload import Workload

HELD = 40
"""Bytes that a plan holds for each user partition; of 20 to 190 plans of 8192 and 65536 partitions, 28 to 34."""
HELD_ON_A_GRID = 110
"""Bytes of a plan for each partition at a side of a grid of threads, whose messages are listed one by one: 105."""
SIMULATED = 64
"""Bytes of a simulation for each partition, rank and direction: 40 to 55 of halos of 8 and 64 ranks."""

MOST_LISTED = 1024
"""Listed ranks that a prediction simulates: a list has no part that stands for it."""


@dataclass(frozen=True)
class Layout:
    """The ranks of an exchange: how many, and where; of a workload, what its fields say (`layout`)."""

    grid: Sequence[int]
    """Ranks along x, y, z. A sweep takes x, y; pairs and neighbour lists take the product."""
    periodic: bool | Sequence[bool] = True
    """Do halos wrap around, for all axes or for each?"""
    ranks_per_node: int | None = None
    """Ranks that share an adapter, and reach each other by the machine's intra-node path. Absent: one."""
    node_grid: Sequence[int] | None = None
    """Ranks of a node along x, y, z. Absent: so many in a row, x first."""

    def node(self, grid: Sequence[int]) -> tuple[int, ...] | None:
        """Ranks of a node along x, y, z of a grid; None if they are no box."""
        return (*self.node_grid, 1, 1)[:3] if self.node_grid else as_grid(grid, self.ranks_per_node or 1)

    def pattern(self, workload: Workload) -> Pattern:
        """Who talks to whom.

        Raises
        ------
        PreadyError
            A grid that does not match the workload's pattern.
        """
        numbers = list(self.grid)
        if not 1 <= len(numbers) <= 3 or not all(isinstance(n, int) and n >= 1 for n in numbers):
            raise PreadyError(f"grid = {shown(numbers)}", valid="one to three integers of at least 1")
        count = math.prod(numbers)
        if not 2 <= count <= MOST_RANKS:
            raise PreadyError(f"grid = {numbers} has {count} ranks", valid=f"2 to {MOST_RANKS} ranks")
        wraps = (self.periodic,) * 3 if isinstance(self.periodic, bool) else tuple(self.periodic)
        if len(wraps) != 3:
            raise PreadyError(f"periodic = {shown(list(wraps))}", valid="one value or one per axis")
        check_memory(24 * max(2, len(PATTERNS[workload.pattern].stencil)) * count, count)
        x, y, z = (*numbers, 1, 1)[:3]
        return pattern(
            workload.pattern,
            Ranks((x, y, z), wraps, workload.neighbour_lists, workload.radix or RADIX),
            workload.sizes,
            workload.neighbour_sizes,
            self.ranks_per_node,
            None if self.node_grid is None else tuple(self.node_grid),
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
    grid = workload.grid or (PATTERNS[workload.pattern].grid if lists is None else (len(lists),))
    return Layout(grid, workload.boundaries == "periodic", workload.ranks_of_a_node, workload.node_grid)


def of_a_step(workload: Workload, *, some: bool = False) -> list[Layout]:
    """All ranks of each exchange of a step, or of `some` the part that stands for them, the same of all.

    Axes are cut to what is `enough`, with pairs in the step to an even number, and wrap around where they are cut, as
    they do far from their ends. Nodes stay whole, and there are at least two along an axis that is cut.

    Raises
    ------
    PreadyError
        Exchanges of different numbers of ranks.
    """
    parts = workload.parts
    wholes = [layout(w) for w in parts]
    given = [w.grid for w, p in zip(wholes, parts, strict=True) if p.grid or p.pattern == "neighbours"]
    grid = given[0] if given else max((w.grid for w in wholes), key=math.prod)
    for number, (of, one) in enumerate(zip(wholes, parts, strict=True)):
        count = math.prod(of.grid)
        if count != math.prod(grid) and (one.grid or one.pattern == "neighbours"):
            raise PreadyError(
                f"exchanges[{number}] has {count} ranks, others {math.prod(grid)}", valid="a grid, and lists of as many"
            )
        if one.pattern == "pt2pt" and math.prod(grid) % 2:
            raise PreadyError(
                f"exchanges[{number}] has pairs, others {math.prod(grid)} ranks", valid="an even number of ranks"
            )
    wholes = [replace(w, grid=grid) for w in wholes]
    along = next((most for p in parts if (most := PATTERNS[p.pattern].enough) is not None), None)
    size, by = (*grid, 1, 1)[:3], wholes[0].node((*grid, 1, 1)[:3])
    if not some or along is None or by is None or any(p.pattern == "neighbours" for p in parts):
        return wholes  # a list has no part that stands for it
    along += along % 2 and any(p.pattern == "pt2pt" for p in parts)
    less = tuple(min(n, max(2, -(-along // b)) * b) for n, b in zip(size, by, strict=True))
    cut, node = [n > m for n, m in zip(size, less, strict=True)], None if by == (1, 1, 1) else by
    wraps = [tuple(w.boundaries == "periodic" or shorter for shorter in cut) for w in parts]
    return [replace(w, grid=less, periodic=p, node_grid=node) for w, p in zip(wholes, wraps, strict=True)]


@dataclass(frozen=True)
class Step:
    """The exchanges of a step in order, each on its ranks."""

    workload: Workload
    """The whole step, with all exchanges."""
    parts: tuple[Workload, ...]
    layouts: tuple[Layout | None, ...]
    """None: exchanges from rest."""

    @classmethod
    def on_all_ranks(cls, workload: Workload) -> Step:
        """Every rank that the workload has."""
        return cls(workload, workload.parts, tuple(of_a_step(workload)))

    @classmethod
    def of_a_part(cls, workload: Workload) -> Step:
        """On the ranks that stand for the workload's, iteration after iteration: a late neighbour delays its own
        neighbours an iteration later.

        Axes of halos are cut to 3 ranks: of the shipped halo3d example, 50 iterations give η = 8.30 on 3 × 3 × 3 ranks,
        8.10 on 4 × 4 × 4 (2 % between seeds), 7.90 on 8 × 8 × 8 (1 %), 7.77 on 16 × 16 × 16 (0.6 %), and an iteration
        -10.0 % on each; the parameters' interval is 7.5-8.9. Axes of sweeps are cut to 8: with 4 blocks and 1 MiB, η is
        1.35 on 8 × 8 ranks, 1.30 on 16 × 8 and 1.31 on 16 × 16, iterations -17, -16 and -18 %.
        """
        supported_by.check(workload, "engine")
        return cls(workload, workload.parts, tuple(of_a_step(workload, some=True)))

    @classmethod
    def from_rest(cls, workload: Workload) -> Step:
        """Each exchange by itself, of a rank with peers that are in step."""
        supported_by.check(workload, "timeline")
        return cls(workload, workload.parts, (None,) * len(workload.parts))

    @classmethod
    def of(cls, workload: Workload) -> Step:
        """Pairs from rest, other patterns on the ranks that stand for theirs."""
        return cls.from_rest(workload) if workload.pattern == "pt2pt" else cls.of_a_part(workload)

    @property
    def rest(self) -> bool:
        """Is each exchange from rest?"""
        return self.layouts[0] is None

    def sharing(self) -> int:
        """How many ranks of a node are drawn where the workload says nothing of nodes: at most `SHARING`, which fill
        two nodes or more; 1: none that can be simulated."""
        if any(w.ranks_per_node or w.node_grid or w.path == "intra" for w in self.parts):
            return 1
        if supported_by.beyond(self.workload.model_copy(update={"ranks_per_node": SHARING}), "engine") is not None:
            return 1
        if self.rest:
            return SHARING
        ranks = math.prod(of_a_step(self.workload)[0].grid)
        able = [n for n in range(SHARING, 1, -1) if ranks % n == 0 and ranks > n]
        return able[0] if able and all(w.pattern != "pt2pt" for w in self.parts) else 1

    def on_nodes(self, ranks: int) -> Step:
        """With so many ranks on each node; from rest, as many exchanges side by side share one."""
        if self.rest:
            return self
        there = self.workload.model_copy(update={"ranks_per_node": ranks})
        return replace(self, layouts=tuple(of_a_step(there, some=True)))

    @property
    def today(self) -> tuple[Approach, ...]:
        """The way in which the application sends now."""
        return tuple(w.baseline for w in self.parts)

    def way(self, approach: Approach, number: int = 0) -> tuple[Approach, ...]:
        """One exchange in an approach, the others as they are sent now."""
        now = self.today
        return (*now[:number], approach, *now[number + 1 :])

    def calm(self) -> Step:
        """Without spread of arrivals."""
        calm = {"arrivals": NoArrivals()}
        return replace(self, parts=tuple(w.model_copy(update=calm) for w in self.parts))

    def at_buffer(self, size: float, number: int = 0) -> Step:
        """With another buffer of one exchange, in bytes per peer."""
        made = self.parts[number].at_buffer(size)
        parts = *self.parts[:number], made, *self.parts[number + 1 :]
        return Step(made if len(parts) == 1 else self.workload, parts, self.layouts)


def cut(workload: Workload) -> str | None:
    """What to say where a part of the ranks answers only roughly for all of them."""
    whole, some = (of_a_step(workload, some=less)[0].grid for less in (False, True))
    if workload.pattern != "sweep3d" or math.prod(whole) == math.prod(some):
        return None
    of, simulated = (" × ".join(str(n) for n in g if n > 1) for g in (whole, some))
    return (
        f"of {of} ranks {simulated} were simulated; a longer sweep fills and drains longer (pready simulate takes all)"
    )


def unable(workload: Workload) -> str | None:
    """Why a prediction cannot simulate the ranks of a workload that the engine can, or None if it can."""
    for lists in (p.neighbour_lists for p in workload.parts if p.pattern == "neighbours"):
        if lists is None:
            return "pattern 'neighbours' has no neighbour_list"
        if len(lists) > MOST_LISTED:
            return f"the neighbour list has more than {MOST_LISTED} ranks"
    return None


def check_memory_of(workload: Workload, pattern: Pattern, approaches: int, at_once: int) -> None:
    """Refuse to compare so many approaches where memory has no room for their plans and `at_once` simulations.

    Raises
    ------
    PreadyError
        They need more than is available; it names threads and partitions.
    """
    n, grid = workload.n_partitions, workload.blocks_of_threads
    held = HELD * n
    if grid is not None:
        sides = sum(len(owners(grid, step)) for step in pattern.steps)
        held = HELD_ON_A_GRID * sides * workload.partitions_per_thread
    simulated = min(at_once, approaches) * SIMULATED * n * pattern.ranks * pattern.directions
    fields = f"threads × partitions_per_thread = {workload.threads} × {workload.partitions_per_thread}"
    what = f"{fields}: comparing {approaches} approaches on {pattern.ranks} ranks"
    refuse_beyond(approaches * held + simulated, what, "fewer partitions, or a few transport_partitions")
