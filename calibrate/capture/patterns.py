"""The pattern of a workload file that describes the messages: a halo on a grid, pairs, or lists.

A pattern is recognised only if it explains every rank's peers and bytes exactly; anything else is a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from pready.model.common.errors import PreadyError
from pready.model.workload.edges import HALOS, PATTERNS, Grid, Name, Ranks, towards
from pready.model.workload.sizes import FACES

Sent = dict[int, tuple[int, int]]
"""Bytes and messages by peer."""
Boundaries = Literal["periodic", "open"]
BOUNDARIES: tuple[Boundaries, ...] = ("periodic", "open")


@dataclass(frozen=True)
class Recognised:
    """A pattern of a workload file with its grid and sizes in bytes."""

    name: Name
    grid: Grid | None = None  # None: `lists`
    boundaries: Boundaries = "periodic"
    messages: int = 1  # per neighbour and exchange, all of whose bytes are in the sizes
    faces: tuple[int, int, int] = (0, 0, 0)  # for a neighbour along x, y, z; 0 where there is none
    edges: tuple[int, int, int] = (0, 0, 0)  # for one beyond an edge along x, y, z
    corner: int = 0
    blocks: int = 1  # of an octant
    lists: tuple[tuple[tuple[int, int], ...], ...] = ()  # for each rank those that it sends to, and bytes
    phase: int = 0  # of a halo that is exchanged axis after axis: which exchange this is, from 0,
    phases: int = 1  # of how many,
    axis: str = ""  # along which axis,
    whole: Grid | None = None  # and the grid of that halo
    to_a_rank: tuple[int, int] = (0, 0)  # from a rank to another, all that go there together: least and most

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
