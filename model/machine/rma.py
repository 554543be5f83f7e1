"""What RMA adds: puts and epochs."""

from __future__ import annotations

from typing import Literal

from pready.model.common import units
from pready.model.machine.path import SizeCurve
from pready.model.toml.provenance import Strict, Value

Puts = Literal["adapter", "processor", "deferred"]


def put_at(put: SizeCurve | Value[float], size: float) -> float:
    """What MPI_Put of a size takes, in seconds."""
    return put.value if isinstance(put, Value) else put.at(size)


class OneSided(Strict):
    """Costs of RMA (gillis2023 2.3.3): puts by size, and epochs by windows and peers.

    A synchronisation of w windows with k peers takes, at each end, w (`epoch` + k `epoch_peer`) of CPU time; its
    messages travel besides, each as one without payload.
    """

    put: SizeCurve | Value[units.Time] | None = None
    """CPU time of one MPI_Put, its VCI's lock held: of any size, or by size; beyond the largest it grows as a send's
    o_s + O_s m does. Absent: by the library over the fabric (`pready.model.machine.rma_by_library`)."""
    epoch: Value[units.Time]
    """Synchronisation of one window, peers aside: MPI_Win_post, MPI_Win_start, MPI_Win_complete and MPI_Win_wait; of
    a passive one MPI_Win_flush."""
    epoch_peer: Value[units.Time]
    """Synchronisation, each peer of a window: its messages of MPI_Win_post and MPI_Win_complete, or of a passive one
    that which tells the peer, out and in."""
    puts: Value[Puts] | None = None
    """How MPI_Put moves its data: by the adapter; taken in by the target's processor, one thread in MPI, o_r + O_r m
    each, where the library makes active messages of puts; or deferred to the origin's call that ends the epoch. Absent:
    by the adapter."""
