"""Predictions of the measured iterations: the same ranks, the same draws, the same statistic."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pready.model.advice.savings import Savings
from pready.model.approach.interfaces import Approach, whole
from pready.model.engine.evaluate import Evaluation, WholeStep, plans
from pready.model.engine.layout import layout
from pready.model.engine.simulation import Simulation, run_step, simulate, together
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import MIN_GAIN
from pready.model.workload.workload import Workload

Ways = tuple[Approach, ...]
"""An approach for each exchange of a step."""


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
    probability: float
    """That the way saves enough."""
    exchanges_s: tuple[float, ...]
    """Communication of each exchange of a step, the others sent in their ways."""


def exchange_s(run: Simulation) -> float:
    """The median communication; of a sweep, of one of its exchanges."""
    return float(np.median(run.communication_s)) / run.exchanges


@dataclass
class Expected:
    """Predictions for one machine and a workload, with an approach for each of its exchanges.

    Values are simulated with every rank and the very draws that the benchmark performs.

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
    min_gain: float = MIN_GAIN
    _runs: dict[Ways, list[Simulation]] = field(default_factory=dict, repr=False)
    _rows: dict[Ways, ApproachPrediction] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        first, step = self.workload.parts[0], None if self.workload.exchanges is None else self.workload
        self._many = Evaluation(self.machine, first, self.seed, alone=False, step=step, number=0)
        self._step = None if step is None else WholeStep(self.machine, step, self.seed, self._many)

    def simulated(self, approaches: Ways, *, record: bool = False) -> list[Simulation]:
        """The run of each exchange, with the iterations that go before."""
        count = self.first + self.iterations
        if self._step is not None:
            return run_step(plans(self.machine, self.workload, approaches, self.seed), count, record=record)
        (approach,), options = approaches, layout(self.workload).options
        run = simulate(
            self.machine, self.workload, approach, iterations=count, seed=self.seed, record=record, **options
        )
        return [run]

    def _counted(self, approaches: Ways) -> list[Simulation]:
        if approaches not in self._runs:
            self._runs[approaches] = [s.after(self.first) for s in self.simulated(approaches)]
        return self._runs[approaches]

    def _whole(self, approaches: Ways) -> Simulation:
        runs = self._counted(approaches)
        return runs[0] if len(runs) == 1 else together(runs, whole(approaches))

    def _row(self, approaches: Ways) -> ApproachPrediction:
        if approaches not in self._rows:
            base = tuple(w.baseline for w in self.workload.parts)
            ways = [base[0], approaches[0]]
            step = self._step
            rows = self._many.predict_all(ways) if step is None else step.predict([base, approaches])
            savings = Savings(self._many.drawn, (base, approaches))
            self._rows[approaches] = savings.rows(rows, self.min_gain)[1]
        return self._rows[approaches]

    def of(self, approaches: Ways) -> Expectation:
        """Time, η and saving over the iterations that count; intervals are a prediction's, as shares of its values."""
        run, baseline = self._whole(approaches), self._whole(tuple(w.baseline for w in self.workload.parts))
        row = self._row(approaches)
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
            exchanges_s=tuple(map(exchange_s, self._counted(approaches))),
        )
