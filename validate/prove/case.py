"""A way of sending, predicted and measured, beside bulk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pready.model.workload.workload import Workload
from pready.validate.prove.decision import why
from pready.validate.prove.design import Way
from pready.validate.prove.expected import Expectation, Expected
from pready.validate.prove.judgement import Saving, saving_of
from pready.validate.prove.performed import Performed


@dataclass(frozen=True)
class ExchangeOfStep:
    """One exchange of a step with several. Times in seconds after its last partition is ready."""

    name: str
    approach: str
    transport_partitions: int
    buffer: int
    until_ready_s: float
    measured_s: float
    measured_low_s: float
    measured_high_s: float
    predicted_s: float

    @property
    def error(self) -> float:
        """Predicted over measured time, minus 1."""
        return self.predicted_s / self.measured_s - 1


@dataclass(frozen=True)
class Measured:
    """Medians over rounds, and the rounds' range; seconds. `eta` is bulk's time over the way's."""

    time_s: float  # after the last partition is ready
    time_low_s: float
    time_high_s: float
    eta: float
    eta_low: float
    eta_high: float
    iteration_s: float
    saving: Saving  # share of bulk's iteration that the way saves: the mean over rounds, with its 95 % interval


@dataclass(frozen=True)
class Case:
    """A way of sending, predicted and measured."""

    way: Way
    expected: Expectation
    performed: Performed
    measured: Measured
    exchanges: tuple[ExchangeOfStep, ...]  # empty where the step has one exchange alone
    why: str  # why predicted and measured iteration differ; empty: they do not

    @property
    def words(self) -> str:
        """The way in words."""
        vcis = f" on {self.way.vcis} VCIs" if self.way.vcis > 1 else ""
        return f"{self.way.interface.name}{f' in {self.way.transports}' if self.way.most > 1 else ''}{vcis}"

    @property
    def iteration(self) -> tuple[float, float, float]:
        """The predicted iteration and its 95 % interval, seconds: computing is known."""
        e, steps = self.expected, self.performed.steps
        low, high = (e.iteration_s + steps * (end - e.time_s) for end in (e.time_low_s, e.time_high_s))
        return e.iteration_s, low, high

    def to_dict(self) -> dict[str, Any]:
        return {
            "approach": self.way.interface.key,
            "transport_partitions": self.way.most,
            "vcis": self.way.vcis,
            "ways": [f"{a.interface.key}:{a.transport_partitions}:{a.vcis}" for a in self.way.approaches],
            "predicted": asdict(self.expected),
            "measured": asdict(self.measured),
            "exchanges": [asdict(e) for e in self.exchanges],
            "why": self.why,
        }


def measured(way: Performed, bulk: Performed) -> Measured:
    """A way beside bulk; round i of both ran next to each other."""
    times, etas = way.communication_s, bulk.communication_s / way.communication_s
    eta = float(np.median(bulk.communication_s) / np.median(times))
    return Measured(
        time_s=float(np.median(times)),
        time_low_s=float(times.min()),
        time_high_s=float(times.max()),
        # A ratio of medians may lie beyond all ratios.
        eta=eta,
        eta_low=float(min(etas.min(), eta)),
        eta_high=float(max(etas.max(), eta)),
        iteration_s=float(np.median(way.iteration_s)),
        saving=saving_of(way.iteration_s, bulk.iteration_s),
    )


def cases_of(workload: Workload, expected: Expected, seen: Mapping[Way, Performed]) -> tuple[Case, ...]:
    """Each way; bulk is among `seen`."""
    bulk = next(p for w, p in seen.items() if w.approach == workload.baseline)
    return tuple(_case(workload, way, expected.of(way.approaches), performed, bulk) for way, performed in seen.items())


def _case(workload: Workload, way: Way, here: Expectation, performed: Performed, bulk: Performed) -> Case:
    found, steps = measured(performed, bulk), performed.steps
    late = found.time_s - here.time_s
    computing = (found.iteration_s - steps * found.time_s) - (here.iteration_s - steps * here.time_s)
    explained = why(here.iteration_s, found.iteration_s, computing, steps * late)
    return Case(way, here, performed, found, _exchanges(workload, way, here, performed), explained)


def _exchanges(workload: Workload, way: Way, here: Expectation, performed: Performed) -> tuple[ExchangeOfStep, ...]:
    """Predicted and measured, each with the others in their ways; none where the workload has one alone."""
    if not performed.exchanges:
        return ()
    return tuple(
        ExchangeOfStep(
            name=part.name,
            approach=approach.interface.key,
            transport_partitions=approach.transport_partitions,
            buffer=int(part.buffer),
            until_ready_s=seen.computing_s,
            measured_s=float(np.median(seen.communication_s)),
            measured_low_s=float(seen.communication_s.min()),
            measured_high_s=float(seen.communication_s.max()),
            predicted_s=predicted_s,
        )
        for part, approach, seen, predicted_s in zip(
            workload.parts, way.approaches, performed.exchanges, here.exchanges_s, strict=True
        )
    )
