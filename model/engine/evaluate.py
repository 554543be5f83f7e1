"""Approaches side by side on the same draws, on the ranks that stand for a workload's (``pready predict``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, Interface, whole
from pready.model.common.arrays import Array, Replaced
from pready.model.common.parallel import all_cores, both
from pready.model.engine import _kernel
from pready.model.engine.layout import Layout, of_a_step, part
from pready.model.engine.memory_needed import check_memory_of
from pready.model.engine.pattern import exchanges
from pready.model.engine.plan import Compiler, Plan, costs_of, table_of
from pready.model.engine.rows import (
    WARM_UP,
    Drawn,
    Saving,
    blocks_of,
    drawn_like,
    exchange_s,
    iterations_of,
    row,
    saving,
    warm_up,
)
from pready.model.engine.simulation import LATE, Alone, Job, Simulation, alone, means_s, run_all, run_step, together
from pready.model.equations import metrics
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import Stands, fastest, simplest
from pready.model.timeline.costs import Costs
from pready.model.timeline.rules import Setting
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.workload import draws, supported_by
from pready.model.workload.draws import deterministic, exchange_seed
from pready.model.workload.workload import Workload

RACED = 6
"""Draws for approaches that have lost."""
BLOCKS = 10
"""Blocks of the simulated iterations: from how their means differ comes what the arrivals leave uncertain."""
SAMPLES = 16
"""Exchanges from rest per size, where many sizes are looked at."""
DRAWS, FEW_DRAWS = 20, 10
"""Draws of the machine's parameters; few where an iteration has more than `MANY_MESSAGES`."""
MANY_MESSAGES = 30_000
NOMINAL, PER_DRAW = 3200, 256
"""Exchanges (ranks × iterations, of sweeps also × octants × blocks) that are simulated at the parameters'
values, and with each draw of them: 50 and 4 iterations of 4 × 4 × 4 ranks."""
DRAWN_OF_A_STEP = 8
"""Most iterations with each draw, of a step of several exchanges, all of which are simulated. Arrivals are the same in
all draws, and what they leave open is added."""
NOMINAL_ALONE, DRAWS_ALONE, PER_DRAW_ALONE = 160, 20, 16
"""The same of exchanges from rest."""
MOST_MESSAGES = 1_200_000
"""Of `NOMINAL` exchanges. Above it, fewer are simulated."""


def compilers(machine: Machine, step: Workload, layouts: Sequence[Layout | None]) -> list[Compiler]:
    """The exchanges of a step on their ranks; without a layout, from rest."""
    return [Compiler(machine, w, of, i) for i, (w, of) in enumerate(zip(step.parts, layouts, strict=True))]


def on_part(machine: Machine, step: Workload, *, rest: bool) -> list[Compiler]:
    """The exchanges of a step on the ranks that stand for its own; `rest`: each from rest."""
    return compilers(machine, step, [None] * len(step.parts) if rest else of_a_step(step, part))


@dataclass
class Evaluation:
    """All that approaches share for one machine and workload; simulations are made on request.

    Pairs are simulated as exchanges from rest, other patterns as ranks that go on from iteration to iteration, because
    a late neighbour delays its own neighbours an iteration later. These ranks are `layout.part`. Axes of halos are cut
    to 4 ranks: of the shipped halo3d example, 50 iterations give η = 8.10 on 4 × 4 × 4 ranks (2 % between seeds), 7.90
    on 8 × 8 × 8 (1 %), 7.77 on 16 × 16 × 16 (0.6 %), 8.30 on 3 × 3 × 3, and an iteration -10.0 % on each; the
    parameters' interval is 7.5-8.9. Axes of sweeps are cut to 8: with 4 blocks and 1 MiB, η is 1.35 on 8 × 8 ranks,
    1.30 on 16 × 8 and 1.31 on 16 × 16, iterations -17, -16 and -18 %.

    `predict_all` races: all approaches are simulated with the parameters at their values, for as many iterations. Bulk
    and the best of each interface then have all `draws`, the others the first `RACED` of them, from which their wider
    intervals are. What is advised, or shown as the best of an
    interface, is thus what it is without a race, and so are its interval and every row's values.
    """

    machine: Machine
    workload: Workload
    seed: int = 0
    draws: int | None = None
    """Of the machine's parameters; absent: `DRAWS` or `FEW_DRAWS`, from rest `DRAWS_ALONE`."""
    alone: bool | None = None
    """Exchanges from rest, of ranks in step; absent: of pairs."""
    race: bool = True
    """Few draws for approaches that have lost."""
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
            cut = part(self.workload) if self.step is None else of_a_step(self.step, part)[self.number]
            # This exchange's sizes may be others than the step's.
            cut = replace(cut, sizes=self.workload.sizes, neighbour_sizes=self.workload.neighbour_sizes)
        self._compiler = Compiler(self.machine, self.workload, cut, self.number)
        self._pattern = self._compiler.pattern()
        step = [] if self.step is None else on_part(self.machine, self.step, rest=self.rest)
        self._others = [c for c in step if c.number != self.number]
        """The other exchanges of the step, as they are today."""
        some = DRAWS if self._messages * self._steps <= MANY_MESSAGES else FEW_DRAWS
        self.draws_made = (DRAWS_ALONE if self.rest else some) if self.draws is None else self.draws
        """Of the machine's parameters, for rows that lead."""
        self.sampler = Sampler(self.machine, self.draws_made, 1, self.seed, lead=1)
        """Of these draws: row 0 has the machine's values."""
        self.all_cores = self.cores or all_cores()
        """That simulations may use."""
        self._costs: dict[tuple[float, bool], Costs] = {}
        self._values: dict[tuple[float, bool], Costs] = {}
        self._plans: dict[Approach, Plan] = {}
        self._plans_at_values: dict[Approach, Plan] = {}
        self._plans_of_others: dict[object, list[Plan]] = {}
        self._begins: dict[Approach, Array] = {}
        self._nominal: dict[Approach, Simulation] = {}
        self._quiet: dict[Approach, Simulation] = {}
        self._drawn: dict[Approach, Array] = {}
        self._blocks: dict[Approach, Array] = {}
        self._over: dict[tuple[Approach, float, int], tuple[float, float]] = {}
        self._alone: dict[Approach, list[Alone]] = {}

    # What it is of.

    def with_draws(self, draws: int) -> Evaluation:
        """The same with so many draws of the machine, the first of them the same; its simulations are kept."""
        other = replace(self, draws=draws)
        other._nominal, other._quiet, other._blocks = self._nominal, self._quiet, self._blocks
        other._drawn = {a: rows[: 1 + draws] for a, rows in self._drawn.items()}
        other._compiler = self._compiler
        return other

    def on(self, machine: Machine) -> Evaluation:
        """The same on another machine."""
        return replace(self, machine=machine)

    def at_buffer(self, size: float, *, drawn: bool = True) -> Evaluation:
        """The same with another buffer, in bytes per peer; `drawn`: with draws of the machine, if this has any."""
        return replace(self, workload=self.workload.at_buffer(size), draws=self.draws if drawn else 0)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Ranks along x, y, z."""
        return self._pattern.grid

    @property
    def setting(self) -> Setting:
        """What an exchange depends on besides times and costs."""
        return self._compiler.setting

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
        return self._value(approach.message_size(self.workload.buffer), inside=False)

    def check_memory(self, approaches: int) -> None:
        """Refuse to compare so many if memory has no room for them, naming the fields."""
        check_memory_of(self.workload, self._pattern, approaches, self.all_cores)

    # How long is simulated.

    @property
    def _alike(self) -> bool:
        """Do all iterations look the same?"""
        return all(deterministic(w) for w in (self.workload, *(c.workload for c in self._others)))

    @property
    def per_draw(self) -> int:
        """Iterations, or exchanges from rest, with each draw of the parameters."""
        if self.rest:
            return 1 if self._alike else PER_DRAW_ALONE
        return self._iterations(PER_DRAW)

    @property
    def drawn_iterations(self) -> int:
        """The same of an exchange of a step."""
        several = self.step is not None and len(self.step.parts) > 1 and not self.rest
        return min(self.per_draw, DRAWN_OF_A_STEP) if several else self.per_draw

    @property
    def iterations(self) -> int:
        """The same at the parameters' values."""
        if self.rest:
            return 1 if self._alike else self.samples
        return self.per_draw if self._alike else self._iterations(NOMINAL)

    @property
    def studied(self) -> int:
        """The same where inputs are moved."""
        return self.iterations if self.rest else self.per_draw

    @property
    def messages_of_a_draw(self) -> int:
        """That are simulated with each draw, for baseline and approach."""
        return 2 * self._messages * self._steps * self.length(self.drawn_iterations)

    @cached_property
    def _messages(self) -> int:
        """Of one exchange, and of the others of its step, all ranks, a message per user partition."""
        others = sum(c.pattern().edges * c.workload.n_partitions for c in self._others)
        return self._pattern.edges * self.workload.n_partitions + others

    @property
    def _steps(self) -> int:
        return 1 if self.rest else self._pattern.exchanges(self.workload.blocks)

    def _iterations(self, exchanges: int) -> int:
        messages = self._messages * self._steps
        wanted = exchanges // (self._pattern.ranks * self._steps)
        affordable = MOST_MESSAGES * exchanges // NOMINAL // messages - -(-WARM_UP // self._steps)
        return max(1, min(wanted, affordable, self.workload.iterations))

    def length(self, iterations: int) -> int:
        """Of a simulation of so many iterations; exchanges from rest go side by side."""
        return 1 if self.rest else self.first(iterations) + iterations

    def first(self, iterations: int) -> int:
        """Iterations that go before so many."""
        return 0 if self.rest else warm_up(self.workload, iterations, self._steps)

    def side_by_side(self, iterations: int) -> int:
        """Exchanges in one simulation of so many iterations."""
        return iterations if self.rest else 1

    # Plans.

    def _value(self, size: float, inside: bool) -> Costs:
        """Costs at the parameters' values."""
        if (size, inside) not in self._values:
            self._values[size, inside] = self._drawn_costs(size, inside).row(0)
        return self._values[size, inside]

    def _drawn_costs(self, size: float, inside: bool) -> Costs:
        """Costs at the parameters' values, then with each draw."""
        if (size, inside) not in self._costs:
            self._costs[size, inside] = costs_of(self.sampler, self.workload)(size, inside)
        return self._costs[size, inside]

    def _at_values(self, approach: Approach, iterations: int, **replaced: Replaced) -> Plan:
        """The approach with the parameters at their values, for so many iterations, or some costs replaced."""
        count = self.side_by_side(iterations)
        if replaced:
            of = lambda *kind: replace(self._value(*kind), **replaced)  # noqa: E731
            return self._compiler.plan(approach, of, self.seed, exchanges=count)
        made = self._plans_at_values.get(approach)
        if made is None or made.pattern.alone not in (0, count):
            if approach in self._plans and self._plans[approach].pattern.alone in (0, count):
                made = self._plans[approach].rows(range(1))
            elif self.rest:
                made = self._compiler.plan(approach, self._value, self.seed, exchanges=count)
            else:
                made = self._compiler.at_values(approach, self._value, self.seed)
            self._plans_at_values[approach] = made
        return made

    def _at_draws(self, approach: Approach, rows: range) -> Plan:
        """The approach with each of these draws of the parameters; 0: at their values."""
        if approach not in self._plans:
            count, exchanges = self.draws_made + 1, self.side_by_side(self.per_draw)
            self._plans[approach] = self._compiler.plan(approach, self._drawn_costs, self.seed, count, exchanges)
        return self._plans[approach].rows(rows)

    def _step(self, own: Plan, iterations: int, sampler: Sampler | None, rows: range, *, calm: bool = False) -> Job:
        """A plan with those of the step's other exchanges, as they are today."""
        if not self._others:
            return [own], self.length(iterations)
        key = sampler is None, rows, iterations if self.rest else 0, calm
        if key not in self._plans_of_others:
            values, count = sampler or Sampler(self.machine), self.side_by_side(iterations)
            self._plans_of_others[key] = [
                (c.calm if calm else c).sampled(c.workload.baseline, values, self.seed, rows, count)
                for c in self._others
            ]
        made = self._plans_of_others[key]
        return [*made[: self.number], own, *made[self.number :]], self.length(iterations)

    # Simulations.

    def _simulate(self, made: Sequence[Plan], iterations: int, *, calm: bool = False) -> list[Simulation]:
        """Each plan for so many iterations, without those that go before."""
        jobs = [self._step(p, iterations, None, range(1), calm=calm) for p in made]
        out = run_all(jobs, self.all_cores, self.number)
        return [rows[0][0].after(self.first(iterations)) for rows in out]

    def _means(self, jobs: Sequence[Job], iterations: int) -> list[Array]:
        """`means_s` of this exchange."""
        return means_s(jobs, [self.first(iterations)] * len(jobs), self.all_cores, self.number)

    def prepare(self, approaches: Iterable[Approach]) -> None:
        """Simulate, all at once, what is not yet simulated of these approaches at the parameters' values."""
        wanted = [a for a in dict.fromkeys(approaches) if a not in self._nominal]
        if wanted:
            made = [self._at_values(a, self.iterations) for a in wanted]
            self._nominal.update(zip(wanted, self._simulate(made, self.iterations), strict=True))

    def glance(self, approaches: Sequence[Approach], iterations: int) -> list[Simulation]:
        """Each for few iterations, with the parameters at their values: the first of `nominal`, of ranks that go on."""
        return self._simulate([self._at_values(a, iterations) for a in approaches], iterations)

    def _prepare_quiet(self, approaches: Iterable[Approach]) -> None:
        wanted = [a for a in dict.fromkeys(approaches) if a not in self._quiet]
        if wanted:
            calm, plans = self._compiler.calm, [self._at_values(a, 1) for a in wanted]
            made = [replace(p, workload=calm.workload, arrivals=calm.arrivals(self.seed)) for p in plans]
            self._quiet.update(zip(wanted, self._simulate(made, 1, calm=True), strict=True))

    def prepare_drawn(self, draws: Mapping[Approach, int]) -> None:
        """Draws of the machine that are not yet there, up to so many by approach; the values are the row before."""
        there = {a: len(self._drawn.get(a, ())) for a in draws}
        wanted = {a: range(there[a], 1 + min(n, self.draws_made)) for a, n in draws.items()}
        wanted = {a: rows for a, rows in wanted.items() if len(rows) > (there[a] == 0)}
        n = self.drawn_iterations
        jobs = [self._step(self._at_draws(a, r), n, self.sampler, r) for a, r in wanted.items()]
        for approach, times in zip(wanted, self._means(jobs, n), strict=True):
            self._drawn[approach] = np.concatenate([self._drawn.get(approach, times[:0]), times])

    def _prepare_blocks(self, approaches: Iterable[Approach]) -> None:
        wanted = [a for a in dict.fromkeys(approaches) if a not in self._blocks]
        if not self.rest or self._alike:
            self._blocks.update({a: blocks_of(self.nominal(a), BLOCKS) for a in wanted})
            return
        each = max(1, self.iterations // BLOCKS)
        firsts = [each * i for i in range(self.iterations // each)]
        jobs = []
        for a in wanted:
            plans, length = self._step(self._at_values(a, each), each, None, range(1))
            jobs.append(([p.in_blocks(firsts) for p in plans], length))
        self._blocks.update(zip(wanted, self._means(jobs, each), strict=True))

    def nominal(self, approach: Approach) -> Simulation:
        """The approach with the parameters at their values, made once."""
        self.prepare([approach])
        return self._nominal[approach]

    def quiet(self, approach: Approach) -> Simulation:
        """The same without spread of arrivals, made once."""
        self._prepare_quiet([approach])
        return self._quiet[approach]

    def drawn(self, approach: Approach) -> Drawn:
        """Mean times with each draw of the machine; with the values alone if nothing is drawn.

        Of an approach that has lost a race, only the first `RACED`.
        """
        if self.draws_made and approach not in self._drawn:
            self.prepare_drawn({approach: self.draws_made})
        return drawn_like(self.means(approach), self._drawn.get(approach), self.blocks(approach), self.iterations)

    def blocks(self, approach: Approach) -> Array:
        """`means` of blocks of the iterations, the parameters at their values, shape (blocks, 2)."""
        if approach not in self._blocks:
            self._prepare_blocks([approach])
        return self._blocks[approach]

    def means(self, approach: Approach) -> Array:
        """Mean times of an exchange's communication and of an iteration, shape (2,)."""
        run = self.nominal(approach)
        return np.array([exchange_s(run), float(run.iteration_s.mean())])

    def mean_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Mean communication time, optionally with some costs replaced."""
        if not replaced:
            return exchange_s(self.nominal(approach))
        made = self._at_values(approach, self.iterations, **replaced)
        return exchange_s(self._simulate([made], self.iterations)[0])

    def late(self, approach: Approach) -> float:
        """Seconds of the mean communication time that a rank waits for late neighbours."""
        out = self.nominal(approach)
        return 0.0 if self.rest else float(out.causes_s[LATE].mean()) / out.exchanges

    def elsewhere(self, cases: Sequence[tuple[Machine, Workload, Approach]]) -> list[Array]:
        """`means` on other machines and of other workloads, with the same seed, over so many iterations, too."""
        jobs: list[Job] = []
        firsts: list[int] = []
        there = self
        for machine, workload, approach in cases:
            # Baseline and approach come one after the other, and share costs.
            if there is self or there.machine is not machine or there.workload is not workload:
                there = replace(self, machine=machine, workload=workload, draws=0)
            n = there.studied
            firsts.append(there.first(n))
            jobs.append(([there._at_values(approach, n)], there.length(n)))
        return [rows[0] for rows in means_s(jobs, firsts, self.all_cores, 0)]

    # Predictions.

    def predict_all(self, approaches: Sequence[Approach]) -> list[ApproachPrediction]:
        """`predict` of each, in one race (see the class)."""
        base = self.workload.baseline
        for a in (base, *approaches):
            self._at_draws(a, range(1))  # for all of what follows
        self.prepare([base, *approaches])
        raced = self.race and not self.rest
        leading = self._leading(approaches) if raced else {base, *approaches}
        few = min(RACED, self.draws_made)
        draws = {a: self.draws_made if a in leading else few for a in (base, *approaches)}
        both(lambda: self.prepare_drawn(draws), lambda: self._prepare_quiet([BULK, *approaches]))
        self._prepare_blocks([base, *approaches])
        return [self.predict(a) for a in approaches]

    def _leading(self, approaches: Sequence[Approach]) -> set[Approach]:
        """The baseline, and those of each interface that `verdict.best_port` may take or a table shows."""
        leading, by_interface = {self.workload.baseline}, dict[Interface, list[Stands]]()
        for stands in self.gains(approaches):
            by_interface.setdefault(stands.approach.interface, []).append(stands)
        for some in by_interface.values():
            leading |= {simplest(some, self.workload.iterations).approach, fastest(some).approach}
        return leading

    def predict(self, approach: Approach) -> ApproachPrediction:
        """Time, η and metrics of one approach, with 95 % intervals."""
        return row(
            self.nominal(approach),
            self.nominal(self.workload.baseline),
            self.quiet(approach),
            self.quiet(BULK),
            self.workload,
            self.machine.threads.barrier.at(self.workload.threads),
            self.drawn(approach),
            self.drawn(self.workload.baseline),
            (self._begin(approach), self._begin(self.workload.baseline)),
        )

    def saved(self, approach: Approach) -> tuple[float, float]:
        """The share of an iteration that one approach saves, and what it is at least, as its prediction says them."""
        base = self.workload.baseline
        draws = dict.fromkeys((base, approach), self.draws_made)
        for a in draws:
            self._at_draws(a, range(1))  # for both of what follows
        both(lambda: self.prepare_drawn(draws), lambda: self.prepare(draws))
        of = self.saving(approach)
        return of.percent / 100, of.interval()[0] / 100

    def saving(self, approach: Approach) -> Saving:
        """By how much it makes an iteration shorter, with each draw of the machine, too."""
        base = self.workload.baseline
        return saving(
            self.nominal(approach),
            self.nominal(base),
            self.workload,
            self.drawn(approach),
            self.drawn(base),
            (self._begin(approach), self._begin(base)),
        )

    def gains(self, approaches: Sequence[Approach]) -> list[Stands]:
        """How each stands against what the application does today, as `predict` says it."""
        self.prepare([self.workload.baseline, *approaches])
        today, out = exchange_s(self.nominal(self.workload.baseline)), []
        for a in approaches:
            time, whole = exchange_s(self.nominal(a)), float(self.nominal(a).iteration_s.mean())
            once, eta = float(self._begin(a).flat[0]), float(metrics.eta(today, time))
            out.append(Stands(a, eta, eta * time / (time + once / self.workload.iterations), whole, once))
        return out

    def begin_s(self, approach: Approach) -> float:
        """What beginning takes, at the parameters' values."""
        return float(self._begin(approach).flat[0])

    def _begin(self, approach: Approach) -> Array:
        """What beginning takes, at the parameters' values and with each draw of them."""
        if approach not in self._begins:
            self._begins[approach] = begin(self.sampler, self.workload, approach)
        return self._begins[approach]

    # Over sizes.

    def gain_over_sizes(self, approach: Approach, sizes: Sequence[float], samples: int = SAMPLES) -> Array:
        """η of one approach for several buffer sizes, shape (len(sizes),), parameters at their values.

        Sizes are bytes per peer and need not be whole numbers of partitions; edges and corners that have
        sizes of their own keep them. From rest, each is the mean of so many exchanges.
        """
        bulk, fine = ([m[0] for m in self._over_sizes(a, sizes, samples)] for a in (self.workload.baseline, approach))
        return metrics.eta(bulk, fine)

    def saved_over_sizes(self, approach: Approach, sizes: Sequence[float]) -> Array:
        """Share of an iteration that one approach saves for several buffer sizes, likewise."""
        bulk, fine = ([m[1] for m in self._over_sizes(a, sizes, SAMPLES)] for a in (self.workload.baseline, approach))
        return metrics.speedup_percent(bulk, fine) / 100

    def _over_sizes(self, approach: Approach, sizes: Sequence[float], samples: int) -> list[tuple[float, float]]:
        """Mean times of an exchange's communication and of an iteration."""
        wanted = [(a, float(s), samples) for a in (self.workload.baseline, approach) for s in sizes]
        self._prepare_sizes([w[:2] for w in dict.fromkeys(wanted) if w not in self._over], samples)
        return [self._over[approach, float(s), samples] for s in sizes]

    def _prepare_sizes(self, wanted: Sequence[tuple[Approach, float]], samples: int) -> None:
        """Simulate approaches at buffer sizes."""
        sampler = Sampler(self.machine)
        iterations = (1 if self._alike else samples) if self.rest else self.per_draw
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
            rows = [Costs.stack([c[k] for *_, c in some], 1) for k in range(len(first))]
            sent = here.messages(approach, self.side_by_side(iterations))
            made = here.compiled(approach, sent, rows, self.seed, len(some))
            plans, length = self._step(made, iterations, None, range(1))
            # The others of the step are the same on all machines.
            jobs.append(([p if p is made else p.in_blocks([0] * len(some)) for p in plans], length))
        for (approach, _), some, times in zip(alike, alike.values(), self._means(jobs, iterations), strict=True):
            for (size, *_), (exchange, iteration) in zip(some, times.tolist(), strict=True):
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
            own = self._at_values(approach, self.iterations)
            calm = replace(self._at_values(approach, 1), arrivals=self._compiler.calm.arrivals(self.seed))
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
        ends = run_step([self._at_values(approach, self.iterations, **replaced)], 1, record=True)[0].ends_s
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
    return Evaluation(machine, workload, seed, draws=0, alone=True).gain_over_sizes(approach, sizes, samples)


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
        self, approaches: Sequence[Approach], sampler: Sampler, iterations: int, draws: int = 0, *, calm: bool = False
    ) -> Job:
        like, each = self.like, zip(on_part(self.machine, self.workload, rest=self.like.rest), approaches, strict=True)
        rows, count = range(1 + draws), like.side_by_side(iterations)
        made = [(c.calm if calm else c).sampled(a, sampler, self.seed, rows, count) for c, a in each]
        return made, like.length(iterations)

    def _run(self, approaches: Sequence[Approach], iterations: int, *, calm: bool = False) -> Simulation:
        job = self._step(approaches, Sampler(self.machine), iterations, calm=calm)
        ((out,),) = run_all([job], self.like.all_cores)
        return together(out, whole(approaches)).after(self.like.first(iterations))

    def _drawn(self, approaches: Sequence[Approach], run: Simulation) -> Drawn:
        like, times = self.like, None
        means = np.array([float(run.communication_s.mean()), float(run.mean_s.mean())])
        if like.draws_made:
            job = self._step(approaches, like.sampler, like.per_draw, like.draws_made)
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
    first = warm_up(workload, iterations, exchanges(parts[0].pattern, parts[0].blocks))
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
            begins = begin(sampler, one, way[number]), begin(sampler, one, base[number])
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
    begins: tuple[Array, Array],
) -> ApproachPrediction:
    samples = [iterations_of(s, done) for s in (run, bulk)]
    return row(run, bulk, quiet, alone, workload, barrier, samples[0], samples[1], begins)
