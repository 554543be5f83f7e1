"""From measured round trips to the four curves that LogGP reads its parameters off.

    time(s)    = o_s + L + G·s + o_r                         half a ping-pong, or PRTT(1,0,s)/2
    gap(s)     = (PRTT(n,0,s) - PRTT(1,0,s))/(n-1) = g + G·s  [hoefler2007, eq. for G_all]
    send(s)    = (PRTT(n,d,s) - PRTT(1,0,s))/(n-1) - d = o_s
    receive(s) = (time of n-1 receives)/(n-1) - d = o_r

Departure from Netgauge: G multiplies s, not s - 1 (a segment's G·1 is far below any noise), and L
is the rest of time(s) after o_s and o_r; Netgauge's "L" is half the smallest round trip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pready.calibrate.fit.location import centre, mad_sigma, smooth
from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError


@dataclass(frozen=True)
class Series:
    """One curve's points with the standard deviation of each; arrays of shape (n,)."""

    name: str  # "time", "gap", "send" or "receive"
    size: Array  # bytes, increasing
    value: Array  # seconds
    sigma: Array
    """Seconds: that of the repeats (or the neighbours, where there are no repeats), scaled so that it agrees with the
    scatter of the points around a straight line through their neighbours."""
    noise: float  # relative standard deviation of a single repeat, the median over sizes (NaN without repeats)

    def __len__(self) -> int:
        return len(self.size)


def derive(observed: Observations) -> dict[str, Series]:
    """The curves that `observed` determines, by name; always contains "time". Raises PreadyError: neither a ping-pong
    nor PRTT(1,0,s); or a train that has no size in common with them."""
    round_trip = _round_trip(observed)
    found = {"time": _time(observed)}
    if observed.prtt_n is not None:
        found["gap"] = _per_message(observed.prtt_n, round_trip, "gap")
    elif observed.stream is not None:
        found["gap"] = _direct(observed.stream, "gap")
    if observed.prtt_n_delay is not None:
        found["send"] = _per_message(observed.prtt_n_delay, round_trip, "send")
    if observed.receive is not None:
        found["receive"] = _receive(observed.receive)
    elif observed.receive_overhead is not None:
        found["receive"] = _direct(observed.receive_overhead, "receive")
    return {name: _scaled(series) for name, series in found.items()}


def _summary(curve: Curve) -> tuple[Array, Array, float]:
    """Location and relative standard error (of unknown scale without repeats) at each place."""
    location, error = centre(curve.padded())
    relative = error / np.abs(location)
    counts = np.array([len(r) for r in curve.repeats], dtype=np.float64)
    single = relative * np.sqrt(counts)
    if np.isfinite(single).any():
        # One size's own spread is too uncertain to weight by; its neighbours share it, and
        # the more of them the fewer repeats there are (3 on each side for 50).
        reach = int(np.ceil(3 * np.sqrt(50 / np.median(counts))))
        shared = smooth(single, max(reach, 3))
        known = np.isfinite(shared)
        shared = np.where(known, shared, np.median(shared[known]))
        relative = shared.clip(1e-6) / np.sqrt(counts)
        return location, relative, float(np.median(shared))
    return location, 0.01 / np.sqrt(counts), float("nan")


def _round_trip(observed: Observations) -> Curve:
    if observed.prtt_1 is not None:
        return observed.prtt_1
    if observed.ping_pong is not None:
        half = observed.ping_pong
        return Curve(half.at, tuple(2 * r for r in half.repeats))
    raise PreadyError(
        "nothing says how long one message takes", valid="half round trips (ping_pong) or PRTT(1,0,s) (prtt_1)"
    )


def _time(observed: Observations) -> Series:
    """Both sources of t(s) at a size averaged by their weights."""
    both = [(observed.ping_pong, 1.0), (observed.prtt_1, 0.5)]
    sources = [(curve, factor) for curve, factor in both if curve is not None]
    sizes = np.unique(np.concatenate([curve.at for curve, _ in sources]))
    weight, weighted = np.zeros((2, len(sizes)))
    noise = []
    for curve, factor in sources:
        location, relative, single = _summary(curve)
        at = np.searchsorted(sizes, curve.at)
        w = 1 / (factor * location * relative) ** 2
        weight[at] += w
        weighted[at] += w * factor * location
        noise.append(single)
    return Series("time", sizes, weighted / weight, 1 / np.sqrt(weight), float(np.min(noise)))


def _per_message(train: Train, round_trip: Curve, name: str) -> Series:
    """(PRTT(n,d,s) - PRTT(1,0,s))/(n - 1) - d at the sizes both were measured at."""
    both = np.isin(train.times.at, round_trip.at)
    common, delay = train.times.at[both], train.delay[both]
    many, many_relative, noise = _summary(train.times.only(common))
    one, one_relative, _ = _summary(round_trip.only(common))
    others = train.messages - 1
    value = (many - one) / others - delay
    sigma = np.hypot(many * many_relative, one * one_relative) / others
    return Series(name, common, value, sigma, noise)


def _receive(train: Train) -> Series:
    total, relative, noise = _summary(train.times)
    others = train.messages - 1
    return Series("receive", train.times.at, total / others - train.delay, total * relative / others, noise)


def _direct(curve: Curve, name: str) -> Series:
    location, relative, noise = _summary(curve)
    return Series(name, curve.at, location, np.abs(location) * relative, noise)


def _scaled(series: Series) -> Series:
    """`sigma` made to agree with how far points lie from the line through their neighbours.

    Robust to a handful of protocol switches, because each disturbs two of the n - 2 triples only.
    Never below half of the repeats' own: a short series can look smooth by luck.
    """
    if len(series) < 5:
        return series
    x, y, v = series.size, series.value, series.sigma**2
    share = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    off = y[1:-1] - share * y[:-2] - (1 - share) * y[2:]
    spread = np.sqrt(v[1:-1] + share**2 * v[:-2] + (1 - share) ** 2 * v[2:])
    factor = float(mad_sigma(off / spread))
    floor = 0.5 if np.isfinite(series.noise) else 1e-3
    return replace(series, sigma=series.sigma * max(factor, floor))
