"""A pattern in the engine: its table of edges, the classes of its messages, and the ranks of a node."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Wholes
from pready.model.common.errors import PreadyError
from pready.model.common.memory import refuse_beyond
from pready.model.engine import _kernel
from pready.model.workload.edges import PATTERNS, Name, Ranks, Table
from pready.model.workload.exchange import Placement
from pready.model.workload.sizes import Sizes, Step
from pready.model.workload.workload import Workload

MOST_RANKS = int(np.iinfo(np.int32).max)
"""That tables of neighbours can name."""
LARGEST_WHOLE = int(np.iinfo(np.int64).max)
"""What the kernel counts to."""


@dataclass(frozen=True)
class Kind:
    """What messages of one class have in common."""

    bytes: float | None = None
    """For a neighbour; None: the workload's buffer."""
    inside: bool = False
    """Between ranks of a node."""
    parts: int = 1
    """Messages go to the neighbour in so many directions, which share these bytes."""


@dataclass(frozen=True, eq=False)  # an object is itself alone: its arrays have no truth
class Pattern:
    """Ranks, whom they send to, and the classes of their messages."""

    name: Name
    grid: tuple[int, int, int]
    tables: tuple[Table, ...]
    """Edges: of all exchanges of an iteration, or of a sweep from one corner after the other."""
    profile: Wholes
    """By rank: which neighbours it has, and of which classes their messages are."""
    classes: Wholes
    """Messages that are alike, shape (profiles, directions)."""
    kinds: tuple[Kind, ...]
    """What a message of each class is."""
    node: Wholes | None = None
    """By rank; None where every rank has an adapter of its own."""
    alone: int = 0
    """Exchanges side by side, each from rest; 0: ranks that go on from iteration to iteration."""

    def buffers(self, workload: Workload) -> tuple[float, ...]:
        """Bytes for a neighbour by class."""
        return tuple((workload.buffer if k.bytes is None else k.bytes) / k.parts for k in self.kinds)

    @property
    def receivers(self) -> Wholes:
        """In each direction, shape (ranks, directions); -1: none. Of a sweep: from the first corner on."""
        return self.tables[0].receivers

    @property
    def steps(self) -> tuple[Step, ...]:
        """Directions on the grid; empty: a pattern without."""
        return self.tables[0].steps

    @property
    def root(self) -> bool:
        """Does rank 0 send to all others, which send on what they receive?"""
        return self.name == "bcast"

    @property
    def ranks(self) -> int:
        """How many."""
        return len(self.profile)

    @property
    def counted(self) -> int:
        """Ranks whose times count: of exchanges from rest, those who send; of a broadcast, the last."""
        return 1 if self.root else self.alone or self.ranks

    @property
    def directions(self) -> int:
        """The most neighbours a rank sends to."""
        return int(self.receivers.shape[1])

    @cached_property
    def edges(self) -> int:
        """Pairs of a sending and a receiving rank, per exchange (for a sweep: per step)."""
        return int(np.count_nonzero(self.receivers >= 0))

    def exchanges(self, blocks: int) -> int:
        """Per iteration: 1, or octants × blocks of a sweep."""
        octants = PATTERNS[self.name].octants
        return octants * blocks if octants > 1 else 1

    @property
    def neighbours(self) -> list[list[int | None]]:
        """The receivers of each rank by direction; None where there is none."""
        return [[None if to < 0 else to for to in row] for row in self.receivers.tolist()]

    @cached_property
    def _kernels(self) -> dict[tuple[int, int, Placement], _kernel.Pattern]:
        return {}

    def kernel(self, blocks: int, rails: int, placement: Placement = "in turn") -> _kernel.Pattern:
        """This pattern for the kernel, where a sweep has so many blocks, and a node so many adapters."""
        key = blocks, rails, placement
        if key in self._kernels:
            return self._kernels[key]
        none = np.zeros(0, np.int64)
        tables = [(t.receivers, *t.from_, t.order) for t in self.tables]
        start, order = none, none
        if self.node is not None:
            adapter = adapters_of(self.node, rails, placement)
            order = np.argsort(adapter, kind="stable")
            start = np.concatenate([[0], np.cumsum(np.bincount(adapter))])
        self._kernels[key] = _kernel.Pattern(
            sources=int(tables[0][1].shape[1]),
            tables=[tuple(_row(none if part is None else part) for part in table) for table in tables],
            profile=_row(self.profile),
            kind=self.classes.astype(np.int32),
            node_start=start,
            node_rank=order,
            alone=self.alone,
            tree=self.root,
            blocks=blocks if self.exchanges(1) > 1 else 0,
        )
        return self._kernels[key]


@lru_cache(maxsize=64)  # the same for all ways with as many messages
def cut(of: Pattern, parts: tuple[int, ...]) -> Pattern:
    """Each direction as so many, one after the other, which share its bytes."""
    if {*parts} == {1}:
        return of
    each = sorted({(k, n) for row in of.classes.tolist() for k, n in zip(row, parts, strict=True)})
    number = {share: n for n, share in enumerate(each)}
    classes = [[number[k, n] for k, n in zip(row, parts, strict=True)] for row in of.classes.tolist()]
    steps = tuple(step for step, n in zip(of.steps, parts, strict=True) for _ in range(n))
    tables = tuple(replace(t, receivers=np.repeat(t.receivers, parts, axis=1), steps=steps) for t in of.tables)
    kinds = tuple(replace(of.kinds[k], parts=n) for k, n in each)
    return replace(of, tables=tables, classes=np.repeat(classes, parts, axis=1), kinds=kinds)


def _row(of: Wholes) -> NDArray[np.int32]:
    return np.ascontiguousarray(of, np.int32).ravel()


@lru_cache(maxsize=16)  # the same for all approaches of a comparison
def from_rest(sends: tuple[float, ...], count: int, of_a_node: int = 1) -> Pattern:
    """So many exchanges side by side, each from rest: a rank sends to its peers, which are in step.

    Exchange i has two ranks: i, with the arrivals of rank 0 in iteration first + i, sends so many bytes to each
    peer; i + count, with those of rank 1, receives all of it in place of the peers. So many ranks in a row share a
    node.
    """
    sizes, peers = [*dict.fromkeys(sends)], len(sends)
    to = np.full((2 * count, peers), -1)
    to[:count] = np.arange(count, 2 * count)[:, None]
    return Pattern(
        "neighbours",
        (2 * count, 1, 1),
        (Table(to),),
        profile=np.repeat([0, 1], count),
        classes=np.array([[*map(sizes.index, sends)], [0] * peers]),
        kinds=tuple(map(Kind, sizes)),
        node=nodes_of((2 * count,), of_a_node) if of_a_node > 1 else None,
        alone=count,
    )


@lru_cache(maxsize=8)  # the same for all approaches and machines that a study compares
def pattern(
    name: Name,
    ranks: Ranks,
    sizes: Sizes | None,
    listed: Sequence[Sequence[float]] | None,
    ranks_per_node: int | None,
    node_grid: tuple[int, ...] | None,
) -> Pattern:
    """Edges with classes by how large messages are, and which of them stay within a node.

    Parameters
    ----------
    sizes, listed
        Bytes by direction of a halo, or of each of `Ranks.neighbours`; absent, the workload's buffer for all.
    ranks_per_node, node_grid
        As of `nodes_of`; absent, every rank has a node of its own.

    Raises
    ------
    PreadyError
        Ranks that do not match the pattern, or do not fill their nodes.
    """
    tables = PATTERNS[name].edges(ranks)
    table, node = tables[0], None
    if ranks_per_node is not None and table.order is None:
        node = nodes_of(ranks.grid, ranks_per_node, node_grid)
        node = None if int(node.max()) + 1 == ranks.count else node  # every rank has an adapter of its own
    to, there = table.receivers, table.receivers >= 0
    towards = [None] * to.shape[1] if sizes is None else [sizes.towards(s) for s in table.steps]
    different: list[float | None] = [*dict.fromkeys(towards)]
    of_tag = np.array([*map(different.index, towards)], np.int32)
    if node is None and listed is None:
        one, profile = _alike(there.T, 2)
        kinds = tuple(map(Kind, different))
        return Pattern(name, ranks.grid, tables, profile, np.tile(of_tag, (len(one), 1)).astype(np.int64), kinds)
    # In words of half the size: what is larger comes from the system anew each time.
    key = np.where(there, of_tag, np.int32(-1))
    if listed is not None:
        flat = np.array([s for row in listed for s in row], np.float64)
        # Classes as they first occur: what is true of all messages is read from the first's.
        _, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
        key[there] = np.argsort(np.argsort(first))[inverse]
        different = flat[np.sort(first)].tolist()
    near = None if node is None else node.astype(np.int32)
    inside = np.zeros(to.shape, np.bool_) if near is None else there & (near[to] == near[:, None])
    # Classes from 0 on, those that leave the node first: what is true of all messages is read from class 0.
    several = len(different)
    values = key + np.int32(1)  # 0: nobody
    np.add(values, np.int32(several), out=values, where=inside)
    counts = np.bincount(values.ravel(order="K"), minlength=2 * several + 1)
    used = np.flatnonzero(counts[1:])
    number = np.full(2 * several + 1, -1, np.int32)
    number[1 + used] = np.arange(len(used))
    classes = number[values]
    one, profile = _alike((digit + 1 for digit in classes.T), len(used) + 1)
    return Pattern(
        name,
        ranks.grid,
        tables,
        profile,
        np.maximum(classes[one], 0).astype(np.int64),
        tuple(Kind(different[int(u) % several], bool(u >= several)) for u in used),
        node,
    )


def _alike(columns: Iterable[Wholes | NDArray[np.bool_]], kinds: int) -> tuple[Wholes, Wholes]:
    """Rows that are alike in all columns, of values below `kinds`: where each first occurs, and each row's number."""
    profile, profiles = np.zeros(1, np.int64), 1
    for digit in columns:  # as many at a time as are digits of one number
        if profiles * kinds > LARGEST_WHOLE:
            profile = np.unique(profile, return_inverse=True)[1].ravel()
            profiles = int(profile.max()) + 1
        profile, profiles = profile * kinds + digit, profiles * kinds
    return _numbered(profile, profiles)


def _numbered(values: Wholes, below: int) -> tuple[Wholes, Wholes]:
    """Where each value first occurs, by value, and the number of each of `values` in that order; all are below
    `below`."""
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


def nodes_of(grid: Sequence[int], ranks_per_node: int, node_grid: Sequence[int] | None = None) -> Wholes:
    """The node of each rank, shape (ranks,).

    Parameters
    ----------
    grid
        Ranks along x, y, z; one to three numbers.
    ranks_per_node
        So many ranks in a row, x first, share a node; unless
    node_grid
        says how many along x, y, z.

    Raises
    ------
    PreadyError
        Ranks that do not fill their nodes.
    """
    size = (*grid, 1, 1)[:3]
    ranks = math.prod(size)
    if node_grid is None:
        if ranks % ranks_per_node:
            raise PreadyError(
                f"ranks_per_node = {ranks_per_node} does not divide {ranks} ranks", valid=f"a divisor of {ranks}"
            )
        return np.arange(ranks) // ranks_per_node
    by = (*node_grid, 1, 1)[:3]
    for axis, (n, b) in enumerate(zip(size, by, strict=True)):
        if n % b:
            raise PreadyError(
                f"node_grid[{axis}] = {b} does not divide {n} ranks along that axis", valid=f"a divisor of {n}"
            )
    everyone, out, stride, nodes = np.arange(ranks), np.zeros(ranks, np.int64), 1, 1
    for n, b in zip(size, by, strict=True):
        out += everyone // stride % n // b * nodes
        stride, nodes = stride * n, nodes * (n // b)
    return out


def adapters_of(node: Wholes, rails: int, placement: Placement = "in turn") -> Wholes:
    """The adapter of each rank, shape (ranks,), of the `rails` of its node."""
    if rails == 1 or placement == "packed":
        return node
    order = np.argsort(node, kind="stable")
    counts = np.bincount(node)
    starts = np.concatenate([[0], np.cumsum(counts)])
    place = np.empty(len(node), np.int64)
    place[order] = np.arange(len(node)) - starts[node[order]]
    own = place % rails if placement == "in turn" else place * rails // counts[node]
    numbers: Wholes = np.unique(node * rails + own, return_inverse=True)[1]
    return numbers


def as_grid(grid: Sequence[int], ranks_per_node: int) -> tuple[int, int, int] | None:
    """Ranks of a node along x, y, z where so many in a row, x first, are a box; None where they are not."""
    left, out = ranks_per_node, list[int]()
    for n in (*grid, 1, 1)[:3]:
        by = math.gcd(left, n)
        if left > 1 and out and out[-1] != (*grid, 1, 1)[len(out) - 1]:
            return None
        out.append(by)
        left //= by
    x, y, z = out
    return (x, y, z) if left == 1 else None


def check_memory(need: int, ranks: int) -> None:
    """Refuse what there is no memory for, before it is taken."""
    refuse_beyond(
        need, f"simulating {ranks} ranks", "fewer ranks, fewer transport partitions, or no record of every rank"
    )
