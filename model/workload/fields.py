"""The fields of a workload file, and what follows from them: counts, sizes, neighbours."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from pready.model.approach.interfaces import Approach, Today, baseline
from pready.model.common import units
from pready.model.common.errors import PreadyError, shown
from pready.model.machine.path import PathName
from pready.model.toml.provenance import Strict
from pready.model.workload.arrivals import Arrivals, NoArrivals
from pready.model.workload.captured import Captured
from pready.model.workload.edges import PATTERNS, RADIX, children
from pready.model.workload.edges import Name as PatternName
from pready.model.workload.exchange import (
    Compute,
    ComputeTime,
    Consume,
    Count,
    Exchange,
    Extent,
    Interior,
    Name,
    NeighbourList,
    PackedBy,
    Placement,
    Receiver,
    ThreadGrid,
    Three,
)
from pready.model.workload.neighbour_list import Neighbours, read_neighbours
from pready.model.workload.sizes import Sizes, directions

FORMAT: Literal[2] = 2
"""Format of workload files."""

MOST_EXCHANGES = 64
"""Exchanges of a step."""


class Fields(Strict):
    """As a file has them; `pready.model.workload.workload.Workload` is one that has been checked."""

    format: Literal[2] = FORMAT
    """Format of the file."""
    name: Name = ""
    """For tables and pictures; absent: the file's name."""
    description: str = ""
    """For people; may have several lines."""
    threads: Count = Field(description="threads per rank, an integer of at least 1")
    partitions_per_thread: Count = 1
    """User partitions that each thread marks ready, one after the other."""
    buffer: units.Size = Field(description='size of the buffer per peer, such as "1 MiB"')
    """Absent if sizes differ between neighbours: then the largest face, or listed size."""
    faces: Three | None = None
    """Bytes of a halo for a neighbour along x, y, z, in place of `buffer`."""
    pattern: PatternName = "pt2pt"
    """A pair, faces of a block, all its 26 neighbours, a wavefront, listed neighbours, or a broadcast from rank 0."""
    both_ways: bool = False
    """Do both ranks of a pair (pt2pt) send at the same time?"""
    neighbours: Count | None = None
    """Number of neighbours, of pattern "neighbours" without a `neighbour_list`."""
    neighbour_list: NeighbourList | None = None
    """For each rank the ranks that it sends to (pattern "neighbours"), or a file with a line for each. One with
    a size of its own is a table, ``{to = 1, size = "64 KiB"}``; in the file ``1:65536``, in bytes."""
    grid: Annotated[tuple[Extent, ...], Field(min_length=1, max_length=3)] | None = None
    """Ranks along x, y, z (of a sweep x, y); pairs and lists take the product."""
    ranks_per_node: Count | None = None
    """Ranks that share a node's adapter, and reach each other within the node; absent: every rank has its own."""
    node_grid: Annotated[tuple[Extent, ...], Field(min_length=1, max_length=3)] | None = None
    """Ranks of a node along x, y, z: how the grid is cut into nodes; absent: `ranks_per_node` in a row, x first."""
    placement: Placement | None = None
    """Which of a node's adapters its ranks use, where it has several: ``packed``, all of them one; ``numa``, each that
    of its part of the node, ranks in a row alike; ``in turn``, each the next one. Absent: in turn, or packed."""
    boundaries: Literal["periodic", "open"] = "periodic"
    """Do halos wrap around?"""
    radix: Annotated[Count, Field(ge=2)] | None = None
    """Radix of a broadcast's k-nomial tree; absent: 2, binomial. As many as there are ranks: the root sends to all."""
    blocks: Count = 1
    """How often a rank computes and sends on per octant of a sweep (KBA)."""
    edge: units.Size | None = None
    """Bytes per edge of halo3d26; absent, as many as per face, which is `buffer`."""
    edges: Three | None = None
    """Bytes for the edges of halo3d26 that run along x, y, z, in place of `edge`."""
    corner: units.Size | None = None
    """Bytes per corner of halo3d26; absent, as many as per face."""
    thread_grid: ThreadGrid | None = None
    """Threads of a halo along x, y, z, each of which sends its part of what it touches; ``shared``: each has a part of
    every face. Absent: shared, which stays an open choice."""
    receive_partitions: Count | None = None
    """Partitions of a buffer at its receiver (MPI_Precv_init), where they are not the sender's: libraries differ
    in how many messages they make of that. What a receiver that is consuming works on, one by one."""
    path: PathName = "inter"
    """Between nodes or within one; `ranks_per_node` says it rank by rank."""
    iterations: Count = 100
    """Iterations of the exchange; the set-up cost is spread over them."""
    today: Today = "nonblocking"
    """The baseline: how the application sends before a port."""
    cache: Literal["hot", "cold"] = "hot"
    """Is the buffer in the cache when it is copied?"""
    receiver: Receiver = "waiting"
    """Is the receiver waiting in MPI while the sender computes, or computing, too? Absent: computing in halos and
    sweeps, whose ranks do the same, else waiting. Consuming: its threads work on what comes, as `consume` says, on each
    partition as soon as MPI tells that it is there; before that it computes if it sends as well, else it waits."""
    consume: Consume | None = None
    """A thread's work for each user partition that it receives; makes the receiver a consuming one."""
    transport_partitions: tuple[Count, ...] | None = None
    """Counts to try; absent: every divisor of the user partitions."""
    pack: units.Bandwidth | None = None
    """Rate at which one thread copies what is sent into a buffer, such as faces that are strided in memory; absent:
    what is sent lies in memory as it goes."""
    packed_by: PackedBy = "one"
    """Who packs today: one thread after the others, each message before it goes, or every thread its own part. A thread
    that sends its own part packs it by any way."""
    interior: Interior | None = None
    """Share of a thread's computing that needs no neighbour: it makes nothing sent and uses nothing received.
    Threads could do it last; a code that is `today` "overlapped" sends before it. Absent: none is known."""
    compute: Compute = ComputeTime.model_validate({"time": "0 s"})
    arrivals: Arrivals = NoArrivals()
    exchanges: Annotated[tuple[Exchange, ...], Field(min_length=1, max_length=MOST_EXCHANGES)] | None = None
    """Exchanges of a step, in order; absent: one, described by the fields above."""
    share: Annotated[units.Share, Field(gt=0, le=1)] | None = None
    """Share of the run's time that these steps take; absent: no figure for the run."""
    captured: Captured | None = None
    """What the step of a captured run took; absent: the prediction is held against nothing."""
    folder: Annotated[str, Field(exclude=True)] = "."
    """Folder of the files named in `arrivals` and `neighbour_list`; set by `load`."""

    @property
    def baseline(self) -> Approach:
        """The baseline: what the application does before a port."""
        return baseline(self.today, self.threads, self.partitions_per_thread)

    @property
    def n_partitions(self) -> int:
        """N_part = N θ, the user partitions of one buffer."""
        return self.threads * self.partitions_per_thread

    @property
    def partition_size(self) -> float:
        """S_part in bytes."""
        return self.buffer / self.n_partitions

    @property
    def blocks_of_threads(self) -> tuple[int, int, int] | None:
        """Threads along x, y, z where each sends what it touches; None: every thread has a part of every buffer."""
        return None if self.thread_grid == "shared" else self.thread_grid

    @property
    def divisor(self) -> int:
        """Divides the bytes of a buffer whose partitions at both ends are whole bytes."""
        return math.lcm(self.n_partitions, self.receive_partitions or 1)

    @property
    def peers(self) -> int:
        """Ranks that one rank sends a buffer to in an exchange."""
        if self.neighbours is not None:
            return self.neighbours
        if self.pattern == "bcast":
            return len(children(0, math.prod(self.grid or PATTERNS["bcast"].grid), self.radix or RADIX))
        lists = self.neighbour_lists
        return PATTERNS[self.pattern].peers if lists is None else max(map(len, lists))

    @property
    def ranks_of_a_node(self) -> int | None:
        """How many ranks share a node's adapter; None where each has its own."""
        ranks = self.ranks_per_node or math.prod(self.node_grid or (1,))
        return ranks if ranks > 1 else None

    @property
    def on_gpu(self) -> bool:
        """Does a GPU compute?"""
        return isinstance(self.compute, ComputeTime) and self.compute.device == "gpu"

    @property
    def two_way(self) -> bool:
        """Does a rank receive from its peers while it sends to them? In a sweep it receives first."""
        lists = self.neighbour_lists
        if lists is not None:
            receives = {to for row in lists for to in row}
            return any(row and rank in receives for rank, row in enumerate(lists))
        return PATTERNS[self.pattern].two_way or self.both_ways

    @property
    def receiver_computes(self) -> bool:
        """Is a rank computing, rather than in MPI, until its own partitions are ready?"""
        return self.receiver == "computing" or (self.receiver == "consuming" and self.two_way)

    @property
    def neighbour_lists(self) -> tuple[tuple[int, ...], ...] | None:
        """For each rank the ranks that it sends to, if listed."""
        return None if self.neighbour_list is None else self._lists.ranks

    @property
    def neighbour_sizes(self) -> tuple[tuple[float, ...], ...] | None:
        """Bytes for each of `neighbour_lists`, if any of them has a size of its own."""
        return self._lists.filled(self.buffer) if self._listed_sizes else None

    @property
    def _lists(self) -> Neighbours:
        listed = self.neighbour_list or ()
        if isinstance(listed, str):
            try:
                return read_neighbours(str(Path(self.folder) / listed))
            except PreadyError as error:
                raise PreadyError(f"neighbour_list = {shown(listed)}: {error.problem}", valid=error.valid) from None
        kept = self.__dict__.get("_kept")  # read hundreds of times; a copy with another list has another tuple
        if kept is None or kept[0] is not listed:
            made = Neighbours(
                tuple(tuple(n if isinstance(n, int) else n.to for n in row) for row in listed),
                tuple(tuple(None if isinstance(n, int) else n.size for n in row) for row in listed),
            )
            kept = self.__dict__["_kept"] = listed, made
        return kept[1]

    @property
    def _listed_sizes(self) -> bool:
        return self._lists.sized

    @property
    def sizes(self) -> Sizes | None:
        """Bytes by direction of a halo; None if every neighbour gets `buffer`."""
        if (self.faces, self.edge, self.edges, self.corner) == (None,) * 4:
            return None
        alike = Sizes.alike(self.buffer, self.edge, self.corner)
        return replace(alike, faces=self.faces or alike.faces, edges=self.edges or alike.edges)

    @property
    def sends(self) -> tuple[float, ...]:
        """Bytes that a rank away from open boundaries sends to each of its peers, in that order.

        Of a list, what the first rank that sends to most others sends: what all send, if they are `in_step`.
        """
        if stencil := PATTERNS[self.pattern].stencil:
            x, y, z = (*(self.grid or ()), 1, 1, 1)[:3]
            sizes = self.sizes or Sizes.alike(self.buffer)
            return tuple(map(sizes.towards, directions(stencil, (x, y, z)) or stencil))
        sized = self.neighbour_sizes
        return (self.buffer,) * self.peers if sized is None else max(sized, key=len)

    @property
    def in_step(self) -> bool:
        """Do ranks that start together stay together? With a list, only if all ranks send the same sizes in the same
        order, and every rank receives each of them once."""
        sized, lists = self.neighbour_sizes, self.neighbour_lists or ()
        if sized is None or len({size for row in sized for size in row}) == 1:
            return True
        everyone = set(range(len(lists)))
        return len(set(sized)) == 1 and all(set(to) == everyone for to in zip(*lists, strict=True))

    @property
    def thread_time(self) -> float:
        """Seconds that one thread computes for all its partitions, without spread."""
        if isinstance(self.compute, ComputeTime):
            return self.compute.time
        return self.compute.mu * self.partition_size * self.partitions_per_thread
