"""The input of a fit: plain arrays of measured times, from any benchmark.

Times are seconds, sizes bytes. A curve holds repeats where they are known and one summary value
(a median or a mean, as OSU prints) where they are not; the fit reads its noise from the repeats
in the first case and from the scatter between neighbouring sizes in the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError

DEFAULT_WINDOW = 64
"""Messages of a window unless `-W` was given, which osu_bw's output does not say."""


def positive(values: ArrayLike, field: str, *, zero: bool = False) -> Array:
    """`values` as a vector, every entry finite and above 0 (`zero`: or equal to it); the first that is not is named."""
    valid = f"finite numbers {'at least' if zero else 'greater than'} 0"
    array = np.array(values, dtype=np.float64)
    bad = ~(np.isfinite(array) & (array >= 0 if zero else array > 0))
    if bad.any():
        first = int(np.argmax(bad))
        raise PreadyError(f"{field}[{first}] = {array[first]:g}", valid=valid)
    return array


@dataclass(frozen=True)
class Curve:
    """Times against a quantity that is at least 0: message size, queue length, threads."""

    at: Array  # where it was measured, shape (n,), strictly increasing
    repeats: tuple[Array, ...]  # the repeated times there, n vectors of any lengths, at least 1 each

    @classmethod
    def of(cls, at: ArrayLike, repeats: Sequence[ArrayLike] | Array, name: str = "curve") -> Curve:
        """Sorted by `at`; the repeats of an `at` that occurs twice are put together.

        A PreadyError, which calls the curve `name`, for an entry that is not a finite positive time, unequal lengths,
        or no entry at all.
        """
        places = positive(at, f"{name} sizes", zero=True)
        if len(places) != len(repeats):
            raise PreadyError(f"{name} has {len(places)} sizes and {len(repeats)} times", valid="as many of both")
        if not len(places):
            raise PreadyError(f"{name} is empty", valid="at least one measured size")
        merged: dict[float, list[Array]] = {}
        for i in np.argsort(places, kind="stable"):
            vector = positive(np.atleast_1d(np.asarray(repeats[i])), f"{name} times at {places[i]:g}")
            merged.setdefault(float(places[i]), []).append(vector)
        return cls(np.array(list(merged)), tuple(np.concatenate(together) for together in merged.values()))

    def __len__(self) -> int:
        return len(self.at)

    @property
    def medians(self) -> dict[float, float]:
        return {float(at): float(np.median(times)) for at, times in zip(self.at, self.repeats, strict=True)}

    def padded(self) -> Array:
        """The repeats as one array of shape (n, most repeats), missing ones NaN."""
        table = np.full((len(self), max(len(r) for r in self.repeats)), np.nan)
        for row, values in zip(table, self.repeats, strict=True):
            row[: len(values)] = values
        return table

    def only(self, at: Array) -> Curve:
        """The part measured at one of `at`."""
        keep = np.isin(self.at, at)
        kept = tuple(r for r, k in zip(self.repeats, keep, strict=True) if k)
        return Curve(self.at[keep], kept)


@dataclass(frozen=True)
class Train:
    """A parametrised round trip PRTT(n, d, s): n messages, one answer (Netgauge's definition).

    PRTT(n, d, s) = PRTT(1, 0, s) + (n - 1)·max(o_s + d, g + G·s)   [hoefler2007, section 3]
    """

    times: Curve  # the whole train's, by message size
    messages: int  # n, at least 2
    delay: Array
    """d by message size, shape (len(times),); zeros for PRTT(n, 0, s). For PRTT(n, d, s) it has to be at least g + G·s,
    or the gap is measured instead of the overhead; Netgauge takes PRTT(1, 0, s), and anything smaller that is still
    above the gap gives a sharper o_s."""

    @classmethod
    def of(cls, sizes: ArrayLike, repeats: Sequence[ArrayLike] | Array, messages: int, delay: ArrayLike = 0.0) -> Train:
        """Checks as `Curve.of` does; `delay` is not negative, and one of each size."""
        places = positive(sizes, "train sizes", zero=True)
        delays = positive(np.broadcast_to(np.asarray(delay, dtype=np.float64), places.shape), "delay", zero=True)
        times = Curve.of(places, repeats, "train")
        by_size = dict(zip(places, delays, strict=True))
        return cls(times, int(messages), np.array([by_size[size] for size in times.at]))


@dataclass(frozen=True, kw_only=True)
class Observations:
    """Everything one machine was measured for, by message size; only one of the first two has to be there."""

    ping_pong: Curve | None = None  # half round trips
    prtt_1: Curve | None = None  # PRTT(1, 0, s): whole round trips
    prtt_n: Train | None = None  # PRTT(n, 0, s)
    prtt_n_delay: Train | None = None  # PRTT(n, d, s)
    stream: Curve | None = None
    """Time per message of a long stream, where somebody else has already formed (PRTT(n,0,s) - PRTT(1,0,s))/(n - 1) or
    size/bandwidth (osu_bw). Used if `prtt_n` is not there."""
    receive: Train | None = None
    """Times of n - 1 receives of messages that have arrived, a delay d before each, as Netgauge measures o_r:
    (n - 1)·(d + o_r). A Train, because repeats of o_r itself (delays taken out) may be negative."""
    receive_overhead: Curve | None = None  # o_r, where it was measured directly; used if `receive` is not there
