"""Straight lines through disturbed points, many at a time.

Weighted least squares made robust by iterating Huber's weights [huber1964]: the scale of each
point is given, so the objective is convex and the iteration ends where it would from any start.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from pready.calibrate.fit._lines import huber_lines
from pready.calibrate.fit.float_arrays import FloatArray, IntArray

HUBER_K = 1.345  # 95 % efficiency under normal noise
WORST = 9.0  # the most that a point costs: 4 standard deviations, squared and bounded


def line(x: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted least squares: intercept and slope minimising Σ weight·(y - intercept - slope·x)².

    All three broadcast to shape (..., n); the results have shape (...). A set of points that does
    not determine a slope (fewer than two distinct x) gets slope 0.
    """
    total = weight.sum(axis=-1)
    safe = np.where(total > 0, total, 1.0)
    mean_x = np.einsum("...n,...n->...", weight, x) / safe
    mean_y = np.einsum("...n,...n->...", weight, y) / safe
    dx = x - mean_x[..., None]
    lever = weight * dx
    sxx = np.einsum("...n,...n->...", lever, dx)
    sxy = np.einsum("...n,...n->...", lever, y)  # Σ lever = 0, so y needs no centring
    flat = sxx <= 1e-12 * (sxx + total * mean_x**2)  # Σ weight·x²
    slope = np.where(flat, 0.0, sxy / np.where(flat, 1.0, sxx))
    return np.asarray(mean_y - slope * mean_x), slope


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

    intercept: FloatArray
    slope: FloatArray
    cost: FloatArray


def robust_line(
    x: FloatArray,
    y: FloatArray,
    sigma: FloatArray,
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


def leverage(x: FloatArray, sigma: FloatArray, *, sloped: bool = True) -> FloatArray:
    """The hat matrix's diagonal of a weighted line (or constant) through points, shape (n,)."""
    weight = 1 / sigma**2
    hat = weight / weight.sum()
    if sloped:
        dx = x - (weight * x).sum() / weight.sum()
        sxx = (weight * dx * dx).sum()
        if sxx > 0:
            hat = hat + weight * dx * dx / sxx
    return np.asarray(np.minimum(hat, 1.0))
