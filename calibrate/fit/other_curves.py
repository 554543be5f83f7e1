"""The measurements beside LogGP: messages in flight, threads, queues.

Each is one small estimator: a location per point (location.py), a shape (a bent line, a monotone
curve, a straight line), and draws around it for the interval.
"""

from __future__ import annotations

import numpy as np

from pready.calibrate.fit.float_arrays import FloatArray
from pready.calibrate.fit.lines import robust_line
from pready.calibrate.fit.location import centre, smooth
from pready.calibrate.fit.observations import Curve, Window
from pready.calibrate.fit.results import Contention, Estimate, InFlight, QueueCost
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_time

UNKNOWN_SPREAD = 0.02  # relative, of a single value without repeats
MENDED = 0.05  # a contention curve changed by more than this to be monotone is worth a note


def _located(repeats: tuple[FloatArray, ...]) -> tuple[FloatArray, FloatArray]:
    """Location and standard error of each vector."""
    points = Curve(np.arange(len(repeats), dtype=np.float64), repeats)
    location, error = centre(points.padded())
    relative = error / np.abs(location)
    if np.isfinite(relative).any():
        shared = smooth(relative)
        fallback = float(np.nanmedian(relative))
        relative = np.where(np.isfinite(relative), np.maximum(relative, 0.5 * shared), fallback)
    else:
        relative = np.full(len(location), UNKNOWN_SPREAD)
    return location, np.asarray(np.abs(location) * np.maximum(relative, 1e-6))


def _draws(value: FloatArray, sigma: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray:
    return np.asarray(value + sigma * rng.standard_normal((draws, len(value))))


def fit_in_flight(window: Window, rng: np.random.Generator, draws: int, notes: list[str]) -> InFlight | None:
    """G of one message alone, and of a full link.

    k messages of s bytes share a link that gives each at most 1/G_single and all together at most
    1/G_link: T(k, s) = A + s·max(k·G_link, G_single), A being the latency and the answer's. The
    knee κ = G_single/G_link is searched for, everything else is a straight line. Of messages that
    are small, per-message costs hide G: only those of at least a quarter of the largest size take
    part. None, with a note: fewer than 3 different numbers in flight, or times that do not grow with them.
    """
    large = window.sizes >= window.sizes.max() / 4
    s, k = window.sizes[large], window.in_flight[large]
    if len(np.unique(k)) < 3:
        notes.append(f"G_link was not measured: {len(np.unique(k))} different numbers of large messages in flight")
        return None
    value, sigma = _located(tuple(r for r, keep in zip(window.repeats, large, strict=True) if keep))
    knees = np.geomspace(1.0, float(k.max()), 200)

    def solve(times: FloatArray) -> tuple[FloatArray, FloatArray]:
        x = s * np.maximum(k, knees[:, None])  # (knees, n)
        best_cost = np.full(len(times), np.inf)
        link, single = np.zeros(len(times)), np.zeros(len(times))
        for knee, column in zip(knees, x, strict=True):
            _, b, cost = robust_line(column, times, sigma, rounds=3)
            better = (cost < best_cost - 1e-9) & (b > 0)
            best_cost = np.where(better, cost, best_cost)
            link = np.where(better, b, link)
            single = np.where(better, knee * b, single)
        return single, link

    single, link = solve(value[None, :])
    if not link[0] > 0:
        notes.append("G_link was not measured: times do not grow with the messages in flight")
        return None
    singles, links = solve(_draws(value, sigma, rng, min(draws, 200)))
    if single[0] >= 0.99 * link[0] * knees[-1]:
        notes.append(f"no number in flight up to {k.max():g} fills the link: G_link is an upper bound")
    return InFlight(Estimate.of(single[0], singles), Estimate.of(link[0], links))


def fit_contention(name: str, measured: Curve, rng: np.random.Generator, draws: int, notes: list[str]) -> Contention:
    """The extra time to issue a message that waits for a lock which k threads share: monotone, 0 at one thread.

    A message holds the lock for 1/rate; contention is that less its value at one thread. So perfect FIFO sharing has
    none (the queueing is the timeline's). Threads that do nothing but send wait for the lock every time. Made monotone
    by weighted isotonic regression of the holding time's logarithm.

    Raises
    ------
    PreadyError
        No rate for one thread.
    """
    threads = measured.at
    if not len(threads) or threads[0] != 1:
        raise PreadyError(f"message rate of {name} starts at {threads[0]:g} threads", valid="1")
    rate, error = _located(measured.repeats)
    spread = error / rate
    hold = -np.log(rate)

    from scipy.optimize import isotonic_regression

    def monotone(log_hold: FloatArray) -> FloatArray:
        level = isotonic_regression(log_hold, weights=1 / spread**2).x
        return np.asarray(np.exp(level) - np.exp(level[0]))

    raw = np.exp(hold) - np.exp(hold[0])
    time = monotone(hold)
    drawn = np.array([monotone(row) for row in _draws(hold, spread, rng, draws)])
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    alone = np.exp(hold[0])
    mended = np.abs((time + alone) / (raw + alone) - 1)
    if mended.max() > MENDED:
        worst = int(np.argmax(mended))
        notes.append(
            f"contention of {name}: at {threads[worst]:g} threads {format_time(raw[worst])} were measured, "
            f"{format_time(time[worst])} is the nearest curve that does not fall"
        )
    return Contention(threads, time, low, high, raw, float(alone))


def fit_matching(curve: Curve, rng: np.random.Generator, draws: int) -> QueueCost:
    """A straight line in the queue's length.

    Raises
    ------
    PreadyError
        Fewer than 3 lengths.
    """
    if len(curve) < 3:
        raise PreadyError(f"matching was measured at {len(curve)} queue lengths", valid="at least 3")
    value, sigma = _located(curve.repeats)
    a, b, _ = robust_line(curve.at, value, sigma)
    off = np.abs(value - a - b * curve.at) / sigma
    scale = max(1.0, 1.4826 * float(np.median(off)) * np.sqrt(len(off) / max(len(off) - 2, 1)))
    drawn = robust_line(curve.at, _draws(a + b * curve.at, scale * sigma, rng, draws), sigma, rounds=3)
    return QueueCost(Estimate.of(float(a), drawn.intercept), Estimate.of(float(b), drawn.slope))
