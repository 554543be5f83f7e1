"""What the ranks of a node share: its adapters, and the bandwidth and message rate of these."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pready.model.common import units
from pready.model.toml.provenance import Strict, Value

TOGETHER = Value[float](
    value=1.0,
    interval=(0.9, 6.0),
    source="assumed",
    why="what one rank reaches; over TCP 16 pairs move 5.5 to 6.5 times as much as one with 2 and 4 MiB, 64 pairs 6.4 "
    "to 7.2 (Delta, mpi-advance/locality_aware @efc23a6)",
)
"""Times one rank's rate that the ranks of a node reach together, where nobody measured it."""


class Adapter(Strict):
    """The adapters of a node. A message of m bytes keeps one busy for gap + m rails / rate."""

    rate: Value[units.Bandwidth]
    """What all ranks of a node together send, over all rails."""
    gap: Value[units.Time]
    """The least time between two messages through one rail, whichever ranks send them; one rank's own is g or o_s."""
    rails: Value[Annotated[int, Field(ge=1)]]
    """Adapters of a node, of which each rank uses one; the workload's `placement` says which."""
