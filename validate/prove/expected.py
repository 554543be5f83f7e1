"""Predictions of the measured iterations: the same ranks, the same draws, the same statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pready.model.approach.interfaces import Approach, whole
from pready.model.common.arrays import Replaced
from pready.model.engine.evaluate import Evaluation
from pready.model.engine.ranks.layout import layout
from pready.model.engine.simulate import run_step, simulate
from pready.model.engine.simulation import Simulation, together
from pready.model.engine.whole_step import WholeStep, plans
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.timeline.costs import Costs
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class Expectation:
    """Of one approach; seconds. Medians over the iterations that count but for `mean_s`, intervals of 95 %."""

    time_s: float
    mean_s: float
    time_low_s: float
    time_high_s: float
    eta: float
    eta_low: float
    eta_high: float
    iteration_s: float
    saving: float
    saving_low: float
    saving_high: float
    exchanges_s: tuple[float, ...] = ()
    """Communication of each exchange of a step, the others sent in their ways."""


def _expectation(
    run: Simulation, baseline: Simulation, row: ApproachPrediction, exchanges_s: tuple[float, ...] = ()
) -> Expectation:
    """From the iterations that count; intervals are those of a prediction, as shares of their values."""
    time, bulk = exchange_s(run), exchange_s(baseline)
    iteration, iteration_bulk = (float(np.median(r.mean_s)) for r in (run, baseline))
    eta, saving = bulk / time, 1 - iteration / iteration_bulk
    shift = saving - row.speedup_percent / 100
    return Expectation(
        time_s=time,
        mean_s=float(run.communication_s.mean()) / run.exchanges,
        time_low_s=time * row.time_low_s / row.time_s,
        time_high_s=time * row.time_high_s / row.time_s,
        eta=eta,
        eta_low=eta * row.eta_low / row.eta,
        eta_high=eta * row.eta_high / row.eta,
        iteration_s=iteration,
        saving=saving,
        saving_low=row.speedup_low_percent / 100 + shift,
        saving_high=row.speedup_high_percent / 100 + shift,
        exchanges_s=exchanges_s,
    )


def exchange_s(run: Simulation) -> float:
    """The median communication; of a sweep, of one of its exchanges."""
    return float(np.median(run.communication_s)) / run.exchanges


@dataclass
class Expected:
    """Predictions for one machine and a workload of one exchange.

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
    _runs: dict[Approach, Simulation] = field(default_factory=dict, repr=False)
    _rows: dict[Approach, ApproachPrediction] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._many = Evaluation(self.machine, self.workload, self.seed, alone=False)

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

    def of(self, approach: Approach) -> Expectation:
        """Time, η and saving."""
        if approach not in self._rows:
            self._rows[approach] = self._many.predict(approach)
        run, baseline = self._counted(approach), self._counted(self.workload.baseline)
        return _expectation(run, baseline, self._rows[approach])

    def costs(self, approach: Approach) -> Costs:
        """Of the approach's messages, parameters at their values."""
        return self._many.costs(approach)

    def median_time(self, approach: Approach, **replaced: Replaced) -> float:
        """An exchange's communication, with some costs replaced."""
        as_it_is = exchange_s(self._counted(approach))
        if not replaced:
            return as_it_is
        return as_it_is * self._many.mean_time(approach, **replaced) / self._many.mean_time(approach)


@dataclass
class ExpectedStep:
    """The same of a step with several exchanges, each with an approach of its own."""

    machine: Machine
    workload: Workload
    seed: int
    first: int
    iterations: int
    _runs: dict[tuple[Approach, ...], list[Simulation]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        many = Evaluation(self.machine, self.workload.parts[0], self.seed, alone=False, step=self.workload, number=0)
        self._step = WholeStep(self.machine, self.workload, self.seed, many)

    def simulated(self, approaches: Sequence[Approach], *, record: bool = False) -> list[Simulation]:
        """Of each exchange all iterations, those that go before included."""
        made = plans(self.machine, self.workload, approaches, self.seed)
        return run_step(made, self.first + self.iterations, record=record)

    def _counted(self, approaches: tuple[Approach, ...]) -> list[Simulation]:
        if approaches not in self._runs:
            self._runs[approaches] = [s.after(self.first) for s in self.simulated(approaches)]
        return self._runs[approaches]

    def of(self, approaches: tuple[Approach, ...]) -> Expectation:
        """Time, η and saving of the step."""
        baseline = tuple(w.baseline for w in self.workload.parts)
        runs = self._counted(approaches)
        return _expectation(
            together(runs, whole(approaches)),
            together(self._counted(baseline), whole(baseline)),
            self._step.predict(approaches)[0][-1],
            tuple(map(exchange_s, runs)),
        )
