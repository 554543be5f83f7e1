"""From which size on, and in how many messages, a port pays: where the verdict there is "port".

Each size is judged by the way that is best there, as a prediction of that size would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby

from pready.model.advice.best_way import clear, probability, probability_of
from pready.model.common.parallel import at_once
from pready.model.engine.runs import Runs
from pready.model.machine.rma_by_library import unmeasured
from pready.model.result.break_even import LARGEST_BUFFER, SMALLEST_BUFFER, Range
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import LIKELY, enough, verdict_on
from pready.model.timeline.sampling import DRAWS


def buffers(runs: Runs, rows: Sequence[ApproachPrediction], best: ApproachPrediction, min_gain: float) -> list[Range]:
    """Buffers per peer for which a port pays: those of the workload times powers of two, from 1 KiB to 1 GiB."""
    (workload,) = runs.parts
    here, least = workload.buffer, float(workload.n_partitions)
    low = min(math.ceil(math.log2(max(SMALLEST_BUFFER, least) / here)), 0)
    high = max(math.floor(math.log2(LARGEST_BUFFER / here)), 0)
    today, rma = workload.baseline, not unmeasured(runs.machine)
    able = [a for p in rows if p.available and ((a := p.approach) == today or rma or not a.interface.one_sided)]

    @cache
    def chance(step: int) -> float:
        if step:
            return probability(runs.at_buffer(here * 2.0**step), able, min_gain)
        return float(enough(best.speedup_percent, min_gain)) if best.probability is None else best.probability

    return [
        Range(0.0 if first == low else here * 2.0**first, math.inf if last == high else here * 2.0**last)
        for first, last in paying(chance, low, high)
    ]


def paying(chance: Callable[[int], float], low: int, high: int) -> list[tuple[int, int]]:
    """Runs of steps from `low` to `high` whose chance is at least `LIKELY`: those about 0, else about the likeliest.

    Both ends are bisected. Steps within are looked at as far as those beside them are not clear.
    """
    seen = dict[int, float]()

    def at(step: int) -> float:
        if step not in seen:
            seen[step] = chance(step)
        return seen[step]

    start = _likeliest(at, low, high)
    if at(start) < LIKELY:
        return []

    def end(outside: int) -> int:
        """The last step that pays before one that does not."""
        inside = start
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            inside, outside = (middle, outside) if at(middle) >= LIKELY else (inside, middle)
        return inside

    first, last = at_once(end, (low - 1, high + 1))

    unsure = [k for k in seen if first <= k <= last]
    while unsure:
        step = unsure.pop()
        if not clear(at(step), DRAWS):
            unsure += [k for k in (step - 1, step + 1) if first < k < last and k not in seen]
    runs = groupby(range(first, last + 1), key=lambda k: seen.get(k, 1.0) >= LIKELY)
    return [(some[0], some[-1]) for pays, steps in runs if pays and (some := [*steps])]


def _likeliest(chance: Callable[[int], float], low: int, high: int) -> int:
    """0 if that pays, else the likeliest step, from coarse to fine."""
    if chance(0) >= LIKELY:
        return 0
    top, some = 0, [*range(low, high + 1, 4)]
    for gap in (2, 1, 1, 0):
        at_once(chance, some)
        top = max((top, *some), key=chance)
        if not 0 < chance(top) < LIKELY:
            break
        some = [k for k in (top - gap, top + gap) if low <= k <= high]
    return top


def messages(runs: Runs, rows: Sequence[ApproachPrediction], best: ApproachPrediction, min_gain: float) -> list[int]:
    """Messages per neighbour with which the interface of a way pays, on as many VCIs as are best by the values."""
    by_count = dict[int, ApproachPrediction]()
    for row in rows:
        if row.available and row.approach.interface is best.approach.interface:
            before = by_count.get(row.approach.messages, row)
            by_count[row.approach.messages] = max(before, row, key=lambda p: p.speedup_percent)
    ours, others = best.approach.messages, [n for n in by_count if n != best.approach.messages]
    chances = at_once(lambda n: probability_of(runs, by_count[n].approach, min_gain), others)
    pays = [n for n, p in zip(others, chances, strict=True) if p >= LIKELY]
    return sorted([*pays, ours] if verdict_on(best, min_gain) == "port" else pays)
