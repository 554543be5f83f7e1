"""Figures of a prediction: evaluates the model at the points that they show."""

from __future__ import annotations

import math
from itertools import groupby
from operator import attrgetter
from typing import Any, cast

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pready.model.advice.predict import Engine, as_used_by, evaluator
from pready.model.advice.savings import drawn_row
from pready.model.approach.interfaces import Approach
from pready.model.approach.libraries import library
from pready.model.approach.vcis import transport_counts
from pready.model.common.arrays import Array
from pready.model.common.units import Unit, format_exact, format_size
from pready.model.engine.evaluate import NOMINAL_ALONE, Evaluation
from pready.model.engine.messages import partitions_per_direction
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Prediction
from pready.model.result.verdict import verdict_on
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload
from pready.show.figures.decision_map import decision_map
from pready.show.figures.eta_over_size import Sure, eta_over_size
from pready.show.figures.exchanges import Exchange, exchanges
from pready.show.figures.gain_map import gain_map
from pready.show.figures.step_savings import step_savings
from pready.show.figures.tornado import tornado
from pready.show.tables.prediction import best_per_interface
from pready.whatif.fields import axis
from pready.whatif.points import Options, Work
from pready.whatif.tabulated import product, tabulate

POINTS, MAP_POINTS = 145, 61
SURE_POINTS, SURE_DRAWS = 13, 32
SAMPLES_OF_MAP = 32
MOST_LEVERS = 8
MAP_THREADS, MAP_SIZES = 5, 8
"""How many threads (powers of two) and sizes (of four) a map of verdicts has: some half a minute."""


def figure(kind: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    """One kind of picture of `pready.show.figures.files.KINDS`."""
    where = f"{prediction.machine} ({prediction.library})"
    size = f"{len(prediction.exchanges)} exchanges" if prediction.exchanges else format_size(workload.buffer)
    title = f"{workload.name} on {where}, {workload.threads} threads, {size}"
    drawn = _DRAWN[kind]
    return drawn(title, as_used_by(machine, library(prediction.library)), workload, prediction)


def _messages(approach: Approach) -> str:
    count = approach.transport_partitions
    return f"{count} message{'s' if count > 1 else ''}"


def _sizes(workload: Workload, points: int) -> list[float]:
    lowest = max(float(workload.n_partitions), 256.0)
    sizes: list[float] = np.geomspace(lowest, max(64 * 2.0**20, 16 * workload.buffer), points).tolist()
    return sizes


def _evaluation(machine: Machine, workload: Workload, prediction: Prediction) -> Evaluation:
    engine: Any = prediction.engine
    return evaluator(machine, workload, prediction.seed, engine, draws=0)[0]


def _over_size(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    sizes, advised = _sizes(workload, POINTS), prediction.advised
    drawn = {workload.baseline.interface, advised.approach.interface}
    others = [r for r in best_per_interface(prediction) if r.available and r.approach.interface not in drawn]
    others.sort(key=lambda r: (r.approach.interface.one_sided, -r.eta))
    evaluation = _evaluation(machine, workload, prediction)
    lines = {}
    for row in (advised, *others[:3]):
        on = f" on {row.vcis} VCIs" if row.vcis > 1 else ""
        eta = evaluation.gain_over_sizes(row.approach, sizes, NOMINAL_ALONE)
        lines[f"{row.name}, {_messages(row.approach)}{on}"] = eta
    sure = _sure(machine, workload, prediction, sizes, next(iter(lines.values())))
    return eta_over_size(title, sizes, lines, workload.buffer, sure)


def _sure(machine: Machine, workload: Workload, prediction: Prediction, sizes: list[float], eta: Array) -> Sure:
    """The advised approach's interval of η, and the sizes at which it saves enough.

    The ends are predicted at a few sizes and on both sides of each segment border. Between these, log(end / η) is
    interpolated linearly.
    """
    engine: Any = prediction.engine
    n, advice = workload.n_partitions, prediction.advice
    best = advice.best.approach
    borders = [s.from_ * m for s in machine.path(workload.path).segments for m in {1, best.messages}]
    inside = [b for b in borders if sizes[0] < b < sizes[-1]]
    wanted = [*np.geomspace(sizes[0], sizes[-1], SURE_POINTS), workload.buffer, *inside, *(b - n for b in inside)]
    counts = np.unique(np.ceil(np.array(wanted) / n)) * n
    rows = []
    for size in counts:
        there = workload.at_buffer(float(size))
        evaluation = evaluator(machine, there, prediction.seed, engine, draws=SURE_DRAWS)[0]
        rows.append(drawn_row(evaluation, best, min_gain=advice.min_gain))
    low, high = (
        eta * np.exp(np.interp(np.log(sizes), np.log(counts), [math.log(end(row) / row.eta) for row in rows]))
        for end in (attrgetter("eta_low"), attrgetter("eta_high"))
    )
    return Sure(
        low,
        high,
        [(r.low, r.high) for r in advice.pays],
        [(some[0], some[-1]) for some in _runs(counts, [verdict_on(r, advice.min_gain) == "port" for r in rows])],
        f"{100 * advice.min_gain:g} % of an iteration",
    )


def _runs(sizes: Array, which: list[bool]) -> list[list[float]]:
    """Sizes next to each other that are among those asked for."""
    of = groupby(zip(sizes.tolist(), which, strict=True), key=lambda x: x[1])
    return [[size for size, _ in some] for yes, some in of if yes]


def _messages_and_size(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    sizes, advised = _sizes(workload, MAP_POINTS), prediction.advised
    interface = advised.approach.interface
    counts = transport_counts(partitions_per_direction(workload)) if interface.splits else [1]
    evaluation = _evaluation(machine, workload, prediction)
    eta = [evaluation.gain_over_sizes(interface.into(t, min(advised.vcis, t)), sizes, SAMPLES_OF_MAP) for t in counts]
    return gain_map(f"{advised.name}: {title}", sizes, counts, np.array(eta), workload.buffer)


def _map(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    """The verdict over threads and bytes; with a compute.time, the work of all threads together is as it is."""
    threads = [max(1, workload.threads * 2**i // 4) for i in range(MAP_THREADS)]
    sizes = [format_exact(workload.buffer * 4.0**i, Unit.SIZE) for i in range(-MAP_SIZES // 2, MAP_SIZES // 2)]
    axes = [axis("threads", sorted(set(threads))), axis("buffer", sizes)]
    min_gain, engine = prediction.advice.min_gain, cast(Engine, prediction.engine)
    timed = isinstance(workload.compute, ComputeTime)
    work: Work = "total" if timed else "per-thread"
    made = product(machine, [workload], axes, library=prediction.library, seed=prediction.seed, work=work)
    table = tabulate(made, [workload], axes, Options(engine, min_gain), work=work)
    said = "the work of all threads together stays as it is" if timed else "each thread computes its part of the buffer"
    title += f"\n{said}"
    return decision_map(title, table, min_gain, (sizes[MAP_SIZES // 2], str(workload.threads)))


def _exchange(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    evaluation = Evaluation(machine, workload, prediction.seed, draws=0, alone=True)
    ready = evaluation.ready[1]  # row 0: all threads arrive together
    threads = ready.reshape(workload.threads, workload.partitions_per_thread).max(axis=1) - ready.max()
    drawn = []
    for approach in (workload.baseline, prediction.advised.approach):
        one = evaluation.exchange(approach, 1)
        join = one.join if approach.interface.joins else None
        label = f"{approach.name}, {_messages(approach)} per peer"
        drawn.append(Exchange(label, threads, one.messages, _owners(approach, workload, ready), join, one.end))
    here, counts = drawn[0].end / drawn[1].end, prediction.advised.eta
    late = "waiting for late neighbours included" if prediction.ranks else "mean over the arrivals"
    return exchanges(f"{title}\none exchange alone: {here:.2f}×; {late}: {counts:.2f}×, which counts", drawn)


def _sensitivity(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    return tornado(title, prediction.sensitivity[:MOST_LEVERS], 100 * prediction.advice.min_gain)


def _step(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    rows = [(f"{e.workload['name']}, alone", e.advised) for e in prediction.exchanges]
    return step_savings(title, [*rows, ("the step", prediction.advised)], 100 * prediction.advice.min_gain)


_DRAWN = {
    "size": _over_size,
    "messages": _messages_and_size,
    "map": _map,
    "exchange": _exchange,
    "sensitivity": _sensitivity,
    "step": _step,
}


def _owners(approach: Approach, workload: Workload, ready: Array) -> NDArray[np.int64]:
    """The thread that issues each transport partition: the last of its threads."""
    count = approach.messages
    each = len(ready) // count
    last = ready.reshape(count, each).argmax(axis=1) + np.arange(count) * each
    return last // workload.partitions_per_thread if not approach.interface.joins else np.zeros(count, np.int64)
