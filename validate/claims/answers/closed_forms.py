"""Checks that need no machine: Eq. 1-9 of gillis2023, the papers' metrics, Amdahl's law."""

from __future__ import annotations

from typing import Literal

from pready.model.common import units
from pready.model.equations import gain_numpy, metrics
from pready.model.equations.closed_form import closed_form
from pready.model.toml.provenance import Strict
from pready.model.workload.exchange import ComputeRate
from pready.validate.claims.computed_once import Lab


class Rate(Strict):
    """γ_θ from the algorithm and the processor: Eq. 6 and 9 of gillis2023."""

    compute: ComputeRate | None = None
    epsilon: float = 0.0
    delta: float = 0.0
    partitions_per_thread: int


class Gain(Rate):
    """η of Eq. 4, with γ_θ as it is or from `compute`."""

    threads: int
    bandwidth: units.Bandwidth
    delay_rate: units.TimePerByte | None = None


class Counts(Strict):
    """N and θ."""

    threads: int
    partitions_per_thread: int


class Metric(Strict):
    """A formula of `pready.model.equations.metrics` and its values in order."""

    formula: Literal["speedup_percent", "application_availability"]
    first: float
    second: float


class Projection(Strict):
    """Share of the run time, and its speedup."""

    share: float
    communication_speedup: float


def delay_rate(a: Rate, lab: Lab) -> float:
    """γ_θ of Eq. 9 with μ of Eq. 6, in s/B."""
    assert a.compute is not None
    return float(gain_numpy.delay_rate(a.compute.mu, a.partitions_per_thread, a.epsilon, a.delta))


def gain(a: Gain, lab: Lab) -> float:
    """η of Eq. 4."""
    rate = delay_rate(a, lab) if a.delay_rate is None else a.delay_rate
    return closed_form(a.threads, a.partitions_per_thread, rate, a.bandwidth).eta


def small_message_gain(a: Counts, lab: Lab) -> float:
    """η of Eq. 5."""
    return float(gain_numpy.small_message_gain(a.threads, a.partitions_per_thread))


def metric(a: Metric, lab: Lab) -> float:
    """One of the papers' metrics from two numbers."""
    return float(getattr(metrics, a.formula)(a.first, a.second))


def projected_speedup(a: Projection, lab: Lab) -> float:
    """Run time over run time with faster communication."""
    return metrics.projected_speedup(a.share, a.communication_speedup)
