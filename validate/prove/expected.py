"""Predictions of the measured iterations: the same ranks, the same draws, the same statistic."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pready.model.advice.savings import Savings
from pready.model.approach.interfaces import whole
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs, Way
from pready.model.engine.simulate import Simulation, run_step, together
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import MIN_GAIN
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class Expectation:
    """Predicted times of one approach in seconds: medians over the iterations that count, with 95 % intervals."""

    time_s: float
    time_low_s: float
    time_high_s: float
    eta: float
    eta_low: float
    eta_high: float
    iteration_s: float
    saving: float
    saving_low: float
    saving_high: float
    probability: float  # that the way saves enough
    exchanges_s: tuple[float, ...]  # communication of each exchange of a step, the others sent in their ways


def exchange_s(run: Simulation) -> float:
    """The median communication; of a sweep, of one of its exchanges."""
    return float(np.median(run.communication_s)) / run.exchanges


@dataclass
class Expected:
    """Predictions for one machine and a workload, with an approach for each of its exchanges.

    Values are simulated with every rank and the very draws that the benchmark performs.
    """

    machine: Machine
    workload: Workload
    seed: int
    first: int  # iterations that go before
    iterations: int  # that count
    min_gain: float = MIN_GAIN
    _counted: dict[Way, list[Simulation]] = field(default_factory=dict, repr=False)
    _rows: dict[Way, ApproachPrediction] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._all = Runs(self.machine, Step.on_all_ranks(self.workload), Rows(0, self.seed))
        self._some = Runs(self.machine, Step.of_a_part(self.workload), Rows(seed=self.seed))

    def simulated(self, way: Way, *, record: bool = False) -> list[Simulation]:
        """The run of each exchange, with the iterations that go before."""
        return run_step(self._all.plans(way), self.first + self.iterations, record=record)

    def counted(self, way: Way) -> list[Simulation]:
        """The run of each exchange, made once."""
        if way not in self._counted:
            self._counted[way] = [s.after(self.first) for s in self.simulated(way)]
        return self._counted[way]

    def _whole(self, way: Way) -> Simulation:
        runs = self.counted(way)
        return runs[0] if len(runs) == 1 else together(runs, whole(way))

    def _row(self, way: Way) -> ApproachPrediction:
        if way not in self._rows:
            ways = self._some.step.today, way
            self._rows[way] = Savings(self._some, ways).rows(self._some.predicted(ways), self.min_gain)[1]
        return self._rows[way]

    def of(self, way: Way) -> Expectation:
        """Time, η and saving over the iterations that count; intervals are a prediction's, as shares of its values."""
        run, baseline, row = self._whole(way), self._whole(self._all.step.today), self._row(way)
        time, bulk = exchange_s(run), exchange_s(baseline)
        iteration, iteration_bulk = (float(np.median(r.mean_s)) for r in (run, baseline))
        eta, saving = bulk / time, 1 - iteration / iteration_bulk
        shift = saving - row.speedup_percent / 100
        return Expectation(
            time_s=time,
            time_low_s=time * row.time_low_s / row.time_s,
            time_high_s=time * row.time_high_s / row.time_s,
            eta=eta,
            eta_low=eta * row.eta_low / row.eta,
            eta_high=eta * row.eta_high / row.eta,
            iteration_s=iteration,
            saving=saving,
            saving_low=row.speedup_low_percent / 100 + shift,
            saving_high=min(row.speedup_high_percent / 100 + shift, 1.0),
            probability=row.probability or 0.0,
            exchanges_s=tuple(map(exchange_s, self.counted(way))),
        )
