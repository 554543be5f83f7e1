"""From simulations to the row of a prediction: the one place that turns them into an `ApproachPrediction`.

Times are means over ranks and exchanges of what an exchange costs a rank after its own last partition is ready. Among
ranks that go on, this includes waiting for neighbours that are late, and for those that were late an iteration before:
with noise, η is closer to 1, as bulk and the approach wait for the same late threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pready.model.common.arrays import Array
from pready.model.common.normal import student95
from pready.model.engine.simulation import CONSUME, LATE, Simulation
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
        Times of drawn machines, from which the row's intervals are. An approach that has fewer than the
        baseline has the first of them.
    begins
        What beginning takes the approach and the baseline, shapes (): at the parameters' values, or (1 + draws,): and
        with each draw of them.
    """
    splits = run.approach.interface.splits
    done = min(run.iterations, bulk.iterations)
    time, time_bulk = (exchange_s(s, done) for s in (run, bulk))
    eta = float(metrics.eta(time_bulk, time))
    n, more = len(drawn.communication), 1 + drawn.simulated / workload.iterations
    of_time, of_bulk = drawn.blocks[:, 0], drawn_bulk.blocks[:, 0]
    time_low, time_high = interval(drawn.communication, time, left_open(of_time, more))
    etas = metrics.eta(drawn_bulk.communication[:n], drawn.communication)
    eta_low, eta_high = interval(etas, eta, left_open((of_bulk - eta * of_time) / time, more))
    saved = saving(run, bulk, workload, drawn, drawn_bulk, begins)
    speedup_low, speedup_high = saved.interval()
    # temucin2022 3.1: one send from the join on, without the threads' barrier.
    t_pt2pt = exchange_s(alone) - barrier
    no_spread = exchange_s(quiet) - (0.0 if splits else barrier)
    spread, to_join = (float(x[:done].mean()) / run.exchanges for x in (run.spread_s, run.to_join_s))
    # From the first MPI_Pready on; a rank never ends before its threads have joined.
    t_part = time + spread if splits else time - barrier
    before_join = spread + to_join if splits else 0.0
    late, work = (float(run.causes_s[c][:done].mean()) if c in run.causes_s else 0.0 for c in (LATE, CONSUME))
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
        speedup_percent=saved.percent,
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
        work_left_s=work / run.exchanges,
        transfer_s=time * run.exchanges - late - work,
    )


@dataclass(frozen=True)
class Saving:
    """By how much an approach makes an iteration shorter, in percent, set-up included."""

    percent: float
    draws: Array
    """With each draw of the machine, shape (draws,)."""
    blocks: Array
    """Of blocks of the iterations, less their mean, shape (blocks,)."""
    more: float
    """Variance of the mean over the run's own iterations in addition, as a multiple of that of the simulated ones."""

    def interval(self) -> tuple[float, float]:
        """Where the truth lies with 95 % certainty."""
        low, high = interval(1 - self.draws / 100, 1 - self.percent / 100, left_open(self.blocks / 100, self.more))
        # 1 - x and back rounds.
        return min(100 * (1 - high), self.percent), max(100 * (1 - low), self.percent)

    def over(self, other: Saving) -> tuple[float, float]:
        """The interval of how much more it saves than another, on the same machines and arrivals."""
        n = min(len(self.draws), len(other.draws))
        same = 0.0 if len(self.blocks) != len(other.blocks) else left_open(self.blocks - other.blocks, self.more)
        return interval(self.draws[:n] - other.draws[:n], self.percent - other.percent, same, signed=True)


def saving(
    run: Simulation,
    bulk: Simulation,
    workload: Workload,
    drawn: Drawn,
    drawn_bulk: Drawn,
    begins: tuple[Array, Array],
) -> Saving:
    """By how much an approach makes an iteration shorter; arguments as of `row`."""
    done, n = min(run.iterations, bulk.iterations), len(drawn.iteration)
    whole, whole_bulk = (float(s.iteration_s[:done].mean()) for s in (run, bulk))
    once, once_bulk = (b / workload.iterations for b in begins)
    value = float(metrics.speedup_percent(whole_bulk + once_bulk.flat[0], whole + once.flat[0]))
    each = metrics.speedup_percent(
        drawn_bulk.iteration[:n] + _of_draws(once_bulk, n), drawn.iteration + _of_draws(once, n)
    )
    blocks = 100 * (drawn_bulk.blocks[:, 1] * whole / whole_bulk - drawn.blocks[:, 1]) / whole_bulk
    return Saving(value, np.asarray(each), blocks - blocks.mean(), 1 + drawn.simulated / workload.iterations)


def _of_draws(begin: Array, draws: int) -> Array:
    """Its rows of so many draws; the value where there are none."""
    return begin[1 : 1 + draws] if begin.ndim and len(begin) > draws else np.full(draws, begin.flat[0])


@dataclass(frozen=True)
class Drawn:
    """What several draws of something give: arrays of shape (draws,), in seconds."""

    communication: Array
    """Of one exchange."""
    iteration: Array
    blocks: Array
    """Both, as means of blocks of the iterations at the machine's values, shape (blocks, 2)."""
    simulated: int
    """Number of those iterations."""


def drawn_like(means: Array, rows: Array | None, blocks: Array, simulated: int) -> Drawn:
    """What drawn machines give, from few iterations that all of them share.

    Parameters
    ----------
    means
        At the machine's values over all `simulated` iterations, shape (2,).
    rows
        Over the few: at the values, then with each draw, shape (1 + draws, 2); None: nothing is drawn.
    """
    if rows is None or len(rows) < 2:
        return Drawn(means[:1], means[1:], blocks, simulated)
    here, drawn = rows[0], rows[1:]
    # The few iterations differ from all: draws change communication in proportion, and iterations by as much.
    scale = means[0] / here[0] if here[0] > 0 else 1.0
    return Drawn(drawn[:, 0] * scale, drawn[:, 1] + (means[1] - here[1]), blocks, simulated)


def iterations_of(run: Simulation, done: int) -> Drawn:
    """Each of the first iterations as a draw."""
    communication, iteration = run.communication_s[:done] / run.exchanges, run.iteration_s[:done]
    return Drawn(communication, iteration, np.array([[communication.mean(), iteration.mean()]]), done)


def blocks_of(run: Simulation, blocks: int) -> Array:
    """Mean times of an exchange and an iteration in blocks of a run, shape (blocks, 2); fewer of a short run."""
    n = max(1, min(blocks, run.iterations))
    each = run.iterations // n
    pairs = np.stack([run.communication_s / run.exchanges, run.iteration_s], axis=1)[: n * each]
    return np.asarray(pairs.reshape(n, each, 2).mean(axis=1))


def left_open(blocks: Array, more: float) -> float:
    """Half the width of the 95 % interval of a mean that arrivals leave: of simulated iterations, and the run's own.

    By Student's t: ten blocks do not tell their own deviation better than to a quarter.
    """
    n = len(blocks)
    if n < 2:
        return 0.0
    off = blocks - blocks.mean()
    return student95(n - 1) * float(np.sqrt(np.add.reduce(off * off) / (n - 1) / n * more))


def warm_up(workload: Workload, iterations: int, steps: int) -> int:
    """Iterations of so many exchanges that go before those that count, if the workload has as many."""
    return max(0, min(-(-WARM_UP // steps), workload.iterations - iterations))


def exchange_s(run: Simulation, iterations: int | None = None) -> float:
    """Mean communication time of one exchange, over the first `iterations`."""
    return float(run.communication_s[:iterations].mean()) / run.exchanges
