"""What RMA adds: puts and epochs."""

from __future__ import annotations

from typing import Literal

from pready.model.common import units
from pready.model.toml.provenance import Strict, Value

Puts = Literal["adapter", "processor", "deferred"]


class OneSided(Strict):
    """Costs of RMA (gillis2023 2.3.3): puts, and opening and closing epochs, window by window."""

    put: Value[units.Time]
    """Overhead of one MPI_Put, in place of o_s."""
    epoch: Value[units.Time]
    """CPU time to open and close an epoch on one window, on top of its messages."""
    flush: Value[units.Time] | None = None
    """The same for passive synchronisation; absent: as for active."""
    window: Value[units.Time] | None = None
    """The same for each further window; absent: as for the first."""
    puts: Value[Puts] | None = None
    """How MPI_Put moves its data: by the adapter; taken in by the target's processor, one thread in MPI, o_r + O_r m
    each, where the library makes active messages of puts; or deferred to the origin's call that ends the epoch. Absent:
    by the adapter."""
