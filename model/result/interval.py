"""Where the truth lies, from a few draws."""

from __future__ import annotations

import math

import numpy as np

from pready.model.common import normal
from pready.model.common.arrays import Array, mean


def interval(drawn: Array, value: float, arrivals: float = 0.0, *, signed: bool = False) -> tuple[float, float]:
    """The 95 % interval of one more such draw, widened to contain `value`.

    By Student's t, in the logarithm if all are positive and not `signed`: percentiles of some ten draws contained the
    truth in 85 % of synthetic cases only.

    Parameters
    ----------
    drawn
        The value with each draw of the parameters.
    arrivals
        Standard deviation that arrivals add to it.
    """
    n = len(drawn)
    least = np.minimum.reduce(drawn)
    logs = bool(least > 0 and value > 0 and not signed)
    x = np.log(drawn) if logs else drawn
    middle, half = float(x[0]), 0.0
    if n > 1 and np.maximum.reduce(drawn) - least > 0:
        middle = mean(x)
        off = x - middle
        half = normal.student95(n - 1) * math.sqrt(np.add.reduce(off * off) / (n - 1) * (1 + 1 / n))
    half = math.hypot(half, normal.Z95 * (arrivals / value if logs else arrivals))
    ends = middle - half, middle + half
    if half == 0.0:
        ends = (float(drawn[0]),) * 2
    elif logs:
        ends = math.exp(ends[0]), math.exp(ends[1])
    return min(ends[0], value), max(ends[1], value)


UNSTEADY = 0.05
"""Relative standard error of an interval's width up to which draws suffice."""


def steady(drawn: Array) -> bool:
    """Are there so many draws that the width of their interval is known to `UNSTEADY`?

    Of a standard deviation from n draws with kurtosis k, it is √((k - 1) / 4n): 200 draws of a normal distribution.
    """
    n = len(drawn)
    off = drawn - mean(drawn)
    squares = off * off
    variance = mean(squares)
    if variance <= 0 or n < 2:
        return True
    kurtosis = mean(squares * squares) / variance**2
    return math.sqrt(max(kurtosis - 1, 0.0) / (4 * n)) <= UNSTEADY
