"""Would one straight line have done? A test with its p-value, so that a model can fail.

The statistic is the F-like ratio sup over splits of (RSS(one line) - RSS(two lines))/RSS(two lines)
[quandt1960]. Its distribution is not F's, as the split is searched for; it is simulated with this
very set of sizes and with residuals of the best two-line model, resampled. The ratio does not
depend on the size of the noise, so nothing has to be known about it.
"""

from __future__ import annotations

import numpy as np

from pready.calibrate.fit._lines import running_lines
from pready.calibrate.fit.float_arrays import FloatArray
from pready.calibrate.fit.lines import leverage, line
from pready.calibrate.fit.results import LineTest
from pready.calibrate.fit.series import Series

FEWEST = 3  # points on each side of a split


def line_test(series: Series, rng: np.random.Generator, *, draws: int = 999) -> LineTest:
    """Tests one line against two.

    Parameters
    ----------
    series
        At least 2·FEWEST + 1 points; with fewer the p-value is 1 (nothing can be rejected).
    rng
        Source of the simulated data sets.
    draws
        How many; the p-value is at least 1/(draws + 1).
    """
    n = len(series)
    if n < 2 * FEWEST + 1:
        return LineTest(1.0, -np.inf, float(series.size[-1]))
    x, sigma = series.size, series.sigma
    one, two = _residual_sums(x, series.value[None, :], sigma)
    split = int(np.argmin(two[0]))
    best = float(two[0, split])
    statistic = (one[0] - best) / max(best, 1e-300)
    residuals = np.concatenate(
        [
            _standard_residuals(x[part], series.value[part], sigma[part])
            for part in np.split(np.arange(n), [split + FEWEST])
        ]
    )
    simulated = sigma * residuals[rng.integers(0, n, (draws, n))]
    ones, twos = _residual_sums(x, simulated, sigma)
    bests = twos.min(axis=1)
    null = (ones - bests) / np.maximum(bests, 1e-300)
    p = (1 + int(np.sum(null >= statistic))) / (draws + 1)
    # BIC = n·ln(RSS/n) + k·ln n; two lines have 3 parameters more (a line and the split).
    delta = n * np.log(max(float(one[0]), 1e-300) / max(best, 1e-300)) - 3 * np.log(n)
    return LineTest(float(p), float(delta), float(x[split + FEWEST]))


def _residual_sums(x: FloatArray, y: FloatArray, sigma: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted residual sums of squares: one line, shape (m,); two by split, (m, splits)."""
    x, w = x[None, :], 1 / sigma[None, :] ** 2
    forward = running_lines(x, y, w)
    backward = running_lines(x[:, ::-1], y[:, ::-1], w[:, ::-1])[:, ::-1]
    n = y.shape[1]
    left = forward[:, FEWEST - 1 : n - FEWEST]
    right = backward[:, FEWEST : n - FEWEST + 1]
    return forward[:, -1], np.asarray(left + right)


def _standard_residuals(x: FloatArray, y: FloatArray, sigma: FloatArray) -> FloatArray:
    intercept, slope = line(x, y, 1 / sigma**2)
    off = (y - intercept - slope * x) / sigma
    return np.asarray(off / np.sqrt(np.maximum(1 - leverage(x, sigma), 0.05)))
