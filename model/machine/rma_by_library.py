"""What MPI_Put and its synchronisation take in a library over a fabric, where a machine's file has no measured times.

Both belong to the library over the fabric, as contention does to the library: a put is a work request to the adapter
(0.3 us), an active message (as a send), or emulated over messages (three sends).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pready.model.approach.libraries import LIBRARIES, LibraryProfile
from pready.model.common import units
from pready.model.common.units import SI
from pready.model.machine.machine import Fabric, Machine
from pready.model.toml.provenance import Value

Times = tuple[float, float, float]
"""A value and the ends of its 95 % interval, in seconds."""


@dataclass(frozen=True)
class Rma:
    """A library over a fabric."""

    put: Times
    """CPU time of one MPI_Put."""
    epoch: Times
    """Synchronisation of one window, peers aside."""
    source: Literal["literature", "assumed"]
    """Where `put` is from; nobody has published an epoch by itself."""
    why: str


EPOCH = 0.5e-6, 0.1e-6, 5e-6
SLOWEST_PUT = 7.3e-6
"""Seconds: the slowest put that anybody published, over send and receive on Gemini."""
_UCX = Rma(
    (0.5e-6, 0.3e-6, 0.9e-6),
    EPOCH,
    "literature",
    "open-mpi/ompi#5873: osc/ucx on EDR, 3.2 million puts a second by 8 threads; osc/rdma to 0.9 us",
)
_MPICH_IB = Rma(
    (0.5e-6, 0.2e-6, 1.5e-6),
    EPOCH,
    "assumed",
    "MPICH hands puts to UCX as Open MPI's osc/ucx does, 0.3 to 0.9 us there",
)
_ARIES = Rma((0.6e-6, 0.4e-6, 0.9e-6), EPOCH, "literature", "osc/rdma on Aries, 0.6 us a put")
_MPICH_ARIES = Rma((0.6e-6, 0.2e-6, 2.4e-6), EPOCH, "assumed", "as Open MPI's osc/rdma on Aries, up to Gemini's 2.4 us")
KNOWN: Mapping[tuple[str, Fabric], Rma] = {
    ("Open MPI", "infiniband"): _UCX,
    ("MPICH", "infiniband"): _MPICH_IB,
    ("Open MPI", "roce"): _MPICH_IB,
    ("MPICH", "roce"): _MPICH_IB,
    ("Open MPI", "aries"): _ARIES,
    ("MPICH", "aries"): _MPICH_ARIES,
}
"""By the library's family and the machine's fabric."""
OVER_TCP = 2.8
"""Messages that a put with its synchronisation takes over TCP: 88 us where a send takes 31 (Google Cloud)."""


def of(machine: Machine, profile: LibraryProfile) -> Rma:
    """What is known of a library over a machine's fabric."""
    fabric, o_s = machine.fabric, machine.inter.segments[0].o_s.value
    if fabric is not None and (known := KNOWN.get((profile.family, fabric))):
        return known
    if fabric == "tcp":
        put = OVER_TCP * o_s
        why = "Google Cloud: MPI_Put and MPI_Win_flush take 88 us where a send takes 31"
        return Rma((put, o_s, 2 * put), (put, EPOCH[1], max(2 * put, EPOCH[2])), "literature", why)
    put = min(max(o_s, 0.6e-6), SLOWEST_PUT)
    why = "nobody has published it: from a work request to the adapter to a put over send and receive (7.3 us, Gemini)"
    return Rma((put, min(put, 0.2e-6), SLOWEST_PUT), EPOCH, "assumed", why)


def with_rma(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with this library's puts and synchronisation.

    Where it is of the family that the file is of, or may be any, what the file says stays.
    """
    row, sided = of(machine, profile), machine.one_sided
    mine = profile.family in ("any", LIBRARIES[machine.library.name].family)
    update: dict[str, object] = {}
    if sided.put is None or not mine:
        update["put"] = _value(row.put, row.source, row.why)
    if not mine:
        update["epoch"] = _value(row.epoch, "assumed", "nobody has published it by itself: 0.1 to 5 us")
    return machine.model_copy(update={"one_sided": sided.model_copy(update=update)})


def unmeasured(machine: Machine) -> str:
    """The costs of RMA that nobody measured, or published, of this machine's library over its fabric; else empty."""
    sided = machine.one_sided
    put = sided.put is None or sided.put.source == "assumed"
    epoch = "assumed" in (sided.epoch.source, sided.epoch_peer.source)
    return " and ".join(["MPI_Put"] * put + ["RMA synchronisation"] * epoch)


def _value(times: Times, source: Literal["literature", "assumed"], why: str) -> Value[float]:
    value, low, high = map(SI, times)
    return Value[units.Time](value=value, interval=(low, high), source=source, why=why)
