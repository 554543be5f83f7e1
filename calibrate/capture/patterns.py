"""The pattern of a workload file that describes the messages: a halo on a grid, a sweep, pairs, or lists.

A pattern is recognised only if it explains every rank's peers and bytes exactly; anything else is a list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from pready.model.engine.ranks.pattern import OCTANTS
from pready.model.workload.sizes import FACES, STENCIL_27, Step

Sent = Mapping[int, tuple[int, int]]
"""Bytes and messages by peer."""
Grid = tuple[int, int, int]
Boundaries = Literal["periodic", "open"]
BOUNDARIES: tuple[Boundaries, ...] = ("periodic", "open")
HALOS: tuple[tuple[Literal["halo3d", "halo3d26"], Sequence[Step]], ...] = (("halo3d", FACES), ("halo3d26", STENCIL_27))


@dataclass(frozen=True)
class Recognised:
    """A pattern with its grid and sizes.

    Attributes
    ----------
    name
        As in the workload file.
    messages
        Per neighbour and exchange, all of whose bytes are in the sizes.
    faces, edges
        Bytes for a neighbour along x, y, z, and beyond an edge along x, y, z; 0 where there is none.
    lists
        Of "neighbours": for each rank the ranks that it sends to with bytes.
    """

    name: Literal["pt2pt", "halo3d", "halo3d26", "sweep3d", "neighbours"]
    grid: Grid | None = None
    boundaries: Boundaries = "periodic"
    messages: int = 1
    faces: tuple[int, int, int] = (0, 0, 0)
    edges: tuple[int, int, int] = (0, 0, 0)
    corner: int = 0
    blocks: int = 1
    times: int = 1
    """Iterations of eight octants in a sweep."""
    lists: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def said(self) -> str:
        """The pattern in words."""
        shape = " × ".join(map(str, self.grid)) if self.grid else ""
        match self.name:
            case "halo3d" | "halo3d26":
                stencil = "27-point" if self.name == "halo3d26" else "7-point"
                return f"{stencil} halo on {shape} ranks, {self.boundaries}"
            case "sweep3d":
                return f"sweep on {shape} ranks, {self.blocks} blocks per octant"
            case "pt2pt":
                return "a pair of ranks, both ways"
            case "neighbours":
                ring = all(len(to) == 1 for to in self.lists) and {to[0][0] for to in self.lists} == set(
                    range(len(self.lists))
                )
                return f"{'ring, one way, ' if ring else 'list of neighbours '}of {len(self.lists)} ranks"


def recognise(sent: Sequence[Sent]) -> Recognised:
    """The pattern of one exchange, from the bytes that each rank sends to each peer."""
    ranks = len(sent)
    if ranks == 2 and all(len(s) == 1 for s in sent) and len({s[1 - r][0] for r, s in enumerate(sent)}) == 1:
        size, count = sent[0][1]
        if count == 1:
            return Recognised("pt2pt", faces=(size,) * 3)
    for name, steps in HALOS:
        for grid in grids(ranks):
            for boundaries in BOUNDARIES:
                found = _halo(sent, name, steps, grid, boundaries)
                if found is not None:
                    return found
    return Recognised("neighbours", lists=tuple(tuple((to, b) for to, (b, _) in sorted(s.items())) for s in sent))


def grids(ranks: int) -> Iterator[Grid]:
    """Grids of this many ranks, x first; those with fewer axes come first."""
    divisors = [d for d in range(1, ranks + 1) if ranks % d == 0]
    found = [(x, y, ranks // x // y) for x in divisors for y in divisors if ranks % (x * y) == 0]
    yield from sorted(found, key=lambda g: (sum(n > 1 for n in g), [n == 1 for n in g], -g[0], -g[1]))


def beside(rank: int, step: Step, grid: Grid, boundaries: Boundaries) -> int | None:
    """The neighbour of a rank; None beyond an open boundary, or along an axis of one rank."""
    there, stride, rest = 0, 1, rank
    for by, n in zip(step, grid, strict=True):
        rest, at = divmod(rest, n)
        to = at + by
        if by and (n == 1 or (boundaries == "open" and not 0 <= to < n)):
            return None
        there += stride * (to % n)
        stride *= n
    return there


def _halo(
    sent: Sequence[Sent],
    name: Literal["halo3d", "halo3d26"],
    steps: Sequence[Step],
    grid: Grid,
    boundaries: Boundaries,
) -> Recognised | None:
    """The halo that explains all messages, if any."""
    sizes: dict[tuple[bool, ...], int] = {}
    messages: set[float] = set()
    for rank, mine in enumerate(sent):
        expected: dict[int, list[Step]] = {}
        for step in steps:
            to = beside(rank, step, grid, boundaries)
            if to is not None and to != rank:
                expected.setdefault(to, []).append(step)
        if expected.keys() != mine.keys():
            return None
        for peer, towards in expected.items():
            size, count = mine[peer]
            classes = {tuple(map(bool, step)) for step in towards}
            if len(classes) != 1:
                return None
            messages.add(count / len(towards))
            if sizes.setdefault(classes.pop(), size // len(towards)) * len(towards) != size:
                return None
    if not sizes or len(messages) != 1 or min(messages) < 1 or min(messages) != int(min(messages)):
        return None
    axis = ((True, False, False), (False, True, False), (False, False, True))
    return Recognised(
        name,
        grid,
        boundaries,
        messages=int(min(messages)),
        faces=_three(sizes, axis),
        edges=_three(sizes, tuple(tuple(not b for b in a) for a in axis)),
        corner=sizes.get((True, True, True), 0),
    )


def _three(sizes: Mapping[tuple[bool, ...], int], classes: Sequence[tuple[bool, ...]]) -> tuple[int, int, int]:
    x, y, z = (sizes.get(c, 0) for c in classes)
    return x, y, z


def recognise_sweep(steps: Sequence[Sequence[Sent]]) -> Recognised | None:
    """The sweep over a two-dimensional grid that explains all exchanges; None if there is none.

    In an octant a rank sends on to one side along each axis; each side has half of the eight octants. Exchanges in a
    row to the same side are the blocks of an octant.
    """
    if all(len({frozenset(sent) for sent in exchanges}) < 2 for exchanges in steps):
        return None
    sizes = {size for exchanges in steps for sent in exchanges for size, _ in sent.values()}
    for grid in grids(len(steps)):
        counts = _sides(steps, grid) if grid[2] == 1 else None
        if counts is None:
            continue
        blocks = math.gcd(*(length for exchanges in steps for length in _runs(exchanges)))
        of_iteration = OCTANTS // 2 * blocks
        if counts % of_iteration == 0:
            return Recognised(
                "sweep3d", grid, "open", faces=(max(sizes),) * 3, blocks=blocks, times=counts // of_iteration
            )
    return None


def _sides(steps: Sequence[Sequence[Sent]], grid: Grid) -> int | None:
    """Messages of a rank to each of its sides, if equal for all ranks and possible in a sweep."""
    counts: set[int] = set()
    for rank, exchanges in enumerate(steps):
        west, east, south, north = (beside(rank, step, grid, "open") for step in FACES[:4])
        there = {s for s in (west, east, south, north) if s is not None}
        for sent in exchanges:
            if not set(sent) <= there or {west, east} <= set(sent) or {south, north} <= set(sent):
                return None
            if any(count != 1 for _, count in sent.values()):
                return None
        for x in {west, east} - {None}:
            for y in {south, north} - {None}:
                if not any({x, y} <= set(sent) for sent in exchanges):
                    return None
        counts |= {sum(side in sent for sent in exchanges) for side in there}
    return counts.pop() if len(counts) == 1 else None


def _runs(exchanges: Sequence[Sent]) -> list[int]:
    """Lengths of runs of exchanges with the same receivers."""
    return [len(list(run)) for _, run in groupby(frozenset(sent) for sent in exchanges)]
