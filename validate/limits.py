"""Figures over many cases against the limits they have to keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pready.validate.result import CaseResult, Check


def percentile(values: Sequence[float], q: float) -> float:
    """NaN, which keeps no limit, over no value at all."""
    return float(np.percentile(values, q)) if len(values) else float("nan")


def at_most(name: str, value: float, limit: float, cases: int) -> Check:
    """An error, over so many cases."""
    return Check(name, value, limit, "at most", cases=cases)


def at_least(name: str, value: float, limit: float, cases: int, note: str = "") -> Check:
    """A share of so many cases."""
    return Check(name, value, limit, "at least", note=note, cases=cases)


def of_means(cases: Sequence[CaseResult], limit: float) -> Check:
    """The statistic that `pready predict` prints; the other figures are of medians, which no other program disturbs."""
    errors = [abs(c.mean_error) for c in cases if c.measured_mean_s > 0]
    return at_most("error of mean time, median", percentile(errors, 50), limit, len(errors))
