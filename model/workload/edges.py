"""Who sends to whom: a class for each pattern, whose one method is the table of its edges.

The engine, `prove`'s plans and programs, capture's recognition and SST's motif read this table. To add a
pattern, write its class and its name here: nothing else has a list of patterns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Wholes
from pready.model.common.errors import PreadyError
from pready.model.workload.sizes import FACES, STENCIL_27, Sizes, Step, directions

Name = Literal["pt2pt", "halo3d", "halo3d26", "sweep3d", "neighbours", "bcast"]
"""As a workload file has them; each is the name of a class below."""
Grid = tuple[int, int, int]
Wraps = tuple[bool, bool, bool]
RADIX = 2
"""Radix of a broadcast's tree where a workload does not say."""
CORNERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))
"""Where to a sweep goes along x and y; from each corner in both directions of z."""


@dataclass(frozen=True)
class Ranks:
    """Ranks on a grid, and what a workload says of whom they send to."""

    grid: Grid
    periodic: Wraps = (True, True, True)
    neighbours: Sequence[Iterable[int]] | None = None
    """By rank, of a list."""
    radix: int = RADIX
    """Radix of a broadcast's k-nomial tree."""

    @property
    def count(self) -> int:
        """Their number."""
        return math.prod(self.grid)


class Edge(NamedTuple):
    """One buffer from a rank to another; its tag is unique between the two ranks in a phase."""

    phase: int
    sender: int
    receiver: int
    bytes: int
    tag: int


@dataclass(frozen=True, eq=False)  # an object is itself alone: its arrays have no truth
class Table:
    """The edges of one phase."""

    receivers: Wholes
    """By sender and tag, shape (ranks, tags), tags in the order of sends; -1: none."""
    steps: tuple[Step, ...] = ()
    """By tag, where the receiver is on the grid; empty: anywhere."""
    order: Wholes | None = None
    """Ranks so that each comes after those it waits for in the same exchange; None: none waits."""
    listed: bool = False
    """Can several ranks send to the same one with the same tag?"""

    @cached_property
    def from_(self) -> tuple[Wholes, Wholes | None]:
        """Senders by receiver, shape (ranks, sources), -1: none; and their tags, None: source j has tag j."""
        to = self.receivers
        ranks = len(to)
        if not self.listed:
            out = np.full(to.shape[::-1], -1, np.int64).T
            for into, column in zip(out.T, to.T, strict=True):
                sender = np.flatnonzero(column >= 0)
                into[column[sender]] = sender
            return out, None
        source, tag = np.nonzero(to >= 0)
        target = to[source, tag]
        order = np.lexsort((tag, source, target))
        received = np.bincount(target, minlength=ranks)
        place = np.arange(len(target)) - np.repeat(np.cumsum(received) - received, received)
        shape = ranks, int(received.max())
        from_, tags = np.full(shape, -1), np.zeros(shape, np.int64)
        from_[target[order], place], tags[target[order], place] = source[order], tag[order]
        return from_, tags

    def bytes(
        self, rank: int, tag: int, buffer: float, sizes: Sizes | None, listed: Sequence[Sequence[float]] | None
    ) -> float:
        """Bytes of an edge: listed by sender and tag, or by direction, else those of every buffer."""
        if listed is not None:
            return listed[rank][tag]
        return buffer if sizes is None else sizes.towards(self.steps[tag])


def edges(
    tables: Sequence[Table],
    phases: int,
    buffer: float,
    sizes: Sizes | None = None,
    listed: Sequence[Sequence[float]] | None = None,
) -> Wholes:
    """The edges of an iteration, shape (edges, 5), columns as in `Edge`: by phase, sender and order of sends."""
    out = []
    for phase in range(phases):
        table = tables[phase * len(tables) // phases]
        sender, tag = np.nonzero(table.receivers >= 0)
        if listed is None:
            each = [int(table.bytes(0, t, buffer, sizes, None)) for t in range(table.receivers.shape[1])]
            size = np.array(each, np.int64)[tag]
        else:
            size = np.array([int(b) for row in listed for b in row], np.int64)
        columns = np.full(len(tag), phase), sender, table.receivers[sender, tag], size, tag
        out.append(np.stack(columns, axis=1))
    return np.concatenate(out)


def towards(grid: Grid, wraps: Wraps, steps: Sequence[Step]) -> Wholes:
    """Neighbours by rank and direction, shape (ranks, steps); -1 beyond a border, and along an axis of one rank."""
    out = np.full((len(steps), math.prod(grid)), -1, np.int64).T  # by direction, which is how it is looked at
    # By step and axis, as arrays that stretch over the others: a number of additions, not of divisions.
    z, y, x = (slice(None), None, None), (None, slice(None), None), (None, None, slice(None))
    strides = np.cumprod([1, *grid[:2]])
    beside: list[dict[int, tuple[Wholes, NDArray[np.bool_]]]] = []
    for n, wrap, stride, along in zip(grid, wraps, strides, (x, y, z), strict=True):
        there = {by: np.arange(n) + by for by in (-1, 0, 1)}
        beside.append(
            {by: ((a % n * stride)[along], ((a >= 0) & (a < n) | (wrap and n > 1))[along]) for by, a in there.items()}
        )
    for column, step in zip(out.T.reshape(-1, *grid[::-1]), steps, strict=True):
        (at_x, in_x), (at_y, in_y), (at_z, in_z) = (axis[by] for axis, by in zip(beside, step, strict=True))
        np.copyto(column, at_x + at_y + at_z, where=in_x & in_y & in_z)
    return out


class NamedPattern(ABC):
    """A pattern of a workload file; one that has a name is in `PATTERNS` by being defined."""

    name: ClassVar[Name]
    grid: ClassVar[tuple[int, ...]]
    """Ranks where a workload does not say."""
    fields: ClassVar[tuple[str, ...]] = ("receiver",)
    """Fields of a workload file that not every pattern has."""
    stencil: ClassVar[tuple[Step, ...]] = ()
    """Directions of neighbours in a halo."""
    enough: ClassVar[int | None] = None
    """At most so many ranks along an axis stand for all; None: all are simulated."""
    two_way: ClassVar[bool] = True
    """Does a rank receive while it sends?"""
    octants: ClassVar[int] = 1
    """Exchanges of an iteration, for each block; several: a wavefront, whose ranks compute on what they receive."""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            PATTERNS[cls.name] = cls()

    @abstractmethod
    def edges(self, ranks: Ranks) -> tuple[Table, ...]:
        """Who sends to whom: one table for all exchanges of an iteration, or several, each for equally many.

        Raises
        ------
        PreadyError
            Ranks that do not fit the pattern.
        """

    @cached_property
    def peers(self) -> int:
        """Ranks that one rank sends to, if it has neighbours on all sides."""
        x, y, z = (*self.grid, 1, 1)[:3]
        return int(self.edges(Ranks((x, y, z)))[0].receivers.shape[1])


PATTERNS: dict[Name, NamedPattern] = {}


class Pairs(NamedPattern):
    """Ranks 2k and 2k + 1."""

    name = "pt2pt"
    grid = (2,)
    fields = ("receiver", "both_ways")
    two_way = False

    def edges(self, ranks: Ranks) -> tuple[Table, ...]:
        if ranks.count % 2:
            raise PreadyError(f"grid has {ranks.count} ranks", valid="an even number: pairs")
        return (Table((np.arange(ranks.count) ^ 1)[:, None]),)


class Halo3D(NamedPattern):
    """The faces of a block."""

    name: ClassVar[Name] = "halo3d"
    grid = (8, 8, 8)
    fields: ClassVar[tuple[str, ...]] = ("receiver", "boundaries", "faces", "thread_grid")
    stencil: ClassVar[tuple[Step, ...]] = FACES
    enough = 3

    def edges(self, ranks: Ranks) -> tuple[Table, ...]:
        steps = directions(self.stencil, ranks.grid)
        return (Table(towards(ranks.grid, ranks.periodic, steps), steps),)


class Halo3D26(Halo3D):
    """All 26 neighbours of a block."""

    name = "halo3d26"
    fields = (*Halo3D.fields, "edge", "edges", "corner")
    stencil = STENCIL_27


class Sweep3D(NamedPattern):
    """Wavefronts over x and y (KBA), from one corner after the other; along z a rank pipelines by itself."""

    name = "sweep3d"
    grid = (8, 8)
    fields = ("receiver", "boundaries", "blocks")
    enough = 8
    two_way = False
    octants = 2 * len(CORNERS)

    def edges(self, ranks: Ranks) -> tuple[Table, ...]:
        if ranks.grid[2] != 1:
            raise PreadyError(
                f"grid = {list(ranks.grid)} for sweep3d", valid="X,Y: a sweep pipelines along z inside a rank"
            )
        made, at = [], np.arange(ranks.count).reshape(ranks.grid[1], ranks.grid[0])
        for x, y in CORNERS:
            steps: tuple[Step, ...] = ((x, 0, 0), (0, y, 0))
            made.append(Table(towards(ranks.grid, (False,) * 3, steps), steps, at[::y, ::x].ravel()))
        return tuple(made)


class Listed(NamedPattern):
    """For each rank the ranks that it sends to."""

    name = "neighbours"
    grid = (2,)
    fields = ("receiver", "neighbours", "neighbour_list")

    def edges(self, ranks: Ranks) -> tuple[Table, ...]:
        lists = ranks.neighbours or ()
        if len(lists) != ranks.count:
            raise PreadyError(
                f"neighbour_list of {len(lists)} ranks", valid=f"one entry for each of {ranks.count} ranks"
            )
        return (Table(_listed(lists), listed=True),)


class Broadcast(NamedPattern):
    """Rank 0 sends to all over a k-nomial tree, whose ranks are numbered level by level.

    Rank r of the tree has the ranks r + j k^i below it, for k^i below r's lowest digit. With radix 2 it is the
    binomial tree of MPI libraries, with as many as there are ranks the linear broadcast, in which the root sends to
    all others. The largest subtree is served first.
    """

    name = "bcast"
    grid = (16,)
    fields = ("radix",)
    two_way = False

    def edges(self, ranks: Ranks) -> tuple[Table, ...]:
        order, lists = [0], []
        for rank in order:  # grows
            below = children(rank, ranks.count, ranks.radix)
            lists.append(range(len(order), len(order) + len(below)))
            order += below
        return (Table(_listed(lists), order=np.arange(ranks.count), listed=True),)


def children(rank: int, ranks: int, radix: int) -> list[int]:
    """Ranks below one of a k-nomial tree, in the order in which it sends to them."""
    steps, step = [], 1
    while step < ranks and rank % (step * radix) // step == 0:
        steps.append(step)
        step *= radix
    return [rank + j * step for step in reversed(steps) for j in range(1, radix) if rank + j * step < ranks]


def _listed(neighbours: Sequence[Iterable[int]]) -> Wholes:
    """Receivers by rank and tag, shape (ranks, most neighbours of a rank)."""
    ranks, lists = len(neighbours), [np.fromiter(n, np.int64) for n in neighbours]
    counts, target = np.array([len(n) for n in lists], np.int64), np.concatenate(lists)
    if counts.sum() == 0:
        raise PreadyError("neighbour list is empty", valid="at least one neighbour")
    bad = (target < 0) | (target >= ranks)
    if bad.any():
        raise PreadyError(f"neighbour list names rank {target[bad][0]}", valid=f"0 to {ranks - 1}")
    source = np.repeat(np.arange(ranks), counts)
    if (source == target).any():
        raise PreadyError(f"neighbour list: rank {source[source == target][0]} sends to itself", valid="other ranks")
    out = np.full((ranks, int(counts.max())), -1)
    out[source, np.arange(len(target)) - np.repeat(np.cumsum(counts) - counts, counts)] = target
    return out


HALOS = tuple(name for name, of in PATTERNS.items() if of.stencil)
WITH_ENDS = tuple(name for name, of in PATTERNS.items() if "boundaries" in of.fields)
"""Patterns on a grid, which may be open at its ends."""
if half := {*get_args(Name)} ^ {*PATTERNS}:
    names = ", ".join(sorted(half))
    raise TypeError(f"pattern {names}: needs a class of that name and an entry of `Name`, both in {__file__}")
