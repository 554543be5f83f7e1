"""Ranks of a workload that are simulated: all, or a part that stands for them; and the memory that their plans need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError
from pready.model.common.memory import refuse_beyond
from pready.model.engine.messages import owners
from pready.model.engine.pattern import Pattern, as_grid, pattern
from pready.model.timeline.costs import SHARING
from pready.model.workload import supported_by
from pready.model.workload.arrivals import NoArrivals
from pready.model.workload.edges import HALOS, PATTERNS
from pready.model.workload.sizes import Sizes
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
    blocks: int = 1
    """How often a rank computes and sends on per octant of a sweep (KBA)."""
    sizes: Sizes | None = None
    """Bytes of a halo by direction. Absent: the workload's buffer for all."""
    neighbours: Sequence[Iterable[int]] | None = None
    """For each rank the ranks that it sends to, with pattern "neighbours"."""
    neighbour_sizes: Sequence[Sequence[float]] | None = None
    """Bytes for each of them. Absent: the workload's buffer for all."""
    ranks_per_node: int | None = None
    """Ranks that share an adapter, and reach each other by the machine's intra-node path. Absent: one."""
    node_grid: Sequence[int] | None = None
    """Ranks of a node along x, y, z. Absent: so many in a row, x first."""
    thread_grid: tuple[int, int, int] | None = None
    """How a rank's threads are arranged along x, y, z, so that a halo's face consists of the partitions of the
    threads that touch it (temucin2022 3.2). Absent: every thread has a part of every buffer."""
    radix: int | None = None
    """Radix of a broadcast's k-nomial tree. Absent: 2."""

    def pattern(self, workload: Workload) -> Pattern:
        """Who talks to whom.

        Raises
        ------
        PreadyError
            A grid, blocks, sizes or lists that do not match the workload's pattern.
        """
        if self.blocks < 1:
            raise PreadyError(f"blocks = {self.blocks}", valid="at least 1")
        if self.sizes is not None:
            if workload.pattern not in HALOS:
                valid = " or ".join(map(repr, HALOS))
                raise PreadyError(f"sizes by direction with pattern = {workload.pattern!r}", valid=valid)
            for size in (*self.sizes.faces, *self.sizes.edges, self.sizes.corner):
                if not size > 0:
                    raise PreadyError(f"a size of {size:g} B for a neighbour", valid="greater than 0")
        return pattern(
            workload.pattern,
            self.grid,
            periodic=self.periodic,
            sizes=self.sizes,
            neighbours=self.neighbours,
            neighbour_sizes=self.neighbour_sizes,
            ranks_per_node=self.ranks_per_node,
            node_grid=self.node_grid,
            radix=self.radix,
        )

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
        cut = of_a_step(self.workload.model_copy(update={"ranks_per_node": ranks}), some=True)
        names = "grid", "periodic", "ranks_per_node", "node_grid"
        made = [
            replace(own, **{n: getattr(of, n) for n in names}) for own, of in zip(self.layouts, cut, strict=True) if own
        ]
        return replace(self, layouts=tuple(made))

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
        made, cut = self.parts[number].at_buffer(size), self.layouts[number]
        if cut is not None:
            cut = replace(cut, sizes=made.sizes, neighbour_sizes=made.neighbour_sizes)
        parts = *self.parts[:number], made, *self.parts[number + 1 :]
        layouts = *self.layouts[:number], cut, *self.layouts[number + 1 :]
        return Step(made if len(parts) == 1 else self.workload, parts, layouts)


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
