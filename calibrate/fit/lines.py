"""Straight lines through disturbed points, many at a time.

Weighted least squares made robust by iterating Huber's weights [huber1964]: the scale of each
point is given, so the objective is convex and the iteration ends where it would from any start.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Array

IntArray: TypeAlias = NDArray[np.intp]
HUBER_K = 1.345  # 95 % efficiency under normal noise
WORST = 9.0  # the most that a point costs: 4 standard deviations, squared and bounded
AT_ONCE = 1 << 20
"""Windows times points that are in memory at once."""


class RobustLine(NamedTuple):
    """Huber's line, or many of them: each field of shape (...)."""

    intercept: Array  # 0 where there is no point, as `slope`
    slope: Array
    cost: Array
    """Σ 2ρ(z) of the residuals z: z² inside HUBER_K, 2k|z| - k² outside, never above WORST. χ²-like for normal z.
    Bounded, so that one disturbed point costs the same wherever it is and cannot pay for a segment of its own."""


def robust_line(
    x: Array, y: Array, sigma: Array, windows: IntArray | None = None, *, sloped: bool = True, rounds: int = 8
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
    if windows is None:
        one = robust_line(x, y, sigma, np.array([[0, np.shape(x)[-1]]]), sloped=sloped, rounds=rounds)
        return RobustLine(*(found[..., 0] for found in one))
    count, n = windows.shape[-2], np.shape(x)[-1]
    if count > 1 and windows.size * n > 2 * AT_ONCE:
        parts = np.array_split(windows, 2, axis=-2)
        halves = [robust_line(x, y, sigma, part, sloped=sloped, rounds=rounds) for part in parts]
        return RobustLine(*(np.concatenate(each, axis=-1) for each in zip(*halves, strict=True)))
    first, end = int(windows.min()), int(windows.max())
    at = np.arange(first, end)
    inside = (windows[..., :1] <= at) & (at < windows[..., 1:])
    x, y, sigma = (np.asarray(of)[..., None, first:end] for of in (x, y, sigma))
    weight = plain = inside / sigma**2
    for _ in range(rounds + 1):
        total = weight.sum(axis=-1)
        safe = np.where(total > 0, total, 1.0)
        mean_x, mean_y = ((weight * of).sum(axis=-1) / safe for of in (x, y))
        slope = np.zeros_like(mean_y)
        if sloped:
            lever = weight * (x - mean_x[..., None])
            spread = (lever * x).sum(axis=-1)
            # A single size has no slope.
            steep = spread > 1e-12 * (spread + total * mean_x**2)
            slope = np.where(steep, (lever * y).sum(axis=-1) / np.where(steep, spread, 1.0), 0.0)
        intercept = mean_y - slope * mean_x
        off = np.abs(y - intercept[..., None] - slope[..., None] * x)
        weight = plain * (HUBER_K * sigma / np.maximum(off, HUBER_K * sigma))
    z = off / sigma
    tail = np.minimum(2 * HUBER_K * z - HUBER_K**2, WORST)
    cost = np.where(inside, np.where(z <= HUBER_K, z**2, tail), 0.0).sum(axis=-1)
    return RobustLine(intercept, slope, cost)


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
