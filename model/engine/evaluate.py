"""Approaches side by side on the same draws, on the ranks that stand for a workload's (``pready predict``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, whole
from pready.model.common.arrays import Array, Replaced
from pready.model.common.parallel import all_cores
from pready.model.engine import _kernel
from pready.model.engine.drawn import DrawnStep
from pready.model.engine.layout import Layout, check_memory_of, of_a_step, part
from pready.model.engine.plan import Compiler, Plan, costs_of, table_of
from pready.model.engine.rows import WARM_UP, exchange_s, row, warm_up
from pready.model.engine.simulation import LATE, Alone, Job, Simulation, alone, means_s, run_all, run_step, together
from pready.model.equations import metrics
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.timeline.costs import Costs
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.workload import draws, supported_by
from pready.model.workload.draws import deterministic, exchange_seed
from pready.model.workload.workload import Workload

SAMPLES = 16
"""Exchanges from rest per size, where many sizes are looked at."""
NOMINAL, NOMINAL_ALONE = 128, 64
"""Exchanges (ranks × iterations × those of a step, of sweeps also × octants × blocks) that are simulated at the
parameters' values: 4 iterations of 3 × 3 × 3 ranks; and exchanges from rest."""
MOST_MESSAGES = 120_000
"""Of `NOMINAL` exchanges. Above it, fewer are simulated."""


def compilers(machine: Machine, step: Workload, layouts: Sequence[Layout | None]) -> list[Compiler]:
    """The exchanges of a step on their ranks; without a layout, from rest."""
    return [Compiler(machine, w, of, i) for i, (w, of) in enumerate(zip(step.parts, layouts, strict=True))]


def on_part(machine: Machine, step: Workload, *, rest: bool) -> list[Compiler]:
    """The exchanges of a step on the ranks that stand for its own; `rest`: each from rest."""
    return compilers(machine, step, [None] * len(step.parts) if rest else of_a_step(step, some=True))


@dataclass
class Evaluation:
    """All that approaches share for one machine and workload; simulations are made on request.

    Pairs are simulated as exchanges from rest, other patterns as ranks that go on from iteration to iteration, because
    a late neighbour delays its own neighbours an iteration later. These ranks are `layout.part`. Axes of halos are cut
    to 3 ranks: of the shipped halo3d example, 50 iterations give η = 8.30 on 3 × 3 × 3 ranks, 8.10 on 4 × 4 × 4 (2 %
    between seeds), 7.90 on 8 × 8 × 8 (1 %), 7.77 on 16 × 16 × 16 (0.6 %), and an iteration -10.0 % on each; the
    parameters' interval is 7.5-8.9. Axes of sweeps are cut to 8: with 4 blocks and 1 MiB, η is 1.35 on 8 × 8 ranks,
    1.30 on 16 × 8 and 1.31 on 16 × 16, iterations -17, -16 and -18 %.
    """

    machine: Machine
    workload: Workload
    seed: int = 0
    draws: int | None = None
    """Of drawn machines; absent: as many as `DrawnStep` has."""
    alone: bool | None = None
    """Exchanges from rest, of ranks in step; absent: of pairs."""
    cores: int | None = None
    """Absent: all that this process may use."""
    step: Workload | None = None
    """Of several exchanges, of which `workload` is one; all others are sent as they are today. Times of an iteration
    are the step's."""
    number: int = 0
    """Of `workload` among them."""
    samples: int = NOMINAL_ALONE
    """Exchanges from rest with the parameters at their values."""

    def __post_init__(self) -> None:
        self.rest = self.workload.pattern == "pt2pt" if self.alone is None else self.alone
        supported_by.check(self.workload, "timeline" if self.rest else "engine")
        cut = None
        if not self.rest:
            cut = part(self.workload) if self.step is None else of_a_step(self.step, some=True)[self.number]
            # This exchange's sizes may be others than the step's.
            cut = replace(cut, sizes=self.workload.sizes, neighbour_sizes=self.workload.neighbour_sizes)
        self._compiler = Compiler(self.machine, self.workload, cut, self.number)
        self._pattern = self._compiler.pattern()
        step = [] if self.step is None else on_part(self.machine, self.step, rest=self.rest)
        self._others = [c for c in step if c.number != self.number]
        """The other exchanges of the step, as they are today."""
        self.sampler = Sampler(self.machine)
        """Of the machine's values."""
        self.all_cores = self.cores or all_cores()
        """That simulations may use."""
        self._costs: dict[tuple[float, bool], Costs] = {}
        self._plans: dict[Approach, Plan] = {}
        self._plans_of_others: dict[object, list[Plan]] = {}
        self._nominal: dict[Approach, Simulation] = {}
        self._quiet: dict[Approach, Simulation] = {}
        self._over: dict[tuple[Approach, float, int], tuple[float, float]] = {}
        self._alone: dict[Approach, list[Alone]] = {}

    # What it is of.

    @cached_property
    def drawn(self) -> DrawnStep:
        """The step on drawn machines."""
        whole = self.workload if self.step is None else self.step
        own = None if self.step is None else (self.number, self.workload)
        return drawn_step(self.machine, whole, self.seed, self.all_cores, self.draws, rest=self.rest, own=own)

    def way(self, approach: Approach) -> tuple[Approach, ...]:
        """The step with this exchange in an approach, and the others as they are today."""
        if self.step is None:
            return (approach,)
        return tuple(approach if i == self.number else w.baseline for i, w in enumerate(self.step.parts))

    def on(self, machine: Machine) -> Evaluation:
        """The same on another machine."""
        return replace(self, machine=machine)

    def at_buffer(self, size: float) -> Evaluation:
        """The same with another buffer, in bytes per peer."""
        return replace(self, workload=self.workload.at_buffer(size))

    @property
    def grid(self) -> tuple[int, int, int]:
        """Ranks along x, y, z."""
        return self._pattern.grid

    @property
    def delay(self) -> float:
        """Mean time from a rank's first ready partition to its last."""
        run = self.nominal(self.workload.baseline)
        return float(run.spread_s.mean()) / run.exchanges

    @property
    def bandwidth(self) -> float:
        """β of the closed forms: what one large message reaches on the workload's path, in B/s."""
        return 1 / self.machine.path(self.workload.path).segments[-1].G.value

    def message_sizes(self, approach: Approach) -> list[float]:
        """Bytes of the approach's messages, by kind."""
        return [*self._compiler.messages(approach).sizes]

    def costs(self, approach: Approach) -> Costs:
        """Costs of the approach's messages, parameters at their values."""
        return self._value(approach.message_size(self.workload.buffer), False)

    def check_memory(self, approaches: int) -> None:
        """Refuse to compare so many if memory has no room for them, naming the fields."""
        check_memory_of(self.workload, self._pattern, approaches, self.all_cores)

    # How long is simulated.

    @property
    def _alike(self) -> bool:
        """Do all iterations look the same?"""
        return all(deterministic(w) for w in (self.workload, *(c.workload for c in self._others)))

    @property
    def iterations(self) -> int:
        """Iterations, or exchanges from rest, that are simulated."""
        if self.rest:
            return 1 if self._alike else self.samples
        return self._iterations

    @cached_property
    def _messages(self) -> int:
        """Of one exchange, and of the others of its step, all ranks, a message per user partition."""
        others = sum(c.pattern().edges * c.workload.n_partitions for c in self._others)
        return self._pattern.edges * self.workload.n_partitions + others

    @property
    def _steps(self) -> int:
        return 1 if self.rest else self._pattern.exchanges(self.workload.blocks)

    @cached_property
    def _iterations(self) -> int:
        wanted = NOMINAL // (self._pattern.ranks * self._steps * (1 + len(self._others)))
        affordable = MOST_MESSAGES // (self._messages * self._steps) - WARM_UP
        return max(1, min(wanted, affordable, self.workload.iterations))

    def length(self, iterations: int) -> int:
        """Of a simulation of so many iterations; exchanges from rest go side by side."""
        return 1 if self.rest else self.first(iterations) + iterations

    def first(self, iterations: int) -> int:
        """Iterations that go before so many."""
        return 0 if self.rest else warm_up(self.workload, iterations)

    def side_by_side(self, iterations: int) -> int:
        """Exchanges in one simulation of so many iterations."""
        return iterations if self.rest else 1

    def _value(self, size: float, inside: bool) -> Costs:
        """Costs at the parameters' values."""
        if (size, inside) not in self._costs:
            self._costs[size, inside] = costs_of(self.sampler, self.workload)(size, inside)
        return self._costs[size, inside]

    def _plan(self, approach: Approach, iterations: int, **replaced: Replaced) -> Plan:
        """The approach for so many iterations, or with some costs replaced."""
        count = self.side_by_side(iterations)
        if replaced:

            def of(size: float, inside: bool) -> Costs:
                return replace(self._value(size, inside), **replaced)

            return self._compiler.plan(approach, of, self.seed, exchanges=count)
        made = self._plans.get(approach)
        if made is None or made.pattern.alone not in (0, count):
            if self.rest:
                made = self._compiler.plan(approach, self._value, self.seed, exchanges=count)
            else:
                made = self._compiler.at_values(approach, self._value, self.seed)
            self._plans[approach] = made
        return made

    def _step(self, own: Plan, iterations: int, *, calm: bool = False) -> Job:
        """A plan with those of the step's other exchanges, as they are today."""
        if not self._others:
            return [own], self.length(iterations)
        key = iterations if self.rest else 0, calm
        if key not in self._plans_of_others:
            count = self.side_by_side(iterations)
            self._plans_of_others[key] = [
                (c.calm if calm else c).sampled(c.workload.baseline, self.sampler, self.seed, exchanges=count)
                for c in self._others
            ]
        made = self._plans_of_others[key]
        return [*made[: self.number], own, *made[self.number :]], self.length(iterations)

    def _simulate(self, made: Sequence[Plan], iterations: int, *, calm: bool = False) -> list[Simulation]:
        """Each plan for so many iterations, without those that go before."""
        jobs = [self._step(p, iterations, calm=calm) for p in made]
        out = run_all(jobs, self.all_cores, self.number)
        return [rows[0][0].after(self.first(iterations)) for rows in out]

    def _means(self, jobs: Sequence[Job], iterations: int) -> list[Array]:
        """`means_s` of this exchange."""
        return means_s(jobs, [self.first(iterations)] * len(jobs), self.all_cores, self.number)

    def prepare(self, approaches: Iterable[Approach]) -> None:
        """Simulate, all at once, what is not yet simulated of these approaches at the parameters' values."""
        wanted = [a for a in dict.fromkeys(approaches) if a not in self._nominal]
        if wanted:
            made = [self._plan(a, self.iterations) for a in wanted]
            self._nominal.update(zip(wanted, self._simulate(made, self.iterations), strict=True))

    def _prepare_quiet(self, approaches: Iterable[Approach]) -> None:
        wanted = [a for a in dict.fromkeys(approaches) if a not in self._quiet]
        if wanted:
            calm, plans = self._compiler.calm, [self._plan(a, 1) for a in wanted]
            made = [replace(p, workload=calm.workload, arrivals=calm.arrivals(self.seed)) for p in plans]
            self._quiet.update(zip(wanted, self._simulate(made, 1, calm=True), strict=True))

    def nominal(self, approach: Approach) -> Simulation:
        """The approach with the parameters at their values, made once."""
        self.prepare([approach])
        return self._nominal[approach]

    def quiet(self, approach: Approach) -> Simulation:
        """The same without spread of arrivals, made once."""
        self._prepare_quiet([approach])
        return self._quiet[approach]

    def mean_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Mean communication time, optionally with some costs replaced."""
        if not replaced:
            return exchange_s(self.nominal(approach))
        made = self._plan(approach, self.iterations, **replaced)
        return exchange_s(self._simulate([made], self.iterations)[0])

    def late(self, approach: Approach) -> float:
        """Seconds of the mean communication time that a rank waits for late neighbours."""
        out = self.nominal(approach)
        return 0.0 if self.rest else float(out.causes_s[LATE].mean()) / out.exchanges

    def predict_all(self, approaches: Sequence[Approach]) -> list[ApproachPrediction]:
        """`predict` of each, all simulated at once."""
        base = self.workload.baseline
        self.prepare([base, *approaches])
        self._prepare_quiet([BULK, *approaches])
        return [self.predict(a) for a in approaches]

    def predict(self, approach: Approach) -> ApproachPrediction:
        """Time, η and metrics of one approach with the machine at its values, without intervals."""
        base = self.workload.baseline
        return row(
            self.nominal(approach),
            self.nominal(base),
            self.quiet(approach),
            self.quiet(BULK),
            self.workload,
            self.machine.threads.barrier.at(self.workload.threads),
            (self.begin_s(approach), self.begin_s(base)),
        )

    def begin_s(self, approach: Approach) -> float:
        """What beginning takes."""
        return float(begin(self.sampler, self.workload, approach))

    def gain_over_sizes(self, approach: Approach, sizes: Sequence[float], samples: int = SAMPLES) -> Array:
        """η of one approach for several buffer sizes, shape (len(sizes),), parameters at their values.

        Sizes are bytes per peer and need not be whole numbers of partitions; edges and corners that have
        sizes of their own keep them. From rest, each is the mean of so many exchanges.
        """
        return metrics.eta(*self._over_sizes(approach, sizes, samples)[0])

    def saved_over_sizes(self, approach: Approach, sizes: Sequence[float]) -> Array:
        """The same of the saving, in percent of an iteration with its share of the set-up."""
        return np.asarray(metrics.speedup_percent(*self._over_sizes(approach, sizes, SAMPLES)[1]))

    def _over_sizes(self, approach: Approach, sizes: Sequence[float], samples: int) -> Array:
        """Mean times of an exchange's communication and of an iteration: shape (2, baseline and approach, sizes)."""
        wanted = [(a, float(s), samples) for a in (self.workload.baseline, approach) for s in sizes]
        self._prepare_sizes([w[:2] for w in dict.fromkeys(wanted) if w not in self._over], samples)
        return np.array([self._over[w] for w in wanted]).T.reshape(2, 2, len(sizes))

    def _prepare_sizes(self, wanted: Sequence[tuple[Approach, float]], samples: int) -> None:
        """Simulate approaches at buffer sizes."""
        sampler = self.sampler
        iterations = (1 if self._alike else samples) if self.rest else self._iterations
        alike: dict[tuple[Approach, object], list[tuple[float, Compiler, list[Costs]]]] = {}
        for approach, size in wanted:
            there = self.workload.at_buffer(size)
            layout = self._compiler.layout
            if layout is not None:
                layout = replace(layout, sizes=there.sizes, neighbour_sizes=there.neighbour_sizes)
            here, of = Compiler(self.machine, there, layout, self.number), costs_of(sampler, there)
            sent = here.messages(approach)
            kinds = zip(sent.sizes, sent.pattern.kinds, strict=True)
            by_class = [of(bytes_, kind.inside) for bytes_, kind in kinds]
            # One plan on several machines, as long as protocols and arrivals are the same.
            rate = getattr(there.arrivals, "delay_rate", None)
            key = (*(c.protocol(approach.interface) for c in by_class), there.thread_time, rate and size)
            alike.setdefault((approach, key), []).append((size, here, by_class))
        jobs = []
        for (approach, _), some in alike.items():
            _, here, first = some[0]
            rows = [Costs.stack([c[k] for *_, c in some]) for k in range(len(first))]
            sent = here.messages(approach, self.side_by_side(iterations))
            made = here.compiled(approach, sent, rows, self.seed, len(some))
            plans, length = self._step(made, iterations)
            # The others of the step are the same on all machines.
            jobs.append(([p if p is made else p.repeated(len(some)) for p in plans], length))
        for (approach, _), some, times in zip(alike, alike.values(), self._means(jobs, iterations), strict=True):
            for (size, *_), (exchange, iteration, *_) in zip(some, times.tolist(), strict=True):
                once = float(begin(sampler, self.workload.model_copy(update={"buffer": size}), approach))
                self._over[approach, size, samples] = exchange, iteration + once / self.workload.iterations

    # Exchanges from rest, one by one.

    @cached_property
    def ready(self) -> Array:
        """When the sender's partitions are ready, shape (1 + iterations, N_part); row 0 has no spread."""
        drawn = draws.draw(self.workload, self.iterations, exchange_seed(self.seed, self.number), rank=0)
        return np.concatenate([np.full((1, drawn.shape[1]), self.workload.thread_time), drawn])

    def exchange(self, approach: Approach, row: int) -> Alone:
        """The exchange from rest with the arrivals of this row of `ready`, message by message."""
        if approach not in self._alone:
            own = self._plan(approach, self.iterations)
            calm = replace(self._plan(approach, 1), arrivals=self._compiler.calm.arrivals(self.seed))
            self._alone[approach] = [*alone(calm), *alone(own)]
        return self._alone[approach][row]

    def steps(
        self, approach: Approach, times: Sequence[Sequence[float]], receiver_join: float | None = None
    ) -> list[Alone]:
        """Exchanges from rest with given ready times, message by message.

        Parameters
        ----------
        times
            Of each, when the sender's partitions are ready, seconds after the start of the iteration.
        receiver_join
            When the receiver enters MPI, likewise. Absent: it waits there.
        """
        here = "waiting" if receiver_join is None else "computing"
        compiler = replace(self._compiler, workload=self.workload.model_copy(update={"receiver": here}))
        made = compiler.plan(approach, self._value, self.seed, exchanges=len(times))
        barrier = float(made.team[0, _kernel.TEAM_FIELDS.index("barrier")])
        theirs = [0.0 if receiver_join is None else receiver_join - barrier] * self.workload.n_partitions
        return alone(replace(made, arrivals=table_of(self.workload, [*times, theirs])))

    def each(self, approach: Approach, **replaced: Replaced) -> Array:
        """Communication time of every exchange from rest, shape (iterations,), the machine at its values."""
        ends = run_step([self._plan(approach, self.iterations, **replaced)], 1, record=True)[0].ends_s
        assert ends is not None
        return np.asarray(ends[0] - self.ready[1:].max(axis=1))


def gain_over_sizes(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    sizes: Sequence[float],
    seed: int = 0,
    samples: int = SAMPLES,
) -> Array:
    """η of one approach for several buffer sizes at once, of exchanges from rest; see `Evaluation.gain_over_sizes`."""
    return Evaluation(machine, workload, seed, alone=True).gain_over_sizes(approach, sizes, samples)


def drawn_step(
    machine: Machine,
    step: Workload,
    seed: int,
    cores: int,
    draws: int | None = None,
    *,
    rest: bool,
    own: tuple[int, Workload] | None = None,
) -> DrawnStep:
    """A step, or one exchange, on drawn machines, on the ranks that stand for its own.

    `own`: the number of one exchange, and what it is instead, of other sizes.
    """
    parts, layouts = [*step.parts], list[Layout | None]()
    layouts += [None] * len(parts) if rest else of_a_step(step, some=True)
    if own is not None:
        number, part_ = own
        parts[number], cut = part_, layouts[number]
        if cut is not None:
            layouts[number] = replace(cut, sizes=part_.sizes, neighbour_sizes=part_.neighbour_sizes)
    return DrawnStep(machine, parts, layouts, seed, cores, draws)


@dataclass
class WholeStep:
    """A step's rows of a prediction, from the same ranks and iterations as those of its exchanges."""

    machine: Machine
    workload: Workload
    seed: int
    like: Evaluation
    """One of its exchanges."""

    def predict(self, each: Sequence[Sequence[Approach]]) -> list[ApproachPrediction]:
        """A row for each way to send the step, an approach for each exchange; the first is as it is sent today."""
        like, barrier = self.like, self.machine.threads.barrier.at(self.workload.threads)
        runs = [self._run(a, like.iterations) for a in each]
        quiet = [self._run(a, 1, calm=True) for a in each]
        alone = self._run([BULK] * len(each[0]), 1, calm=True)
        begins = [_begin(like.sampler, self.workload, a) for a in each]
        return [
            row(r, runs[0], q, alone, self.workload, barrier, (b, begins[0]))
            for r, q, b in zip(runs, quiet, begins, strict=True)
        ]

    def _run(self, approaches: Sequence[Approach], iterations: int, *, calm: bool = False) -> Simulation:
        like, each = self.like, zip(on_part(self.machine, self.workload, rest=self.like.rest), approaches, strict=True)
        count = like.side_by_side(iterations)
        made = [(c.calm if calm else c).sampled(a, like.sampler, self.seed, exchanges=count) for c, a in each]
        ((out,),) = run_all([(made, like.length(iterations))], like.all_cores)
        return together(out, whole(approaches)).after(like.first(iterations))


def _begin(sampler: Sampler, workload: Workload, approaches: Sequence[Approach]) -> float:
    """What beginning takes all exchanges of a step."""
    return sum(float(begin(sampler, w, a)) for w, a in zip(workload.parts, approaches, strict=True))


def plans(
    machine: Machine, workload: Workload, approaches: Sequence[Approach], seed: int, *, calm: bool = False
) -> list[Plan]:
    """The plans of a step's exchanges on all ranks, parameters at their values; `calm`: without spread of arrivals."""
    sampler, each = Sampler(machine), zip(compilers(machine, workload, of_a_step(workload)), approaches, strict=True)
    return [(c.calm if calm else c).sampled(a, sampler, seed) for c, a in each]


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
    first = warm_up(workload, iterations)
    base, all_bulk = [w.baseline for w in parts], [BULK] * len(parts)
    for of, one in zip(of_a_step(workload), parts, strict=True):
        check_memory_of(one, of.pattern(one), 2, 0)  # `run_step` asks the kernel

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
        for number, one in enumerate(parts):
            mine = runs[number], quiet[number], bulk[number], alone[number]
            begins = float(begin(sampler, one, way[number])), float(begin(sampler, one, base[number]))
            by_exchange[number].append((_row(*mine, one, barrier, done, begins), runs[number]))
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
    begins: tuple[float, float],
) -> ApproachPrediction:
    made = row(run, bulk, quiet, alone, workload, barrier, begins)
    time, time_bulk = (s.communication_s[:done] / s.exchanges for s in (run, bulk))
    whole, whole_bulk = (
        s.iteration_s[:done] + b / workload.iterations for s, b in zip((run, bulk), begins, strict=True)
    )
    return made.with_draws(time, metrics.eta(time_bulk, time), metrics.speedup_percent(whole_bulk, whole))
