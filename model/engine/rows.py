"""From simulations to the row of a prediction: the one place that turns them into an `ApproachPrediction`.

Times are means over ranks and exchanges of what an exchange costs a rank after its own last partition is ready. Among
ranks that go on, this includes waiting for neighbours that are late, and for those that were late an iteration before:
with noise, η is closer to 1, as bulk and the approach wait for the same late threads.
"""

from __future__ import annotations

from pready.model.common.arrays import mean
from pready.model.engine.simulation import CONSUME, Simulation
from pready.model.equations import metrics
from pready.model.result.prediction import ApproachPrediction
from pready.model.workload.workload import Workload

WARM_UP = 1
"""Iterations that go before: ranks start together, and one pulls them apart (docs/theory/uncertainty.md)."""


def row(
    run: Simulation,
    bulk: Simulation,
    quiet: Simulation,
    alone: Simulation,
    workload: Workload,
    barrier: float,
    begins: tuple[float, float],
) -> ApproachPrediction:
    """A prediction's row from simulations of the same ranks and draws, the machine at its values: without intervals.

    Parameters
    ----------
    run, bulk
        The approach, and the baseline.
    quiet, alone
        The approach and bulk without spread of arrivals.
    barrier
        Seconds for the workload's threads to meet.
    begins
        What beginning takes the approach and the baseline, in seconds.
    """
    splits = run.approach.interface.splits
    done = min(run.iterations, bulk.iterations)
    time, time_bulk = (exchange_s(s, done) for s in (run, bulk))
    eta = float(metrics.eta(time_bulk, time))
    whole, whole_bulk = (mean(s.iteration_s[:done]) for s in (run, bulk))
    once, once_bulk = (b / workload.iterations for b in begins)
    saved = float(metrics.speedup_percent(whole_bulk + once_bulk, whole + once))
    # temucin2022 3.1: one send from the join on, without the threads' barrier.
    t_pt2pt = exchange_s(alone) - barrier
    no_spread = exchange_s(quiet) - (0.0 if splits else barrier)
    spread, to_join = (mean(x[:done]) / run.exchanges for x in (run.spread_s, run.to_join_s))
    # From the first MPI_Pready on; a rank never ends before its threads have joined.
    t_part = time + spread if splits else time - barrier
    before_join = spread + to_join if splits else 0.0
    work = mean(run.causes_s[CONSUME][:done]) if CONSUME in run.causes_s else 0.0
    return ApproachPrediction(
        approach=run.approach,
        messages=round(run.messages / run.iterations / run.exchanges / run.ranks),
        time_s=time,
        time_low_s=time,
        time_high_s=time,
        eta=eta,
        eta_low=eta,
        eta_high=eta,
        iteration_s=whole,
        speedup_percent=saved,
        speedup_low_percent=saved,
        speedup_high_percent=saved,
        overhead=float(metrics.overhead(no_spread, t_pt2pt)),
        perceived_bandwidth_bytes_per_s=float(metrics.perceived_bandwidth(workload.buffer, time)),
        availability=float(metrics.application_availability(time - barrier, t_pt2pt)),
        early_bird_percent=float(metrics.early_bird_percent(before_join, t_part)),
        arrived_early_percent=100 * mean(run.arrived_early[:done]),
        begin_s=begins[0],
        begin_per_iteration_s=once,
        needs=run.approach.interface.needs,
        work_left_s=work / run.exchanges,
    )


def warm_up(workload: Workload, iterations: int) -> int:
    """Iterations that go before so many that count, if the workload has as many."""
    return max(0, min(WARM_UP, workload.iterations - iterations))


def exchange_s(run: Simulation, iterations: int | None = None) -> float:
    """Mean communication time of one exchange, over the first `iterations`."""
    return mean(run.communication_s[:iterations]) / run.exchanges
