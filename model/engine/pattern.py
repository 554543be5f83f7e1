"""Who sends to whom: ranks on a grid with halo exchanges or sweeps, pairs, lists, trees; and ranks of a node."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Wholes
from pready.model.common.errors import PreadyError, shown
from pready.model.common.memory import refuse_beyond
from pready.model.engine import _kernel
from pready.model.workload.exchange import Pattern as Name
from pready.model.workload.sizes import FACES, STENCIL_27, Sizes, Step, directions
from pready.model.workload.tree import RADIX, by_level

MOST_RANKS = 2**31 - 1
"""That tables of neighbours can name."""
LARGEST_WHOLE = 2**63 - 1
"""Bytes that are there without asking."""
OCTANTS = 8
CORNERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))
"""Where to a sweep goes along x and y; from each corner in both directions of z."""


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
    """Ranks and their neighbours, in the order in which messages are sent to them."""

    name: Name
    grid: tuple[int, int, int]
    periodic: tuple[bool, bool, bool]
    steps: tuple[Step, ...]
    """Directions of a grid; for other patterns only their number matters."""
    receivers: Wholes
    """In each direction, shape (ranks, directions); -1: none. Of a sweep: from the first corner on."""
    senders: Wholes
    """Shape (ranks, sources); -1: none."""
    slots: Wholes | None
    """The direction in which each of them sends; None: number j in direction j."""
    profile: Wholes
    """Of each rank: which neighbours it has, and of which classes their messages are."""
    classes: Wholes
    """Of messages that are alike, shape (profiles, directions)."""
    kinds: tuple[Kind, ...]
    """What a message of each class is."""
    node: Wholes | None = None
    """Of each rank; None where every rank has an adapter of its own."""
    root: bool = False
    """Does rank 0 send to all others, which send on what they receive? Ranks are numbered level by level."""
    alone: int = 0
    """Exchanges side by side, each from rest; 0: ranks that go on from iteration to iteration."""
    of_a_peer: int = 1
    """Directions in a row that lead to the same peer."""

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
        return len(self.receivers)

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
        return exchanges(self.name, blocks)

    @property
    def neighbours(self) -> list[list[int | None]]:
        """The receivers of each rank by direction; None where there is none."""
        return [[None if to < 0 else to for to in row] for row in self.receivers.tolist()]

    def downstream(self, corner: int) -> Wholes:
        """The receivers of a sweep from one of `CORNERS` along x and y, shape (ranks, 2)."""
        return _beside(self.grid, CORNERS[corner])

    def repeated(self, count: int) -> Pattern:
        """Each direction as so many in a row."""
        slots = self.slots
        return replace(
            self,
            steps=tuple(step for step in self.steps for _ in range(count)),
            receivers=np.repeat(self.receivers, count, axis=1),
            senders=np.repeat(self.senders, count, axis=1),
            slots=None if slots is None else (slots[:, :, None] * count + np.arange(count)).reshape(len(slots), -1),
            classes=np.repeat(self.classes, count, axis=1),
            of_a_peer=self.of_a_peer * count,
        )

    @cached_property
    def _kernels(self) -> dict[tuple[int, int], _kernel.Pattern]:
        return {}

    def kernel(self, blocks: int, rails: int) -> _kernel.Pattern:
        """The same for the kernel, where a sweep has so many blocks, and a node so many adapters."""
        if (blocks, rails) not in self._kernels:
            self._kernels[blocks, rails] = self._kernel(blocks, rails)
        return self._kernels[blocks, rails]

    def _kernel(self, blocks: int, rails: int) -> _kernel.Pattern:
        sweep, tables = self.name == "sweep3d", list[tuple[Wholes, Wholes, Wholes | None, Wholes]]()
        if sweep:
            for corner, (x, y) in enumerate(CORNERS):
                order = np.arange(self.ranks).reshape(self.grid[1], self.grid[0])[::y, ::x]
                tables.append((self.downstream(corner), _beside(self.grid, (-x, -y)), None, order))
        else:
            tables.append((self.receivers, self.senders, self.slots, np.arange(self.ranks if self.root else 0)))
        none = np.zeros(0, np.int64)
        start, order = none, none
        if self.node is not None:
            adapter = adapters_of(self.node, rails)
            order = np.argsort(adapter, kind="stable")
            start = np.concatenate([[0], np.cumsum(np.bincount(adapter))])
        return _kernel.Pattern(
            sources=int(self.senders.shape[1]),
            tables=[tuple(_row(none if part is None else part) for part in table) for table in tables],
            profile=_row(self.profile),
            kind=self.classes.astype(np.int32),
            node_start=start,
            node_rank=order,
            alone=self.alone,
            tree=self.root,
            blocks=blocks if sweep else 0,
            of_a_peer=self.of_a_peer,
        )


def _row(of: Wholes) -> NDArray[np.int32]:
    return np.ascontiguousarray(of, np.int32).ravel()


def _beside(grid: tuple[int, int, int], by: tuple[int, int]) -> Wholes:
    """The rank one step along x, and one along y, shape (ranks, 2); -1 beyond the border."""
    x, y, _ = grid
    at = np.arange(x * y)
    i, j = at % x + by[0], at // x + by[1]
    along = np.where((i >= 0) & (i < x), at + by[0], -1), np.where((j >= 0) & (j < y), at + by[1] * x, -1)
    return np.stack(along, axis=1)


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
    most = {"halo3d": 6, "halo3d26": 26}.get(name, 2)
    check_memory(24 * most * math.prod(size), math.prod(size))
    if neighbours is None and neighbour_sizes is None:
        return _regular(name, size, wraps, sizes, ranks_per_node, by)
    made = _on_grid(name, size, wraps, sizes) if neighbours is None else _listed(size, wraps, neighbours)
    return _on_nodes(made, neighbour_sizes, ranks_per_node, by)


@lru_cache(maxsize=16)  # the same for all approaches of a comparison
def from_rest(sends: tuple[float, ...], count: int) -> Pattern:
    """So many exchanges side by side, each from rest: a rank sends to its peers, which are in step.

    Exchange i has two ranks: i, with the arrivals of rank 0 in iteration first + i, sends so many bytes to each peer;
    i + count, with those of rank 1, receives all of it in place of the peers.
    """
    sizes, peers = [*dict.fromkeys(sends)], len(sends)
    none, side_by_side = np.full((count, peers), -1), np.repeat(np.arange(count)[:, None], peers, axis=1)
    return Pattern(
        "neighbours",
        (2 * count, 1, 1),
        (False, False, False),
        ((1, 0, 0),) * peers,
        receivers=np.concatenate([side_by_side + count, none]),
        senders=np.concatenate([none, side_by_side]),
        slots=None,
        profile=np.repeat([0, 1], count),
        classes=np.array([[*map(sizes.index, sends)], [0] * peers]),
        kinds=(Kind(),) * len(sizes),
        alone=count,
    )


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
    return _on_nodes(_on_grid(name, size, wraps, sizes), None, ranks_per_node, node_grid)


def _on_grid(name: Name, size: tuple[int, int, int], wraps: tuple[bool, bool, bool], sizes: Sizes | None) -> Pattern:
    """Every rank with an adapter of its own; of every pattern but lists."""
    ranks = math.prod(size)
    if name == "pt2pt":
        other = (np.arange(ranks) ^ 1)[:, None]
        return _alike(name, size, wraps, ((1, 0, 0),), other, other, None, np.zeros(ranks, np.int64))
    if name == "sweep3d":
        steps: tuple[Step, ...] = ((1, 0, 0), (0, 1, 0))
        to, from_ = _beside(size, (1, 1)), _beside(size, (-1, -1))
        return _alike(name, size, (False,) * 3, steps, to, from_, None, np.zeros(ranks, np.int64))
    return _halo(name, size, wraps, sizes)


def _alike(
    name: Name,
    size: tuple[int, int, int],
    wraps: tuple[bool, bool, bool],
    steps: tuple[Step, ...],
    to: Wholes,
    from_: Wholes,
    slots: Wholes | None,
    profile: Wholes,
) -> Pattern:
    """All messages of one class."""
    classes = np.zeros((int(profile.max()) + 1, len(steps)), np.int64)
    return Pattern(name, size, wraps, steps, to, from_, slots, profile, classes, (Kind(),))


def _halo(name: Name, size: tuple[int, int, int], wraps: tuple[bool, bool, bool], sizes: Sizes | None) -> Pattern:
    steps = directions(FACES if name == "halo3d" else STENCIL_27, size)
    # Faces, edges and corners are kinds of their own, however large: sizes may change, classes may not.
    keys = [(0, 0.0) if sizes is None else (sum(map(abs, s)), sizes.towards(s)) for s in steps]
    order = list(dict.fromkeys(keys))
    kinds = tuple(Kind(None if sizes is None else steps[keys.index(k)]) for k in order)
    to, from_ = (_towards(size, wraps, [(a * x, a * y, a * z) for x, y, z in steps]) for a in (1, -1))
    # Ranks at a border have profiles of their own, by which of the six faces have a neighbour.
    profile = np.zeros(math.prod(size), np.int64)
    for bit, face in enumerate(FACES):
        profile |= (_towards(size, wraps, [face])[:, 0] >= 0).astype(np.int64) << bit
    used, profile = np.unique(profile, return_inverse=True)
    classes = np.tile([order.index(k) for k in keys], (len(used), 1))
    return Pattern(name, size, wraps, steps, to, from_, None, profile.ravel(), classes, kinds)


def _towards(size: tuple[int, int, int], wraps: tuple[bool, bool, bool], steps: Sequence[Step]) -> Wholes:
    """The rank in each direction of each rank, shape (ranks, steps); -1 beyond the border."""
    out = np.full((len(steps), math.prod(size)), -1, np.int64).T  # by direction, which is how it is looked at
    # By step and axis, as arrays that stretch over the others: a number of additions, not of divisions.
    z, y, x = (slice(None), None, None), (None, slice(None), None), (None, None, slice(None))
    strides = np.cumprod([1, *size[:2]])
    beside: list[dict[int, tuple[Wholes, NDArray[np.bool_]]]] = []
    for n, wrap, stride, along in zip(size, wraps, strides, (x, y, z), strict=True):
        there = {by: np.arange(n) + by for by in (-1, 0, 1)}
        beside.append(
            {by: ((a % n * stride)[along], ((a >= 0) & (a < n) | (wrap and n > 1))[along]) for by, a in there.items()}
        )
    for column, step in zip(out.T.reshape(-1, *size[::-1]), steps, strict=True):
        (at_x, in_x), (at_y, in_y), (at_z, in_z) = (axis[by] for axis, by in zip(beside, step, strict=True))
        np.copyto(column, at_x + at_y + at_z, where=in_x & in_y & in_z)
    return out


@lru_cache(maxsize=8)
def _tree(size: tuple[int, int, int], radix: int) -> Pattern:
    """A broadcast over a k-nomial tree."""
    return replace(_listed(size, (False,) * 3, by_level(math.prod(size), radix)), name="bcast", root=True)


def _listed(size: tuple[int, int, int], wraps: tuple[bool, bool, bool], neighbours: Sequence[Iterable[int]]) -> Pattern:
    ranks = math.prod(size)
    if len(neighbours) != ranks:
        raise PreadyError(f"neighbour_list of {len(neighbours)} ranks", valid=f"one entry for each of {ranks} ranks")
    lists = [np.fromiter(n, np.int64) for n in neighbours]
    counts = np.array([len(n) for n in lists], np.int64)
    target = np.concatenate(lists)
    if counts.sum() == 0:
        raise PreadyError("neighbour list is empty", valid="at least one neighbour")
    bad = (target < 0) | (target >= ranks)
    if bad.any():
        raise PreadyError(f"neighbour list names rank {target[bad][0]}", valid=f"0 to {ranks - 1}")
    source = np.repeat(np.arange(ranks), counts)
    if (source == target).any():
        raise PreadyError(f"neighbour list: rank {source[source == target][0]} sends to itself", valid="other ranks")
    slot = np.arange(len(target)) - np.repeat(np.cumsum(counts) - counts, counts)
    to = np.full((ranks, int(counts.max())), -1)
    to[source, slot] = target
    order = np.lexsort((slot, source, target))
    received = np.bincount(target, minlength=ranks)
    place = np.arange(len(target)) - np.repeat(np.cumsum(received) - received, received)
    from_, slots = np.full((ranks, int(received.max())), -1), np.zeros((ranks, int(received.max())), np.int64)
    from_[target[order], place], slots[target[order], place] = source[order], slot[order]
    return _alike("neighbours", size, wraps, ((1, 0, 0),) * to.shape[1], to, from_, slots, counts)


def _on_nodes(
    of: Pattern, sizes: Sequence[Sequence[float]] | None, ranks_per_node: int | None, node_grid: tuple[int, ...] | None
) -> Pattern:
    node = None if ranks_per_node is None else nodes_of(of.grid, ranks_per_node, node_grid)
    if node is not None and int(node.max()) + 1 == of.ranks:
        node = None  # every rank has an adapter of its own
    if of.name == "sweep3d" or (node is None and sizes is None):
        return of
    return _classed(of, sizes, node)


def _classed(of: Pattern, sizes: Sequence[Sequence[float]] | None, node: Wholes | None) -> Pattern:
    """With classes by how large messages are, and which of them stay within a node."""
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
        profile=profile,
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


def adapters_of(node: Wholes, rails: int) -> Wholes:
    """The adapter of each rank, shape (ranks,): those of a node use its `rails` in turn."""
    if rails == 1:
        return node
    order = np.argsort(node, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(node))])
    place = np.empty(len(node), np.int64)
    place[order] = np.arange(len(node)) - starts[node[order]]
    numbers: Wholes = np.unique(node * rails + place % rails, return_inverse=True)[1]
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


def _grid(grid: Sequence[int]) -> tuple[int, int, int]:
    numbers = list(grid)
    if not 1 <= len(numbers) <= 3 or not all(isinstance(n, int) and n >= 1 for n in numbers):
        raise PreadyError(f"grid = {shown(numbers)}", valid="one to three integers of at least 1")
    x, y, z = (*numbers, 1, 1)[:3]
    if not 2 <= x * y * z <= MOST_RANKS:
        raise PreadyError(f"grid = {numbers} has {x * y * z} ranks", valid=f"2 to {MOST_RANKS} ranks")
    return x, y, z


def _periodic(periodic: bool | Sequence[bool]) -> tuple[bool, bool, bool]:
    if isinstance(periodic, bool):
        return periodic, periodic, periodic
    if len(periodic) != 3:
        raise PreadyError(f"periodic = {shown(list(periodic))}", valid="one value or one per axis")
    x, y, z = periodic
    return x, y, z
