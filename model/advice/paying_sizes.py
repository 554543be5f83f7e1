"""From which size on, and in how many messages, a way pays: the one figure of every command.

It pays where its verdict is "port": where the probability that it saves enough is at least `LIKELY`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import groupby

from pready.model.advice.savings import CHOICE, Savings
from pready.model.approach.interfaces import Approach
from pready.model.common.parallel import at_once
from pready.model.engine.runs import Runs
from pready.model.equations.metrics import speedup_percent
from pready.model.result.break_even import LARGEST_BUFFER, SMALLEST_BUFFER, Range
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import LIKELY, enough, verdict_on
from pready.model.timeline.sampling import DRAWS


def chance(runs: Runs, approach: Approach, min_gain: float, number: int = 0) -> float:
    """The probability that an approach saves enough; where nothing is drawn, 1 if it does.

    By half the draws that choose a way; by all that do where that is within two standard errors of `LIKELY`, unless
    the workload has so many messages that it has fewer draws than others.
    """
    ways = runs.step.today, runs.step.way(approach, number)
    if runs.draws == 0:
        return float(enough(runs.predicted(ways[1:], number)[0].speedup_percent, min_gain))
    many = runs.draws >= DRAWS
    few = CHOICE // (2 if many else 8)
    first = float(Savings(runs, ways, few).enough(min_gain)[1])
    if abs(first - LIKELY) > close(few) or not many:
        return first
    return float(Savings(runs, ways, CHOICE).enough(min_gain)[1])


def close(draws: int) -> float:
    """Two standard errors of a probability of `LIKELY`."""
    return 2 * math.sqrt(LIKELY * (1 - LIKELY) / draws)


def buffers(runs: Runs, best: ApproachPrediction, min_gain: float, number: int = 0) -> list[Range]:
    """Buffers per peer for which a way pays: those of the workload times powers of two, from 1 KiB to 1 GiB.

    The machine at its values says where to look: in each range in which it saves enough there, draws bisect both ends,
    from the workload's buffer or, where that does not pay, from the one that saves most.
    """
    here, least = runs.parts[number].buffer, float(runs.parts[number].n_partitions)
    low = min(math.ceil(math.log2(max(SMALLEST_BUFFER, least) / here)), 0)
    high = max(math.floor(math.log2(LARGEST_BUFFER / here)), 0)
    sizes, ways = [here * 2.0**k for k in range(low, high + 1)], (runs.parts[number].baseline, best.approach)
    at_values = speedup_percent(*runs.over_sizes(ways, sizes, number=number)[1])
    saved = dict(zip(range(low, high + 1), at_values.tolist(), strict=True))
    here_too = verdict_on(best, min_gain) == "port"

    def port(step: int) -> bool:
        if step == 0:
            return here_too
        return chance(runs.at_buffer(here * 2.0**step, number), best.approach, min_gain, number) >= LIKELY

    def end(inside: int, outside: int) -> int:
        """The last step that pays, from one that does."""
        if inside == outside or port(outside):
            return outside
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            inside, outside = (middle, outside) if port(middle) else (inside, middle)
        return inside

    out = list[Range]()
    may_pay = {k: here_too if k == 0 else bool(enough(percent, min_gain)) for k, percent in saved.items()}
    for may, run in groupby(saved, key=may_pay.__getitem__):
        some = [*run]
        top = 0 if 0 in some else max(some, key=saved.__getitem__)
        if may and port(top):
            first, last = at_once(partial(end, top), (some[0], some[-1]))
            ends = here * 2.0**first, here * 2.0**last
            out.append(Range(0.0 if first == low else ends[0], math.inf if last == high else ends[1]))
    return out


def messages(
    runs: Runs, rows: Sequence[ApproachPrediction], best: ApproachPrediction, min_gain: float, number: int = 0
) -> list[int]:
    """Messages per neighbour with which the interface of a way pays, on as many VCIs as are best by the values."""
    by_count = dict[int, ApproachPrediction]()
    for row in rows:
        if row.available and row.approach.interface is best.approach.interface:
            before = by_count.get(row.approach.messages, row)
            by_count[row.approach.messages] = max(before, row, key=lambda p: p.speedup_percent)
    ours, others = best.approach.messages, [n for n in by_count if n != best.approach.messages]
    chances = at_once(lambda n: chance(runs, by_count[n].approach, min_gain, number), others)
    pays = [n for n, p in zip(others, chances, strict=True) if p >= LIKELY]
    return sorted([*pays, ours] if verdict_on(best, min_gain) == "port" else pays)
