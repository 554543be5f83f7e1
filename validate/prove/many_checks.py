"""Two limits for exchanges among many ranks, and figures without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pready.validate.limits import at_most, clear, mean_errors, percentile, verdicts_right
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
        """The way that the model would choose."""
        return max(range(len(self.cases)), key=lambda i: self.cases[i].saving_predicted)

    @property
    def _best(self) -> int:
        return int(np.argmin(self.iterations_s))

    @property
    def regret(self) -> float:
        """How much longer the iteration of the model's choice is than the shortest measured one."""
        return self.iterations_s[self._chosen] / self.iterations_s[self._best] - 1

    @property
    def tells_regret(self) -> bool:
        """Are the chosen and the best way both measured well enough?"""
        return all(self.cases[i].spread < STEADY for i in (self._chosen, self._best))


def compared(judged: Sequence[Judged]) -> list[CaseResult]:
    """Cases that are compared with bulk, and repeat themselves as well as bulk does."""
    return [
        c for one in judged for c in one.cases if c.approach != "single" and c.spread < STEADY and _steady_bulk(one)
    ]


def checks(judged: Sequence[Judged]) -> tuple[Check, ...]:
    """The limits of a smoke test. A figure over no case at all is NaN, which passes no limit."""
    split = compared(judged)
    return (
        at_most("error of η, median", percentile([abs(c.eta_error) for c in split], 50), 0.08, len(split)),
        verdicts_right(clear(split)),
    )


def described(judged: Sequence[Judged]) -> str:
    """Figures without a limit."""
    cases = [c for one in judged for c in one.cases if c.spread < STEADY]
    etas = [abs(c.eta_error) for c in compared(judged)]
    regrets = [one.regret for one in judged if one.tells_regret]
    return "; ".join(
        [
            f"error of communication {100 * percentile([abs(c.error) for c in cases], 50):.1f} % in the median",
            f"of its mean {100 * percentile(mean_errors(cases), 50):.1f} %",
            f"of η {100 * percentile(etas, 90):.1f} % at the 90th percentile",
            f"regret {100 * percentile(regrets, 95):.1f} % of the iteration at the 95th percentile",
        ]
    )


def _steady_bulk(one: Judged) -> bool:
    return all(c.spread < STEADY for c in one.cases if c.approach == "single")
