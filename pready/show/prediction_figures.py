"""What a prediction's pictures show: evaluates the model for `pready.plot` to draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pready import plot, show
from pready.model.approach import BY_KEY, SINGLE, Approach, transport_counts
from pready.model.engine.compare import ManyRanks
from pready.model.engine.mapping import partitions_per_direction
from pready.model.evaluate import NOMINAL, Evaluation, gain_over_sizes
from pready.model.machine import Machine
from pready.model.predict import evaluator
from pready.model.prediction import ApproachPrediction, Prediction
from pready.model.timeline import run
from pready.model.units import format_size
from pready.model.values import Array
from pready.model.workload import Workload

POINTS, MAP_POINTS = 145, 61
SAMPLES_OF_MAP = 32


def draw(kind: str, path: Path, machine: Machine, workload: Workload, prediction: Prediction) -> None:
    """Draw one kind of picture: "size", "map" or "exchange"."""
    where = f"{prediction.machine} ({prediction.library})"
    title = f"{workload.name} on {where}, {workload.threads} threads, {format_size(workload.buffer)}"
    {"size": _over_size, "map": _map, "exchange": _exchange}[kind](path, title, machine, workload, prediction)


def _approach(row: ApproachPrediction) -> Approach:
    return Approach(BY_KEY[row.key], row.transport_partitions, row.vcis)


def _label(row: ApproachPrediction) -> str:
    return f"{row.name}, {row.transport_partitions} × {row.vcis} VCI{'s' if row.vcis > 1 else ''}"


def _sizes(workload: Workload, points: int) -> list[float]:
    lowest = max(float(workload.n_partitions), 256.0)
    sizes: list[float] = np.geomspace(lowest, max(64 * 2.0**20, 16 * workload.buffer), points).tolist()
    return sizes


def _evaluation(machine: Machine, workload: Workload, prediction: Prediction) -> Evaluation | ManyRanks:
    engine: Any = prediction.engine
    return evaluator(machine, workload, prediction.seed, engine, draws=0)[0]


def _gains(evaluation: Evaluation | ManyRanks, approach: Approach, sizes: list[float], samples: int) -> Array:
    """η over sizes; the timeline over so many arrivals, the engine over those of its ranks."""
    if isinstance(evaluation, ManyRanks):
        return evaluation.gain_over_sizes(approach, sizes)
    return gain_over_sizes(evaluation.machine, evaluation.workload, approach, sizes, evaluation.seed, samples)


def _over_size(path: Path, title: str, machine: Machine, workload: Workload, prediction: Prediction) -> None:
    sizes, advised = _sizes(workload, POINTS), prediction.advised
    others = [r for r in show.best_per_interface(prediction) if r.key not in ("single", advised.key) and r.available]
    others.sort(key=lambda r: (r.key not in ("part", "part-am", "many"), -r.eta))
    evaluation = _evaluation(machine, workload, prediction)
    lines = [plot.Line(_label(r), _gains(evaluation, _approach(r), sizes, NOMINAL)) for r in (advised, *others[:3])]
    plot.save(path, plot.eta_over_size(title, sizes, lines, workload.buffer, prediction.advice.break_even_bytes))


def _map(path: Path, title: str, machine: Machine, workload: Workload, prediction: Prediction) -> None:
    sizes, advised = _sizes(workload, MAP_POINTS), prediction.advised
    interface = BY_KEY[advised.key]
    counts = transport_counts(partitions_per_direction(workload)) if interface.splits else [1]
    evaluation = _evaluation(machine, workload, prediction)
    eta = [_gains(evaluation, Approach(interface, t, min(advised.vcis, t)), sizes, SAMPLES_OF_MAP) for t in counts]
    plot.save(path, plot.gain_map(f"{advised.name}: {title}", sizes, counts, np.array(eta), workload.buffer))


def _exchange(path: Path, title: str, machine: Machine, workload: Workload, prediction: Prediction) -> None:
    evaluation = Evaluation(machine, workload, prediction.seed, draws=0)
    iteration = slice(1, 2)  # row 0 has no spread of arrivals
    ready = evaluation.ready[iteration]
    threads = ready.reshape(workload.threads, -1).max(axis=1) - ready.max()
    drawn = []
    for approach in (Approach(SINGLE), _approach(prediction.advised)):
        theirs = evaluation.receiver_joins(approach)
        joins = None if theirs is None else theirs[iteration]
        line = run(ready, evaluation.costs(approach), approach, evaluation.setting, joins, keep_steps=True)
        assert line.steps is not None
        join = float(line.join[0]) if approach.interface.joins else None
        label = f"{approach.name}, {approach.transport_partitions} per peer"
        drawn.append(plot.Exchange(label, threads, line.steps, join, float(line.end[0])))
    plot.save(path, plot.exchanges(title, drawn))
