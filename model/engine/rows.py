"""From simulations to the row of a prediction: the one place that turns them into an `ApproachPrediction`.

Times are means over ranks and exchanges of what an exchange costs a rank after its own last partition is ready. Among
ranks that go on, this includes waiting for neighbours that are late, and for those that were late an iteration before:
with noise, η is closer to 1, as bulk and the approach wait for the same late threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pready.model.common.arrays import Array
from pready.model.engine.simulation import Simulation
from pready.model.equations import metrics
from pready.model.result.interval import interval
from pready.model.result.prediction import ApproachPrediction
from pready.model.workload.workload import Workload

WARM_UP = 3
"""Exchanges that go before: ranks start together, and are pulled apart within about so many."""


def row(
    run: Simulation,
    bulk: Simulation,
    quiet: Simulation,
    alone: Simulation,
    workload: Workload,
    barrier: float,
    drawn: Drawn,
    drawn_bulk: Drawn,
    begins: tuple[Array, Array],
) -> ApproachPrediction:
    """A prediction's row from simulations of the same ranks and draws.

    Parameters
    ----------
    run, bulk
        The approach, and the baseline.
    quiet, alone
        The approach and bulk without spread of arrivals.
    barrier
        Seconds for the workload's threads to meet.
    drawn, drawn_bulk
        Times whose central 95 %, and that of whose ratios, are the row's intervals. An approach that has
        fewer than the baseline has the first of them.
    begins
        What beginning takes the approach and the baseline, shapes (): at the parameters' values, or (1 + draws,): and
        with each draw of them.
    """
    splits = run.approach.interface.splits
    done = min(run.iterations, bulk.iterations)
    time, time_bulk = (exchange_s(s, done) for s in (run, bulk))
    eta = float(metrics.eta(time_bulk, time))
    n = len(drawn.communication)
    time_low, time_high = interval(drawn.communication, time)
    eta_low, eta_high = interval(metrics.eta(drawn_bulk.communication[:n], drawn.communication), eta)
    speedup, speedup_low, speedup_high = saved_percent(run, bulk, workload, drawn, drawn_bulk, begins)
    # temucin2022 3.1: one send from the join on, without the threads' barrier.
    t_pt2pt = exchange_s(alone) - barrier
    no_spread = exchange_s(quiet) - (0.0 if splits else barrier)
    spread, to_join = (float(x[:done].mean()) / run.exchanges for x in (run.spread_s, run.to_join_s))
    # From the first MPI_Pready on; a rank never ends before its threads have joined.
    t_part = time + spread if splits else time - barrier
    before_join = spread + to_join if splits else 0.0
    return ApproachPrediction(
        approach=run.approach,
        messages=round(run.messages / run.iterations / run.exchanges / run.ranks),
        time_s=time,
        time_low_s=time_low,
        time_high_s=time_high,
        eta=eta,
        eta_low=eta_low,
        eta_high=eta_high,
        iteration_s=float(run.iteration_s[:done].mean()),
        speedup_percent=speedup,
        speedup_low_percent=speedup_low,
        speedup_high_percent=speedup_high,
        overhead=float(metrics.overhead(no_spread, t_pt2pt)),
        perceived_bandwidth_bytes_per_s=float(metrics.perceived_bandwidth(workload.buffer, time)),
        availability=float(metrics.application_availability(time - barrier, t_pt2pt)),
        early_bird_percent=float(metrics.early_bird_percent(before_join, t_part)),
        arrived_early_percent=100 * float(run.arrived_early[:done].mean()),
        begin_s=float(begins[0].flat[0]),
        begin_per_iteration_s=float(begins[0].flat[0] / workload.iterations),
        needs=run.approach.interface.needs,
    )


def saved_percent(
    run: Simulation,
    bulk: Simulation,
    workload: Workload,
    drawn: Drawn,
    drawn_bulk: Drawn,
    begins: tuple[Array, Array],
) -> tuple[float, float, float]:
    """By how much an approach makes an iteration shorter, beginning included, and where the truth lies; arguments as of
    `row`."""
    done, n = min(run.iterations, bulk.iterations), len(drawn.iteration)
    whole, whole_bulk = (float(s.iteration_s[:done].mean()) for s in (run, bulk))
    once, once_bulk = (b / workload.iterations for b in begins)
    value = float(metrics.speedup_percent(whole_bulk + once_bulk.flat[0], whole + once.flat[0]))
    each = metrics.speedup_percent(
        drawn_bulk.iteration[:n] + _of_draws(once_bulk, n), drawn.iteration + _of_draws(once, n)
    )
    return value, *interval(each, value)


def _of_draws(begin: Array, draws: int) -> Array:
    """Its rows of so many draws; the value where there are none."""
    return begin[1 : 1 + draws] if begin.ndim and len(begin) > draws else np.full(draws, begin.flat[0])


@dataclass(frozen=True)
class Drawn:
    """What several draws of something give: arrays of shape (draws,), in seconds."""

    communication: Array
    """Of one exchange."""
    iteration: Array


def warm_up(workload: Workload, iterations: int, steps: int) -> int:
    """Iterations of so many exchanges that go before those that count, if the workload has as many."""
    return max(0, min(-(-WARM_UP // steps), workload.iterations - iterations))


def exchange_s(run: Simulation, iterations: int | None = None) -> float:
    """Mean communication time of one exchange, over the first `iterations`."""
    return float(run.communication_s[:iterations].mean()) / run.exchanges
