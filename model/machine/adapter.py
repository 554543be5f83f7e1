"""What the ranks of a node share: its adapters, and the bandwidth and message rate of these."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pready.model.common import units
from pready.model.toml.provenance import Strict, Value


class Adapter(Strict):
    """The adapters of a node. A message of m bytes keeps one busy for gap + m rails / rate."""

    rate: Value[units.Bandwidth]
    """What all ranks of a node together send, over all rails."""
    gap: Value[units.Time]
    """The least time between two messages through one rail, whichever ranks send them; one rank's own is g or o_s."""
    rails: Value[Annotated[int, Field(ge=1)]]
    """Adapters of a node. Its ranks use them in turn, each rank one."""
