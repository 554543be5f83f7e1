"""The Workload: what the application does, as a TOML file.

::

    format = 2
    threads = 8
    partitions_per_thread = 4
    buffer = "1 MiB"            # per peer; or faces = ["2 MiB", "512 KiB", "512 KiB"], along x, y, z
    pattern = "halo3d"

    [compute]
    time = "1 ms"               # of one thread, for all its partitions

    [arrivals]
    model = "laggard"
    late_by = "4 %"

A step with several exchanges lists them in order; what one of them does not say of its pattern and partitions is
as at the top::

    [[exchanges]]
    name = "faces"
    faces = ["2 MiB", "512 KiB", "512 KiB"]
    compute = { time = "1 ms" }
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, ValidationError, model_validator

from pready.model import gain_numpy, units, written
from pready.model.approach import Approach, Today, baseline
from pready.model.arrival_models import WIDTHS, Arrivals, Drawn, Laggard, NoArrivals, refuse_older_names
from pready.model.closed_form import FLOPS_PER_CYCLE
from pready.model.errors import PreadyError, printable, shown
from pready.model.files import field_names, one_line, parsed_toml, read_toml, validated
from pready.model.machine import PathName
from pready.model.neighbour_list import Neighbours, read_neighbours
from pready.model.sizes import FACES, STENCIL_27, Sizes, directions
from pready.model.values import Strict

Pattern = Literal["pt2pt", "halo3d", "halo3d26", "sweep3d", "neighbours"]
PEERS: dict[Pattern, int] = {"pt2pt": 1, "halo3d": 6, "halo3d26": 26, "sweep3d": 2}
"""Messages' destinations per rank and exchange: 7- and 27-point stencils, downstream of a sweep."""

HALOS = ("halo3d", "halo3d26")

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Rank = Annotated[int, Field(ge=0)]
Extent = Annotated[int, Field(ge=1, le=2**32 - 1)]
Three = tuple[units.Size, units.Size, units.Size]


class SizedNeighbour(Strict):
    """A neighbour with its own number of bytes."""

    to: Rank
    """The neighbour's rank."""
    size: units.Size
    """Of what is sent there."""


Neighbour = Annotated[
    Annotated[Rank, Tag("rank")] | Annotated[SizedNeighbour, Tag("table")],
    Discriminator(lambda data: "table" if isinstance(data, (dict, SizedNeighbour)) else "rank"),
]
NeighbourList = Annotated[
    Annotated[str, Tag("file")] | Annotated[tuple[tuple[Neighbour, ...], ...], Tag("lists")],
    Discriminator(lambda data: "file" if isinstance(data, str) else "lists"),
]
FORMAT: Literal[2] = 2
"""Of workload files, as they are written now."""
SINCE_2 = ("faces", "edges", "both_ways", "ranks_per_node", "node_grid", "share", "exchanges")
"""Fields that a file of format 1 (one without a `format`) has not."""
LARGEST_EXCHANGE = 4_000_000
"""User partitions × peers of one rank. Above it, an iteration has more messages than any NIC queue."""


class ComputeTime(Strict):
    """Compute time of one thread for all its partitions, whatever the buffer's size."""

    time: units.Time
    """Before the exchange; the threads' times vary around it as `[arrivals]` says."""


class ComputeRate(Strict):
    """Compute time from flops: Eq. 6 of gillis2023, https://doi.org/10.1145/3605573.3605599."""

    arithmetic_intensity: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Flops per byte of memory traffic."""
    communication_intensity: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Bytes sent per byte of memory traffic."""
    frequency: units.Frequency
    """Of the clock."""
    flops_per_cycle: Annotated[float, Field(gt=0, allow_inf_nan=False)] = FLOPS_PER_CYCLE
    """The bare 8 of Eq. 6."""

    @property
    def mu(self) -> float:
        """Computation rate in s/B."""
        return float(
            gain_numpy.computation_rate(
                self.arithmetic_intensity,
                self.communication_intensity,
                self.frequency,
                self.flops_per_cycle,
            )
        )


def _compute_kind(data: Any) -> str:
    """A plain union would report both alternatives' errors; decide by what is there."""
    flops = {"arithmetic_intensity", "communication_intensity", "frequency", "flops_per_cycle"}
    given = set(data) if isinstance(data, dict) else set()
    by_rate = isinstance(data, ComputeRate) or (given & flops and "time" not in given)
    return "by rate" if by_rate else "by time"


Compute = Annotated[
    Annotated[ComputeTime, Tag("by time")] | Annotated[ComputeRate, Tag("by rate")],
    Discriminator(_compute_kind),
]


class Exchange(Strict):
    """One exchange of a step; what it does not say of pattern and partitions is as at the top of the file."""

    name: str = ""
    """As tables and JSON call it; absent: its number."""
    pattern: Pattern | None = None
    partitions_per_thread: Count | None = None
    transport_partitions: tuple[Count, ...] | None = None
    boundaries: Literal["periodic", "open"] | None = None
    thread_grid: tuple[Count, Count, Count] | None = None
    receiver: Literal["waiting", "computing"] | None = None
    buffer: units.Size | None = None
    faces: Three | None = None
    edge: units.Size | None = None
    edges: Three | None = None
    corner: units.Size | None = None
    both_ways: bool = False
    neighbours: Count | None = None
    neighbour_list: NeighbourList | None = None
    blocks: Count = 1
    compute: Compute = ComputeTime(time="0 s")  # type: ignore[arg-type]
    """Before this exchange; absent: nothing, its partitions are ready when the exchange before has ended."""
    arrivals: Arrivals = NoArrivals()


AS_AT_THE_TOP = (
    "pattern", "partitions_per_thread", "transport_partitions", "boundaries", "thread_grid", "receiver",
)  # fmt: skip
"""What an exchange takes from the top of the file where it says nothing itself."""
EACH_ITS_OWN = (
    "buffer", "faces", "edge", "edges", "corner", "both_ways", "neighbours", "neighbour_list", "blocks", "compute",
    "arrivals",
)  # fmt: skip
"""What every exchange of a step says for itself: beside them, it does not stand at the top of the file."""


class Workload(Strict):
    """What one rank does in one iteration, and with whom it talks."""

    format: Literal[2] = FORMAT
    """Of the file; without it, an older file is read as long as it means the same."""
    name: str = ""
    """As tables and pictures call it; absent, the file's name."""
    description: str = ""
    """For people; may have several lines."""
    threads: Count = Field(description="threads per rank, an integer of at least 1")
    partitions_per_thread: Count = 1
    """User partitions that each thread marks ready, one after the other."""
    buffer: units.Size = Field(description='size of the buffer per peer, such as "1 MiB"')
    """Absent where sizes differ between neighbours: then it is the largest face, or listed size."""
    faces: Three | None = None
    """Of halos, in place of `buffer`: bytes for a neighbour along x, y, z."""
    pattern: Pattern = "pt2pt"
    """Who sends to whom: a pair, the faces of a block or all its 26 neighbours, a wavefront, or as listed."""
    both_ways: bool = False
    """Of pattern "pt2pt": do both ranks of a pair send, at the same time?"""
    neighbours: Count | None = None
    """Of pattern "neighbours", how many; with a `neighbour_list` it says."""
    neighbour_list: NeighbourList | None = None
    """Of pattern "neighbours": for each rank the ranks that it sends to, or a file with a line for each. One with
    a size of its own is a table, ``{to = 1, size = "64 KiB"}``; in the file ``1:65536``, in bytes."""
    grid: Annotated[tuple[Extent, ...], Field(min_length=1, max_length=3)] | None = None
    """Ranks along x, y, z (of a sweep x, y); pairs and lists take the product."""
    ranks_per_node: Count | None = None
    """Ranks that share a node's adapter, and reach each other within the node; absent: every rank has its own."""
    node_grid: Annotated[tuple[Extent, ...], Field(min_length=1, max_length=3)] | None = None
    """Ranks of a node along x, y, z: how the grid is cut into nodes; absent: `ranks_per_node` in a row, x first."""
    boundaries: Literal["periodic", "open"] = "periodic"
    """Do halos wrap around?"""
    blocks: Count = 1
    """Of a sweep, per octant (KBA): how often a rank computes and sends on."""
    edge: units.Size | None = None
    """Of halo3d26: bytes per edge; absent, as many as per face, which is `buffer`."""
    edges: Three | None = None
    """Of halo3d26, in place of `edge`: bytes for the edges that run along x, y, z."""
    corner: units.Size | None = None
    """Of halo3d26: bytes per corner; absent, as many as per face."""
    thread_grid: tuple[Count, Count, Count] | None = None
    """Of halos: threads along x, y, z; a face is then sent by the threads that touch it."""
    path: PathName = "inter"
    """Between nodes or within one; `ranks_per_node` says it rank by rank."""
    iterations: Count = 100
    """Of the exchange, over which what it costs to begin is spread."""
    today: Today = "nonblocking"
    """How the application sends before anything is ported: what everything is compared with."""
    cache: Literal["hot", "cold"] = "hot"
    """Is the buffer in the cache when it is copied?"""
    receiver: Literal["waiting", "computing"] = "waiting"
    """Is the receiver inside MPI while the sender computes, or computing like it?"""
    transport_partitions: tuple[Count, ...] | None = None
    """Restricts what is tried; absent: every divisor of the user partitions."""
    compute: Compute = ComputeTime(time="0 s")  # type: ignore[arg-type]
    arrivals: Arrivals = NoArrivals()
    exchanges: Annotated[tuple[Exchange, ...], Field(min_length=1, max_length=64)] | None = None
    """Of a step, in order; absent: one, as the fields above say."""
    share: Annotated[units.Share, Field(gt=0, le=1)] | None = None
    """Of the whole run's time, what these steps take; absent: nothing is said of the run."""
    folder: Annotated[str, Field(exclude=True)] = "."
    """Where the files named in `arrivals` and `neighbour_list` are looked for; set by `load`."""

    @model_validator(mode="before")
    @classmethod
    def _buffer(cls, data: Any) -> Any:
        """The largest size, where none is for all neighbours."""
        if not isinstance(data, dict) or data.get("buffer") is not None:
            return data
        largest = _largest(data)
        return data if largest is None else {**data, "buffer": f"{largest:.17g} B"}

    @model_validator(mode="after")
    def _consistent(self) -> Workload:
        n = self.n_partitions
        if self.exchanges is not None:
            self._exchanges_consistent()
            return self
        self._ranks_consistent()
        self._sizes_consistent()
        unlike = self.faces is not None or self._listed_sizes
        if not unlike and (self.buffer != int(self.buffer) or self.buffer % n):
            nearest = max(1, round(self.buffer / n)) * n
            raise PreadyError(
                f"buffer = {self.buffer:g} B is not divided by "
                f"{self.threads} × {self.partitions_per_thread} = {n} user partitions",
                valid=f"a multiple of {n} B, such as {nearest} B",
            )
        if n * self.peers > LARGEST_EXCHANGE:
            raise PreadyError(
                f"threads × partitions_per_thread × peers = {n * self.peers}",
                valid=f"at most {LARGEST_EXCHANGE}",
            )
        for t in self.transport_partitions or ():
            check_transport_partitions(t, n)
        arrivals = self.arrivals
        if isinstance(arrivals, Drawn) and arrivals.relative and self.thread_time == 0:
            raise PreadyError(
                f"arrivals: model = {shown(self.arrivals.model)} scales with the compute time, which is 0",
                valid="a [compute] table with a time or an arithmetic intensity",
            )
        if isinstance(arrivals, Laggard) and arrivals.spread is not None and arrivals.spread**2 >= self.threads - 1:
            raise PreadyError(
                f"arrivals.spread = {100 * arrivals.spread:g} % of one late thread in {self.threads}",
                valid=f"less than {100 * math.sqrt(self.threads - 1):.4g} %; or late_by or delay",
            )
        return self

    def _ranks_consistent(self) -> None:
        pattern = f"with pattern = {shown(self.pattern)}"
        listed = self.pattern == "neighbours"
        if (self.neighbours is not None) + (self.neighbour_list is not None) != listed:
            given = f"neighbour_list = {shown(self.neighbour_list)}" if self.neighbour_list is not None else ""
            raise PreadyError(
                f"{given or f'neighbours = {shown(self.neighbours)}'} {pattern}",
                valid="either neighbours, a count, or neighbour_list with pattern 'neighbours', neither with any other",
            )
        try:
            lists = self.neighbour_lists
        except PreadyError as error:
            raise PreadyError(
                f"neighbour_list = {shown(self.neighbour_list)}: {error.problem}", valid=error.valid
            ) from None
        if lists is not None and not any(lists):
            raise PreadyError("neighbour_list is empty", valid="at least one neighbour")
        only: tuple[tuple[str, bool, tuple[str, ...]], ...] = (
            ("boundaries", self.boundaries == "open", (*HALOS, "sweep3d")),
            ("blocks", self.blocks > 1, ("sweep3d",)),
            ("faces", self.faces is not None, HALOS),
            ("edge", self.edge is not None, ("halo3d26",)),
            ("edges", self.edges is not None, ("halo3d26",)),
            ("corner", self.corner is not None, ("halo3d26",)),
            ("both_ways", self.both_ways, ("pt2pt",)),
            ("thread_grid", self.thread_grid is not None, HALOS),
        )
        for name, given_, patterns in only:
            if given_ and self.pattern not in patterns:
                raise PreadyError(
                    f"{name} = {shown(getattr(self, name))} {pattern}",
                    valid=f"pattern {' or '.join(map(repr, patterns))}",
                )
        self._nodes_consistent()
        if self.thread_grid is not None and math.prod(self.thread_grid) != self.threads:
            raise PreadyError(
                f"thread_grid = {list(self.thread_grid)} has {math.prod(self.thread_grid)} threads",
                valid=f"{self.threads}, the workload's threads",
            )

    def _sizes_consistent(self) -> None:
        for name in ("edge", "corner"):
            size = getattr(self, name)
            if size is not None and size != int(size):
                raise PreadyError(f"{name} = {size:g} B", valid="whole bytes")
        for name in ("faces", "edges"):
            for i, size in enumerate(getattr(self, name) or ()):
                if size != int(size):
                    raise PreadyError(f"{name}[{i}] = {size:g} B", valid="whole bytes")
        for sizes in self._lists.sizes if self._listed_sizes else ():
            for size in sizes:
                if size is not None and size != int(size):
                    raise PreadyError(f"neighbour_list: size = {size:g} B", valid="whole bytes")
        if self.edge is not None and self.edges is not None:
            raise PreadyError("edge beside edges", valid="edge, of all, or edges, along x, y, z")
        if self.faces is None:
            return
        if self.buffer != max(self.faces):
            raise PreadyError(f"buffer = {self.buffer:g} B beside faces", valid="faces alone")
        edges = self.edge is not None or self.edges is not None
        if self.pattern == "halo3d26" and len(set(self.faces)) > 1 and not (edges and self.corner is not None):
            raise PreadyError(
                f"faces = {shown(self.faces)} with pattern = 'halo3d26' say nothing of edges and corners",
                valid="edges and corner beside them",
            )

    def _nodes_consistent(self) -> None:
        if self.ranks_per_node is None and self.node_grid is None:
            return
        if self.path == "intra":
            raise PreadyError(
                "path = 'intra' beside ranks of several nodes",
                valid="no path: ranks of a node use the path within it, all others the adapter",
            )
        if self.node_grid is None:
            ranks = math.prod(self.grid or ())
            if self.grid is not None and ranks % (self.ranks_per_node or 1):
                raise PreadyError(
                    f"ranks_per_node = {self.ranks_per_node} does not divide {ranks} ranks",
                    valid=f"a divisor of {ranks}",
                )
            return
        if self.pattern in ("pt2pt", "neighbours") and self.grid is None:
            raise PreadyError(
                f"node_grid = {shown(self.node_grid)} with pattern = {shown(self.pattern)} and no grid",
                valid="ranks_per_node, or a grid",
            )
        ranks = math.prod(self.node_grid)
        if self.ranks_per_node not in (None, ranks):
            raise PreadyError(
                f"node_grid = {list(self.node_grid)} has {ranks} ranks",
                valid=f"{self.ranks_per_node}, the ranks_per_node",
            )
        for axis, (n, by) in enumerate(zip(self.grid or (), (*self.node_grid, 1, 1), strict=False)):
            if n % by:
                raise PreadyError(
                    f"node_grid[{axis}] = {by} does not divide {n} ranks along that axis", valid=f"a divisor of {n}"
                )

    def _exchanges_consistent(self) -> None:
        exchanges = self.exchanges or ()
        for name in EACH_ITS_OWN:
            value, default = getattr(self, name), type(self).model_fields[name].default
            if name != "buffer" and value != default:
                raise PreadyError(f"{name} beside exchanges", valid=f"{name} in each of [[exchanges]]")
        if self.buffer != _largest({"exchanges": [e.model_dump() for e in exchanges]}):
            raise PreadyError("buffer beside exchanges", valid="buffer in each of [[exchanges]]")
        names = [e.name for e in exchanges if e.name]
        for name in names:
            if names.count(name) > 1:
                raise PreadyError(f"exchanges: name = {shown(name)} twice", valid="a name of its own for each")
        for number in range(len(exchanges)):
            try:
                self._part(number)
            except PreadyError as error:
                raise PreadyError(f"exchanges[{number}].{error.problem}", valid=error.valid) from None

    @property
    def parts(self) -> tuple[Workload, ...]:
        """The exchanges of a step in order, each as a workload of one."""
        return (self,) if self.exchanges is None else tuple(map(self._part, range(len(self.exchanges))))

    def _part(self, number: int) -> Workload:
        assert self.exchanges is not None
        exchange = self.exchanges[number]
        own = {n: getattr(exchange, n) for n in (*AS_AT_THE_TOP, *EACH_ITS_OWN)}
        fields = {n: getattr(self, n) for n in self.model_fields_set if n not in EACH_ITS_OWN}
        pattern = exchange.pattern or self.pattern
        for name, patterns in (("boundaries", (*HALOS, "sweep3d")), ("thread_grid", HALOS)):
            if pattern not in patterns:
                fields.pop(name, None)
        fields |= {n: v for n, v in own.items() if v is not None}
        fields |= {"exchanges": None, "share": None, "name": exchange.name or f"exchange {number + 1}"}
        try:
            return type(self).model_validate(_written(fields))
        except ValidationError as error:
            raise one_line(error, type(self)) from None

    @property
    def baseline(self) -> Approach:
        """What the application does today."""
        return baseline(self.today, self.threads)

    @property
    def n_partitions(self) -> int:
        """N_part = N θ, the user partitions of one buffer."""
        return self.threads * self.partitions_per_thread

    @property
    def partition_size(self) -> float:
        """S_part in bytes."""
        return self.buffer / self.n_partitions

    @property
    def peers(self) -> int:
        """Ranks that one rank sends a buffer to in an exchange."""
        if self.neighbours is not None:
            return self.neighbours
        lists = self.neighbour_lists
        return PEERS[self.pattern] if lists is None else max(map(len, lists), default=0)

    @property
    def ranks_of_a_node(self) -> int | None:
        """How many ranks share a node's adapter; None where each has its own."""
        ranks = self.ranks_per_node or math.prod(self.node_grid or (1,))
        return ranks if ranks > 1 else None

    @property
    def two_way(self) -> bool:
        """Does a rank receive from its peers while it sends to them? In a sweep, receives come first."""
        return self.pattern in (*HALOS, "neighbours") or self.both_ways

    @property
    def neighbour_lists(self) -> tuple[tuple[int, ...], ...] | None:
        """For each rank the ranks that it sends to, if they are listed."""
        return None if self.neighbour_list is None else self._lists.ranks

    @property
    def neighbour_sizes(self) -> tuple[tuple[float, ...], ...] | None:
        """Bytes for each of `neighbour_lists`, where any of them has a size of its own."""
        return self._lists.filled(self.buffer) if self._listed_sizes else None

    @property
    def _lists(self) -> Neighbours:
        listed = self.neighbour_list or ()
        if isinstance(listed, str):
            return read_neighbours(str(Path(self.folder) / listed))
        return Neighbours(
            tuple(tuple(n if isinstance(n, int) else n.to for n in row) for row in listed),
            tuple(tuple(None if isinstance(n, int) else n.size for n in row) for row in listed),
        )

    @property
    def _listed_sizes(self) -> bool:
        return self.neighbour_list is not None and self._lists.sized

    @property
    def sizes(self) -> Sizes | None:
        """Bytes by direction of a halo; None where all neighbours have as many, `buffer`."""
        if (self.faces, self.edge, self.edges, self.corner) == (None,) * 4:
            return None
        alike = Sizes.alike(self.buffer, self.edge, self.corner)
        return replace(alike, faces=self.faces or alike.faces, edges=self.edges or alike.edges)

    @property
    def sends(self) -> tuple[float, ...]:
        """Bytes that a rank away from open boundaries sends to each of its peers, in that order.

        Of a list, what the first rank that sends to most others sends: what all send, if they are `in_step`.
        """
        if self.pattern in HALOS:
            grid = self.grid if self.grid and math.prod(self.grid) > 1 else (2, 2, 2)
            x, y, z = (*grid, 1, 1)[:3]
            steps = directions(FACES if self.pattern == "halo3d" else STENCIL_27, (x, y, z))
            sizes = self.sizes or Sizes.alike(self.buffer)
            return tuple(map(sizes.towards, steps))
        sized = self.neighbour_sizes
        return (self.buffer,) * self.peers if sized is None else max(sized, key=len)

    @property
    def received(self) -> float:
        """Bytes that a rank receives in an exchange: as many as it sends, away from open boundaries.

        Of a list, the rank that receives most.
        """
        lists = self.neighbour_lists
        if lists is None:
            return sum(self.sends)
        sizes = self.neighbour_sizes or tuple((self.buffer,) * len(to) for to in lists)
        into: dict[int, float] = {}
        for to, row in zip(lists, sizes, strict=True):
            for rank, size in zip(to, row, strict=True):
                into[rank] = into.get(rank, 0.0) + size
        return max(into.values())

    @property
    def in_step(self) -> bool:
        """Does every listed rank send as many bytes to its first neighbour as all others to theirs, to its second, ...,
        and receive each of these once? Then ranks that start together stay so; where nothing is listed, all do."""
        sized, lists = self.neighbour_sizes, self.neighbour_lists or ()
        if sized is None or len({size for row in sized for size in row}) == 1:
            return True
        everyone = set(range(len(lists)))
        return len(set(sized)) == 1 and all(set(to) == everyone for to in zip(*lists, strict=True))

    @property
    def thread_time(self) -> float:
        """Seconds one thread computes for all its partitions, without noise."""
        if isinstance(self.compute, ComputeTime):
            return self.compute.time
        return self.compute.mu * self.partition_size * self.partitions_per_thread

    def changed(self, **fields: Any) -> Workload:
        """A copy with other values of some fields, written and checked as in a file: ``changed(buffer="512 KiB")``.

        Parameters
        ----------
        fields
            By name; dotted ones as ``changed(**{"arrivals.noise": 0.1})``. None leaves a field out. With another
            `buffer`, faces change in proportion.

        Raises
        ------
        PreadyError
            As `load`.
        """
        data = written.written(self)
        if self.faces is not None or self.exchanges is not None:
            del data["buffer"]  # follows from them
        if self.faces is not None and "buffer" in fields and "faces" not in fields:
            size = units.parse(fields.pop("buffer"), units.Unit.SIZE, "buffer")
            fields["faces"] = [f"{face:.17g} B" for face in self.at_buffer(size).faces or ()]
        other = written.changed(data, fields)
        for table, names in _arrivals(other, fields):
            if WIDTHS & names:  # one takes the place of another
                for name in WIDTHS - names:
                    table.pop(name, None)
        return validated(Workload, {**other, "folder": self.folder}, "workload")

    def at_buffer(self, size: float) -> Workload:
        """A copy with another buffer, which need not be whole; faces and listed sizes grow in proportion.

        Edges and corners that have sizes of their own keep them.
        """
        update: dict[str, Any] = {"buffer": float(size)}
        by = size / self.buffer
        if self.faces is not None:
            update["faces"] = tuple(by * face for face in self.faces)
        if self._listed_sizes:
            sizes = self._lists.filled(self.buffer)
            update["neighbour_list"] = tuple(
                tuple(SizedNeighbour.model_construct(to=to, size=by * b) for to, b in zip(ranks, row, strict=True))
                for ranks, row in zip(self._lists.ranks, sizes, strict=True)
            )
        return self.model_copy(update=update)


def _arrivals(data: dict[str, Any], fields: Mapping[str, object]) -> Iterator[tuple[dict[str, Any], set[str]]]:
    """Tables of arrivals of written data, each with those of its fields that are given by their dotted names."""
    tables = {"arrivals.": data.get("arrivals")}
    tables |= {f"exchanges[{i}].arrivals.": e.get("arrivals") for i, e in enumerate(data.get("exchanges", ()))}
    for prefix, table in tables.items():
        if isinstance(table, dict):
            yield table, {n.removeprefix(prefix) for n in fields if n.startswith(prefix)}


def _written(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of a workload with sizes as a file has them."""

    def size(value: Any) -> Any:
        return f"{value:.17g} B" if isinstance(value, float) else value

    one: dict[str, Any] = {n: size(fields[n]) for n in ("buffer", "edge", "corner") if n in fields}
    three: dict[str, Any] = {n: fields[n] and tuple(map(size, fields[n])) for n in ("faces", "edges") if n in fields}
    return {**fields, **one, **three}


def _largest(data: dict[str, Any]) -> float | None:
    """The largest size of a workload's or an exchange's fields that say no buffer; None where there are none.

    What is no size counts as a byte: its own field says so.
    """

    def size(value: Any) -> float:
        try:
            return value if isinstance(value, float) else units.parse(value, units.Unit.SIZE)
        except PreadyError:
            return 1.0

    if data.get("exchanges") is not None:
        exchanges = data["exchanges"] if isinstance(data["exchanges"], (list, tuple)) else ()
        each = [e.model_dump() if isinstance(e, Exchange) else e for e in exchanges]
        some = [_largest({**e, "folder": data.get("folder", ".")}) for e in each if isinstance(e, dict)]
        return max((s for s in some if s is not None), default=1.0)
    if data.get("buffer") is not None:
        return size(data["buffer"])
    faces, listed = data.get("faces"), data.get("neighbour_list")
    if faces is not None:
        return max(map(size, faces), default=1.0) if isinstance(faces, (list, tuple)) else 1.0
    if isinstance(listed, str):
        try:
            sizes = read_neighbours(str(Path(str(data.get("folder", "."))) / listed)).sizes
        except PreadyError:
            return 1.0
        return max((s for row in sizes for s in row if s is not None), default=None)
    if isinstance(listed, (list, tuple)):
        rows = [row for row in listed if isinstance(row, (list, tuple))]
        tables = [n for row in rows for n in row if isinstance(n, (dict, SizedNeighbour))]
        return max((size(n.size if isinstance(n, SizedNeighbour) else n.get("size")) for n in tables), default=None)
    return None


def check_transport_partitions(transport: int, user: int) -> None:
    """Transport partitions are bins of equally many whole user partitions."""
    if transport < 1 or user % transport:
        divisors = [d for d in range(1, user + 1) if user % d == 0]
        valid = ", ".join(map(str, divisors)) if len(divisors) <= 16 else f"a divisor of {user}"
        raise PreadyError(
            f"transport_partitions = {transport} does not divide {user} user partitions",
            valid=valid,
        )


def load(path: str | Path) -> Workload:
    """A workload from a TOML file.

    Raises
    ------
    PreadyError
        One line naming file, field, value and what is valid.
    """
    path = Path(path)
    return _made(read_toml(path), str(path), str(path.parent), printable(path.stem))


def loads(data: bytes, source: str = "standard input", folder: str = ".") -> Workload:
    """A workload from a TOML file's content; files that it names are looked for in `folder`. Raises as `load`."""
    return _made(parsed_toml(data, source), source, folder, source)


def _made(tables: dict[str, Any], source: str, folder: str, name: str) -> Workload:
    data = _as_now(tables, source)
    if "folder" in data:
        raise PreadyError("folder is not a field", valid=", ".join(field_names(Workload)), source=source)
    workload = validated(Workload, {**data, "folder": folder}, source)
    return workload if workload.name else workload.model_copy(update={"name": name})


def _as_now(data: dict[str, Any], source: str) -> dict[str, Any]:
    """A file's tables in today's format: an older one is read as long as it means the same."""
    version = data.get("format", 1)
    if isinstance(version, bool) or version not in (1, FORMAT):
        raise PreadyError(
            f"format = {shown(version)}", valid=f"{FORMAT}, or 1 (no format) for older files", source=source
        )
    if version == 1:
        for name in SINCE_2:
            if name in data:
                raise PreadyError(f"{name} in a file of format 1", valid=f"the line format = {FORMAT}", source=source)
    else:
        exchanges = data.get("exchanges")
        tables = [data, *(e for e in (exchanges if isinstance(exchanges, list) else ()) if isinstance(e, dict))]
        for table in tables:
            try:
                refuse_older_names(table.get("arrivals"))
            except PreadyError as error:
                raise error.at(source) from None
    return {**data, "format": FORMAT}
