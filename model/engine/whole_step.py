"""A step as a whole: all its exchanges as they are today, or each in a way of its own (``pready simulate``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, whole
from pready.model.common.arrays import Array
from pready.model.engine.evaluate import BLOCKS, Evaluation
from pready.model.engine.other_exchanges import placed
from pready.model.engine.plan import Draws, Placed, Plan, Priced
from pready.model.engine.ranks.layout import of_a_step
from pready.model.engine.ranks.pattern import exchanges
from pready.model.engine.rows import Drawn, Saving, blocks_of, drawn_like, iterations_of, row, saving, warm_up
from pready.model.engine.simulate import means_s, run_all, run_step
from pready.model.engine.simulation import Simulation, together
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload


@dataclass
class WholeStep:
    """A step's rows of a prediction, from the same ranks, iterations and draws as those of its exchanges."""

    machine: Machine
    workload: Workload
    seed: int
    like: Evaluation
    """One of its exchanges."""

    def predict(self, approaches: Sequence[Approach]) -> tuple[list[ApproachPrediction], Saving]:
        """All exchanges as they are today, and each in its own of `approaches`; and what the latter save."""
        base = [w.baseline for w in self.workload.parts]
        each = [base, list(approaches)] if list(approaches) != base else [base]
        like, barrier = self.like, self.machine.threads.barrier.at(self.workload.threads)
        runs = [self._run(a, like.iterations) for a in each]
        quiet = [self._run(a, 1, calm=True) for a in each]
        alone = self._run([BULK] * len(approaches), 1, calm=True)
        drawn = [self._drawn(a, r) for a, r in zip(each, runs, strict=True)]
        begins = [_begin(like.sampler, self.workload, a) for a in each]
        rows = [
            row(r, runs[0], q, alone, self.workload, barrier, d, drawn[0], (b, begins[0]))
            for r, q, d, b in zip(runs, quiet, drawn, begins, strict=True)
        ]
        return rows, saving(runs[-1], runs[0], self.workload, drawn[-1], drawn[0], (begins[-1], begins[0]))

    def _step(
        self, approaches: Sequence[Approach], sampler: Sampler, draws: Draws, *, calm: bool = False
    ) -> list[Priced]:
        each = zip(placed(self.machine, self.workload, rest=self.like.rest), approaches, strict=True)
        return [(p.calm if calm else p).sampled(a, sampler, draws) for p, a in each]

    def _run(self, approaches: Sequence[Approach], iterations: int, *, calm: bool = False) -> Simulation:
        like = self.like
        step = self._step(approaches, Sampler(self.machine), like.arrivals_of([0], iterations), calm=calm)
        ((out,),) = run_all([(step, like.length(iterations))], like.all_cores)
        return together(out, whole(approaches)).after(like.first(iterations))

    def _drawn(self, approaches: Sequence[Approach], run: Simulation) -> Drawn:
        like, draws, times = self.like, self.like.drawn_rows, None
        means = np.array([float(run.communication_s.mean()), float(run.mean_s.mean())])
        if len(draws.rows) > 1:
            job = self._step(approaches, like.sampler, draws), like.length(like.per_draw)
            (times,) = means_s([job], [like.first(like.per_draw)], like.all_cores)
        return drawn_like(means, times, blocks_of(run, BLOCKS), like.iterations)


def _begin(sampler: Sampler, workload: Workload, approaches: Sequence[Approach]) -> Array:
    """What beginning takes all exchanges of a step."""
    each = [begin(sampler, w, a) for w, a in zip(workload.parts, approaches, strict=True)]
    return np.asarray(sum(each), dtype=np.float64)


def plans(
    machine: Machine, workload: Workload, approaches: Sequence[Approach], seed: int, *, calm: bool = False
) -> list[Plan]:
    """The plans of a step's exchanges on all ranks, parameters at their values; `calm`: without spread of arrivals."""
    sampler, out = Sampler(machine), []
    for i, (w, of, a) in enumerate(zip(workload.parts, of_a_step(workload), approaches, strict=True)):
        exchange = Placed(machine, w, of, i)
        out.append((exchange.calm if calm else exchange).sampled(a, sampler, Draws((0,), (seed,))).plan)
    return out


Compared = list[tuple[ApproachPrediction, Simulation]]


def compare_step(
    machine: Machine,
    workload: Workload,
    approaches: Sequence[Approach],
    *,
    iterations: int,
    seed: int = 0,
    cores: int = 1,
    record: bool = False,
    on_progress: Callable[[Approach, float], None] | None = None,
) -> tuple[Compared, list[Compared]]:
    """Simulate a workload as it is today, and with an approach for each exchange, on all ranks and the same draws.

    Parameters
    ----------
    iterations
        Counted ones; as in a prediction, some go before them.
    record
        Keep the end of every rank and iteration with `approaches`.
    on_progress
        Called with the approach and the share that is done.

    Returns
    -------
    Rows of the step, the baseline first, and of each of several exchanges. `low` and `high` bound 95 % of the
    iterations' means. An interrupted run is the last of each; without a completed iteration it is left out.
    """
    supported_by.check(workload, "engine")
    parts, several, sampler = workload.parts, workload.exchanges is not None, Sampler(machine)
    barrier = machine.threads.barrier.at(workload.threads)
    first = warm_up(workload, iterations, exchanges(parts[0].pattern, parts[0].blocks))
    base, all_bulk = [w.baseline for w in parts], [BULK] * len(parts)

    def counted(way: Sequence[Approach], count: int, *, calm: bool = False, **how: Any) -> list[Simulation]:
        runs = run_step(plans(machine, workload, way, seed, calm=calm), first + count, cores=cores, **how)
        return [s.after(first) for s in runs] if runs[0].iterations > first else []

    rows: Compared = []
    by_exchange: list[Compared] = [[] for _ in parts]
    bulk: list[Simulation] = []
    alone = counted(all_bulk, 1, calm=True)
    for way in [base] if list(approaches) == base else [base, list(approaches)]:
        name = whole(way)
        told = None if on_progress is None else partial(on_progress, name)
        quiet = alone if way == all_bulk else counted(way, 1, calm=True)
        runs = counted(way, iterations, record=record and way == list(approaches), on_progress=told)
        if not (alone and quiet and runs):
            break
        bulk = bulk or runs
        done = min(runs[0].iterations, bulk[0].iterations)
        for number, part in enumerate(parts):
            mine = runs[number], quiet[number], bulk[number], alone[number]
            begins = begin(sampler, part, way[number]), begin(sampler, part, base[number])
            by_exchange[number].append((_row(*mine, part, barrier, done, begins), runs[number]))
        if several:
            whole_bulk = together(bulk, whole(base)), together(alone, BULK)
            of_all = (together(runs, name), together(quiet, name), *whole_bulk)
            begins = _begin(sampler, workload, way), _begin(sampler, workload, base)
            rows.append((_row(*of_all, workload, barrier, done, begins), of_all[0]))
        if runs[0].interrupted:
            break
    return (rows, by_exchange) if several else (by_exchange[0], [])


def _row(
    run: Simulation,
    quiet: Simulation,
    bulk: Simulation,
    alone: Simulation,
    workload: Workload,
    barrier: float,
    done: int,
    begins: tuple[Array, Array],
) -> ApproachPrediction:
    samples = [iterations_of(s, done) for s in (run, bulk)]
    return row(run, bulk, quiet, alone, workload, barrier, samples[0], samples[1], begins)
