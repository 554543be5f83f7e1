"""One exchange of a step: neighbours, bytes, and the computation before it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from pready.model.common import units
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.equations import gain_numpy
from pready.model.equations.closed_form import FLOPS_PER_CYCLE
from pready.model.toml.provenance import Strict
from pready.model.workload.arrivals import Arrivals, NoArrivals
from pready.model.workload.edges import Name as PatternName

Receiver = Literal["waiting", "computing", "consuming"]
PackedBy = Literal["one", "threads"]
Placement = Literal["in turn", "numa", "packed"]
Interior = Annotated[units.Share, Field(gt=0, le=1)]
Name = Annotated[str, Field(max_length=255)]
"""As a table and a picture can show it."""
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Rank = Annotated[int, Field(ge=0)]
Extent = Annotated[int, Field(ge=1, le=2**32 - 1)]
Three = tuple[units.Size, units.Size, units.Size]
ThreadGrid = Annotated[
    Annotated[Literal["shared"], Tag("word")] | Annotated[tuple[Count, Count, Count], Tag("threads")],
    Discriminator(lambda data: "word" if isinstance(data, str) else "threads"),
]


class SizedNeighbour(Strict):
    """A neighbour with a size of its own."""

    to: Rank
    """The neighbour's rank."""
    size: units.Size
    """Bytes that are sent to it."""


Neighbour = Annotated[
    Annotated[Rank, Tag("rank")] | Annotated[SizedNeighbour, Tag("table")],
    Discriminator(lambda data: "table" if isinstance(data, (dict, SizedNeighbour)) else "rank"),
]
NeighbourList = Annotated[
    Annotated[str, Tag("file")] | Annotated[tuple[tuple[Neighbour, ...], ...], Tag("lists")],
    Discriminator(lambda data: "file" if isinstance(data, str) else "lists"),
]


class ComputeTime(Strict):
    """Compute time of one thread for all its partitions, whatever the buffer's size."""

    time: units.Time
    """Before the exchange; the threads' times vary around it as `[arrivals]` says. Of a GPU: of its kernel."""
    device: Literal["cpu", "gpu"] = "cpu"
    """Threads of the processor, or a kernel of a GPU, for which there is a bound only."""
    waves: Count | None = None
    """Waves of a GPU kernel's thread blocks, one after the other, each with an equal part of every buffer."""

    @model_validator(mode="after")
    def _of_a_gpu(self) -> ComputeTime:
        if self.device == "cpu" and self.waves is not None:
            raise PreadyError("waves without device = 'gpu'", valid="device = 'gpu' beside it")
        if self.device == "gpu" and self.waves is None:
            raise PreadyError("device = 'gpu' without waves", valid="waves, such as 8")
        return self


class ComputeRate(Strict):
    """Compute time from flops: Eq. 6 of gillis2023, https://doi.org/10.1145/3605573.3605599."""

    arithmetic_intensity: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Flops per byte of memory traffic."""
    communication_intensity: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Bytes sent per byte of memory traffic."""
    frequency: units.Frequency
    """Frequency of the clock."""
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
    """A plain union would report the errors of both alternatives; decide by the fields that are given."""
    flops = {"arithmetic_intensity", "communication_intensity", "frequency", "flops_per_cycle"}
    given = set(data) if isinstance(data, dict) else set()
    by_rate = isinstance(data, ComputeRate) or (given & flops and "time" not in given)
    return "by rate" if by_rate else "by time"


Compute = Annotated[
    Annotated[ComputeTime, Tag("by time")] | Annotated[ComputeRate, Tag("by rate")],
    Discriminator(_compute_kind),
]


class Consume(Strict):
    """What a receiver's threads do with the user partitions that come to it, before its next exchange."""

    time: units.Time | None = None
    """What one thread takes for a user partition; or `per_byte`."""
    per_byte: units.TimePerByte | None = None
    """What one thread takes for each byte of a user partition."""
    threads: Count | None = None
    """That share this work, each taking the next partition when it is through with one; absent: all of the rank's."""

    @model_validator(mode="after")
    def _one(self) -> Consume:
        if (self.time is None) == (self.per_byte is None):
            given = "neither time nor per_byte" if self.time is None else "time beside per_byte"
            raise PreadyError(given, valid='either time = "20 us" or per_byte = "1 ns/B"')
        return self

    def of_partition(self, size: Array) -> Array:
        """Seconds of one thread for a user partition of so many bytes, of that shape."""
        if self.time is not None:
            return np.full(np.shape(size), self.time)
        assert self.per_byte is not None
        return np.asarray(self.per_byte * size)


class Exchange(Strict):
    """One exchange of a step; pattern and partitions are by default those at the top of the file."""

    name: Name = ""
    """For tables and JSON; absent: its number."""
    pattern: PatternName | None = None
    partitions_per_thread: Count | None = None
    transport_partitions: tuple[Count, ...] | None = None
    boundaries: Literal["periodic", "open"] | None = None
    thread_grid: ThreadGrid | None = None
    receive_partitions: Count | None = None
    receiver: Receiver | None = None
    consume: Consume | None = None
    buffer: units.Size | None = None
    faces: Three | None = None
    edge: units.Size | None = None
    edges: Three | None = None
    corner: units.Size | None = None
    both_ways: bool = False
    neighbours: Count | None = None
    neighbour_list: NeighbourList | None = None
    blocks: Count = 1
    pack: units.Bandwidth | None = None
    packed_by: PackedBy | None = None
    interior: Interior | None = None
    compute: Compute = ComputeTime(time="0 s")  # type: ignore[arg-type]
    """Before this exchange; absent: none, its partitions are ready when the exchange before has ended."""
    arrivals: Arrivals = NoArrivals()
    depends: bool = False
    """Does it send what the exchange before it brought? Then the two cannot be one message. Absent: not known."""


AS_AT_THE_TOP = (
    "pattern", "partitions_per_thread", "transport_partitions", "boundaries", "thread_grid",
    "receive_partitions", "receiver", "consume", "pack", "packed_by",
)  # fmt: skip
"""Fields that an exchange takes from the top of the file by default."""
EACH_ITS_OWN = tuple(name for name in Exchange.model_fields if name not in ("name", "depends", *AS_AT_THE_TOP))
"""Fields of every exchange; not allowed at the top of a file with exchanges."""
