"""A step with several exchanges as a whole: all sent in bulk, or each in a way of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, whole
from pready.model.common.arrays import Array
from pready.model.engine.evaluate import BLOCKS, Evaluation
from pready.model.engine.other_exchanges import Draws, Other, Placed, placed
from pready.model.engine.plan import Plan
from pready.model.engine.ranks.layout import Layout, of_a_step
from pready.model.engine.rows import Drawn, Saving, blocks_of, drawn_like, iterations_of, row, saving, warm_up
from pready.model.engine.simulate import means_of_steps, run_all, run_step
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

    def _others(self, approaches: Sequence[Approach]) -> list[Other]:
        exchanges = placed(self.machine, self.workload, rest=self.like.rest)
        return [Other(p, a) for p, a in zip(exchanges, approaches, strict=True)]

    def _run(self, approaches: Sequence[Approach], iterations: int, *, calm: bool = False) -> Simulation:
        like, sampler = self.like, Sampler(self.machine)
        draws = like.arrivals_of([0], iterations)
        step = [o.priced(sampler, draws, calm=calm) for o in self._others(approaches)]
        ((out,),) = run_all([(step, like.length(iterations))], like.all_cores)
        return together(out, whole(approaches)).after(like.first(iterations))

    def _drawn(self, approaches: Sequence[Approach], run: Simulation) -> Drawn:
        like, draws, times = self.like, self.like.drawn_rows, None
        means = np.array([float(run.communication_s.mean()), float(run.mean_s.mean())])
        if len(draws.rows) > 1:
            step = [o.priced(like.sampler, draws) for o in self._others(approaches)]
            (times,) = means_of_steps([(step, like.length(like.per_draw))], like.first(like.per_draw), like.all_cores)
        return drawn_like(means, times, blocks_of(run, BLOCKS), like.iterations)


def _begin(sampler: Sampler, workload: Workload, approaches: Sequence[Approach]) -> Array:
    """What beginning takes all exchanges of a step."""
    each = [begin(sampler, w, a) for w, a in zip(workload.parts, approaches, strict=True)]
    return np.asarray(sum(each), dtype=np.float64)


def plans(
    machine: Machine,
    workload: Workload,
    approaches: Sequence[Approach],
    seed: int,
    layouts: Sequence[Layout] | None = None,
    *,
    calm: bool = False,
) -> list[Plan]:
    """The plans of a step's exchanges, on all ranks unless `layouts` says less, parameters at their values."""
    sampler = Sampler(machine)
    return [
        Other(Placed(machine, w, of, i), a).priced(sampler, Draws((0,), (seed,)), calm=calm).plan
        for i, (w, of, a) in enumerate(zip(workload.parts, layouts or of_a_step(workload), approaches, strict=True))
    ]


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
    """Simulate a step as it is today, and with an approach for each exchange, as `compare` does of one exchange.

    Returns
    -------
    Rows of the step, and of each exchange. An interrupted run is the last of each; without a completed iteration it
    is left out.
    """
    supported_by.check(workload, "engine")
    barrier = machine.threads.barrier.at(workload.threads)
    first, sampler = warm_up(workload, iterations, 1), Sampler(machine)
    parts = workload.parts
    out: Compared = []
    by_exchange: list[Compared] = [[] for _ in parts]
    bulks: list[Simulation] = []
    alone = run_step(plans(machine, workload, [BULK] * len(parts), seed, calm=True), first + 1)
    alone = [s.after(min(first, s.iterations - 1)) for s in alone]
    base = [w.baseline for w in parts]
    ways = [base] + ([list(approaches)] if list(approaches) != base else [])
    for way in ways:
        name = whole(way)
        told = None if on_progress is None else partial(on_progress, name)
        quiet = run_step(plans(machine, workload, way, seed, calm=True), first + 1)
        made = plans(machine, workload, way, seed)
        run = run_step(made, first + iterations, cores=cores, record=record, on_progress=told)
        if run[0].iterations <= first or quiet[0].iterations <= first:
            break
        counted = [[s.after(first) for s in some] for some in (run, quiet)]
        runs, quiets = counted
        bulks = bulks or runs
        done = min(runs[0].iterations, bulks[0].iterations)
        for number, part_ in enumerate(parts):
            mine = (runs[number], quiets[number], bulks[number], alone[number])
            begins = begin(sampler, part_, way[number]), begin(sampler, part_, base[number])
            by_exchange[number].append((_row(*mine, part_, barrier, done, begins), runs[number]))
        of_all = (together(runs, name), together(quiets, name), together(bulks, whole(base)), together(alone, BULK))
        begins = _begin(sampler, workload, way), _begin(sampler, workload, base)
        out.append((_row(*of_all, workload, barrier, done, begins), of_all[0]))
        if run[0].interrupted:
            break
    return out, by_exchange


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
