"""The figure of a prediction: evaluates the model at the sizes that it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pready.model.advice.predict import as_used_by, runs_of
from pready.model.advice.savings import drawn_row
from pready.model.approach.interfaces import Approach
from pready.model.approach.libraries import library
from pready.model.common.arrays import Array
from pready.model.common.units import format_size
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction, Prediction
from pready.model.workload.workload import Workload
from pready.show.figures.eta_over_size import Sure, eta_over_size
from pready.show.tables.prediction import best_per_interface

POINTS = 145
SURE_POINTS, SURE_DRAWS = 13, 96


def over_sizes(machine: Machine, workload: Workload, prediction: Prediction) -> Figure:
    """η over buffer sizes of the advised way and of the best three others."""
    where = f"{prediction.machine} ({prediction.library})"
    title = f"{workload.name} on {where}, {workload.threads} threads, {format_size(workload.buffer)}"
    machine = as_used_by(machine, library(prediction.library))
    sizes, advised = _sizes(workload), prediction.advised
    drawn = {workload.baseline.interface, advised.approach.interface}
    others = [r for r in best_per_interface(prediction) if r.available and r.approach.interface not in drawn]
    others.sort(key=lambda r: (r.approach.interface.one_sided, -r.eta))
    some = (advised, *others[:3])
    each = _eta(machine, workload, prediction, [row.approach for row in some], sizes)
    lines = {_label(row): eta for row, eta in zip(some, each, strict=True)}
    sure = _sure(machine, workload, prediction, sizes, each[0])
    return eta_over_size(title, sizes, lines, workload.buffer, sure)


def _label(row: ApproachPrediction) -> str:
    count = row.approach.transport_partitions
    on = f" on {row.vcis} VCIs" if row.vcis > 1 else ""
    return f"{row.name}, {count} message{'s' if count > 1 else ''}{on}"


def _sizes(workload: Workload) -> list[float]:
    lowest = max(float(workload.n_partitions), 256.0)
    sizes: list[float] = np.geomspace(lowest, max(64 * 2.0**20, 16 * workload.buffer), POINTS).tolist()
    return sizes


def _eta(
    machine: Machine, workload: Workload, prediction: Prediction, approaches: Sequence[Approach], sizes: list[float]
) -> list[Array]:
    """η of each approach over sizes, parameters at their values; from rest each is the mean of many exchanges."""
    engine: Any = prediction.engine
    runs, _ = runs_of(machine, workload, prediction.seed, engine, draws=0)
    ways = [(a,) for a in approaches]
    eta = [[row.eta for row in runs.at_buffer(size).predicted(ways, calm=False)] for size in sizes]
    return [np.array(of_one) for of_one in zip(*eta, strict=True)]


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
    return Sure(low, high, [(r.low, r.high) for r in advice.pays or ()], f"{100 * advice.min_gain:g} % of an iteration")
