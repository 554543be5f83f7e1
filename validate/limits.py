"""Figures over many cases, and the limits that they have to keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pready.model.result.verdict import MIN_GAIN, verdict
from pready.validate.result import CaseResult, Check

FEWEST_WORKLOADS = 8
"""For negative controls: η of a few workloads may stay nearly the same on a wrong machine."""


def percentile(values: Sequence[float], q: float) -> float:
    """NaN, which keeps no limit, over no value at all."""
    return float(np.percentile(values, q)) if len(values) else float("nan")


def at_most(name: str, value: float, limit: float, cases: int) -> Check:
    """An error, over so many cases."""
    return Check(name, value, limit, "at most", cases=cases)


def at_least(name: str, value: float, limit: float, cases: int, note: str = "") -> Check:
    """A share of so many cases."""
    return Check(name, value, limit, "at least", note=note, cases=cases)


def mean_errors(cases: Sequence[CaseResult]) -> list[float]:
    """Errors of the mean, which `pready predict` prints; the other figures are of medians, which outliers move less."""
    return [abs(c.mean_error) for c in cases if c.measured_mean_s > 0]


def clear(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Those whose measured saving is further from the verdict's limit than its own spread."""
    return [c for c in cases if not c.saving_measured_low <= MIN_GAIN <= c.saving_measured_high]


def right(case: CaseResult) -> bool:
    """Do measured and expected saving lie on one side of the verdict's limit?"""
    return (case.saving_predicted >= MIN_GAIN) == (case.saving_measured >= MIN_GAIN)


def verdicts_right(gains: Sequence[CaseResult]) -> Check:
    """The share of `clear` cases whose verdict is right."""
    share = float(np.mean([right(c) for c in gains])) if gains else float("nan")
    return at_least("verdict right", share, 0.90, len(gains), "of savings further from 1 % than they vary")


def too_few(workloads: int) -> list[str]:
    """A note if negative controls are left out."""
    if workloads >= FEWEST_WORKLOADS:
        return []
    return [
        f"no negative controls: {workloads} workloads are too few, {FEWEST_WORKLOADS} are needed; a larger --budget"
    ]


def as_printed(cases: Sequence[CaseResult]) -> str | None:
    """The verdicts that `pready predict` would print for clear cases; None where intervals are not known."""
    said = [
        (verdict(c.saving_predicted_low, c.saving_predicted_high), right(c))
        for c in cases
        if c.saving_predicted_low is not None and c.saving_predicted_high is not None
    ]
    if not said:
        return None
    told = [
        f'"{each}" of {len(ones)}, {sum(ones)} on the right side of 1 %'
        for each in ("port", "do not port", "undecided")
        if (ones := [ok for v, ok in said if v == each])
    ]
    return f"of {len(said)} measured savings that are clear of 1 %, pready predict would say {'; '.join(told)}"
