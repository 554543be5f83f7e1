"""Fits of named distributions to captured thread times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pready.model.common.arrays import Array
from pready.model.common.units import Unit, format_exact

SIGNIFICANCE = 0.05
"""Significance level of the tests: a distribution with a smaller p-value is rejected."""
MOST_TESTED = 400
"""Most times to test, picked evenly: with enough data every test rejects every simple model."""
RESAMPLES = 299  # samples drawn from a fitted distribution, for its p-value
LAGGARD_EXPLAINS = 0.95
"""Share of the variance that one late thread must explain. The model has no other spread: any test would reject it."""


@dataclass(frozen=True)
class Named:
    """A distribution that was not rejected: the table [arrivals], the compute time that belongs to it, and why."""

    fields: dict[str, str]
    time_s: float
    because: str


def named(times: Array, seed: int) -> Named | None:
    """The first model that is not rejected: no spread, one late thread, normal, uniform. None if all are rejected.

    `times` are finish times of each thread in seconds, shape (iterations, threads).
    """
    mean, spread = float(times.mean()), float(times.std())
    if mean > 0 and spread <= 1e-3 * mean:
        return Named({"model": "none"}, mean, f"thread times differ by {100 * (spread / mean):.2f} %")
    late = _laggard(times)
    if late is not None:
        return late
    pooled = times.ravel()
    picked = pooled[np.linspace(0, len(pooled) - 1, min(len(pooled), MOST_TESTED)).astype(np.intp)]
    if len(picked) < 20:
        return None
    from scipy import stats

    # Scaled because the fit, of location and scale, stops at an absolute tolerance.
    scaled = (picked - picked.mean()) / picked.std()
    for name, distribution in (("normal by thread", stats.norm), ("uniform", stats.uniform)):
        rng = np.random.default_rng(seed)
        p = stats.goodness_of_fit(distribution, scaled, statistic="ks", n_mc_samples=RESAMPLES, rng=rng).pvalue
        if p >= SIGNIFICANCE and (name != "uniform" or spread / mean < 0.577):
            fields = {"model": name, "spread": f"{100 * spread / mean:.4g} %"}
            return Named(fields, mean, f"Kolmogorov-Smirnov test, p = {p:.2g}")
    return None


def _laggard(times: Array) -> Named | None:
    if times.shape[1] < 2:
        return None
    last = times.argmax(axis=1)
    rest = np.median(np.sort(times, axis=1)[:, :-1], axis=1)
    delay = float(np.median(times.max(axis=1) - rest))
    base = float(np.median(rest))
    modelled = np.full_like(times, base)
    modelled[np.arange(len(times)), last] += delay
    total = float(times.var())
    explained = 1 - float(((times - modelled) ** 2).mean()) / total if total else 0.0
    if explained < LAGGARD_EXPLAINS:
        return None
    fields = {"model": "laggard", "delay": format_exact(delay, Unit.TIME), "late": "thread"}
    return Named(fields, base, f"one late thread explains {100 * explained:.1f} % of the variance")
