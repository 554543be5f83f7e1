"""From which size on, and in how many messages, a way pays: the one figure of every command.

It pays where its verdict is "port": where the probability that it saves enough is at least `LIKELY`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise

from pready.model.advice.savings import CHOICE, Savings
from pready.model.approach.interfaces import Approach
from pready.model.common.parallel import at_once
from pready.model.engine.evaluate import Evaluation
from pready.model.result.break_even import LARGEST_BUFFER, SMALLEST_BUFFER, Range
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import LIKELY
from pready.model.timeline.sampling import DRAWS


def chance(evaluation: Evaluation, approach: Approach, min_gain: float) -> float:
    """The probability that an approach saves enough; where nothing is drawn, 1 if it does.

    By half the draws that choose a way; by all that do where that is within two standard errors of `LIKELY`, unless
    the workload has so many messages that it has fewer draws than others.
    """
    if evaluation.draws == 0:
        return float(evaluation.predict(approach).speedup_percent >= 100 * min_gain)
    step = evaluation.drawn
    ways = evaluation.way(evaluation.workload.baseline), evaluation.way(approach)
    many = step.draws >= DRAWS
    few = CHOICE // (2 if many else 8)
    first = float(Savings(step, ways, few).enough(min_gain)[1])
    if abs(first - LIKELY) > close(few) or not many:
        return first
    return float(Savings(step, ways, CHOICE).enough(min_gain)[1])


def close(draws: int) -> float:
    """Two standard errors of a probability of `LIKELY`."""
    return 2 * math.sqrt(LIKELY * (1 - LIKELY) / draws)


def buffers(evaluation: Evaluation, best: ApproachPrediction, min_gain: float) -> list[Range]:
    """Buffers per peer for which a way pays: those of the workload times powers of two, from 1 KiB to 1 GiB.

    Every 16-fold; between two of which one pays every fourfold, then every twofold.
    """
    here, least = evaluation.workload.buffer, float(evaluation.workload.n_partitions)
    low = min(math.ceil(math.log2(max(SMALLEST_BUFFER, least) / here)), 0)
    high = max(math.floor(math.log2(LARGEST_BUFFER / here)), 0)

    def port(step: int) -> bool:
        return chance(evaluation.at_buffer(here * 2.0**step), best.approach, min_gain) >= LIKELY

    known = {0: _pays(best, min_gain)}
    _learn(known, port, (k for k in range(low, high + 1) if k % 4 == 0 or k in (low, high)))
    for by in (2, 1):
        beside = [*pairwise(sorted(known))]
        _learn(known, port, (k for a, b in beside if known[a] != known[b] for k in range(a + 1, b) if k % by == 0))
    out, steps = list[Range](), sorted(known)
    for is_port, run in groupby(steps, key=known.__getitem__):
        some = [*run]
        if is_port:
            ends = here * 2.0 ** some[0], here * 2.0 ** some[-1]
            out.append(Range(0.0 if some[0] == low else ends[0], math.inf if some[-1] == high else ends[1]))
    return out


def messages(
    evaluation: Evaluation, rows: Sequence[ApproachPrediction], best: ApproachPrediction, min_gain: float
) -> list[int]:
    """Messages per neighbour with which the interface of a way pays, on as many VCIs as are best by the values."""
    by_count = dict[int, ApproachPrediction]()
    for row in rows:
        if row.available and row.approach.interface is best.approach.interface:
            before = by_count.get(row.approach.messages, row)
            by_count[row.approach.messages] = max(before, row, key=lambda p: p.speedup_percent)
    known = {best.approach.messages: _pays(best, min_gain)}
    _learn(known, lambda n: chance(evaluation, by_count[n].approach, min_gain) >= LIKELY, by_count)
    return sorted(n for n, is_port in known.items() if is_port)


def _pays(best: ApproachPrediction, min_gain: float) -> bool:
    if best.probability is None:
        return best.speedup_percent >= 100 * min_gain
    return best.probability >= LIKELY


def _learn(known: dict[int, bool], of: Callable[[int], bool], wanted: Iterable[int]) -> None:
    new = [k for k in wanted if k not in known]
    known |= dict(zip(new, at_once(of, new), strict=True))
