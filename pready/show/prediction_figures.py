"""What a prediction's figures show: evaluates the model for `pready.show.figures` to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pready.model.approach import Approach, transport_counts
from pready.model.engine.many_ranks import ManyRanks
from pready.model.engine.mapping import partitions_per_direction
from pready.model.evaluate import NOMINAL, Evaluation, gain_over_sizes
from pready.model.machine import Machine
from pready.model.predict import evaluator
from pready.model.prediction import ApproachPrediction, Prediction
from pready.model.timeline import run
from pready.model.units import format_size
from pready.model.values import Array
from pready.model.workload import Workload
from pready.show import figures
from pready.show.prediction import best_per_interface

POINTS, MAP_POINTS = 145, 61
SAMPLES_OF_MAP = 32
MOST_LEVERS = 8


def figure(kind: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    """One kind of picture: "size", "map", "exchange" or "decides"."""
    where = f"{prediction.machine} ({prediction.library})"
    title = f"{workload.name} on {where}, {workload.threads} threads, {format_size(workload.buffer)}"
    drawn = {"size": _over_size, "map": _map, "exchange": _exchange, "decides": _decides}[kind]
    return drawn(title, machine, workload, prediction)


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


def _over_size(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    sizes, advised = _sizes(workload, POINTS), prediction.advised
    drawn = (workload.baseline.interface, advised.approach.interface)
    others = [r for r in best_per_interface(prediction) if r.available and r.approach.interface not in drawn]
    others.sort(key=lambda r: (r.approach.interface.one_sided, -r.eta))
    evaluation = _evaluation(machine, workload, prediction)
    lines = [figures.Line(_label(r), _gains(evaluation, r.approach, sizes, NOMINAL)) for r in (advised, *others[:3])]
    return figures.eta_over_size(title, sizes, lines, workload.buffer, prediction.advice.break_even_bytes)


def _map(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    sizes, advised = _sizes(workload, MAP_POINTS), prediction.advised
    interface = advised.approach.interface
    counts = transport_counts(partitions_per_direction(workload)) if interface.splits else [1]
    evaluation = _evaluation(machine, workload, prediction)
    eta = [_gains(evaluation, interface.into(t, min(advised.vcis, t)), sizes, SAMPLES_OF_MAP) for t in counts]
    return figures.gain_map(f"{advised.name}: {title}", sizes, counts, np.array(eta), workload.buffer)


def _exchange(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    evaluation = Evaluation(machine, workload, prediction.seed, draws=0)
    iteration = slice(1, 2)  # row 0 has no spread of arrivals
    ready = evaluation.ready[iteration]
    threads = ready.reshape(workload.threads, -1).max(axis=1) - ready.max()
    drawn = []
    for approach in (workload.baseline, prediction.advised.approach):
        theirs = evaluation.receiver_joins(approach)
        joins = None if theirs is None else theirs[iteration]
        line = run(ready, evaluation.costs(approach), approach, evaluation.setting, joins, keep_steps=True)
        assert line.steps is not None
        join = float(line.join[0]) if approach.interface.joins else None
        label = f"{approach.name}, {approach.transport_partitions} per peer"
        drawn.append(figures.Exchange(label, threads, line.steps, join, float(line.end[0])))
    return figures.exchanges(title, drawn)


def _decides(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    return figures.tornado(title, prediction.decides[:MOST_LEVERS], 100 * prediction.advice.min_gain)
