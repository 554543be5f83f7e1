"""What ways of sending save of an iteration, on the same drawn machines, and the rows that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.engine.runs import Runs, Way
from pready.model.equations import metrics
from pready.model.machine.rma_by_library import unmeasured
from pready.model.result.interval import interval, median
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import MIN_GAIN, enough
from pready.model.timeline.own_error import of_transfer

CHOICE = 64
"""The first draws, by which the way to advise is chosen; all draws then say what it saves."""


@dataclass(frozen=True)
class Savings:
    """Savings of some ways over the way that the application sends now, by draw."""

    runs: Runs
    ways: tuple[Way, ...]
    """The first is the one of now."""
    draws: int | None = None
    """The first ones; absent: all."""

    def __post_init__(self) -> None:
        self.runs.means(self.ways, self.runs.drawn(self.draws))

    def times(self, way: Way) -> tuple[Array, Array]:
        """Seconds of the communication of an iteration, and of a whole iteration with its share of the set-up."""
        runs, rows = self.runs, self.runs.drawn(self.draws)
        (of,), some = runs.means([way], rows), slice(rows.start, rows.stop)
        each = zip(runs.parts, runs.set_up(way, drawn=True), strict=True)
        once = np.asarray(sum(cost / w.iterations for w, cost in each), np.float64)
        # By how much the transfer of each exchange is off beside its costs, shape (exchanges, rows).
        off = np.stack([of_transfer(runs.sampler, a) for a in way])
        more = (of.transfers * (off[:, some] - 1)).sum(axis=0)
        step = of.step
        return step.communication + more, step.iteration + more + np.broadcast_to(once, runs.sampler.rows)[some]

    @cached_property
    def percent(self) -> Array:
        """What each way saves of an iteration, shape (ways, draws); what no library exceeds, at least nothing: each may
        send as today."""
        whole = np.stack([self.times(w)[1] for w in self.ways])
        least = np.array([[0.0 if all(a.interface.least for a in way) else -np.inf] for way in self.ways])
        return np.asarray(np.maximum(metrics.speedup_percent(whole[:1], whole), least))

    def best_in(self, able: Sequence[bool]) -> Array:
        """Share of the draws in which each way that is `able` saves most, shape (ways,); of equal ones, the first."""
        percent = np.where(np.array(able)[:, None], self.percent, -np.inf)
        counts = np.bincount(percent.argmax(axis=0), minlength=len(self.ways))
        return np.asarray(counts / percent.shape[1])

    def enough(self, min_gain: float) -> Array:
        """Probability that each way saves enough, shape (ways,)."""
        return np.asarray(enough(self.percent, min_gain).mean(axis=1))

    def rows(
        self, rows: Sequence[ApproachPrediction], min_gain: float, *, timed: bool = True
    ) -> list[ApproachPrediction]:
        """Rows of the ways with the values and intervals of the draws: medians, and 95 %; `timed`: of the exchange,
        too, each way's time as its η means beside that of now."""
        now_s, base_s = self.times(self.ways[0])
        today, exchange, out = median(base_s), median(now_s) / self.runs.steps, list[ApproachPrediction]()
        chances = self.enough(min_gain)
        for n, (way, row) in enumerate(zip(self.ways, rows, strict=True)):
            communication, _ = self.times(way)
            time, eta, saved = communication / self.runs.steps, metrics.eta(now_s, communication), self.percent[n]
            percent = median(saved)
            once = row.begin_per_iteration_s
            made = replace(
                row,
                iteration_s=today * (1 - percent / 100) - once,
                speedup_percent=percent,
                probability=float(chances[n]),
                unmeasured=unmeasured(self.runs.machine) if any(a.interface.one_sided for a in way) else "",
            )
            (t0, t1), (e0, e1), (s0, s1) = interval(time), interval(eta), interval(saved)
            made = replace(made, speedup_low_percent=s0, speedup_high_percent=s1)
            if timed:
                made = replace(made, eta=median(eta), eta_low=e0, eta_high=e1)
                at = exchange / made.eta
                made = replace(made, time_s=at, time_low_s=min(t0, at), time_high_s=max(t1, at))
            out.append(made)
        return out


def drawn_row(
    runs: Runs, approach: Approach, draws: int | None = None, min_gain: float = MIN_GAIN, number: int = 0
) -> ApproachPrediction:
    """The row of an exchange in one approach with what its draws say; `draws`: only the first ones."""
    ways = runs.step.today, runs.step.way(approach, number)
    rows = runs.predicted(ways, number)
    return Savings(runs, ways, draws).rows(rows, min_gain, timed=len(runs.parts) == 1)[1]
