"""The Workload: what the application does, as a TOML file.

::

    threads = 8
    partitions_per_thread = 4
    buffer = "1 MiB"            # per peer
    pattern = "halo3d"

    [compute]
    time = "1 ms"               # of one thread, for all its partitions

    [arrivals]
    model = "laggard"
    noise = 0.04
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from pready.model import gain_numpy, units
from pready.model.closed_form import FLOPS_PER_CYCLE
from pready.model.errors import PreadyError, shown
from pready.model.files import field_names, read_toml, validated
from pready.model.machine import PathName
from pready.model.neighbour_list import read_neighbours
from pready.model.values import Strict

Pattern = Literal["pt2pt", "halo3d", "halo3d26", "sweep3d", "neighbours"]
PEERS: dict[Pattern, int] = {"pt2pt": 1, "halo3d": 6, "halo3d26": 26, "sweep3d": 2}
"""Messages' destinations per rank and exchange: 7- and 27-point stencils, downstream of a sweep."""

HALOS = ("halo3d", "halo3d26")

Fraction = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Rank = Annotated[int, Field(ge=0)]
Extent = Annotated[int, Field(ge=1, le=2**32 - 1)]
NeighbourList = Annotated[
    Annotated[str, Tag("file")] | Annotated[tuple[tuple[Rank, ...], ...], Tag("lists")],
    Discriminator(lambda data: "file" if isinstance(data, str) else "lists"),
]
LARGEST_EXCHANGE = 4_000_000
"""User partitions × peers of one rank. Above it, an iteration has more messages than any NIC queue."""


class ComputeTime(Strict):
    """Compute time of one thread for all its partitions, whatever the buffer's size."""

    time: units.Time


class ComputeRate(Strict):
    """Compute time from flops: Eq. 6 of gillis2023, https://doi.org/10.1145/3605573.3605599."""

    arithmetic_intensity: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    communication_intensity: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    frequency: units.Frequency
    flops_per_cycle: Annotated[float, Field(gt=0, allow_inf_nan=False)] = FLOPS_PER_CYCLE

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


class NoArrivals(Strict):
    """Every partition is ready when the compute time is over."""

    model: Literal["none"] = "none"


class Laggard(Strict):
    """One late partition (gillis2023 4.3) or one late thread (temucin2022 3.3, marts2024 III.D)."""

    model: Literal["laggard"]
    delay: units.Time | None = None
    delay_rate: units.TimePerByte | None = None
    noise: Fraction | None = None
    late: Literal["partition", "thread"] = "partition"

    @model_validator(mode="after")
    def _one(self) -> Laggard:
        given = [n for n in ("delay", "delay_rate", "noise") if getattr(self, n) is not None]
        if len(given) != 1:
            raise PreadyError(f"laggard has {given or 'no delay'}", valid="one of delay, delay_rate, noise")
        return self


class Uniform(Strict):
    """Each thread computes for U[t, t (1 + noise)] (temucin2022 3.3)."""

    model: Literal["uniform"]
    noise: Fraction
    partitions: Literal["together", "in turn"] = "together"


class Normal(Strict):
    """Each thread computes for N(t, sd), sd a time or a fraction of t (temucin2022 3.3, marts2024 III.D)."""

    model: Literal["normal"]
    sd: units.Time | None = None
    noise: Fraction | None = None
    partitions: Literal["together", "in turn"] = "together"

    @model_validator(mode="after")
    def _one(self) -> Normal:
        if (self.sd is None) == (self.noise is None):
            raise PreadyError(
                "normal has " + ("both sd and noise" if self.sd is not None else "no spread"),
                valid="one of sd, noise",
            )
        return self


class Gaussian(Strict):
    """gillis2023 Appendix A: a thread finishes its k-th partition after the sum of k normal draws."""

    model: Literal["gaussian"]
    noise: Fraction = 0.04
    imbalance: Fraction = 0.0

    @property
    def sigma(self) -> float:
        """Relative standard deviation of one partition's compute time (Eq. 7)."""
        return float(gain_numpy.noise(self.noise, self.imbalance))


class Measured(Strict):
    """Thread times from a file: ``kde`` draws from their density, ``trace`` replays its rows."""

    model: Literal["kde", "trace"]
    file: str = Field(min_length=1)
    unit: Literal["s", "ms", "us", "ns"]
    partitions: Literal["together", "in turn"] = "together"


Arrivals = Annotated[NoArrivals | Laggard | Uniform | Normal | Gaussian | Measured, Field(discriminator="model")]


class Workload(Strict):
    """What one rank does in one iteration, and with whom it talks."""

    name: str = ""
    description: str = ""
    threads: Count = Field(description="threads per rank, an integer of at least 1")
    partitions_per_thread: Count = 1
    buffer: units.Size = Field(description='size of the buffer per peer, such as "1 MiB"')
    pattern: Pattern = "pt2pt"
    neighbours: Count | None = None
    """Of pattern "neighbours", how many; with a `neighbour_list` it says."""
    neighbour_list: NeighbourList | None = None
    """Of pattern "neighbours": for each rank the ranks that it sends to, or a file with a line for each."""
    grid: Annotated[tuple[Extent, ...], Field(min_length=1, max_length=3)] | None = None
    """Ranks along x, y, z (of a sweep x, y); pairs and lists take the product."""
    boundaries: Literal["periodic", "open"] = "periodic"
    """Do halos wrap around?"""
    blocks: Count = 1
    """Of a sweep, per octant (KBA): how often a rank computes and sends on."""
    edge: units.Size | None = None
    """Of halo3d26: bytes per edge; absent, as many as per face, which is `buffer`."""
    corner: units.Size | None = None
    """Of halo3d26: bytes per corner; absent, as many as per face."""
    thread_grid: tuple[Count, Count, Count] | None = None
    """Of halos: threads along x, y, z; a face is then sent by the threads that touch it."""
    path: PathName = "inter"
    iterations: Count = 100
    cache: Literal["hot", "cold"] = "hot"
    receiver: Literal["waiting", "computing"] = "waiting"
    """Is the receiver inside MPI while the sender computes, or computing like it?"""
    transport_partitions: tuple[Count, ...] | None = None
    """Restricts what is tried; absent: every divisor of the user partitions."""
    compute: Compute = ComputeTime(time="0 s")  # type: ignore[arg-type]
    arrivals: Arrivals = NoArrivals()
    folder: Annotated[str, Field(exclude=True)] = "."
    """Where the files named in `arrivals` and `neighbour_list` are looked for; set by `load`."""

    @model_validator(mode="after")
    def _consistent(self) -> Workload:
        n = self.n_partitions
        self._ranks_consistent()
        if self.buffer != int(self.buffer) or self.buffer % n:
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
        noise = getattr(self.arrivals, "noise", None)
        relative = isinstance(self.arrivals, Gaussian) or (noise is not None)
        if relative and self.thread_time == 0:
            raise PreadyError(
                f"arrivals: model = {shown(self.arrivals.model)} scales with the compute time, which is 0",
                valid="a [compute] table with a time or an arithmetic intensity",
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
            ("edge", self.edge is not None, ("halo3d26",)),
            ("corner", self.corner is not None, ("halo3d26",)),
            ("thread_grid", self.thread_grid is not None, HALOS),
        )
        for name, given_, patterns in only:
            if given_ and self.pattern not in patterns:
                raise PreadyError(
                    f"{name} = {shown(getattr(self, name))} {pattern}",
                    valid=f"pattern {' or '.join(map(repr, patterns))}",
                )
        for name in ("edge", "corner"):
            size = getattr(self, name)
            if size is not None and size != int(size):
                raise PreadyError(f"{name} = {size:g} B", valid="whole bytes")
        if self.thread_grid is not None and math.prod(self.thread_grid) != self.threads:
            raise PreadyError(
                f"thread_grid = {list(self.thread_grid)} has {math.prod(self.thread_grid)} threads",
                valid=f"{self.threads}, the workload's threads",
            )

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
    def two_way(self) -> bool:
        """Does a rank receive from its peers while it sends to them? In a sweep, receives come first."""
        return self.pattern in (*HALOS, "neighbours")

    @property
    def neighbour_lists(self) -> tuple[tuple[int, ...], ...] | None:
        """For each rank the ranks that it sends to, if they are listed."""
        if isinstance(self.neighbour_list, str):
            return read_neighbours(str(Path(self.folder) / self.neighbour_list))
        return self.neighbour_list

    @property
    def thread_time(self) -> float:
        """Seconds one thread computes for all its partitions, without noise."""
        if isinstance(self.compute, ComputeTime):
            return self.compute.time
        return self.compute.mu * self.partition_size * self.partitions_per_thread

    def changed(self, **fields: Any) -> Workload:
        """A copy with other values of some fields (already in SI), checked as a file is."""
        data = {name: getattr(self, name) for name in type(self).model_fields} | fields
        for name in ("buffer", "edge", "corner"):
            if data[name] is not None:
                data[name] = f"{data[name]:.17g} B"
        return validated(Workload, data, "workload")


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
    data = read_toml(path)
    if "folder" in data:
        raise PreadyError("folder is not a field", valid=", ".join(field_names(Workload)), source=str(path))
    workload = validated(Workload, {**data, "folder": str(path.parent)}, str(path))
    return workload if workload.name else workload.model_copy(update={"name": path.stem})
