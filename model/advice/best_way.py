"""The best way to send, as draws of the machine choose it, and the probability that it saves enough.

One rule for the answer and for every size that "pays from" names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pready.model.advice.savings import CHOICE, Savings
from pready.model.approach.interfaces import Approach, Interface
from pready.model.engine.runs import Runs
from pready.model.machine.rma_by_library import unmeasured
from pready.model.result.interval import interval
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import INDISTINCT, LIKELY, best_port, candidates, enough, trouble
from pready.model.workload.workload import Workload


def drawn_ways(rows: Sequence[ApproachPrediction], workload: Workload, min_gain: float) -> list[ApproachPrediction]:
    """The baseline, and the best of each interface by the machine's values; last what cannot be had today."""
    base, by_interface = workload.baseline, dict[Interface, list[ApproachPrediction]]()
    for row in candidates(rows, base):
        by_interface.setdefault(row.approach.interface, []).append(row)
    now = next(p for p in rows if p.approach == base)
    each = [best_port(some, now, workload.iterations, min_gain) for some in by_interface.values()]
    wanted = [p for p in rows if not p.available and p.approach.interface.partitioned]
    return [now, *each, *([best_port(wanted, now, workload.iterations, min_gain)] if wanted else [])]


def chosen(savings: Savings, drawn: Sequence[ApproachPrediction], iterations: int, min_gain: float) -> int:
    """Which way to advise, 0 for none: the simplest among those that save most on average over the drawn machines.

    RMA only where its costs were measured in this library over this fabric, and where it saves more than the best
    other way in 97.5 % of the draws.
    """
    able = [n for n, row in enumerate(drawn) if n > 0 and row.available]
    sided = [n for n in able if drawn[n].approach.interface.one_sided]
    at = _simplest(savings, drawn, [n for n in able if n not in sided], iterations, min_gain)
    if sided and not unmeasured(savings.runs.machine):
        rma = _simplest(savings, drawn, sided, iterations, min_gain)
        ahead = savings.percent[rma] - np.maximum(savings.percent[at], 0.0)
        at = rma if interval(ahead)[0] > 0 else at
    return at


def _simplest(
    savings: Savings, drawn: Sequence[ApproachPrediction], some: Sequence[int], iterations: int, min_gain: float
) -> int:
    """The simplest of those that save most; if that is not enough, `best_port` of their rows; 0 of none."""
    expected = {n: float(savings.percent[n].mean()) for n in some}
    if not some or not enough(max(expected.values()), min_gain):
        return [*drawn].index(best_port([drawn[n] for n in some], drawn[0], iterations, min_gain)) if some else 0
    close = [n for n, x in expected.items() if x >= max(expected.values()) - 100 * INDISTINCT]
    return min(close, key=lambda n: trouble(drawn[n].approach))


def drawn_rows(
    runs: Runs, rows: list[ApproachPrediction], min_gain: float, *, every: bool, number: int = 0
) -> tuple[ApproachPrediction, Savings | None]:
    """The row to advise; rows of ways that are drawn are replaced by what their draws say, in place: of all draws what
    is advised, the baseline, and partitioned ones; the others are put beside the drawn baseline.

    `every`: also all other ways, by the draws that choose.
    """
    workload = runs.parts[number]
    drawn = drawn_ways(rows, workload, min_gain)
    if len(drawn) == 1 or runs.draws == 0:
        return best_at_values(runs, drawn, min_gain, number), None
    ways = [runs.step.way(p.approach, number) for p in drawn]
    first = Savings(runs, tuple(ways), CHOICE)
    at = chosen(first, drawn, workload.iterations, min_gain)
    timed, made = len(runs.parts) == 1, [*drawn]
    if every:
        shares = first.best_in([p.available for p in drawn])
        found = first.rows(drawn, min_gain, timed=timed)
        made = [replace(p, best_in=float(x)) for p, x in zip(found, shares, strict=True)]
    asked = [n for n, p in enumerate(drawn) if n in (0, at) or p.approach.interface.partitioned]
    savings = Savings(runs, tuple(ways[n] for n in asked))
    first_rows = made[0], made[at]
    for n, row in zip(asked, savings.rows([made[n] for n in asked], min_gain, timed=timed), strict=True):
        made[n] = row
    if every:  # first draws are off by as much for every way
        made = [p if k in asked else p.moved(first_rows, (made[0], made[at])) for k, p in enumerate(made)]
    made = [row.beside(made[0]) for row in made]
    rows[:] = [made[drawn.index(row)] if row in drawn else row.beside(made[0]) for row in rows]
    return made[at], savings


def best_at_values(
    runs: Runs, drawn: Sequence[ApproachPrediction], min_gain: float, number: int = 0
) -> ApproachPrediction:
    """The way to advise among `drawn_ways` by the machine's values."""
    measured = not unmeasured(runs.machine)
    able = [p for p in drawn[1:] if p.available and (measured or not p.approach.interface.one_sided)]
    return best_port(able, drawn[0], runs.parts[number].iterations, min_gain) if able else drawn[0]


def probability(runs: Runs, able: Sequence[Approach], min_gain: float) -> float:
    """That the best of some ways, the baseline first, saves enough, as `drawn_rows` says; by fewer draws where these
    are `clear`. Where nothing is drawn, 1 if it does.
    """
    (workload,) = runs.parts
    drawn = drawn_ways(runs.predicted([(a,) for a in able], calm=False), workload, min_gain)
    if len(drawn) == 1 or runs.draws == 0:
        return float(enough(best_at_values(runs, drawn, min_gain).speedup_percent, min_gain))
    ways = [p.approach for p in drawn]
    return _by_stages(runs, ways, lambda some: chosen(some, drawn, workload.iterations, min_gain), min_gain)


def probability_of(runs: Runs, approach: Approach, min_gain: float) -> float:
    """That one way saves enough, likewise."""
    if runs.draws == 0:
        return float(enough(runs.predicted([(approach,)])[0].speedup_percent, min_gain))
    return _by_stages(runs, [runs.parts[0].baseline, approach], lambda _: 1, min_gain)


def _by_stages(runs: Runs, approaches: Sequence[Approach], choose: Callable[[Savings], int], min_gain: float) -> float:
    ways, at = tuple((a,) for a in approaches), 0
    for draws in (CHOICE // 4, CHOICE // 2, CHOICE):
        some = Savings(runs, ways, draws)
        at = choose(some)
        found = float(some.enough(min_gain)[at])
        if clear(found, draws, 3):  # first draws are no random ones: of 32 once 0.66, of all 0.81
            return found
    return float(Savings(runs, (ways[0], ways[at])).enough(min_gain)[1])


def clear(found: float, draws: int, errors: float = 2) -> bool:
    """Is a share of so many draws so many standard errors from `LIKELY`?"""
    return abs(found - LIKELY) > errors * math.sqrt(LIKELY * (1 - LIKELY) / draws) - 1e-9
