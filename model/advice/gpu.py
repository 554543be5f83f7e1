"""A bound for a GPU that computes the buffer: what partitions could save, from published and assumed times.

No measurement of a GPU is behind it, so the verdict is at most likely. It is an upper bound of the saving: messages
beyond the first cost nothing, nobody contends, no neighbour is late, the waves are equally long.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from pready.model.advice.gpu_parameters import DIRECT, PCIE, SYNCHRONISE, TRIGGERS, Assumed, Trigger
from pready.model.common.errors import PreadyError
from pready.model.equations import metrics
from pready.model.equations.gpu_bound import sent_after_kernel, sent_by_wave, through_host
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Certainty, Verdict
from pready.model.result.verdict import MIN_GAIN, verdict
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload


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
class _Exchange:
    """What the formulas take that is not assumed."""

    size: float
    overhead: float
    waves: int
    wave_time: float
    link: float
    """β in B/s, of host memory."""
    copies: Assumed

    def bandwidth(self, copied: float) -> float:
        """β', of the device's memory."""
        return float(through_host(self.link, copied)) if self.copies is PCIE else self.link * copied

    def times(self, trigger: Trigger, synchronise: float, told: float, copied: float) -> tuple[float, float]:
        """After the end of the kernel: of one send, and by a trigger."""
        beta = self.bandwidth(copied)
        bulk = float(sent_after_kernel(synchronise, self.overhead, self.size, beta))
        if not trigger.early:
            return bulk, bulk
        return bulk, float(sent_by_wave(told, self.overhead, self.size, beta, self.waves, self.wave_time))


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

    exchange = _Exchange(size, overhead, waves, total / waves, link, copies)
    rows = tuple(_row(t, total, exchange) for t in TRIGGERS if t.fabric in ("", machine.fabric))
    best, bulk = max(rows, key=lambda r: r.saving), rows[0].time_s  # the first waits for the kernel's end
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
        bandwidth=exchange.bandwidth(copies.value),
        bulk_s=bulk,
        iteration_s=total + bulk,
        rows=rows,
        parameters=tuple(used),
    )


def _row(trigger: Trigger, total: float, exchange: _Exchange) -> GpuRow:
    assumed = SYNCHRONISE, trigger.takes, exchange.copies
    bulk, time = exchange.times(trigger, *(a.value for a in assumed))
    # Each parameter moves the saving in one direction: its ends are at theirs.
    ends = [exchange.times(trigger, *corner) for corner in product(*((a.low, a.high) for a in assumed))]
    savings = [(b - t) / (total + b) for b, t in ends]
    etas = [float(metrics.eta(b, t)) for b, t in ends]
    return GpuRow(
        trigger.key, trigger.name, trigger.needs, time, float(metrics.eta(bulk, time)), min(etas), max(etas),
        total + time, (bulk - time) / (total + bulk), min(savings), max(savings),
    )  # fmt: skip
