"""The result of a fit: parameters with intervals, and everything behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pready.calibrate.fit.bootstrap import CurveLines
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError

Protocol = Literal["short", "bcopy", "rendezvous"]
CONFIDENCE = 0.95  # of all intervals of a fit


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval, in SI units; the value may lie outside by rounding only."""

    value: float
    low: float
    high: float  # at least `low`
    assumed: bool = False
    """No measurement determines it: the interval covers 95 % of the possible range, and the value is its middle."""

    @classmethod
    def of(cls, value: float, draws: Array) -> Estimate:
        """The percentile interval of bootstrap draws around `value`."""
        tail = 50 * (1 - CONFIDENCE)
        low, high = np.percentile(draws, [tail, 100 - tail])
        return cls(float(value), float(low), float(high))

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def plus(self, by: float) -> Estimate:
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)

    def times(self, factor: float) -> Estimate:
        return replace(self, value=self.value * factor, low=self.low * factor, high=self.high * factor)

    def at_least_zero(self) -> Estimate:
        return Estimate(max(self.value, 0.0), max(self.low, 0.0), max(self.high, 0.0))

    def around(self) -> Estimate:
        """With an interval that holds the value."""
        return replace(self, low=min(self.low, self.value), high=max(self.high, self.value))


@dataclass(frozen=True)
class Segment:
    """LogGP of the messages from `from_bytes` up to the next segment.

    time(s) = o_s + L + G·s + o_r, and gap(s) = g + G_stream·s.
    """

    from_bytes: float  # the first measured size that follows this segment; 0 for the first
    protocol: Protocol | None  # a guess, or None where nothing speaks for one
    L: Estimate  # seconds, o_s and o_r taken out; the next three are in seconds, too
    o_s: Estimate
    o_r: Estimate
    g: Estimate
    G: Estimate  # seconds per byte of one message alone (the slope of half a round trip)
    G_stream: Estimate
    """Seconds per byte of many messages in a row (the slope of the gap). LogGP has one G; where one message alone does
    not fill the link, these two differ, and both are measured. Assumed equal to G if there is no gap curve."""

    @property
    def line(self) -> tuple[float, float]:
        """Seconds of an empty message, and of each byte."""
        return self.L.value + self.o_s.value + self.o_r.value, self.G.value


@dataclass(frozen=True)
class Thin:
    """Why a fit has wide intervals: too few data."""

    problem: str  # the first shortcoming
    wanted: str  # enough data
    measure_next: tuple[int, ...]  # sizes in bytes whose measurement would help most


@dataclass(frozen=True)
class Fit:
    """A machine as far as it was measured."""

    segments: tuple[Segment, ...]  # in increasing order of size, at least one, the first from 0
    thresholds: tuple[Estimate, ...]
    """from_bytes of all segments but the first. The interval holds the true limit; its lower end is a size that still
    follows the segment before."""
    curves: Mapping[str, CurveLines]  # "time", "gap", "send", "receive" as far as measured
    draws: Mapping[str, Array]
    """The bootstrap's draws of each parameter, shape (draws, segments): resample rows of all together, since L and G of
    one draw belong to each other. Also "threshold", shape (draws, segments - 1)."""
    sizes: Array  # every size measured, increasing
    thin: Thin | None  # where the data are too few; None: nowhere
    notes: tuple[str, ...]  # assumed parameters, curves made monotone, negative values: one sentence each

    def time(self, sizes: Array) -> Array:
        """One-way time of messages of `sizes` bytes, seconds."""
        return self._at(sizes, [s.line for s in self.segments])

    def gap(self, sizes: Array) -> Array:
        """Time from one message of `sizes` bytes to the next in a stream, seconds."""
        return self._at(sizes, [(s.g.value, s.G_stream.value) for s in self.segments])

    def _at(self, sizes: Array, lines: Sequence[tuple[float, float]]) -> Array:
        """By size, from a constant and a slope for each segment."""
        starts = [segment.from_bytes for segment in self.segments]
        which = np.searchsorted(starts, sizes, side="right") - 1
        fixed, per_byte = np.array(lines).T
        return np.asarray(fixed[which] + per_byte[which] * sizes)


class ThinDataError(PreadyError):
    """The data do not carry even a line. `measure_next`: sizes in bytes whose measurement would help most."""

    def __init__(self, problem: str, *, valid: str, measure_next: tuple[int, ...]) -> None:
        self.measure_next = measure_next
        super().__init__(problem, valid=valid)
