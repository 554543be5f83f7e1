"""Figures over many measured and predicted cases, and the limits that they have to keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pready.model.result.verdict import MIN_GAIN, verdict
from pready.validate.result import CaseResult, Check

STEADY = 0.05
"""Run-to-run spread below which a case can judge a prediction."""
SMALL = 4096
"""Bytes; shorter messages take only a few calls, and no limit holds for them."""
LARGE = 1 << 20
"""Bytes below which latency, overheads and protocols matter, which Eq. 3 leaves out."""
FEWEST_WORKLOADS = 8
"""For negative controls: η of a few workloads may stay nearly the same on a wrong machine."""


@dataclass(frozen=True)
class Judged:
    """A workload's ways, measured and predicted."""

    cases: tuple[CaseResult, ...]
    iterations_s: tuple[float, ...]
    """As measured, of each case."""
    chosen: int
    """Number of the way that the model alone would choose."""
    doubtful: bool = False
    """Bulk does not repeat itself: nothing is compared with it."""

    @property
    def _best(self) -> int:
        return int(np.argmin(self.iterations_s))

    @property
    def regret(self) -> float:
        """How much longer the iteration of the model's choice is than the shortest measured one."""
        return self.iterations_s[self.chosen] / self.iterations_s[self._best] - 1

    @property
    def tells_regret(self) -> bool:
        """Are the chosen and the best way both measured well enough?"""
        return len(steady(self.cases[i] for i in (self.chosen, self._best))) == 2


def steady(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """Cases from 4 KiB up that repeat themselves well enough to judge a prediction."""
    return [c for c in cases if c.buffer >= SMALL and c.spread < STEADY]


def compared(judged: Iterable[Judged]) -> list[CaseResult]:
    """Steady cases that are compared with bulk."""
    cases = steady(c for one in judged if not one.doubtful for c in one.cases)
    return [c for c in cases if c.approach != "single"]


def clear(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Those whose measured saving is further from the verdict's limit than its own spread."""
    return [c for c in cases if not c.saving_measured_low <= MIN_GAIN <= c.saving_measured_high]


def right(case: CaseResult) -> bool:
    """Do measured and expected saving lie on one side of the verdict's limit?"""
    return (case.saving_predicted >= MIN_GAIN) == (case.saving_measured >= MIN_GAIN)


def checks(judged: Sequence[Judged], limit: float) -> tuple[Check, ...]:
    """The limits of a smoke test, `limit` that of the median error of η.

    A figure over no case at all is NaN, which keeps no limit.
    """
    split = compared(judged)
    gains = clear(split)
    share = float(np.mean([right(c) for c in gains])) if gains else float("nan")
    note = "of savings further from 1 % than they vary"
    return (
        Check("error of η, median", _percentile(_eta_errors(split), 50), limit, "at most", cases=len(split)),
        Check("verdict right", share, 0.90, "at least", note=note, cases=len(gains)),
    )


def described(judged: Sequence[Judged]) -> str:
    """Figures without a limit."""
    every = [c for one in judged for c in one.cases]
    cases, small = steady(every), [c for c in every if c.buffer < SMALL]
    split = compared(judged)
    times = [abs(c.error) for c in cases]
    # `pready predict` prints mean times of an exchange; all other errors here are of median times, which outliers move
    # less.
    means = [abs(c.mean_error) for c in cases if c.measured_mean_s > 0]
    said = [
        f"error of time {_percent(times, 50)} in the median",
        f"of mean time {_percent(means, 50)}",
        f"of η {_percent(_eta_errors(split), 90)} at the 90th percentile",
    ]
    below = [(c, abs(c.eta_closed_form / c.eta_measured - 1)) for c in split if c.buffer < LARGE and c.eta_closed_form]
    if below:
        ours, theirs = _eta_errors([c for c, _ in below]), [error for _, error in below]
        said.append(f"of η below 1 MiB {_percent(ours, 50)} in the median (Eq. 3 alone: {_percent(theirs, 50)})")
    regrets = [one.regret for one in judged if one.tells_regret]
    said.append(f"regret {_percent(regrets, 95)} of the iteration at the 95th percentile")
    if small:
        inside = np.mean([c.predicted_low_s <= c.measured_s <= c.predicted_high_s for c in small])
        said.append(f"below 4 KiB {100 * inside:.0f} % of {len(small)} times lie inside the interval")
    return "; ".join(said)


def _eta_errors(cases: Iterable[CaseResult]) -> list[float]:
    return [abs(c.eta_error) for c in cases]


def _percentile(values: Sequence[float], q: float) -> float:
    return float(np.percentile(values, q)) if len(values) else float("nan")


def _percent(values: Sequence[float], q: float) -> str:
    return f"{100 * _percentile(values, q):.1f} %"


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
