"""The pattern of a workload file that describes the messages: a halo on a grid, a sweep, pairs, or lists.

A pattern is recognised only if it explains every rank's peers and bytes exactly; anything else is a list.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Literal

from pready.model.common.errors import PreadyError
from pready.model.workload.edges import HALOS, PATTERNS, Grid, Name, Ranks, Sweep3D, towards
from pready.model.workload.sizes import FACES

Sent = dict[int, tuple[int, int]]
"""Bytes and messages by peer."""
Boundaries = Literal["periodic", "open"]
BOUNDARIES: tuple[Boundaries, ...] = ("periodic", "open")


def per_step(sent: Sent, steps: int) -> Sent:
    """What is sent in all steps, in the mean of one; at least a byte in a message."""
    return {to: (max(1, round(size / steps)), max(1, round(count / steps))) for to, (size, count) in sent.items()}


def no_messages(source: str) -> PreadyError:
    return PreadyError("no rank sends messages to another one", valid="point-to-point or put", source=source)


@dataclass(frozen=True)
class Recognised:
    """A pattern of a workload file with its grid and sizes.

    Attributes
    ----------
    messages
        Per neighbour and exchange, all of whose bytes are in the sizes.
    faces, edges
        Bytes for a neighbour along x, y, z, and beyond an edge along x, y, z; 0 where there is none.
    times
        Iterations of eight octants in a sweep.
    lists
        Where ranks have no place on a grid: for each the ranks that it sends to with bytes.
    phase, phases, axis, whole
        Of a halo that is exchanged axis after axis: which exchange this is, from 0, of how many, its axis, and the
        grid of that halo; None where this is no phase.
    to_a_rank
        Bytes from a rank to another, all that go there together: least and most.
    """

    name: Name
    grid: Grid | None = None
    boundaries: Boundaries = "periodic"
    messages: int = 1
    faces: tuple[int, int, int] = (0, 0, 0)
    edges: tuple[int, int, int] = (0, 0, 0)
    corner: int = 0
    blocks: int = 1
    times: int = 1
    lists: tuple[tuple[tuple[int, int], ...], ...] = ()
    phase: int = 0
    phases: int = 1
    axis: str = ""
    whole: Grid | None = None
    to_a_rank: tuple[int, int] = (0, 0)

    @property
    def said_whole(self) -> str:
        """The pattern in words, all phases together."""
        if self.whole is None:
            return self.said
        return f"halo on {' × '.join(str(n) for n in self.whole if n > 1)} ranks in {self.phases} phases"

    @property
    def said(self) -> str:
        """The pattern in words."""
        if self.whole is not None:
            return f"{self.said_whole}, phase {self.phase + 1} ({self.axis})"
        if self.grid is None:
            return _lists_said([[to for to, _ in mine] for mine in self.lists])
        shape = " × ".join(map(str, self.grid))
        if stencil := PATTERNS[self.name].stencil:
            return f"{len(stencil) + 1}-point halo on {shape} ranks, {self.boundaries}"
        return f"sweep on {shape} ranks, {self.blocks} blocks per octant"


def _lists_said(receivers: Sequence[Sequence[int]]) -> str:
    """Pairs and rings by their names."""
    ranks = len(receivers)
    if all(len(to) == 1 for to in receivers):
        if all(receivers[to[0]][0] == rank for rank, to in enumerate(receivers)):
            return "a pair of ranks, both ways" if ranks == 2 else f"{ranks // 2} pairs of ranks, both ways"
        at, seen = 0, set[int]()
        while at not in seen:
            seen.add(at)
            at = receivers[at][0]
        if at == 0 and len(seen) == ranks:
            return f"ring, one way, of {ranks} ranks"
    return f"list of neighbours of {ranks} ranks"


def recognise(sent: Sequence[Sent], among: Sequence[Grid] | None = None) -> Recognised:
    """The pattern of one exchange, from the bytes of each rank to each peer; `among`: grids of halos."""
    ranks = len(sent)
    lists = tuple(tuple((to, b) for to, (b, _) in s.items()) for s in sent)
    for name, of in PATTERNS.items():
        if of.octants == 1 and not of.stencil and (found := _explained(sent, name, (ranks, 1, 1), "periodic")):
            return replace(found, grid=None, lists=lists)
    for name, grid, boundaries in product(HALOS, list(grids(ranks)) if among is None else among, BOUNDARIES):
        if found := _explained(sent, name, grid, boundaries):
            return found
    most = max((count for s in sent for _, count in s.values()), default=1)
    return Recognised("neighbours", messages=most, lists=lists)


def recognise_open(sent: Sequence[Sent]) -> Recognised:
    """The pattern of what a sweep or a pipeline sends in a step: beyond an edge of its grid there is nobody."""
    halos = (_explained(sent, "halo3d", grid, "open") for grid in grids(len(sent)))
    return next(filter(None, halos), None) or recognise(sent)


def recognise_step(exchanges: Sequence[Sequence[Sent]]) -> list[Recognised]:
    """The patterns of a step's exchanges, on one grid, as a file has one; halos axis after axis say so."""
    found = [recognise(sent) for sent in exchanges]
    known = Counter[Grid](f.grid for f in found if f.grid is not None)
    if known:
        grid = max(known, key=known.__getitem__)
        found = [f if f.grid in (None, grid) else recognise(s, [grid]) for f, s in zip(found, exchanges, strict=True)]
    for first in range(len(found)):
        phases = next((p for n in (3, 2) if (p := _in_phases(exchanges[first : first + n], n))), None)
        if phases is None or any(f.grid or f.whole for f in found[first : first + len(phases[1])]):
            continue
        whole, axes = phases
        for n, axis in enumerate(axes):
            found[first + n] = replace(found[first + n], phase=n, phases=len(axes), axis=axis, whole=whole)
    return found


def _in_phases(exchanges: Sequence[Sequence[Sent]], axes: int) -> tuple[Grid, list[str]] | None:
    """The grid, and the axis of each, if exchanges in a row are a halo along one axis after the other."""
    if len(exchanges) != axes:
        return None
    for grid in grids(len(exchanges[0])):
        if sum(n > 1 for n in grid) != axes:
            continue
        for boundaries in BOUNDARIES:
            along = [_axis(sent, grid, boundaries) for sent in exchanges]
            if None not in along and len(set(along)) == axes:
                return grid, [a for a in along if a is not None]
    return None


def _axis(sent: Sequence[Sent], grid: Grid, boundaries: Boundaries) -> str | None:
    """The axis along which every rank sends to its neighbours and to nobody else."""
    for name, steps in (("x", FACES[:2]), ("y", FACES[2:4]), ("z", FACES[4:])):
        beyond = [{*row} - {-1} for row in towards(grid, (boundaries == "periodic",) * 3, steps).tolist()]
        if any(beyond) and all(set(mine) == there for mine, there in zip(sent, beyond, strict=True)):
            return name
    return None


def grids(ranks: int) -> Iterator[Grid]:
    """Grids of this many ranks, x first; those with fewer axes come first."""
    divisors = [d for d in range(1, ranks + 1) if ranks % d == 0]
    found = [(x, y, ranks // x // y) for x in divisors for y in divisors if ranks % (x * y) == 0]
    yield from sorted(found, key=lambda g: (sum(n > 1 for n in g), [n == 1 for n in g], -g[0], -g[1]))


def _explained(sent: Sequence[Sent], name: Name, grid: Grid, boundaries: Boundaries) -> Recognised | None:
    """The pattern if its edges explain all messages, those along the same axes being of one size."""
    try:
        (table,) = PATTERNS[name].edges(Ranks(grid, (boundaries == "periodic",) * 3))
    except PreadyError:  # not so many ranks
        return None
    sizes, messages = dict[tuple[bool, ...], int](), set[float]()
    for mine, row in zip(sent, table.receivers, strict=True):
        tags: dict[int, list[int]] = {}
        for tag, to in enumerate(row.tolist()):
            if to >= 0:
                tags.setdefault(to, []).append(tag)
        if tags.keys() != mine.keys():
            return None
        for peer, those in tags.items():
            size, count = mine[peer]
            messages.add(count / len(those))
            # A step to the other side, of two ranks, is along the same ones.
            axes = tuple(map(bool, table.steps[those[0]])) if table.steps else ()
            if sizes.setdefault(axes, size // len(those)) * len(those) != size:
                return None
    if not sizes or len(messages) != 1 or min(messages) < 1 or min(messages) != int(min(messages)):
        return None
    alone = [tuple(i == axis for i in range(3)) for axis in range(3)]
    x, y, z = (sizes.get(axes if table.steps else (), 0) for axes in alone)
    yz, xz, xy = (sizes.get(tuple(not i for i in axes), 0) for axes in alone)
    corner = sizes.get((True, True, True), 0)
    return Recognised(
        name, grid, boundaries, messages=int(min(messages)), faces=(x, y, z), edges=(yz, xz, xy), corner=corner
    )


def recognise_sweep(steps: Sequence[Sequence[Sent]]) -> Recognised | None:
    """The sweep over a two-dimensional grid that explains all exchanges; None if there is none.

    In an octant a rank sends on to one side along each axis; each side has half of the eight octants. Exchanges
    in a row to the same side are the blocks of an octant.
    """
    if all(len({frozenset(sent) for sent in exchanges}) < 2 for exchanges in steps):
        return None
    sizes = {size for exchanges in steps for sent in exchanges for size, _ in sent.values()}
    for grid in grids(len(steps)):
        counts = _sides(steps, grid) if grid[2] == 1 else None
        if counts is None:
            continue
        runs = (len(list(run)) for exchanges in steps for _, run in groupby(map(frozenset, exchanges)))
        blocks = math.gcd(*runs)
        times, rest = divmod(counts, Sweep3D.octants // 2 * blocks)
        if rest == 0:
            return Recognised("sweep3d", grid, "open", faces=(max(sizes),) * 3, blocks=blocks, times=times)
    return None


def _sides(steps: Sequence[Sequence[Sent]], grid: Grid) -> int | None:
    """Messages of a rank to each of its sides, if equal for all ranks and possible in a sweep."""
    counts: set[int] = set()
    for exchanges, (west, east, south, north) in zip(
        steps, towards(grid, (False,) * 3, FACES[:4]).tolist(), strict=True
    ):
        there = {west, east, south, north} - {-1}
        for sent in exchanges:
            if not set(sent) <= there or {west, east} <= set(sent) or {south, north} <= set(sent):
                return None
            if any(count != 1 for _, count in sent.values()):
                return None
        for x in {west, east} - {-1}:
            for y in {south, north} - {-1}:
                if not any({x, y} <= set(sent) for sent in exchanges):
                    return None
        counts |= {sum(side in sent for sent in exchanges) for side in there}
    return counts.pop() if len(counts) == 1 else None
