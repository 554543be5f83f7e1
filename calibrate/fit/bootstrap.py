"""Segment lines of all curves, and their scatter under resampling, thresholds included.

Residual bootstrap [efron1993, ch. 9.4]: each draw adds to the fitted curves residuals drawn with
replacement (standardised by sigma and leverage, pooled over a curve), lets every threshold move to
where it fits the draw best, and fits all lines again. Draws of different parameters belong
together row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from pready.calibrate.fit.arrays import FloatArray, IntArray
from pready.calibrate.fit.changepoints import FEWEST_IN_SEGMENT, tolerant
from pready.calibrate.fit.lines import huber_cost, leverage, robust_line
from pready.calibrate.fit.location import mad_sigma
from pready.calibrate.fit.series import Series

REACH = 3  # how many measured sizes a threshold may move in a draw
CERTAIN = 30.0  # a cost difference (-2 log likelihood) that no draw turns round
STRONG = 16.0  # ΔBIC from which an overhead's growth with size is believed: 10 is "very strong"
# (kass1995), and every segment of two curves is asked


@dataclass(frozen=True)
class CurveLines:
    """One curve's lines, one per segment.

    Attributes
    ----------
    series
        The points; sigma rescaled to agree with the residuals.
    intercept, slope
        Shape (segments,) or (draws, segments).
    points
        Number of points in each segment, shape (segments,).
    sloped
        Whether a slope was fitted, shape (segments,).
    fitted
        Shape (n,).
    """

    series: Series
    intercept: FloatArray
    slope: FloatArray
    points: IntArray
    sloped: tuple[bool, ...]
    fitted: FloatArray


def fit_lines(series: Series, grid: FloatArray, cuts: list[int]) -> CurveLines:
    """Robust lines of one curve for given cuts (indices into `grid`)."""
    at = np.searchsorted(grid, series.size)
    which = np.searchsorted(np.array(cuts, dtype=int), at, side="right")
    count = len(cuts) + 1
    sloped = tuple(_has_slope(series, which == k) for k in range(count))
    fitted, a, b = _each(series, which, sloped)
    off = (series.value - fitted) / series.sigma
    factor = float(mad_sigma(off / np.sqrt(_kept(series, which, sloped)))) if len(series) > 4 else 1.0
    series = replace(series, sigma=series.sigma * max(factor, 1.0))
    fitted, a, b = _each(series, which, sloped)
    points = np.bincount(which, minlength=count)
    return CurveLines(series, a, b, points, sloped, fitted)


def _each(series: Series, which: IntArray, sloped: tuple[bool, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
    a, b = np.zeros(len(sloped)), np.zeros(len(sloped))
    for k, slope in enumerate(sloped):
        a_k, b_k = robust_line(series.size, series.value, series.sigma, which == k, sloped=slope)
        a[k], b[k] = float(a_k), float(b_k)
    return a[which] + b[which] * series.size, a, b


def _kept(series: Series, which: IntArray, sloped: tuple[bool, ...]) -> FloatArray:
    """1 - leverage, at least 0.05: what share of its own error a point keeps as its residual."""
    kept = np.ones(len(series))
    for k, slope in enumerate(sloped):
        part = which == k
        if part.any():
            kept[part] = 1 - leverage(series.size[part], series.sigma[part], sloped=slope)
    return np.maximum(kept, 0.05)


def _has_slope(series: Series, part: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
    """time and gap always; an overhead only where the data insist, since LogGP's is constant."""
    if series.name in ("time", "gap"):
        return True
    x, y, sigma = series.size[part], series.value[part], tolerant(series)[part]
    if len(x) < 4:
        return False
    use = np.ones(len(x))
    cost = []
    for slope in (False, True):
        a, b = robust_line(x, y, sigma, use, sloped=slope)
        cost.append(float(huber_cost((y - a - b * x) / sigma, use)))
    return bool(cost[0] - cost[1] > STRONG + np.log(len(x)) and b > 0 and a > 0)


def draw_lines(
    lines: Mapping[str, CurveLines],
    grid: FloatArray,
    cuts: list[int],
    rng: np.random.Generator,
    draws: int,
) -> tuple[dict[str, CurveLines], IntArray]:
    """The same lines for resampled data.

    Returns
    -------
    lines
        With intercept and slope of shape (draws, segments).
    cuts
        Shape (draws, len(cuts)): indices into `grid`.
    """
    position = {name: np.searchsorted(grid, c.series.size) for name, c in lines.items()}
    value = {name: _resampled(c, position[name], cuts, rng, draws) for name, c in lines.items()}
    moved = _moved_cuts(lines, value, position, grid, cuts)
    edges = np.column_stack([np.zeros(draws, dtype=int), moved, np.full(draws, len(grid), dtype=int)])
    drawn = {}
    for name, curve in lines.items():
        a = np.zeros((draws, len(cuts) + 1))
        b = np.zeros_like(a)
        for k in range(len(cuts) + 1):
            at = position[name]
            use = ((at >= edges[:, k, None]) & (at < edges[:, k + 1, None])).astype(np.float64)
            columns = use.any(axis=0)
            if not columns.any():
                continue
            a[:, k], b[:, k] = robust_line(
                curve.series.size[columns],
                value[name][:, columns],
                curve.series.sigma[columns],
                use[:, columns],
                sloped=curve.sloped[k],
                rounds=3,
            )
        drawn[name] = replace(curve, intercept=a, slope=b)
    return drawn, moved


def _resampled(curve: CurveLines, at: IntArray, cuts: list[int], rng: np.random.Generator, draws: int) -> FloatArray:
    series = curve.series
    which = np.searchsorted(np.array(cuts, dtype=int), at, side="right")
    off = (series.value - curve.fitted) / series.sigma
    pool = off / np.sqrt(_kept(series, which, curve.sloped))
    # The pool's own spread is uncertain by its degrees of freedom; a draw of it makes the
    # intervals Student's instead of the normal's.
    freedom = max(len(series) - len(curve.sloped) - sum(curve.sloped), 2)
    stretch = np.sqrt(freedom / rng.chisquare(freedom, (draws, 1)))
    picked = rng.integers(0, len(pool), (draws, len(series)))
    return np.asarray(curve.fitted + series.sigma * stretch * pool[picked])


def _moved_cuts(
    lines: Mapping[str, CurveLines],
    value: Mapping[str, FloatArray],
    position: Mapping[str, IntArray],
    grid: FloatArray,
    cuts: list[int],
) -> IntArray:
    """Each threshold's best place within REACH sizes, its neighbours held; (draws, cuts)."""
    draws = len(next(iter(value.values())))
    moved = np.tile(np.array(cuts, dtype=int), (draws, 1))
    edges = [0, *cuts, len(grid)]
    time_at = position["time"]
    for k, cut in enumerate(cuts):
        low, high = edges[k], edges[k + 2]

        def enough(c: int, low: int = low, high: int = high) -> bool:
            left = int(np.sum((time_at >= low) & (time_at < c)))
            right = int(np.sum((time_at >= c) & (time_at < high)))
            return min(left, right) >= FEWEST_IN_SEGMENT

        places = [c for c in range(cut - REACH, cut + REACH + 1) if low < c < high and enough(c)]
        if len(places) < 2:
            continue
        measured = _cost_of(
            lines,
            {n: c.series.value[None, :] for n, c in lines.items()},
            position,
            low,
            high,
            places,
        )
        relevant = [p for p, c in zip(places, measured[:, 0] - measured.min(), strict=True) if c < CERTAIN]
        if len(relevant) < 2:
            continue
        cost = _cost_of(lines, value, position, low, high, relevant)
        moved[:, k] = np.array(relevant)[np.argmin(cost, axis=0)]
    return moved


def _cost_of(
    lines: Mapping[str, CurveLines],
    value: Mapping[str, FloatArray],
    position: Mapping[str, IntArray],
    low: int,
    high: int,
    places: list[int],
) -> FloatArray:
    """Cost of the two segments [low, place) and [place, high), shape (places, draws)."""
    total = np.zeros((len(places), len(next(iter(value.values())))))
    for name, curve in lines.items():
        here = (position[name] >= low) & (position[name] < high)
        if not here.any():
            continue
        x, y = curve.series.size[here], value[name][:, here]
        sigma = tolerant(curve.series)[here]
        for i, place in enumerate(places):
            for use in (position[name][here] < place, position[name][here] >= place):
                if not use.any():
                    continue
                part = np.ones(int(use.sum()))
                a, b = robust_line(x[use], y[:, use], sigma[use], part, rounds=2)
                z = (y[:, use] - a[:, None] - b[:, None] * x[use]) / sigma[use]
                total[i] += huber_cost(z, part)
    return total
