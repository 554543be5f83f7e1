"""Models of arrivals that a Workload may name: when threads are ready, and how far their times spread.

::

    [arrivals]
    model = "laggard"
    spread = "5 %"      # relative standard deviation of a thread's time; or the model's own parameter
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from pready.model.common import units
from pready.model.common.errors import PreadyError, shown
from pready.model.equations import gain_numpy
from pready.model.toml.provenance import Strict


class NoArrivals(Strict):
    """Every partition is ready when the compute time is over."""

    model: Literal["none"] = "none"


class Drawn(Strict):
    """Arrivals with a width, given by one of several fields.

    `spread` means the same in all models: the relative standard deviation of a thread's time for its partitions, over
    threads and iterations. The other fields are parameters of the papers.
    """

    widths: ClassVar[tuple[str, ...]]
    """The fields, exactly one of which is given."""
    model: str
    spread: units.Share | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [n for n in self.widths if getattr(self, n) is not None]
        if len(given) != 1:
            raise PreadyError(
                f"model = {shown(self.model)} has {' and '.join(given) or 'no spread'}",
                valid=f'one of {", ".join(self.widths)}, such as spread = "5 %"',
            )
        return self

    @property
    def relative(self) -> bool:
        """Is the width relative to the compute time?"""
        return any(getattr(self, n, None) is not None for n in ("spread", "late_by", "up_to", "epsilon"))


class Laggard(Drawn):
    """One late partition (gillis2023 4.3) or one late thread (temucin2022 3.3, marts2024 III.D)."""

    widths = ("spread", "late_by", "delay", "delay_rate")
    model: Literal["laggard"]
    late_by: units.Share | None = None
    """Share of the compute time: "single thread noise" of temucin2022 3.3, the noise parameter of marts2024 III.D."""
    delay: units.Time | None = None
    delay_rate: units.TimePerByte | None = None
    """γ of gillis2023 Eq. 8: times the bytes of a partition."""
    late: Literal["partition", "thread"] = "partition"

    def seconds(self, threads: int, base: float, partition_size: float) -> float:
        """D, for threads that compute for `base` seconds."""
        if self.delay is not None:
            return self.delay
        if self.delay_rate is not None:
            return self.delay_rate * partition_size  # D = γ S_part, Eq. 8
        if self.spread is not None:
            # One of N is late by D: the mean is t + D / N, the standard deviation D √(N − 1) / N.
            return self.spread * base * threads / (math.sqrt(threads - 1) - self.spread)
        assert self.late_by is not None
        return self.late_by * base


class Uniform(Drawn):
    """Each thread's time is equally likely anywhere in an interval."""

    widths = ("spread", "up_to")
    model: Literal["uniform"]
    up_to: units.Share | None = None
    """Share of the compute time t: U[t, t (1 + up_to)], temucin2022 3.3. With `spread`, t is the mean."""
    partitions: Literal["together", "in turn"] = "together"

    @model_validator(mode="after")
    def _positive(self) -> Uniform:
        if self.spread is not None and self.spread >= 1 / math.sqrt(3):
            raise PreadyError(
                f"spread = {100 * self.spread:g} % of a uniform time reaches below 0", valid="less than 57.7 %"
            )
        return self

    def interval(self, base: float) -> tuple[float, float]:
        """Its lower end in seconds, and its length relative to that, for a compute time of `base` seconds."""
        if self.spread is None:
            assert self.up_to is not None
            return base, self.up_to
        half = math.sqrt(3) * self.spread  # the variance of U[−h, h] is h² / 3
        return base * (1 - half), 2 * half / (1 - half)


class Normal(Drawn):
    """Each thread computes for N(t, sd), sd a time or `spread` × t (temucin2022 3.3, marts2024 III.D)."""

    widths = ("spread", "sd")
    model: Literal["normal by thread"]
    sd: units.Time | None = None
    partitions: Literal["together", "in turn"] = "together"

    def seconds(self, base: float) -> float:
        """The standard deviation for a compute time of `base` seconds."""
        if self.sd is not None:
            return self.sd
        assert self.spread is not None
        return self.spread * base


class Gaussian(Drawn):
    """gillis2023 Appendix A: a thread finishes its k-th partition after the sum of k normal draws."""

    widths = ("spread", "epsilon")
    model: Literal["normal by partition"]
    epsilon: units.Share | None = None
    """ε of Eq. 7, noise of the system: (ε + δ) / 2 is the relative standard deviation of one partition's time, so that
    with the same ε more partitions mean a quieter thread. `spread` is the thread's."""
    delta: units.Share | None = None
    """δ of Eq. 7, imbalance of the algorithm; absent, none."""

    @model_validator(mode="after")
    def _delta_with_epsilon(self) -> Gaussian:
        if self.delta is not None and self.epsilon is None:
            raise PreadyError(f"delta = {self.delta:g} without epsilon", valid="delta with epsilon, or spread alone")
        return self

    def parameters(self, partitions_per_thread: int) -> tuple[float, float]:
        """ε and δ; with `spread`, those that give a thread of so many partitions that spread."""
        if self.spread is not None:
            # A thread's θ partitions are drawn apart: its relative standard deviation is σ / √θ.
            return 2 * self.spread * math.sqrt(partitions_per_thread), 0.0
        return self.epsilon or 0.0, self.delta or 0.0

    def sigma(self, partitions_per_thread: int) -> float:
        """Relative standard deviation of one partition's compute time (Eq. 7)."""
        return float(gain_numpy.noise(*self.parameters(partitions_per_thread)))


class Measured(Strict):
    """Thread times from a file: ``kde`` draws from their density, ``trace`` replays its rows."""

    model: Literal["kde", "trace"]
    file: str = Field(min_length=1)
    unit: Literal["s", "ms", "us", "ns"]
    partitions: Literal["together", "in turn"] = "together"


WIDTHS = frozenset(("delta", *(w for m in (Laggard, Uniform, Normal, Gaussian) for w in m.widths)))
"""All fields that give a width."""
Arrivals = Annotated[NoArrivals | Laggard | Uniform | Normal | Gaussian | Measured, Field(discriminator="model")]
