"""Straight lines through disturbed points, many at a time.

Weighted least squares made robust by iterating Huber's weights [huber1964]: the scale of each
point is given, so the objective is convex and the iteration ends where it would from any start.
"""

from __future__ import annotations

import numpy as np

from pready.calibrate.fit.arrays import BoolArray, FloatArray, IntArray

HUBER_K = 1.345  # 95 % efficiency under normal noise
TOGETHER = 2048  # points
WORST = 9.0  # what a point can cost at most: that of 4 standard deviations


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


def robust_line(
    x: FloatArray,
    y: FloatArray,
    sigma: FloatArray,
    use: BoolArray | FloatArray,
    *,
    sloped: bool = True,
    rounds: int = 8,
) -> tuple[FloatArray, FloatArray]:
    """Huber's line through the points marked by `use`.

    Parameters
    ----------
    x, y, sigma
        Points and their standard deviations, broadcasting to (..., n).
    use
        1 (True) for points that take part, 0 for others; broadcasts to (..., n).
    sloped
        False fits a constant: slope 0.
    rounds
        Iterations of the weights; the change after 8 is below 1e-3 standard errors.

    Returns
    -------
    intercept, slope
        Shape (...).
    """
    plain = weight = np.asarray(use / sigma**2)
    intercept = slope = np.zeros(np.broadcast_shapes(plain.shape, y.shape)[:-1])
    for turn in range(rounds + 1):
        if turn:
            z = np.asarray((y - intercept[..., None] - slope[..., None] * x) / sigma)
            np.abs(z, out=z)
            np.maximum(z, 1e-300, out=z)
            np.divide(HUBER_K, z, out=z)
            np.minimum(1.0, z, out=z)
            weight = plain * z
        if sloped:
            intercept, slope = line(x, y, weight)
        else:
            total = weight.sum(axis=-1)
            intercept = (weight * y).sum(axis=-1) / np.where(total > 0, total, 1.0)
            slope = np.zeros_like(intercept)
    return intercept, slope


def huber_cost(z: FloatArray, use: BoolArray | FloatArray) -> FloatArray:
    """Σ 2ρ(z): z² inside HUBER_K, 2k|z| - k² outside, never above WORST; shape (..., n) to (...).

    χ²-like for normal z. Bounded, so that one disturbed point costs the same wherever it is and
    cannot pay for a segment of its own.
    """
    size = np.abs(z)
    loss = np.where(size <= HUBER_K, size**2, np.minimum(2 * HUBER_K * size - HUBER_K**2, WORST))
    return np.asarray((loss * use).sum(axis=-1))


def window_costs(x: FloatArray, y: FloatArray, sigma: FloatArray, windows: IntArray, *, rounds: int) -> FloatArray:
    """What `huber_cost` says of Huber's line through each window of consecutive points.

    Parameters
    ----------
    x, y, sigma
        Points and their standard deviations, shape (n,).
    windows
        The first point of each window and that after its last, shape (windows, 2).
    rounds
        As in `robust_line`.

    Returns
    -------
    Shape (windows,); 0 for a window without points.
    """
    pairs, place = np.unique(windows[:, 0] * (len(x) + 1) + windows[:, 1], return_inverse=True)
    distinct = np.stack(np.divmod(pairs, len(x) + 1), axis=1)
    length = distinct[:, 1] - distinct[:, 0]
    cost = np.zeros(len(distinct))
    # Windows of like length together, as many at a time as stay in a core's first cache.
    order = np.argsort(length, kind="stable")
    order = order[length[order] > 0]
    while len(order):
        at_a_time = max(1, TOGETHER // int(length[order[0]]))
        some, order = order[:at_a_time], order[at_a_time:]
        point = distinct[some, 0, None] + np.arange(length[some].max())
        use = point < distinct[some, 1, None]
        point = np.minimum(point, len(x) - 1)
        here = x[point], y[point], sigma[point]
        a, b = robust_line(*here, use, rounds=rounds)
        cost[some] = huber_cost((here[1] - a[:, None] - b[:, None] * here[0]) / here[2], use)
    return cost[place]


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
