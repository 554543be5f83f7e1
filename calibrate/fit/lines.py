"""Straight lines through disturbed points, many at a time.

Weighted least squares made robust by iterating Huber's weights [huber1964]: the scale of each
point is given, so the objective is convex and the iteration ends where it would from any start.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pready.calibrate.fit._lines import huber_lines
from pready.model.common.arrays import Array

IntArray: TypeAlias = NDArray[np.intp]
HUBER_K = 1.345  # 95 % efficiency under normal noise
WORST = 9.0  # the most that a point costs: 4 standard deviations, squared and bounded


class RobustLine(NamedTuple):
    """Huber's line, or many of them: each field of shape (...).

    Attributes
    ----------
    intercept, slope
        0 where there is no point.
    cost
        Σ 2ρ(z) of the residuals z: z² inside HUBER_K, 2k|z| - k² outside, never above WORST. χ²-like for normal z.
        Bounded, so that one disturbed point costs the same wherever it is and cannot pay for a segment of its own.
    """

    intercept: Array
    slope: Array
    cost: Array


def robust_line(
    x: Array,
    y: Array,
    sigma: Array,
    windows: IntArray | None = None,
    *,
    sloped: bool = True,
    rounds: int = 8,
) -> RobustLine:
    """Huber's line through points, or through each window of consecutive ones.

    Parameters
    ----------
    x, y, sigma
        Points and their standard deviations, broadcasting to (..., n); the last axis of x is n long.
    windows
        The first point of each window and that after its last, broadcasting to (..., k, 2): k windows of the same
        points. The results then have shape (..., k), else (...).
    sloped
        False fits a constant: slope 0.
    rounds
        Iterations of the weights; the change after 8 is below 1e-3 standard errors.
    """
    bounds = np.array([[0, np.shape(x)[-1]]]) if windows is None else windows
    *shape, n = np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(sigma), (*bounds.shape[:-2], 1))
    rows, k = prod(shape), bounds.shape[-2]
    x, y, sigma = (np.broadcast_to(v, (*shape, n)).reshape(rows, n) for v in (x, y, sigma))
    bounds = np.broadcast_to(bounds, (*shape, k, 2)).reshape(rows, k, 2)
    found = huber_lines(x, y, sigma, bounds, sloped=sloped, rounds=rounds, k=HUBER_K, worst=WORST)
    if windows is not None:
        shape.append(k)
    return RobustLine(*np.moveaxis(found.reshape(*shape, 3), -1, 0))


def leverage(x: Array, sigma: Array, *, sloped: bool = True) -> Array:
    """The hat matrix's diagonal of a weighted line (or constant) through points, shape (n,)."""
    weight = 1 / sigma**2
    hat = weight / weight.sum()
    if sloped:
        dx = x - (weight * x).sum() / weight.sum()
        sxx = (weight * dx * dx).sum()
        if sxx > 0:
            hat = hat + weight * dx * dx / sxx
    return np.asarray(np.minimum(hat, 1.0))
