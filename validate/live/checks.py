"""Two limits for a live comparison, and figures without one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pready.validate.limits import at_most, clear, mean_errors, percentile, verdicts_right
from pready.validate.live.compare import Compared
from pready.validate.result import CaseResult, Check

STEADY = 0.05
"""Run-to-run spread below which a case can judge a prediction."""
SMALL = 4096
"""Bytes; shorter messages take only a few calls, and no limit holds for them."""
LARGE = 1 << 20
"""Bytes below which latency, overheads and protocols matter, which Eq. 3 leaves out."""


def steady(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """Cases from 4 KiB up that repeat themselves well enough to judge a prediction."""
    return [c for c in cases if c.buffer >= SMALL and c.spread < STEADY]


def checks(compared: Sequence[Compared]) -> tuple[Check, ...]:
    """The limits of a smoke test. A figure over no case at all is NaN, which passes no limit."""
    split = [c for c in steady(c for one in compared for c in one.cases) if c.approach != "single"]
    return (
        at_most("error of η, median", percentile([abs(c.eta_error) for c in split], 50), 0.05, len(split)),
        verdicts_right(clear(split)),
    )


def described(compared: Sequence[Compared]) -> str:
    """Figures without a limit."""
    every = [c for one in compared for c in one.cases]
    cases, small = steady(every), [c for c in every if c.buffer < SMALL]
    split = [c for c in cases if c.approach != "single"]
    regrets = [one.regret for one in compared if _tells_regret(one)]
    below = [c for c in split if c.buffer < LARGE and c.eta_closed_form is not None]
    theirs = [abs((c.eta_closed_form or 0.0) / c.eta_measured - 1) for c in below]
    inside = [float(c.predicted_low_s <= c.measured_s <= c.predicted_high_s) for c in small]
    return "; ".join(
        [
            f"error of time {100 * percentile([abs(c.error) for c in cases], 50):.1f} % in the median",
            f"of mean time {100 * percentile(mean_errors(cases), 50):.1f} %",
            f"of η {100 * percentile([abs(c.eta_error) for c in split], 90):.1f} % at the 90th percentile",
            f"of η below 1 MiB {100 * percentile([abs(c.eta_error) for c in below], 50):.1f} % in the median "
            f"(Eq. 3 alone: {100 * percentile(theirs, 50):.1f} %)",
            f"regret {100 * percentile(regrets, 95):.1f} % of the iteration at the 95th percentile",
            *(
                [f"below 4 KiB {100 * np.mean(inside):.0f} % of {len(small)} times lie inside the interval"]
                if small
                else []
            ),
        ]
    )


def _tells_regret(one: Compared) -> bool:
    """Do the chosen and the shortest way both repeat themselves?"""
    return one.scene.buffer >= SMALL and one.case(one.advised).spread < STEADY and one.shortest.spread < STEADY
