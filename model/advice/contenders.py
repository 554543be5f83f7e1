"""Approaches that may be advised, found without simulating all of them for long: for tables of many points.

All are simulated for a few iterations, on the same arrivals. From how they differ, iteration by iteration, follows
which may still be chosen over all iterations by `verdict.best_port` and `verdict.simplest`; only those are simulated
for as long as `predict` does it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pready.model.advice.advise import interfaces
from pready.model.approach.interfaces import Approach, Interface
from pready.model.common.arrays import Array
from pready.model.engine.evaluate import RACED, Evaluation
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import (
    ALIKE,
    INDISTINCT,
    PREFERENCE,
    Stands,
    a_port,
    best_port,
    from_iterations,
    simplest,
    trouble,
    verdict_of,
)

GLANCE = 5
"""Iterations of a first look."""
LONG = 4
"""A first look is worth it if all iterations are so many times as many."""
ERRORS, SHARE = 6.0, 0.5
"""How far two approaches' difference over all iterations may be from that of a first look: so many of its standard
errors, or that share of it. Of 2175 approaches in 50 random what-ifs on the shipped machines, none was further off
where it mattered."""


def rows_in_question(evaluation: Evaluation, able: Sequence[Approach], min_gain: float) -> list[ApproachPrediction]:
    """The baseline, what `advise.best_and_as_good` may advise, and what may be as good."""
    contenders = Contenders(evaluation, able, min_gain)
    first = contenders.best()
    rows = evaluation.predict_all([evaluation.workload.baseline, first])
    if verdict_of(rows[-1], min_gain) != "do not port":  # of what is not advised, none is as good
        rows += evaluation.predict_all(contenders.simpler(first))
    return rows


class Contenders:
    """The approaches that `advise.best_and_as_good` may choose, the parameters at their values."""

    def __init__(self, evaluation: Evaluation, able: Sequence[Approach], min_gain: float) -> None:
        self.evaluation, self.able, self.min_gain = evaluation, able, min_gain
        far = not evaluation.rest and evaluation.iterations >= LONG * GLANCE
        self._seen = Look.at(evaluation, able) if far else None
        baseline = evaluation.workload.baseline
        self._baseline = able.index(baseline)
        # Whether a whole send is a port at all depends on its gain over all iterations (`a_port`).
        self._split = [i for i, a in enumerate(able) if a.interface.splits and a != baseline and not a.interface.needs]
        self._always = {i for i, a in enumerate(able) if not a.interface.splits or a == baseline}

    def best(self) -> Approach:
        """What `best_port` takes."""
        w, found = self.evaluation.workload, set(self._split)
        if self._seen is not None and found:
            found = self._seen.leading(self._split, self._baseline, self.min_gain)
        now, usable = self._usable(found)
        return best_port(usable, now, w.iterations, self.min_gain).approach

    def simpler(self, best: Approach) -> list[Approach]:
        """The best row of each simpler interface, which may be as good."""
        found = set(self._split)
        if self._seen is not None:
            by_interface: dict[Interface, list[int]] = {}
            for i in self._split:
                if PREFERENCE[self.able[i].interface] <= PREFERENCE[best.interface]:
                    by_interface.setdefault(self.able[i].interface, []).append(i)
            far = self._far(best, [self._seen.first(some) for some in by_interface.values()])
            found = {self.able.index(best)}
            for interface, some in by_interface.items():
                if interface not in far:
                    found |= self._seen.shortest(some, self._seen.run, INDISTINCT)
        _, usable = self._usable(found)
        each = [[s for s in usable if s.approach.interface == i] for i in interfaces(usable)]
        others = [simplest(some, self.evaluation.workload.iterations).approach for some in each]
        return [a for a in others if trouble(a) < trouble(best)]

    def _far(self, best: Approach, first: Sequence[int]) -> set[Interface]:
        """Interfaces of which the first of each saves so much less than the best, on few draws of the machine, that the
        difference is further from 0 than its interval is wide: all draws tell them apart."""
        evaluation, others = self.evaluation, [self.able[i] for i in first]
        baseline = evaluation.workload.baseline
        evaluation.prepare([baseline, best, *others])
        evaluation.prepare_drawn(dict.fromkeys((baseline, best, *others), RACED))
        most, far = evaluation.saving(best), set[Interface]()
        for a in others:
            saving = evaluation.saving(a)
            low, high = most.over(saving)
            if low >= high - low and most.percent - saving.percent >= 2 * 100 * INDISTINCT:
                far.add(a.interface)
        return far

    def _usable(self, some: set[int]) -> tuple[Stands, list[Stands]]:
        """The baseline, and those of some approaches that are ports, over all iterations."""
        baseline = self.evaluation.workload.baseline
        stands = self.evaluation.gains([self.able[i] for i in sorted(some | self._always)])
        now = next(s for s in stands if s.approach == baseline)
        ports = [s for s in stands if not s.approach.interface.needs and a_port(s.approach, s.gain, baseline)]
        return now, ports


@dataclass(frozen=True)
class Times:
    """Seconds of each iteration of a first look, shape (approaches, GLANCE), and what to add, exactly known."""

    each: Array
    once: Array
    """Shape (approaches,)."""

    @cached_property
    def mean(self) -> list[float]:
        means: list[float] = (self.each.mean(axis=1) + self.once).tolist()
        return means

    def longer(self, one: int, other: int) -> tuple[float, float]:
        """By how much one takes longer than another over all iterations: at least, and at most."""
        off = self.each[one] - self.each[other]
        unsure = max(ERRORS * float(off.std(ddof=1)) / math.sqrt(len(off)), SHARE * abs(float(off.mean())))
        middle = self.mean[one] - self.mean[other]
        return middle - unsure, middle + unsure


@dataclass(frozen=True)
class Look:
    """A first look at approaches."""

    able: Sequence[Approach]
    iterations: int
    """The workload's iterations."""
    run: Times
    """Seconds of an iteration, with its share of the set-up."""
    exchange: Times
    """Seconds of communication."""

    @classmethod
    def at(cls, evaluation: Evaluation, able: Sequence[Approach]) -> Look:
        """Simulated for it."""
        runs, n = evaluation.glance(able, GLANCE), evaluation.workload.iterations
        begin = np.array([evaluation.begin_s(a) for a in able])
        whole = Times(np.stack([r.iteration_s for r in runs]), begin / n)
        return cls(able, n, whole, Times(np.stack([r.communication_s for r in runs]), np.zeros(len(able))))

    def leading(self, usable: Sequence[int], baseline: int, min_gain: float) -> set[int]:
        """Those that `best_port` may choose."""
        best = self.shortest(usable, self.run, INDISTINCT)
        least = min_gain * self.run.mean[baseline]
        saved = [self.run.longer(baseline, i) for i in best]
        if all(low >= least for low, _ in saved):
            return best
        if all(high < least for _, high in saved):
            best = set()
        first, sure = self._earliest(usable, baseline, min_gain)
        fastest = set() if sure else self.shortest(usable, self.exchange, ALIKE / (1 - ALIKE))
        return best | first | fastest

    def first(self, some: Sequence[int]) -> int:
        """That with the shortest run."""
        return min(some, key=self.run.mean.__getitem__)

    def shortest(self, some: Sequence[int], times: Times, tie: float) -> set[int]:
        """Those that may be the simplest among those within a share `tie` of the shortest of some."""
        first = min(some, key=times.mean.__getitem__)
        close = tie * times.mean[first]
        kept = [i for i in some if times.longer(i, first)[0] <= close]
        easiest = min(kept, key=lambda i: trouble(self.able[i]))
        if all(times.longer(easiest, i)[1] <= close for i in kept):
            return {easiest}
        return set(kept)

    def _earliest(self, usable: Sequence[int], baseline: int, min_gain: float) -> tuple[set[int], bool]:
        """Those that may pay from the fewest iterations on, and whether one does for sure."""
        now, first, last = self._stands(baseline, 0.0), dict[int, int](), math.inf
        for i in usable:
            middle = self.run.mean[i] - self.run.mean[baseline]
            early, late = (
                from_iterations(self._stands(i, end - middle), now, min_gain) for end in self.run.longer(i, baseline)
            )
            if early is not None:
                first[i] = early
            if late is not None:
                last = min(last, late)
        return {i for i, n in first.items() if n <= last}, last < math.inf

    def _stands(self, i: int, longer: float) -> Stands:
        begin = float(self.run.once[i]) * self.iterations
        return Stands(self.able[i], 1.0, 1.0, float(self.run.each[i].mean()) + longer, begin)
