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

from pready.calibrate.fit.changepoints import FEWEST_IN_SEGMENT, tolerant
from pready.calibrate.fit.lines import IntArray, leverage, robust_line
from pready.calibrate.fit.location import mad_sigma
from pready.calibrate.fit.series import Series
from pready.model.common.arrays import Array

REACH = 3  # how many measured sizes a threshold may move in a draw
STRONG = 16.0  # ΔBIC from which an overhead's growth with size is believed: 10 is "very strong"
# (kass1995), and every segment of two curves is asked


@dataclass(frozen=True)
class CurveLines:
    """One curve's lines, one per segment."""

    series: Series  # the points; sigma rescaled to agree with the residuals
    intercept: Array  # shape (draws, segments), of the measured values themselves (1, segments); as `slope`
    slope: Array
    points: IntArray  # number of points in each segment, shape (segments,)
    sloped: tuple[bool, ...]  # whether a slope was fitted, shape (segments,)
    fitted: Array  # shape (n,)

    @property
    def residuals(self) -> Array:
        """(measured - fitted)/fitted, shape (n,)."""
        return np.asarray((self.series.value - self.fitted) / self.fitted)


def fit_lines(series: Series, grid: Array, cuts: list[int]) -> CurveLines:
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
    return CurveLines(series, a[None], b[None], points, sloped, fitted)


def _each(series: Series, which: IntArray, sloped: tuple[bool, ...]) -> tuple[Array, Array, Array]:
    a, b = np.zeros(len(sloped)), np.zeros(len(sloped))
    points = series.size, series.value, series.sigma
    for k, slope in enumerate(sloped):
        line = robust_line(*points, np.searchsorted(which, [[k, k + 1]]), sloped=slope)
        a[k], b[k] = line.intercept[0], line.slope[0]
    return a[which] + b[which] * series.size, a, b


def _kept(series: Series, which: IntArray, sloped: tuple[bool, ...]) -> Array:
    """1 - leverage, at least 0.05: the share of its own error that a point keeps as its residual."""
    kept = np.ones(len(series))
    for k, slope in enumerate(sloped):
        part = which == k
        if part.any():
            kept[part] = 1 - leverage(series.size[part], series.sigma[part], sloped=slope)
    return kept.clip(0.05)


def _has_slope(series: Series, part: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
    """time and gap always; an overhead only where the data insist, since LogGP's is constant."""
    if series.name in ("time", "gap"):
        return True
    x, y, sigma = series.size[part], series.value[part], tolerant(series)[part]
    if len(x) < 4:
        return False
    constant, line = (robust_line(x, y, sigma, sloped=slope) for slope in (False, True))
    return bool(constant.cost - line.cost > STRONG + np.log(len(x)) and line.slope > 0 and line.intercept > 0)


def draw_lines(
    lines: Mapping[str, CurveLines], grid: Array, cuts: list[int], rng: np.random.Generator, draws: int
) -> tuple[dict[str, CurveLines], IntArray]:
    """A curve's lines for resampled data.

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
        within = np.searchsorted(position[name], edges)
        points = curve.series.size, value[name], curve.series.sigma
        made = [
            robust_line(*points, within[:, None, k : k + 2], sloped=sloped, rounds=3)
            for k, sloped in enumerate(curve.sloped)
        ]
        a, b = np.concatenate([line[:2] for line in made], axis=2)
        drawn[name] = replace(curve, intercept=a, slope=b)
    return drawn, moved


def _resampled(curve: CurveLines, at: IntArray, cuts: list[int], rng: np.random.Generator, draws: int) -> Array:
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
    value: Mapping[str, Array],
    position: Mapping[str, IntArray],
    grid: Array,
    cuts: list[int],
) -> IntArray:
    """Each threshold's best place within REACH sizes, its neighbours held; (draws, cuts)."""
    draws = len(next(iter(value.values())))
    moved = np.tile(np.array(cuts, dtype=int), (draws, 1))
    edges = [0, *cuts, len(grid)]
    for k, cut in enumerate(cuts):
        low, high = edges[k], edges[k + 2]
        near = range(cut - REACH, cut + REACH + 1)
        sizes = [np.diff(np.searchsorted(position["time"], [low, c, high])) for c in near]
        places = [c for c, of_both in zip(near, sizes, strict=True) if min(of_both) >= FEWEST_IN_SEGMENT]
        moved[:, k] = np.array(places)[np.argmin(_cost_of(lines, value, position, low, high, places), axis=1)]
    return moved


def _cost_of(
    lines: Mapping[str, CurveLines],
    value: Mapping[str, Array],
    position: Mapping[str, IntArray],
    low: int,
    high: int,
    places: list[int],
) -> Array:
    """Cost of the two segments [low, place) and [place, high), shape (draws, places)."""
    total = np.zeros((len(next(iter(value.values()))), len(places)))
    for name, curve in lines.items():
        first, *middle, end = np.searchsorted(position[name], [low, *places, high])
        windows = np.concatenate([[(first, place), (place, end)] for place in middle])
        cost = robust_line(curve.series.size, value[name], tolerant(curve.series), windows, rounds=2).cost
        total += cost[:, ::2] + cost[:, 1::2]
    return total
