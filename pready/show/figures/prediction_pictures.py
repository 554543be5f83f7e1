"""Figures of a prediction: evaluates the model at the points that they show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pready.model.advice.predict import as_used_by, runs_of
from pready.model.advice.savings import drawn_row
from pready.model.approach.interfaces import Approach
from pready.model.approach.libraries import library
from pready.model.common.arrays import Array
from pready.model.common.units import format_size
from pready.model.engine.layout import Step
from pready.model.engine.runs import ALONE, Rows, Runs
from pready.model.engine.simulate import alone
from pready.model.equations import metrics
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Prediction
from pready.model.workload.workload import Workload
from pready.show.figures.eta_over_size import Sure, eta_over_size
from pready.show.figures.exchanges import Exchange, exchanges
from pready.show.tables.prediction import best_per_interface

POINTS = 145
SURE_POINTS, SURE_DRAWS = 13, 32


def figure(kind: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    """One of `_DRAWN`: η over sizes, or one exchange alone."""
    where = f"{prediction.machine} ({prediction.library})"
    title = f"{workload.name} on {where}, {workload.threads} threads, {format_size(workload.buffer)}"
    drawn = _DRAWN[kind]
    return drawn(title, as_used_by(machine, library(prediction.library)), workload, prediction)


def _messages(approach: Approach) -> str:
    count = approach.transport_partitions
    return f"{count} message{'s' if count > 1 else ''}"


def _sizes(workload: Workload) -> list[float]:
    lowest = max(float(workload.n_partitions), 256.0)
    sizes: list[float] = np.geomspace(lowest, max(64 * 2.0**20, 16 * workload.buffer), POINTS).tolist()
    return sizes


def _eta(
    machine: Machine,
    workload: Workload,
    prediction: Prediction,
    approaches: Sequence[Approach],
    sizes: list[float],
    exchanges: int,
) -> list[Array]:
    """η of each approach over sizes, parameters at their values; from rest each is the mean of so many exchanges."""
    engine: Any = prediction.engine
    runs, _ = runs_of(machine, workload, prediction.seed, engine, draws=0)
    today, *times = runs.over_sizes((workload.baseline, *approaches), sizes, exchanges)
    return [metrics.eta(today, time) for time in times]


def _over_size(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    sizes, advised = _sizes(workload), prediction.advised
    drawn = {workload.baseline.interface, advised.approach.interface}
    others = [r for r in best_per_interface(prediction) if r.available and r.approach.interface not in drawn]
    others.sort(key=lambda r: (r.approach.interface.one_sided, -r.eta))
    some, lines = (advised, *others[:3]), {}
    each = _eta(machine, workload, prediction, [row.approach for row in some], sizes, ALONE)
    for row, eta in zip(some, each, strict=True):
        on = f" on {row.vcis} VCIs" if row.vcis > 1 else ""
        lines[f"{row.name}, {_messages(row.approach)}{on}"] = eta
    sure = _sure(machine, workload, prediction, sizes, next(iter(lines.values())))
    return eta_over_size(title, sizes, lines, workload.buffer, sure)


def _sure(machine: Machine, workload: Workload, prediction: Prediction, sizes: list[float], eta: Array) -> Sure:
    """The advised approach's interval of η, and the sizes at which a port pays.

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
        runs, _ = runs_of(machine, there, prediction.seed, engine, draws=SURE_DRAWS)
        rows.append(drawn_row(runs, best))
    low, high = (
        eta * np.exp(np.interp(np.log(sizes), np.log(counts), [math.log(end(row) / row.eta) for row in rows]))
        for end in (attrgetter("eta_low"), attrgetter("eta_high"))
    )
    return Sure(
        low,
        high,
        [(r.low, r.high) for r in advice.pays or ()],
        f"{100 * advice.min_gain:g} % of an iteration",
    )


def _exchange(title: str, machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    runs = Runs(machine, Step.from_rest(workload), Rows(0, prediction.seed))
    ready = runs.ready()[0, 0, 0]
    threads = ready.reshape(workload.threads, workload.partitions_per_thread).max(axis=1) - ready.max()
    drawn = []
    for approach in (workload.baseline, prediction.advised.approach):
        one = alone(runs.plans((approach,))[0])[0]
        join = one.join if approach.interface.joins else None
        label = f"{approach.name}, {_messages(approach)} per peer"
        drawn.append(Exchange(label, threads, one.messages, _owners(approach, workload, ready), join, one.end))
    here, counts = drawn[0].end / drawn[1].end, prediction.advised.eta
    late = "waiting for late neighbours included" if prediction.ranks else "mean over the arrivals"
    return exchanges(f"{title}\none exchange alone: {here:.2f}×; {late}: {counts:.2f}×, which counts", drawn)


_DRAWN = {"size": _over_size, "exchange": _exchange}


def _owners(approach: Approach, workload: Workload, ready: Array) -> NDArray[np.int64]:
    """The thread that issues each transport partition: the last of its threads."""
    count = approach.messages
    each = len(ready) // count
    last = ready.reshape(count, each).argmax(axis=1) + np.arange(count) * each
    return last // workload.partitions_per_thread if not approach.interface.joins else np.zeros(count, np.int64)
