"""What the model says of the iterations that are measured: the same ranks, the same draws, the same statistic."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pready.model.approach import Approach
from pready.model.costs import Costs
from pready.model.engine.layout import layout
from pready.model.engine.many_ranks import ManyRanks
from pready.model.engine.simulate import Simulation, simulate
from pready.model.machine import Machine
from pready.model.prediction import ApproachPrediction
from pready.model.values import Replaced
from pready.model.workload import Workload


@dataclass(frozen=True)
class Expectation:
    """Of one approach; seconds. Medians over the iterations that count, intervals of 95 %."""

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


@dataclass
class Expected:
    """Predictions for one machine and workload.

    Values are simulated with every rank and the very draws that the benchmark performs; intervals are those of a
    prediction, as shares of their values.

    Attributes
    ----------
    first, iterations
        That go before, and that count.
    """

    machine: Machine
    workload: Workload
    seed: int
    first: int
    iterations: int
    _runs: dict[Approach, Simulation] = field(default_factory=dict, repr=False)
    _rows: dict[Approach, ApproachPrediction] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._many = ManyRanks(self.machine, self.workload, self.seed)

    def simulated(self, approach: Approach, *, record: bool = False) -> Simulation:
        """All iterations, those that go before included."""
        return simulate(
            self.machine,
            self.workload,
            approach,
            iterations=self.first + self.iterations,
            seed=self.seed,
            record=record,
            **layout(self.workload).options,
        )

    def _counted(self, approach: Approach) -> Simulation:
        if approach not in self._runs:
            self._runs[approach] = self.simulated(approach).after(self.first)
        return self._runs[approach]

    def _exchange(self, approach: Approach) -> float:
        run = self._counted(approach)
        return float(np.median(run.communication_s)) / run.exchanges

    def of(self, approach: Approach) -> Expectation:
        """Time, η and saving."""
        if approach not in self._rows:
            self._rows[approach] = self._many.predict(approach)
        row = self._rows[approach]
        time, bulk = self._exchange(approach), self._exchange(self.workload.baseline)
        whole, whole_bulk = (float(np.median(self._counted(a).mean_s)) for a in (approach, self.workload.baseline))
        eta, saving = bulk / time, 1 - whole / whole_bulk
        shift = saving - row.speedup_percent / 100
        return Expectation(
            time_s=time,
            time_low_s=time * row.time_low_s / row.time_s,
            time_high_s=time * row.time_high_s / row.time_s,
            eta=eta,
            eta_low=eta * row.eta_low / row.eta,
            eta_high=eta * row.eta_high / row.eta,
            iteration_s=whole,
            saving=saving,
            saving_low=row.speedup_low_percent / 100 + shift,
            saving_high=row.speedup_high_percent / 100 + shift,
        )

    def costs(self, approach: Approach) -> Costs:
        """Of the approach's messages, parameters at their values."""
        return self._many.costs(approach)

    def median_time(self, approach: Approach, **replaced: Replaced) -> float:
        """An exchange's communication, with some costs replaced."""
        as_it_is = self._exchange(approach)
        if not replaced:
            return as_it_is
        return as_it_is * self._many.mean_time(approach, **replaced) / self._many.mean_time(approach)
