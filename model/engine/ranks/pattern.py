"""Who talks to whom: ranks on a grid with halo exchanges or sweeps, pairs, or a list of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Wholes
from pready.model.common.errors import PreadyError, shown
from pready.model.engine.ranks.nodes import nodes_of
from pready.model.workload.exchange import Pattern as Name
from pready.model.workload.sizes import FACES, STENCIL_27, Sizes, Step, directions
from pready.model.workload.tree import RADIX, by_level

LARGEST_RANK = 2**32 - 1
"""Ranks are a 32-bit word of the counter that draws arrivals."""

LARGEST_WHOLE = 2**63 - 1

KINDS: dict[Name, int] = {"halo3d": 0, "halo3d26": 0, "pt2pt": 1, "neighbours": 2, "sweep3d": 3, "bcast": 4}
"""The kernel's numbers of patterns."""

LISTED: tuple[Name, ...] = ("neighbours", "bcast")
"""Patterns whose receivers stand in lists."""
OCTANTS = 8


@dataclass(frozen=True)
class Kind:
    """What messages of one class have in common."""

    sample: Step | tuple[int, int] | None = None
    """A direction, or a rank and the number of one of its neighbours, with such a message; None where all have as many
    bytes."""
    inside: bool = False
    """Between ranks of a node."""


def exchanges(name: Name, blocks: int) -> int:
    """Of a pattern, per iteration: 1, or octants × blocks of a sweep."""
    return OCTANTS * blocks if name == "sweep3d" else 1


@dataclass(frozen=True, eq=False)  # an object is itself alone: its arrays have no truth
class Pattern:
    """Ranks and their neighbours.

    A rank's *profile* says in which directions it has a neighbour: all of them away from open
    boundaries; for a list of neighbours, as many as the list has. Where it also says how large
    messages are, or which of them stay within a node, every rank names its own (`rank_profile`). Rows
    of `present` and `classes` are in the order in which messages are sent.
    """

    name: Name
    grid: tuple[int, int, int]
    periodic: tuple[bool, bool, bool]
    steps: tuple[Step, ...]
    """Directions of a grid; for other patterns only their number matters."""
    classes: Wholes
    """Of messages that are alike, shape (profiles, directions)."""
    kinds: tuple[Kind, ...]
    """What a message of each class is."""
    present: NDArray[np.bool_]
    """Shape (profiles, directions)."""
    out_start: Wholes
    out_rank: Wholes
    in_start: Wholes
    in_rank: Wholes
    in_slot: Wholes
    sources: int
    """The most neighbours a rank receives from."""
    rank_profile: Wholes | None = None
    """Of each rank, where neighbours alone do not say."""
    node: Wholes | None = None
    """Of each rank; None where every rank has an adapter of its own."""
    root: bool = False
    """Does rank 0 send to all others, which send on what they receive? Ranks are numbered level by level."""
    alone: int = 0
    """Exchanges side by side, each from rest (`alone.py`); 0: ranks that go on from iteration to iteration."""

    def buffers(
        self, face: float, sizes: Sizes | None = None, listed: Sequence[Sequence[float]] | None = None
    ) -> tuple[float, ...]:
        """Bytes for a neighbour by class, from sizes that fit the pattern."""

        def of(kind: Kind) -> float:
            match kind.sample:
                case (rank, neighbour) if listed is not None:
                    return listed[rank][neighbour]
                case (x, y, z) if sizes is not None:
                    return sizes.towards((x, y, z))
            return face

        return tuple(map(of, self.kinds))

    @property
    def ranks(self) -> int:
        """How many."""
        return math.prod(self.grid)

    @property
    def counted(self) -> int:
        """Ranks whose times count: of exchanges from rest, those who send; of a broadcast, the last."""
        return 1 if self.root else self.alone or self.ranks

    @property
    def directions(self) -> int:
        """The most neighbours a rank sends to."""
        return int(self.present.shape[1])

    @cached_property
    def degree(self) -> Wholes:
        """Neighbours per profile."""
        return np.asarray(self.present.sum(axis=1, dtype=np.int64))

    @cached_property
    def reach(self) -> int:
        """How far away in rank order a neighbour is, the outermost axis not wrapped."""
        if KINDS[self.name] == 1:
            return 0
        if KINDS[self.name] != 0:
            return self.ranks
        strides = (1, self.grid[0], self.grid[0] * self.grid[1])
        outer = max((a for a in range(3) if self.grid[a] > 1), default=0)
        far = 0
        for step in self.steps:
            distance = 0
            for a in range(3):
                if step[a]:
                    wraps = self.periodic[a] and a != outer
                    distance += strides[a] * (max(1, self.grid[a] - 1) if wraps else 1)
            far = max(far, distance)
        return far

    @cached_property
    def edges(self) -> int:
        """Pairs of a sending and a receiving rank, per exchange (for a sweep: per step)."""
        if self.name == "pt2pt":
            return self.ranks
        if self.name in LISTED:
            return len(self.out_rank)
        x, y, z = self.grid
        if self.name == "sweep3d":
            return (x - 1) * y + x * (y - 1)
        total = 0
        for step in self.steps:
            total += math.prod(n if self.periodic[a] or not step[a] else n - 1 for a, n in enumerate((x, y, z)))
        return total

    def exchanges(self, blocks: int) -> int:
        """Per iteration: 1, or octants × blocks of a sweep."""
        return exchanges(self.name, blocks)

    @property
    def receivers(self) -> Wholes:
        """The receiver in each direction, shape (ranks, directions), -1 where there is none. Not for sweeps."""
        everyone = np.arange(self.ranks)
        if self.name == "pt2pt":
            return (everyone ^ 1)[:, None]
        out = np.full((self.directions, self.ranks), -1, np.int64).T  # by direction, which is how it is looked at
        if self.name in LISTED:
            counts = np.diff(self.out_start)
            source = np.repeat(everyone, counts)
            out[source, np.arange(len(source)) - np.repeat(self.out_start[:-1], counts)] = self.out_rank
            return out
        # By step and axis, as arrays that stretch over the others: a number of additions, not of divisions.
        z, y, x = (slice(None), None, None), (None, slice(None), None), (None, None, slice(None))
        strides = np.cumprod([1, *self.grid[:2]])
        beside: list[dict[int, tuple[Wholes, NDArray[np.bool_]]]] = []
        for n, wraps, stride, along in zip(self.grid, self.periodic, strides, (x, y, z), strict=True):
            there = {by: np.arange(n) + by for by in (-1, 0, 1)}
            beside.append(
                {
                    by: ((a % n * stride)[along], ((a >= 0) & (a < n) | (wraps and n > 1))[along])
                    for by, a in there.items()
                }
            )
        for column, step in zip(out.T.reshape(-1, *self.grid[::-1]), self.steps, strict=True):
            (at_x, in_x), (at_y, in_y), (at_z, in_z) = (axis[by] for axis, by in zip(beside, step, strict=True))
            np.copyto(column, at_x + at_y + at_z, where=in_x & in_y & in_z)
        return out

    @property
    def neighbours(self) -> list[list[int | None]]:
        """The receivers of each rank by direction; None where there is none. Not for sweeps."""
        return [[None if to < 0 else to for to in row] for row in self.receivers.tolist()]


def pattern(
    name: Name,
    grid: Sequence[int],
    *,
    periodic: bool | Sequence[bool] = True,
    sizes: Sizes | None = None,
    neighbours: Sequence[Iterable[int]] | None = None,
    neighbour_sizes: Sequence[Sequence[float]] | None = None,
    ranks_per_node: int | None = None,
    node_grid: Sequence[int] | None = None,
    radix: int | None = None,
) -> Pattern:
    """The pattern of a workload on a grid of ranks; further arguments as of `simulate`.

    Parameters
    ----------
    name
        As in a workload file.
    grid
        Ranks along each axis: one to three numbers. Pairs and lists only take their product.

    Raises
    ------
    PreadyError
        A grid that does not match the pattern, a list that does not match the grid, or ranks that do not fill their
        nodes.
    """
    size = _grid(grid)
    if (name == "neighbours") != (neighbours is not None):
        raise PreadyError(
            f"pattern = {shown(name)} {'without' if neighbours is None else 'with'} a neighbour list",
            valid="a neighbour list for pattern 'neighbours', none for any other",
        )
    if name == "pt2pt" and math.prod(size) % 2:
        raise PreadyError(f"grid = {list(grid)} has {math.prod(size)} ranks", valid="an even number: pairs")
    if name == "sweep3d" and size[2] != 1:
        raise PreadyError(f"grid = {list(grid)} for sweep3d", valid="X,Y: a sweep pipelines along z inside a rank")
    if name == "bcast":
        return _tree(size, RADIX if radix is None else radix)
    wraps, by = _periodic(periodic), None if node_grid is None else tuple(node_grid)
    if neighbours is None and neighbour_sizes is None:
        return _regular(name, size, wraps, sizes, ranks_per_node, by)
    made = _alone(name, size, wraps, sizes) if neighbours is None else _listed(size, wraps, neighbours)
    return _on_nodes(made, neighbour_sizes, ranks_per_node, by)


@lru_cache(maxsize=8)
def _regular(
    name: Name,
    size: tuple[int, int, int],
    wraps: tuple[bool, bool, bool],
    sizes: Sizes | None,
    ranks_per_node: int | None,
    node_grid: tuple[int, ...] | None,
) -> Pattern:
    """What a grid alone decides: found once for all approaches and machines that a study compares on it."""
    return _on_nodes(_alone(name, size, wraps, sizes), None, ranks_per_node, node_grid)


def _alone(name: Name, size: tuple[int, int, int], wraps: tuple[bool, bool, bool], sizes: Sizes | None) -> Pattern:
    """Every rank with an adapter of its own; of every pattern but lists."""
    none = np.zeros(1, np.int64)
    if name == "pt2pt":
        present = np.ones((1, 1), np.bool_)
        return _alike(Pattern(name, size, wraps, ((1, 0, 0),), none, (), present, none, none, none, none, none, 1))
    if name == "sweep3d":
        present = np.array([[p & 1 > 0, p & 2 > 0] for p in range(4)])
        open_ = (False, False, False)
        steps: tuple[Step, ...] = ((1, 0, 0), (0, 1, 0))
        return _alike(Pattern(name, size, open_, steps, none, (), present, none, none, none, none, none, 2))
    return _halo(name, size, wraps, sizes)


def _on_nodes(
    of: Pattern,
    sizes: Sequence[Sequence[float]] | None,
    ranks_per_node: int | None,
    node_grid: tuple[int, ...] | None,
) -> Pattern:
    node = None if ranks_per_node is None else nodes_of(of.grid, ranks_per_node, node_grid)
    if node is not None and int(node.max()) + 1 == of.ranks:
        node = None  # every rank has an adapter of its own
    if of.name == "sweep3d" or (node is None and sizes is None):
        return of
    return _placed(of, sizes, node)


def _alike(of: Pattern) -> Pattern:
    """All messages of one class."""
    return replace(of, classes=np.zeros(of.present.shape, np.int64), kinds=(Kind(),))


def _placed(of: Pattern, sizes: Sequence[Sequence[float]] | None, node: Wholes | None) -> Pattern:
    """With a profile for every rank: how large its messages are, and which of them stay within its node."""
    to = of.receivers
    there = to >= 0
    # In words of half the size: what is larger comes from the system anew each time.
    keys = np.where(there, np.int32(0) if sizes is not None else of.classes[0].astype(np.int32), np.int32(-1))
    samples: dict[int, Step | tuple[int, int] | None] = {k: kind.sample for k, kind in enumerate(of.kinds)}
    if sizes is not None:
        flat = np.array([s for row in sizes for s in row], np.float64)
        if [len(row) for row in sizes] != there.sum(axis=1).tolist():
            raise PreadyError("neighbour sizes do not match the neighbour list", valid="a size for each neighbour")
        bad = ~(flat > 0)
        if bad.any():
            raise PreadyError(f"neighbour size = {flat[bad][0]:g} B", valid="greater than 0")
        # Classes as they first occur: what is true of all messages is read from the first's.
        _, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
        keys[there] = np.argsort(np.argsort(first))[inverse]
        row, column = np.nonzero(there)
        samples = {k: (int(row[at]), int(column[at])) for k, at in enumerate(np.sort(first))}
    near = None if node is None else node.astype(np.int32)
    inside = np.zeros(to.shape, np.bool_) if near is None else there & (near[to] == near[:, None])
    # Classes from 0 on, those that leave the node first: what is true of all messages is read from class 0.
    several = len(samples)
    values = keys + np.int32(1)  # 0: nobody
    np.add(values, np.int32(several), out=values, where=inside)
    counts = np.bincount(values.ravel(order="K"), minlength=2 * several + 1)
    used = np.flatnonzero(counts[1:])
    number = np.full(2 * several + 1, -1, np.int32)
    number[1 + used] = np.arange(len(used))
    classes = number[values]
    # Ranks with the same row, as many columns at a time as are digits of one number.
    profile, profiles, kinds = np.zeros(len(to), np.int64), 1, len(used) + 1
    for digit in classes.T:
        if profiles * kinds > LARGEST_WHOLE:
            profile = np.unique(profile, return_inverse=True)[1].ravel()
            profiles = int(profile.max()) + 1
        profile, profiles = profile * kinds + digit + 1, profiles * kinds
    one, profile = _numbered(profile, profiles)
    return replace(
        of,
        classes=np.maximum(classes[one], 0).astype(np.int64),
        kinds=tuple(Kind(samples[int(u) % several], bool(u >= several)) for u in used),
        present=there[one],
        rank_profile=profile,
        node=node,
    )


def _numbered(values: Wholes, below: int) -> tuple[Wholes, Wholes]:
    """Where each value occurs first, in the order of values, and the number of each of `values` in that order. They are
    from 0 to below `below`."""
    if below > len(values):
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        return first, inverse.ravel()
    # No more values than there are ranks: without sorting.
    first = np.full(below, -1)
    first[values[::-1]] = np.arange(len(values))[::-1]  # the last one written stays
    used = np.flatnonzero(first >= 0)
    number = np.zeros(below, np.int64)
    number[used] = np.arange(len(used))
    return first[used], number[values]


def _grid(grid: Sequence[int]) -> tuple[int, int, int]:
    numbers = list(grid)
    if not 1 <= len(numbers) <= 3 or not all(isinstance(n, int) and n >= 1 for n in numbers):
        raise PreadyError(f"grid = {shown(numbers)}", valid="one to three integers of at least 1")
    x, y, z = (*numbers, 1, 1)[:3]
    if not 2 <= x * y * z <= LARGEST_RANK:
        raise PreadyError(f"grid = {numbers} has {x * y * z} ranks", valid=f"2 to {LARGEST_RANK} ranks")
    return x, y, z


def _periodic(periodic: bool | Sequence[bool]) -> tuple[bool, bool, bool]:
    if isinstance(periodic, bool):
        return periodic, periodic, periodic
    if len(periodic) != 3:
        raise PreadyError(f"periodic = {shown(list(periodic))}", valid="one value or one per axis")
    x, y, z = periodic
    return x, y, z


def _halo(name: Name, size: tuple[int, int, int], wraps: tuple[bool, bool, bool], sizes: Sizes | None) -> Pattern:
    steps = directions(FACES if name == "halo3d" else STENCIL_27, size)
    # Faces, edges and corners are kinds of their own, however large: sizes may change, classes may not.
    keys = [(0, 0.0) if sizes is None else (sum(map(abs, s)), sizes.towards(s)) for s in steps]
    order = list(dict.fromkeys(keys))
    kinds = tuple(Kind(None if sizes is None else steps[keys.index(k)]) for k in order)
    each = np.array([order.index(k) for k in keys], np.int64)
    if all(w or n == 1 for w, n in zip(wraps, size, strict=True)):
        present = np.ones((1, len(steps)), np.bool_)
    else:
        # Bit 2 a: a neighbour below along axis a, bit 2 a + 1: above.
        needed = np.array([sum(1 << (2 * a + (by > 0)) for a, by in enumerate(s) if by) for s in steps], np.int64)
        present = np.arange(64)[:, None] & needed == needed
    none = np.zeros(1, np.int64)
    classes = np.tile(each, (len(present), 1))
    return Pattern(name, size, wraps, steps, classes, kinds, present, none, none, none, none, none, len(steps))


@lru_cache(maxsize=8)
def _tree(size: tuple[int, int, int], radix: int) -> Pattern:
    """A broadcast. What the root sends is issued by the threads that compute it, what others send by those who receive
    it: profiles of their own."""
    listed = _listed(size, (False,) * 3, by_level(math.prod(size), radix))
    most = listed.directions
    profile = np.diff(listed.out_start)
    present = np.concatenate([listed.present, listed.present[profile[:1]]])
    profile[0] = most + 1
    made = replace(listed, name="bcast", present=present, rank_profile=profile, root=True)
    return replace(made, classes=np.zeros(present.shape, np.int64))


def _listed(size: tuple[int, int, int], wraps: tuple[bool, bool, bool], neighbours: Sequence[Iterable[int]]) -> Pattern:
    ranks = math.prod(size)
    if len(neighbours) != ranks:
        raise PreadyError(f"neighbour list of {len(neighbours)} ranks", valid=f"one entry for each of {ranks} ranks")
    lists = [np.fromiter(n, np.int64) for n in neighbours]
    counts = np.array([len(n) for n in lists], np.int64)
    out_rank = np.concatenate(lists) if lists else np.zeros(0, np.int64)
    if counts.sum() == 0:
        raise PreadyError("neighbour list is empty", valid="at least one neighbour")
    bad = (out_rank < 0) | (out_rank >= ranks)
    if bad.any():
        raise PreadyError(f"neighbour list names rank {out_rank[bad][0]}", valid=f"0 to {ranks - 1}")
    source = np.repeat(np.arange(ranks), counts)
    if (source == out_rank).any():
        raise PreadyError(
            f"neighbour list: rank {source[source == out_rank][0]} sends to itself",
            valid="other ranks",
        )
    slot = np.arange(len(out_rank)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = np.lexsort((slot, source, out_rank))
    received = np.bincount(out_rank, minlength=ranks)
    most = int(counts.max())
    present = np.arange(most) < np.arange(most + 1)[:, None]
    made = Pattern(
        "neighbours",
        size,
        wraps,
        ((1, 0, 0),) * most,
        counts,
        (),
        present,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        out_rank,
        np.concatenate([[0], np.cumsum(received)]).astype(np.int64),
        source[order].astype(np.int64),
        slot[order].astype(np.int64),
        int(received.max()),
    )
    return _alike(made)
