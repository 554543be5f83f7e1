"""What RMA adds: puts and epochs."""

from __future__ import annotations

from typing import Literal

from pready.model.common import units
from pready.model.machine.path import SizeCurve
from pready.model.toml.provenance import Strict, Value

Puts = Literal["adapter", "processor", "deferred"]


class OneSided(Strict):
    """Costs of RMA (gillis2023 2.3.3): puts by size, and epochs by windows and peers.

    A synchronisation of w windows with k peers takes, at each end, `epoch` + (w - 1) `window` + w k `epoch_peer` of CPU
    time; its messages travel besides, each as one without payload.
    """

    put: SizeCurve | None = None
    """CPU time of one MPI_Put by size, its VCI's lock held. Beyond the largest size it grows as a send's o_s + O_s m
    does. Absent: that of a send of the same size, which hands its data to the adapter by the same protocol."""
    epoch: Value[units.Time]
    """Active synchronisation of one window (MPI_Win_post, MPI_Win_start, MPI_Win_complete and MPI_Win_wait), peers
    aside."""
    epoch_peer: Value[units.Time]
    """Active synchronisation, each peer of a window: its messages of MPI_Win_post and MPI_Win_complete, out and in."""
    flush: Value[units.Time] | None = None
    """Passive synchronisation of one window (MPI_Win_flush), peers aside; absent: as active."""
    flush_peer: Value[units.Time] | None = None
    """Passive synchronisation, each peer of a window: the flush and the message that tells the peer; absent: as
    active."""
    window: Value[units.Time] | None = None
    """Each further window, peers aside, of either synchronisation; absent: as the first."""
    gap: Value[units.Time] | None = None
    """g of puts, where a library or an adapter moves them otherwise than sends; absent: that of sends."""
    puts: Value[Puts] | None = None
    """How MPI_Put moves its data: by the adapter; taken in by the target's processor, one thread in MPI, o_r + O_r m
    each, where the library makes active messages of puts; or deferred to the origin's call that ends the epoch. Absent:
    by the adapter."""
