"""A bound for a GPU that computes the buffer: what partitions could save, from published and assumed times.

No measurement of a GPU is behind it, so the verdict is at most likely. It is an upper bound of the saving: messages
beyond the first cost nothing, nobody contends, no neighbour is late, the waves are equally long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from pready.model.common.errors import PreadyError
from pready.model.equations import metrics
from pready.model.equations.gpu import sent_after_kernel, sent_by_wave, through_host
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Certainty, Verdict
from pready.model.result.verdict import MIN_GAIN, verdict
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload


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


@dataclass(frozen=True)
class GpuRow:
    """One way, with the least and the most of what its parameters may be. Times in seconds, shares of an iteration."""

    key: str
    name: str
    needs: str
    time_s: float
    """After the end of the kernel."""
    eta: float
    eta_low: float
    eta_high: float
    iteration_s: float
    saving: float
    low: float
    high: float


@dataclass(frozen=True)
class GpuBound:
    """What partitions could save at most, and the verdict."""

    machine: str
    workload: str
    verdict: Verdict
    certainty: Certainty
    min_gain: float
    waves: int
    wave_time_s: float
    size: float
    """Bytes that a rank sends."""
    bandwidth: float
    """β' in B/s."""
    bulk_s: float
    iteration_s: float
    rows: tuple[GpuRow, ...]
    parameters: tuple[Assumed, ...]

    @property
    def best(self) -> GpuRow:
        """The way that saves most."""
        return max(self.rows, key=lambda r: r.saving)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Case:
    """Everything that the formulas take, one way."""

    size: float
    overhead: float
    waves: int
    wave_time: float
    synchronise: float
    trigger: float
    bandwidth: float

    def bulk(self) -> float:
        return float(sent_after_kernel(self.synchronise, self.overhead, self.size, self.bandwidth))

    def way(self, trigger: Trigger) -> float:
        if not trigger.early:
            return self.bulk()
        of = self.trigger, self.overhead, self.size, self.bandwidth, self.waves, self.wave_time
        return float(sent_by_wave(*of))


def bound(machine: Machine, workload: Workload, min_gain: float = MIN_GAIN) -> GpuBound:
    """The bound for a workload whose `compute.device` is "gpu".

    Raises
    ------
    PreadyError
        The processor computes, or the step has several exchanges.
    """
    compute = workload.compute
    waves = compute.waves if isinstance(compute, ComputeTime) else None
    if workload.exchanges is not None or not isinstance(compute, ComputeTime) or waves is None:
        raise PreadyError("no GPU computes one exchange", valid="compute = { time = …, device = 'gpu', waves = … }")
    total = float(compute.time)
    size = float(sum(workload.sends))
    path = machine.path(workload.path)
    first = path.segment(size / len(workload.sends) / waves)
    overhead = first.o_s.value + first.L.value + first.o_r.value
    copies = PCIE if compute.copies == "host" else DIRECT
    link = 1 / path.segments[-1].G.value

    def beta(of: float) -> float:
        return float(through_host(link, of)) if copies is PCIE else link * of

    def case(synchronise: float, trigger: float, copied: float) -> _Case:
        return _Case(size, overhead, waves, total / waves, synchronise, trigger, beta(copied))

    here = case(SYNCHRONISE.value, 0.0, copies.value)
    rows = tuple(_row(trigger, total, copies, case) for trigger in TRIGGERS if trigger.fabric in ("", machine.fabric))
    best = max(rows, key=lambda r: r.saving)
    found = verdict(best.low, best.high, min_gain)
    used = [*(t.takes for t in TRIGGERS if any(t.key == r.key for r in rows)), copies]
    return GpuBound(
        machine=machine.name,
        workload=workload.name,
        verdict=found,
        certainty="" if found == "undecided" else "likely",
        min_gain=min_gain,
        waves=waves,
        wave_time_s=total / waves,
        size=size,
        bandwidth=here.bandwidth,
        bulk_s=here.bulk(),
        iteration_s=total + here.bulk(),
        rows=rows,
        parameters=tuple(used),
    )


def _row(trigger: Trigger, total: float, copies: Assumed, case: Any) -> GpuRow:
    def both(of: _Case) -> tuple[float, float]:
        return of.bulk(), of.way(trigger)

    bulk, time = both(case(SYNCHRONISE.value, trigger.takes.value, copies.value))
    ends = list(map(both, _corners(trigger, copies, case)))
    savings = [(b - t) / (total + b) for b, t in ends]
    etas = [float(metrics.eta(b, t)) for b, t in ends]
    return GpuRow(
        trigger.key, trigger.name, trigger.needs, time, float(metrics.eta(bulk, time)), min(etas), max(etas),
        total + time, (bulk - time) / (total + bulk), min(savings), max(savings),
    )  # fmt: skip


def _corners(trigger: Trigger, copies: Assumed, case: Any) -> Iterator[_Case]:
    """All parameters at an end: each moves the saving in one direction."""
    for s, t, c in product(*((a.low, a.high) for a in (SYNCHRONISE, trigger.takes, copies))):
        yield case(s, t, c)
