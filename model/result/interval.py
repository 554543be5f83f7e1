"""Quantiles of draws: the one interval of a prediction, and its value."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pready.model.common.arrays import Array

_STEPS = 64
"""Points of the integral of a weight."""


def quantile(drawn: Array, p: float) -> float:
    """A quantile as the mean of all order statistics, each with the weight of Harrell and Davis.

    Biometrika 69 (1982) 635, https://doi.org/10.1093/biomet/69.3.635: a sum over the draws, which another sample moves
    less than one or two order statistics.
    """
    ordered = np.sort(drawn)
    return float(ordered[0] + (ordered - ordered[0]) @ _weights(len(drawn), p))  # of equal draws, exactly that


def interval(drawn: Array) -> tuple[float, float]:
    """The 95 % interval."""
    return quantile(drawn, 0.025), quantile(drawn, 0.975)


def median(drawn: Array) -> float:
    """The value."""
    return quantile(drawn, 0.5)


@lru_cache(maxsize=64)
def _weights(n: int, p: float) -> Array:
    """The mass of the beta distribution of (n + 1) p and (n + 1) (1 - p) on each n-th of (0, 1)."""
    a, b = (n + 1) * p, (n + 1) * (1 - p)
    x = (np.arange(n * _STEPS) + 0.5) / (n * _STEPS)
    log = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    mass = np.exp(log).reshape(n, _STEPS).sum(axis=1)
    return np.asarray(mass / mass.sum())
