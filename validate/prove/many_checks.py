"""What exchanges among many ranks say together, against the limits of those who would port on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pready.validate.limits import at_most, clear, of_means, percentile, right
from pready.validate.result import CaseResult, Check

STEADY = 0.05
"""Run-to-run spread below which a case can judge a prediction."""


@dataclass(frozen=True)
class Judged:
    """A scene's ways, measured and predicted."""

    cases: tuple[CaseResult, ...]
    iterations_s: tuple[float, ...]
    """As measured, of each case."""

    @property
    def _chosen(self) -> int:
        """What the model would take."""
        return max(range(len(self.cases)), key=lambda i: self.cases[i].saving_predicted)

    @property
    def _best(self) -> int:
        return int(np.argmin(self.iterations_s))

    @property
    def regret(self) -> float:
        """Of an iteration: what following the model costs against the best that was measured."""
        return self.iterations_s[self._chosen] / self.iterations_s[self._best] - 1

    @property
    def tells_regret(self) -> bool:
        """Are the chosen and the best way both measured well enough?"""
        return all(self.cases[i].spread < STEADY for i in (self._chosen, self._best))


def compared(judged: Sequence[Judged]) -> list[CaseResult]:
    """What is held against bulk: both repeat themselves."""
    return [
        c for one in judged for c in one.cases if c.approach != "single" and c.spread < STEADY and _steady_bulk(one)
    ]


def checks(judged: Sequence[Judged]) -> tuple[Check, ...]:
    """The acceptance. A figure over no case at all is NaN, which passes no limit."""
    cases = [c for one in judged for c in one.cases if c.spread < STEADY]
    split = compared(judged)
    gains = clear(split)
    regrets = [one.regret for one in judged if one.tells_regret]
    return (
        at_most("error of communication, median", percentile([abs(c.error) for c in cases], 50), 0.10, len(cases)),
        of_means(cases, 0.10),
        at_most("error of η, median", percentile([abs(c.eta_error) for c in split], 50), 0.07, len(split)),
        at_most("error of η, 90th percentile", percentile([abs(c.eta_error) for c in split], 90), 0.20, len(split)),
        Check(
            "verdict right",
            float(np.mean([right(c) for c in gains])) if gains else float("nan"),
            0.95,
            "at least",
            note="of savings clear of 1 % of the iteration",
            cases=len(gains),
        ),
        at_most("regret, 95th percentile, of the iteration", percentile(regrets, 95), 0.03, len(regrets)),
    )


def _steady_bulk(one: Judged) -> bool:
    return all(c.spread < STEADY for c in one.cases if c.approach == "single")
