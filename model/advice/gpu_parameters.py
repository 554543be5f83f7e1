"""Times and rates of a GPU's exchange, published or assumed, and who may tell MPI that a wave's part is ready."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assumed:
    """A time or a rate that no shipped machine has measured, between two that it may as well be."""

    symbol: str
    says: str
    value: float
    low: float
    high: float
    unit: str
    """s or B/s."""
    why: str
    """What was published, and what is assumed."""


SYNCHRONISE = Assumed(
    "t_sync", "the processor synchronises with the stream", 10e-6, 3e-6, 20e-6, "s",
    "assumed: 10 us for a kernel launch, which MPI's synchronisation exposes (PETSc's highlight of the Exascale "
    "Computing Project, figure 6); 3 us to synchronise two streams (facebookincubator/velox, pull request 6096)",
)  # fmt: skip
FLAG = Assumed(
    "t_flag", "a proxy thread sees a flag and calls MPI_Pready", 3e-6, 1e-6, 6e-6, "s",
    "assumed: 1 us for an event, 1 to 2 us over PCIe (chelsea0x3b/cudarc, pull request 335); the proxy looks at all "
    "flags in turn (NVIDIA/mpi-acx @17a277b, src/init.cpp)",
)  # fmt: skip
NIC = Assumed(
    "t_nic", "a counter of the NIC starts a queued send", 2e-6, 0.5e-6, 4e-6, "s",
    "assumed: triggered operations of Slingshot-11, as HPE's MPIX_Queue and arXiv 2602.15356 use them, which publishes "
    "up to half the latency of medium messages but no time of a trigger",
)  # fmt: skip
PCIE = Assumed(
    "β_copies", "copies from the device to the host", 24e9, 12e9, 50e9, "B/s",
    "assumed: PCIe 4.0 with 16 lanes moves 31.5 GB/s at most, 5.0 twice as many",
)  # fmt: skip
DIRECT = Assumed(
    "β' / β", "the NIC reads the device's memory itself", 1.0, 0.5, 1.0, "",
    "assumed: as fast as host memory where GPU and NIC share a switch, half as fast across sockets",
)  # fmt: skip


SLINGSHOT_11 = "slingshot"
"""As machine files call it; Slingshot-10 has another NIC."""


@dataclass(frozen=True)
class Trigger:
    """Who tells MPI that a wave's part is ready."""

    key: str
    name: str
    takes: Assumed
    early: bool
    """After each wave, not at the end of the kernel."""
    needs: str
    fabric: str = ""
    """Where it is to be had; empty: everywhere."""


TRIGGERS = (
    Trigger("kernel-end", "MPI_Pready after the kernel", SYNCHRONISE, early=False, needs="any MPI library"),
    Trigger("flag", "MPI_Pready by a proxy's flag", FLAG, early=True, needs="mpi-acx, a core for its thread"),
    Trigger("nic", "sends that the NIC starts", NIC, early=True, needs="triggered operations", fabric=SLINGSHOT_11),
)
