"""A GPU that computes the buffer in waves: what partitions could save at most.

A kernel of n waves, each τ long, has an n-th of the buffer ready after each. Sent at its end, the buffer takes
o + M/β; sent wave by wave, Eq. 3 of gillis2023 (https://doi.org/10.1145/3605573.3605599) with D = (n - 1) τ:
o + max(M/β - (n - 1) τ, M/(n β)). No time of a device is in it (to learn of a wave, to synchronise with the stream, to
copy to the host), messages beyond the first cost nothing, nobody contends and no neighbour is late: an upper bound.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pready.model.common.errors import PreadyError
from pready.model.equations.gain_numpy import pipelined_time
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Verdict
from pready.model.result.verdict import MIN_GAIN
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class GpuBound:
    """What partitions could save at most; seconds, and shares of an iteration."""

    machine: str
    workload: str
    verdict: Verdict
    """ "do not port" where even the bound saves less than is asked for, else "undecided"."""
    min_gain: float
    waves: int
    wave_time_s: float
    size: float
    """Bytes that a rank sends."""
    bulk_s: float
    """After the end of the kernel."""
    by_wave_s: float
    iteration_s: float
    saving: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


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
    size, wave_s = float(sum(workload.sends)), float(compute.time) / waves
    path = machine.path(workload.path)
    first = path.segment(size / len(workload.sends) / waves)
    overhead = first.o_s.value + first.L.value + first.o_r.value
    beta = 1 / path.segments[-1].G.value
    bulk = overhead + size / beta
    by_wave = overhead + float(pipelined_time(waves, 1, size / waves, beta, (waves - 1) * wave_s))
    iteration = float(compute.time) + bulk
    saving = (bulk - by_wave) / iteration
    return GpuBound(
        machine=machine.name,
        workload=workload.name,
        verdict="do not port" if saving < min_gain else "undecided",
        min_gain=min_gain,
        waves=waves,
        wave_time_s=wave_s,
        size=size,
        bulk_s=bulk,
        by_wave_s=by_wave,
        iteration_s=iteration,
        saving=saving,
    )
