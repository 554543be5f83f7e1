"""What a captured run says of itself, for a prediction to be held against."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pready.model.common import units
from pready.model.toml.provenance import Strict


class Captured(Strict):
    """Times of a step of the captured run."""

    step: units.Time
    """Its mean time, without collectives and other calls that are in no exchange."""
    exchanges: units.Time
    """Mean time in MPI of its exchanges: what a port saves at most."""
    shared_cores: bool = False
    """Did threads share cores? Then they waited for these."""
    blocks: Annotated[int, Field(ge=1)] | None = None
    """How many messages of a pipeline go to the next rank in a row."""
