"""A step of several exchanges by timelines: one exchange after the other, of ranks in step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pready.model.arrays import Array
from pready.model.begin import begin
from pready.model.evaluate import Evaluation, Times
from pready.model.interfaces import BULK, Approach, whole
from pready.model.machine import Machine
from pready.model.prediction import ApproachPrediction
from pready.model.sampling import Sampler
from pready.model.workload import Workload


@dataclass
class StepByStep:
    """A step's rows of a prediction, from the timelines of its exchanges.

    Each exchange begins when the one before has ended, with idle adapters.
    """

    machine: Machine
    workload: Workload
    seed: int
    draws: int
    exchanges: list[Evaluation] = field(init=False)

    def __post_init__(self) -> None:
        like = Evaluation(self.machine, self.workload.parts[0], self.seed, draws=self.draws, step=self.workload)
        self.exchanges = [replace(like, workload=w, number=i) for i, w in enumerate(self.workload.parts)]

    def predict(self, approaches: Sequence[Approach]) -> list[ApproachPrediction]:
        """All exchanges as their baselines, and each by its own of `approaches`."""
        base = [w.baseline for w in self.workload.parts]
        today, bulk = self._times(base), self._times([BULK] * len(base))
        once_today = self._begin(base)
        return [
            self.exchanges[0].row(
                whole(ways), self.workload, self._times(ways), today, bulk, (self._begin(ways), once_today)
            )
            for ways in ([base, list(approaches)] if list(approaches) != base else [base])
        ]

    def means(self, machine: Machine, parts: Sequence[Workload], ways: Sequence[Approach], sampler: Sampler) -> Array:
        """Mean times of communication and of a whole step with each of a sampler's machines, shape (rows, 2).

        Parameters
        ----------
        parts, ways
            Exchanges in place of the step's, and how each is sent.
        """
        each = [replace(e, machine=machine, workload=w, draws=0) for e, w in zip(self.exchanges, parts, strict=True)]
        moved = [e.moved([a], sampler)[0] for e, a in zip(each, ways, strict=True)]
        return np.asarray(sum(moved), dtype=np.float64)

    def _times(self, ways: Sequence[Approach]) -> Times:
        return Times.together([e.times(a) for e, a in zip(self.exchanges, ways, strict=True)])

    def _begin(self, ways: Sequence[Approach]) -> Array:
        each = [begin(e.sampler, e.workload, a) for e, a in zip(self.exchanges, ways, strict=True)]
        return np.asarray(sum(each), dtype=np.float64)
