"""The result of a fit: parameters with intervals, and everything behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pready.calibrate.fit.float_arrays import FloatArray
from pready.model.common.errors import PreadyError

Protocol = Literal["short", "bcopy", "rendezvous"]
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval.

    Attributes
    ----------
    value, low, high
        In SI units; low ≤ high. The value may lie outside by rounding only.
    assumed
        True when no measurement determines it: the interval then covers 95 % of the possible
        range, and the value is its middle.
    """

    value: float
    low: float
    high: float
    assumed: bool = False

    @classmethod
    def of(cls, value: float, draws: FloatArray) -> Estimate:
        """The percentile interval of bootstrap draws around `value`."""
        tail = 50 * (1 - CONFIDENCE)
        low, high = np.percentile(draws, [tail, 100 - tail])
        return cls(float(value), float(low), float(high))

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Segment:
    """LogGP of the messages from `from_bytes` up to the next segment.

    time(s) = o_s + L + G·s + o_r, and gap(s) = g + G_stream·s.

    Attributes
    ----------
    from_bytes
        The first measured size that follows this segment; 0 for the first.
    protocol
        A guess, or None where nothing speaks for one.
    L, o_s, o_r, g
        Seconds. L has o_s and o_r taken out.
    G
        Seconds per byte of one message alone (the slope of half a round trip).
    G_stream
        Seconds per byte of many messages in a row (the slope of the gap). LogGP has one G; where
        one message alone does not fill the link, these two differ, and both are measured. Assumed
        equal to G if there is no gap curve.
    O_s, O_r
        The part of G·s for which the sender's or receiver's CPU is busy (copies), seconds per byte:
        o_s(s) = o_s + O_s·s. It is *contained* in G. None where the overhead does not grow with s.
    """

    from_bytes: float
    protocol: Protocol | None
    L: Estimate
    o_s: Estimate
    o_r: Estimate
    g: Estimate
    G: Estimate
    G_stream: Estimate
    O_s: Estimate | None = None
    O_r: Estimate | None = None


@dataclass(frozen=True)
class FittedCurve:
    """Measured and fitted values of one curve, for drawing.

    Attributes
    ----------
    size, measured, fitted, sigma
        Shape (n,); bytes and seconds.
    noise
        Relative standard deviation of one repeat; NaN if there were no repeats.
    """

    size: FloatArray
    measured: FloatArray
    fitted: FloatArray
    sigma: FloatArray
    noise: float

    @property
    def residuals(self) -> FloatArray:
        """(measured - fitted)/fitted, shape (n,)."""
        return np.asarray((self.measured - self.fitted) / self.fitted)


@dataclass(frozen=True)
class LineTest:
    """Does one straight line explain a curve? See `linearity.line_test`.

    Attributes
    ----------
    p_value
        How often a straight line with this curve's noise looks as bent as this one.
    delta_bic
        BIC of one line minus BIC of the best two: above 10 is very strong evidence against one.
    split_at
        Where the best two lines meet, bytes.
    """

    p_value: float
    delta_bic: float
    split_at: float

    @property
    def rejected(self) -> bool:
        """At the 1 % level."""
        return self.p_value < 0.01


@dataclass(frozen=True)
class InFlight:
    """How the time per byte falls with messages in flight: max(G_link, G_single/k) for k.

    Attributes
    ----------
    G_single, G_link
        Seconds per byte of one message alone, and of a filled link.
    """

    G_single: Estimate
    G_link: Estimate

    def per_byte(self, in_flight: FloatArray) -> FloatArray:
        """Seconds per byte and message, shape of `in_flight`."""
        return np.asarray(np.maximum(self.G_link.value, self.G_single.value / in_flight))


@dataclass(frozen=True)
class Contention:
    """The extra time to issue a message that waits for a lock which k threads share, in seconds.

    Attributes
    ----------
    threads, time, low, high
        Shape (n,). time is 0 at one thread and never falls. low, high: 95 %.
    raw
        Before it was made monotone.
    alone
        The time to issue a message without contention.
    """

    threads: FloatArray
    time: FloatArray
    low: FloatArray
    high: FloatArray
    raw: FloatArray
    alone: float

    @property
    def slowdown(self) -> float:
        """How many times longer a message takes with all threads, as measured."""
        return float(1 + self.raw[-1] / self.alone)


@dataclass(frozen=True)
class QueueCost:
    """Matching: base + per_entry·(queue length), seconds."""

    base: Estimate
    per_entry: Estimate


@dataclass(frozen=True)
class Thin:
    """Why a fit has wide intervals: too few data.

    Attributes
    ----------
    problem, wanted
        The first shortcoming, and enough data.
    measure_next
        Sizes in bytes whose measurement would help most.
    """

    problem: str
    wanted: str
    measure_next: tuple[int, ...]


@dataclass(frozen=True)
class Fit:
    """A machine as far as it was measured.

    Attributes
    ----------
    segments
        In increasing order of size, at least one, the first from 0.
    thresholds
        from_bytes of all segments but the first. The interval holds the true limit; its lower end
        is a size that still follows the segment before.
    curves
        "time", "gap", "send", "receive" as far as measured.
    draws
        The bootstrap's draws of each parameter, shape (draws, segments): resample rows of all
        together, since L and G of one draw belong to each other. Also "threshold", shape (draws,
        segments - 1).
    one_line
        Whether one line would have done for the time curve.
    in_flight, contention, matching
        As far as measured.
    sizes
        Every size measured, increasing.
    thin
        Where the data are too few; None: nowhere.
    notes
        For a reader: assumed parameters, curves made monotone, negative values. One
        sentence each.
    """

    segments: tuple[Segment, ...]
    thresholds: tuple[Estimate, ...]
    curves: Mapping[str, FittedCurve]
    draws: Mapping[str, FloatArray]
    one_line: LineTest
    sizes: FloatArray
    in_flight: InFlight | None
    contention: Mapping[str, Contention]
    matching: Mapping[str, QueueCost]
    thin: Thin | None
    notes: tuple[str, ...]

    def time(self, sizes: FloatArray) -> FloatArray:
        """One-way time of messages of `sizes` bytes, seconds."""
        starts = [segment.from_bytes for segment in self.segments]
        which = np.searchsorted(starts, sizes, side="right") - 1
        fixed = np.array([s.o_s.value + s.L.value + s.o_r.value for s in self.segments])
        per_byte = np.array([s.G.value for s in self.segments])
        return np.asarray(fixed[which] + per_byte[which] * sizes)


class ThinDataError(PreadyError):
    """The data do not carry even a line.

    Attributes
    ----------
    measure_next
        Sizes in bytes whose measurement would help most.
    """

    def __init__(self, problem: str, *, valid: str, measure_next: tuple[int, ...]) -> None:
        self.measure_next = measure_next
        super().__init__(problem, valid=valid)
