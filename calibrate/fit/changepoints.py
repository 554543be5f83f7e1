"""Where the library changes protocol: change points found, not assumed.

The segments are those that minimise

    Σ over segments, curves  Σ 2ρ((value - line)/sigma)  +  penalty · (segments - 1)

over every way to cut the measured sizes, by dynamic programming [bellman1961; PELT's pruning,
killick2012, buys nothing at a hundred sizes]. All curves (time, gap, send, receive) share the
cuts, because a switch of protocol shows in all of them: a jump in one or a bend in another is
evidence for the same threshold. ρ is Huber's, so that a disturbed point costs little and does not
buy a segment of its own. The penalty is the Bayesian information criterion's: half the
logarithm of the number of points per parameter, doubled as the cost is -2 log likelihood.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pready.calibrate.fit.lines import IntArray, robust_line
from pready.calibrate.fit.series import Series
from pready.model.common.arrays import Array

FEWEST_IN_SEGMENT = 3  # sizes of the time curve; two would follow any line through a disturbed pair
NEGLIGIBLE = 0.005  # a bend or jump below this share of a time is not worth a protocol


def penalty(curves: Mapping[str, Series]) -> float:
    """The least gain of one more segment: (2 per curve + 1 threshold) · ln(points)."""
    points = sum(len(series) for series in curves.values())
    return (2 * len(curves) + 1) * float(np.log(points))


def tolerant(series: Series) -> Array:
    """The series' sigma, widened by a negligible share: sharp data do not split a gentle curve."""
    return np.hypot(series.sigma, NEGLIGIBLE * np.abs(series.value))


def _costs(curves: Mapping[str, Series], grid: Array) -> Array:
    """The cost of one segment from grid[i] up to, not including, grid[j], for each i <= j; shape (n + 1, n + 1)."""
    total = np.zeros((len(grid) + 1, len(grid) + 1))
    upper = np.triu_indices_from(total)
    for series in curves.values():
        windows = np.column_stack([_before(series, grid)[i] for i in upper])
        total[upper] += robust_line(series.size, series.value, tolerant(series), windows, rounds=4).cost
    return total


def _before(series: Series, grid: Array) -> IntArray:
    """How many points of a curve come before each grid position, and before its end; shape (n + 1,)."""
    return np.append(np.searchsorted(series.size, grid), len(series))


def cuts(curves: Mapping[str, Series], grid: Array) -> list[int]:
    """The best segmentation: indices into `grid` where a new segment begins, without the first.

    Parameters
    ----------
    curves
        The curves by name; "time" has to be among them.
    grid
        All measured sizes, increasing.
    """
    n = len(grid)
    before = _before(curves["time"], grid)
    allowed = before - before[:, None] >= FEWEST_IN_SEGMENT
    table = np.where(allowed, _costs(curves, grid), np.inf)
    each = penalty(curves)
    best, came_from = [0.0], dict[int, int]()
    for j in range(1, n + 1):
        candidates = best + table[:j, j] + each
        came_from[j] = int(np.argmin(candidates))
        best.append(candidates[came_from[j]])
    found, j = list[int](), came_from[n]
    while j:
        found.append(j)
        j = came_from[j]
    return found[::-1]
