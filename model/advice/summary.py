"""A prediction in brief, for tables of many points: the best approach and the verdict.

The figures are those of `predict`, from the same draws; what a table does not show is not simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

from pready.model.advice.advise import over_sizes, verdict_on
from pready.model.advice.predict import (
    Engine,
    approaches,
    drawn_rows,
    evaluator,
    predict_step,
    ways_said,
    with_library,
)
from pready.model.approach.interfaces import Approach
from pready.model.machine.machine import Machine
from pready.model.result.break_even import Range, nearest
from pready.model.result.prediction import ApproachPrediction, Prediction, Verdict
from pready.model.result.verdict import MIN_GAIN
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class Outcome:
    """The best approach of one prediction, and its verdict."""

    library: str
    engine: str
    """"timeline" or "engine", as of a `Prediction`."""
    ranks: tuple[int, ...]
    best: ApproachPrediction
    verdict: Verdict
    rows: tuple[ApproachPrediction, ...]
    """All approaches, `best` among them; empty if only the best was asked for."""
    pays: tuple[Range, ...] | None
    """Buffers per peer for which the best saves enough of an iteration; None if not asked for."""
    here: Range | None
    """The range of `pays` that contains the workload's buffer, else the next larger."""
    ways: str = ""
    """For a step of several exchanges: how each is sent, in words."""


def outcome(
    machine: Machine,
    workload: Workload,
    *,
    library: str | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    min_gain: float = MIN_GAIN,
    every: bool = False,
    sizes: bool = False,
    cores: int | None = None,
) -> Outcome:
    """The advice of `predict`; arguments and errors as there, and

    Parameters
    ----------
    every
        All approaches, too.
    sizes
        The buffers for which the best one pays, too.
    cores
        For the engine; absent, all.
    """
    if workload.exchanges is not None:
        step = predict_step(machine, workload, library, seed, engine, None, min_gain, whole=())
        return _of_a_step(step, workload, every=every)
    machine, profile = with_library(machine, library)
    evaluation, _ = evaluator(machine, workload, seed, engine, cores=cores)
    rows = evaluation.predict_all(approaches(machine, workload, profile))
    best, _ = drawn_rows(evaluation, rows, min_gain, every=every)
    pays = tuple(over_sizes(evaluation, best, min_gain).ranges()) if sizes else None
    return Outcome(
        library=profile.name,
        engine="engine" if not evaluation.rest else "timeline",
        ranks=evaluation.grid if not evaluation.rest else (),
        best=best,
        verdict=verdict_on(best, min_gain),
        rows=tuple(rows) if every else (),
        pays=pays,
        here=None if pays is None else nearest(pays, workload.buffer),
    )


def advised(
    machine: Machine, workload: Workload, *, library: str | None = None, seed: int = 0, engine: Engine | None = None
) -> list[Approach]:
    """The approach that `predict` advises for each exchange; arguments and errors as there."""
    if workload.exchanges is None:
        return [outcome(machine, workload, library=library, seed=seed, engine=engine).best.approach]
    made = predict_step(machine, workload, library, seed, engine, None, MIN_GAIN, whole=())
    return [of.advised.approach for of in made.exchanges]


def _of_a_step(made: Prediction, workload: Workload, *, every: bool) -> Outcome:
    """A step of several exchanges, each as advised. It has no single buffer, so no ranges."""
    return Outcome(
        library=made.library,
        engine=made.engine,
        ranks=made.ranks,
        best=made.advised,
        verdict=made.advice.verdict,
        rows=tuple(made.approaches) if every else (),
        pays=None,
        here=None,
        ways=ways_said(workload, made.exchanges),
    )
