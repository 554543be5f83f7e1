"""What the cases say together, against the limits a sceptical reader would set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from pready.validate.limits import at_least, at_most, clear, of_means, percentile, right
from pready.validate.live.compare import Compared
from pready.validate.result import CaseResult, Check

STEADY = 0.05
"""Run-to-run spread below which a case can judge a prediction."""
SMALL = 4096
"""Bytes; below, times are a few calls long and only the interval is checked."""
LARGE = 1 << 20
"""Bytes below which latency, overheads and protocols matter, which Eq. 3 leaves out."""
BEATS = 0.5
"""What "clearly better than Eq. 3" means: at most this share of its error."""


def steady(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """Cases from 4 KiB up that repeat themselves well enough to judge a prediction."""
    return [c for c in cases if c.buffer >= SMALL and c.spread < STEADY]


def checks(compared: Sequence[Compared]) -> tuple[Check, ...]:
    """The acceptance of a live comparison. A figure over no case at all is NaN, which passes no limit."""
    every = [c for one in compared for c in one.cases]
    cases = steady(every)
    split = [c for c in cases if c.approach != "single"]
    small = [c for c in every if c.buffer < SMALL]
    gains = clear(split)
    regrets = [one.regret for one in compared if _tells(one, one.best)]
    lost = [one.regret_of_iteration for one in compared if _tells(one, one.shortest)]
    below = [c for c in split if c.buffer < LARGE and c.eta_closed_form is not None]
    ours = percentile([abs(c.eta_error) for c in below], 50)
    theirs = percentile([abs((c.eta_closed_form or 0.0) / c.eta_measured - 1) for c in below], 50)
    return (
        at_most("error of time, median", percentile([abs(c.error) for c in cases], 50), 0.07, len(cases)),
        of_means(cases, 0.07),
        at_most("error of η, median", percentile([abs(c.eta_error) for c in split], 50), 0.03, len(split)),
        at_most("error of η, 90th percentile", percentile([abs(c.eta_error) for c in split], 90), 0.12, len(split)),
        at_most("regret, median, of the exchange", percentile(regrets, 50), 0.02, len(regrets)),
        at_most("regret, 95th percentile, of the exchange", percentile(regrets, 95), 0.10, len(regrets)),
        at_most("regret, 95th percentile, of the iteration", percentile(lost, 95), 0.03, len(lost)),
        at_least("verdict right", _share(gains, right), 0.97, len(gains), "of savings clear of 1 % of the iteration"),
        at_least("below 4 KiB, inside the interval", _share(small, _inside), 0.90, len(small)),
        Check(
            "error of η below 1 MiB over that of Eq. 3 alone",
            ours / theirs if theirs > 0 else float("nan"),
            BEATS,
            "at most",
            note=f"medians {ours:.1%} and {theirs:.1%}",
            cases=len(below),
        ),
    )


def _tells(one: Compared, best: CaseResult) -> bool:
    """Are the chosen and the best way both measured well enough to tell a regret?"""
    return one.scene.buffer >= SMALL and one.case(one.advised).spread < STEADY and best.spread < STEADY


def _inside(case: CaseResult) -> bool:
    return case.predicted_low_s <= case.measured_s <= case.predicted_high_s


def _share(cases: Sequence[CaseResult], holds: Callable[[CaseResult], bool]) -> float:
    return float(np.mean([holds(c) for c in cases])) if cases else float("nan")
