"""Approaches side by side on the same draws: η and the four metrics of whole patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pready.model import metrics
from pready.model.approach import SINGLE, Approach
from pready.model.engine.simulate import Simulation, simulate
from pready.model.machine import Machine
from pready.model.prediction import ApproachPrediction
from pready.model.values import Array
from pready.model.workload import NoArrivals, Workload

BULK = Approach(SINGLE)


def compare(
    machine: Machine,
    workload: Workload,
    approaches: Sequence[Approach],
    *,
    grid: Sequence[int],
    iterations: int,
    **options: Any,
) -> list[tuple[ApproachPrediction, Simulation]]:
    """Simulate bulk and each approach, and say what each costs against bulk.

    Parameters
    ----------
    options
        Further arguments of `simulate`, the same for all.

    Returns
    -------
    One pair per approach, bulk first. Times are means over ranks and iterations, of the time after a
    rank's own last partition is ready; `low` and `high` bound 95 % of the iterations' means. An
    interrupted run is the last of the list; without a completed iteration it is left out.
    """
    out: list[tuple[ApproachPrediction, Simulation]] = []
    quiet_workload = workload.model_copy(update={"arrivals": NoArrivals()})
    quiet_options = {k: v for k, v in options.items() if k not in ("record", "on_progress")}
    bulk: Simulation | None = None
    alone: Simulation | None = None
    for approach in (BULK, *(a for a in approaches if a != BULK)):
        run = simulate(machine, workload, approach, grid=grid, iterations=iterations, **options)
        if run.iterations == 0:
            break
        bulk = bulk or run
        # Without spread all iterations are alike, up to how far ranks are pulled apart at the start.
        quiet = simulate(machine, quiet_workload, approach, grid=grid, iterations=1, **quiet_options)
        alone = alone or quiet
        if quiet.iterations == 0:
            break
        barrier = machine.threads.barrier.at(workload.threads)
        out.append((_prediction(run, bulk, quiet, alone, workload, barrier), run))
        if run.interrupted:
            break
    return out


def _prediction(
    run: Simulation, bulk: Simulation, quiet: Simulation, alone: Simulation, workload: Workload, barrier: float
) -> ApproachPrediction:
    approach, splits = run.approach, run.approach.interface.splits
    done = min(run.iterations, bulk.iterations)
    t, t_bulk = run.communication_s[:done], bulk.communication_s[:done]
    time, eta = float(t.mean()), float(metrics.eta(t_bulk.mean(), t.mean()))
    time_low, time_high = _interval(t, time)
    eta_low, eta_high = _interval(metrics.eta(t_bulk, t), eta)
    # temucin2022 3.1: one send from the join on, without the threads' barrier.
    t_pt2pt = float(alone.communication_s.mean()) - barrier
    no_spread = float(quiet.communication_s.mean()) - (0.0 if splits else barrier)
    spread, to_join = run.spread_s[:done].mean(), run.to_join_s[:done].mean()
    # From the first MPI_Pready on; a rank never ends before its threads have joined.
    t_part = time + spread if splits else time - barrier
    before_join = spread + to_join if splits else 0.0
    ranks = int(np.prod(run.grid))
    return ApproachPrediction(
        name=approach.name,
        key=approach.interface.key,
        transport_partitions=approach.transport_partitions,
        vcis=approach.vcis,
        messages=round(run.messages / run.iterations / ranks),
        time_s=time,
        time_low_s=time_low,
        time_high_s=time_high,
        eta=eta,
        eta_low=eta_low,
        eta_high=eta_high,
        speedup_percent=float(metrics.speedup_percent(bulk.mean_s[:done].mean(), run.mean_s[:done].mean())),
        overhead=float(metrics.overhead(no_spread, t_pt2pt)),
        perceived_bandwidth_bytes_per_s=float(metrics.perceived_bandwidth(workload.buffer, time)),
        availability=float(metrics.application_availability(time - barrier, t_pt2pt)),
        early_bird_percent=float(metrics.early_bird_percent(before_join, t_part)),
        arrived_early_percent=100 * float(run.arrived_early[:done].mean()),
        available=True,
    )


def _interval(values: Array, value: float) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return min(float(low), value), max(float(high), value)
