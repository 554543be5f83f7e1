"""Approaches side by side on the same draws, on the ranks that stand for a workload's (``pready predict``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, Interface
from pready.model.common.arrays import Array, Replaced
from pready.model.common.parallel import all_cores, both
from pready.model.engine._kernel import KeptTimes
from pready.model.engine.many_sizes import ManySizes
from pready.model.engine.other_exchanges import Beside, Draws, Placed
from pready.model.engine.plan import Priced, listed_price, without_spread
from pready.model.engine.ranks.layout import of_a_step, part
from pready.model.engine.rows import WARM_UP, Drawn, Saving, blocks_of, drawn_like, exchange_s, row, saving, warm_up
from pready.model.engine.simulate import Job, means_s, run_all
from pready.model.engine.simulation import Simulation
from pready.model.equations import metrics
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import Stands, fastest, simplest
from pready.model.timeline.costs import Costs
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.workload import supported_by
from pready.model.workload.draws import deterministic, exchange_seed
from pready.model.workload.workload import Workload

DRAWS, FEW_DRAWS = 20, 10
"""Draws of the machine's parameters; few where an iteration has more than `MANY_MESSAGES`."""
MANY_MESSAGES = 30_000
NOMINAL, PER_DRAW = 3200, 256
"""Exchanges (ranks × iterations, of sweeps also × octants × blocks) that are simulated at the parameters'
values, and with each draw of them: 50 and 4 iterations of 4 × 4 × 4 ranks."""
DRAWN_OF_A_STEP = 8
"""Most iterations with each draw, of a step of several exchanges, all of which are simulated. Arrivals are the same in
all draws, and what they leave open is added."""
RACED = 6
"""Draws for approaches that have lost."""
NOMINAL_ALONE, DRAWS_ALONE, PER_DRAW_ALONE = 160, 20, 16
"""The same of exchanges from rest."""
MOST_MESSAGES = 1_200_000
"""Of `NOMINAL` exchanges. Above it, fewer are simulated."""
BLOCKS = 10
"""Blocks of the simulated iterations: from how their means differ comes what the arrivals leave uncertain."""


@dataclass
class Evaluation(ManySizes):
    """All that approaches share for one machine and workload; simulations are made on request.

    Pairs are simulated as exchanges from rest (`alone`), other patterns as ranks that go on from iteration to
    iteration, because a late neighbour delays its own neighbours an iteration later. These ranks are `layout.part`.
    Axes of halos are cut to 4 ranks: of the shipped halo3d example, 50 iterations give η = 8.10 on 4 × 4 × 4 ranks
    (2 % between seeds), 7.90 on 8 × 8 × 8 (1 %), 7.77 on 16 × 16 × 16 (0.6 %), 8.30 on 3 × 3 × 3, and an iteration
    -10.0 % on each; the parameters' interval is 7.5-8.9. Axes of sweeps are cut to 8: with 4 blocks and 1 MiB, η is
    1.35 on 8 × 8 ranks, 1.30 on 16 × 8 and 1.31 on 16 × 16, iterations -17, -16 and -18 %.

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
    """Of several exchanges, of which `workload` is one; all others are sent in bulk. Times of an iteration are the
    step's."""
    number: int = 0
    """Of `workload` among them."""
    samples: int = NOMINAL_ALONE
    """Exchanges from rest with the parameters at their values."""
    kept: KeptTimes = field(default_factory=KeptTimes, repr=False, compare=False)
    """Ready times that were drawn, also for what `replace` makes of this."""

    def __post_init__(self) -> None:
        self.rest = self.workload.pattern == "pt2pt" if self.alone is None else self.alone
        supported_by.check(self.workload, "timeline" if self.rest else "engine")
        self._beside = Beside.of(self.machine, self.step, self.number, self.seed, rest=self.rest)
        cut = None
        if not self.rest:
            cut = part(self.workload) if self.step is None else of_a_step(self.step, part)[self.number]
            # This exchange's sizes may be others than the step's.
            cut = replace(cut, sizes=self.workload.sizes, neighbour_sizes=self.workload.neighbour_sizes)
        self._placed = Placed(self.machine, self.workload, cut, self.number)
        self._pattern = self._placed.pattern()
        some = DRAWS if self._messages * self._steps <= MANY_MESSAGES else FEW_DRAWS
        self._draws = (DRAWS_ALONE if self.rest else some) if self.draws is None else self.draws
        self._sampler = Sampler(self.machine, self._draws, 1, self.seed, lead=1)
        self._prices: dict[tuple[float, bool], Costs] = {}
        self._values: dict[tuple[float, bool], Costs] = {}
        self._priced_all: dict[Approach, Priced] = {}
        self._priced_values: dict[Approach, Priced] = {}
        self._begins: dict[Approach, Array] = {}
        self._nominal: dict[Approach, Simulation] = {}
        self._quiet: dict[Approach, Simulation] = {}
        self._drawn: dict[Approach, Array] = {}
        self._blocks: dict[Approach, Array] = {}
        self._over: dict[tuple[Approach, float, int], tuple[float, float]] = {}
        self._cores = self.cores or all_cores()

    @property
    def grid(self) -> tuple[int, int, int]:
        """Ranks along x, y, z."""
        return self._pattern.grid

    @property
    def _alike(self) -> bool:
        return deterministic(self.workload) and self._beside.deterministic

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
    def draws_made(self) -> int:
        """Of the machine's parameters, for rows that lead."""
        return self._draws

    @property
    def messages_of_a_draw(self) -> int:
        """That are simulated with each draw, for baseline and approach."""
        return 2 * self._messages * self._steps * self.length(self.drawn_iterations)

    def with_draws(self, draws: int) -> Evaluation:
        """The same with so many draws of the machine, the first of them the same; its simulations are kept."""
        other = replace(self, draws=draws)
        other._nominal, other._quiet, other._blocks = self._nominal, self._quiet, self._blocks
        other._drawn = {a: rows[: 1 + draws] for a, rows in self._drawn.items()}
        return other

    @property
    def _messages(self) -> int:
        """Of one exchange, and of those beside it, all ranks, a message per user partition."""
        return self._pattern.edges * self.workload.n_partitions + self._beside.messages

    @property
    def _steps(self) -> int:
        return 1 if self.rest else self._pattern.exchanges(self.workload.blocks)

    def _iterations(self, exchanges: int) -> int:
        messages = self._messages * self._steps
        wanted = exchanges // (self._pattern.ranks * self._steps)
        affordable = MOST_MESSAGES * exchanges // NOMINAL // messages - -(-WARM_UP // self._steps)
        return max(1, min(wanted, affordable, self.workload.iterations))

    @property
    def delay(self) -> float:
        """Mean time from a rank's first ready partition to its last."""
        run = self.nominal(self.workload.baseline)
        return float(run.spread_s.mean()) / run.exchanges

    @property
    def bandwidth(self) -> float:
        """β of the closed forms: what one large message reaches on the workload's path, in B/s."""
        return 1 / self.machine.path(self.workload.path).segments[-1].G.value

    def on(self, machine: Machine) -> Evaluation:
        """The same on another machine."""
        return replace(self, machine=machine)

    def at_buffer(self, size: float, *, drawn: bool = True) -> Evaluation:
        """The same with another buffer, in bytes per peer; `drawn`: with draws of the machine, if this has any."""
        return replace(self, workload=self.workload.at_buffer(size), draws=self.draws if drawn else 0)

    def costs(self, approach: Approach) -> Costs:
        """Costs of the approach's messages, parameters at their values."""
        return self._price({}, approach.message_size(self.workload.buffer), inside=False)

    def _price(self, replaced: dict[str, Replaced], size: float, inside: bool) -> Costs:
        return replace(self._value(size, inside), **replaced)

    def _value(self, size: float, inside: bool) -> Costs:
        """Costs at the parameters' values."""
        if (size, inside) not in self._values:
            self._values[size, inside] = self._priced_rows(size, inside).row(0)
        return self._values[size, inside]

    def _priced_rows(self, size: float, inside: bool) -> Costs:
        """Costs at the parameters' values, then with each draw."""
        if (size, inside) not in self._prices:
            self._prices[size, inside] = listed_price(self._sampler, self.workload)(size, inside)
        return self._prices[size, inside]

    def _kinds(self, approach: Approach) -> list[tuple[float, bool]]:
        """Bytes of the approach's messages by class, and whether they stay within a node."""
        of = self._placed.parts(approach)
        return [*zip(of.sizes, of.inside, strict=True)]

    def _own_seed(self) -> int:
        return exchange_seed(self.seed, self.number)

    def _at_values(self, approach: Approach, iterations: int, **replaced: Replaced) -> Priced:
        """The approach with the parameters at their values, or some costs replaced."""
        if not replaced and not self.rest:
            return self._valued(approach)
        kinds = self._kinds(approach)
        values = [replace(self._value(size, inside), **replaced) for size, inside in kinds]
        return self._placed.priced(approach, values, self.arrivals_of([0], iterations))

    def _valued(self, approach: Approach) -> Priced:
        """The approach with the parameters at their values, made once, for any number of iterations of ranks that go
        on."""
        if approach in self._priced_all:
            return self._priced_all[approach].rows(range(1))
        if approach not in self._priced_values:
            self._priced_values[approach] = self._placed.at_values(
                approach, lambda: [self._value(*kind) for kind in self._kinds(approach)], self.seed
            )
        return self._priced_values[approach]

    def _at_draws(self, approach: Approach, draws: range) -> Priced:
        """The approach with each of these draws of the parameters; 0: at their values."""
        return self._all_rows(approach).rows(draws)

    def _all_rows(self, approach: Approach) -> Priced:
        """The approach at the parameters' values, then with each draw of them, made once."""
        if approach not in self._priced_all:
            kinds = self._kinds(approach)
            by_class = [self._priced_rows(size, inside) for size, inside in kinds]
            draws = self.arrivals_of(range(1 + self._draws), self.per_draw)
            self._priced_all[approach] = self._placed.priced(approach, by_class, draws)
        return self._priced_all[approach]

    def arrivals_of(self, rows: Sequence[int], iterations: int) -> Draws:
        """Rows of the sampler, for so many iterations: the same arrivals in all, so that only the machine differs."""
        seeds = [self.seed] * len(rows)
        return Draws(rows, seeds, iterations, [0] * len(rows)) if self.rest else Draws(rows, seeds)

    def _job(self, own: Priced, draws: Draws, iterations: int, sampler: Sampler | None = None, **how: bool) -> Job:
        """A step's simulation, iterations that go before included."""
        return self._beside.around(own, draws, sampler, **how), self.length(iterations)

    def length(self, iterations: int) -> int:
        """Of a simulation of so many iterations; exchanges from rest go side by side."""
        return 1 if self.rest else self.first(iterations) + iterations

    def first(self, iterations: int) -> int:
        """Iterations that go before so many."""
        return 0 if self.rest else warm_up(self.workload, iterations, self._steps)

    @property
    def sampler(self) -> Sampler:
        """Of the machine's draws: row 0 has its values."""
        return self._sampler

    @property
    def drawn_rows(self) -> Draws:
        """Rows of the sampler: the machine's values, then drawn ones."""
        return self.arrivals_of(range(self._draws + 1), self.per_draw)

    @property
    def all_cores(self) -> int:
        """That simulations may use."""
        return self._cores

    def _simulate(self, made: Sequence[Priced], iterations: int, *, calm: bool = False) -> list[Simulation]:
        """Each plan for so many iterations, without those that go before."""
        draws = self.arrivals_of([0], iterations)
        jobs = [self._job(p, draws, iterations, calm=calm) for p in made]
        out = run_all(jobs, self._cores, self.kept, self.number)
        return [rows[0][0].after(self.first(iterations)) for rows in out]

    def _means(self, own: Sequence[tuple[Priced, Draws]], sampler: Sampler | None, iterations: int) -> list[Array]:
        """`means_s` of this exchange, others sent in bulk with the same draws of the machine, or with its values."""
        jobs = [self._job(of, draws, iterations, sampler) for of, draws in own]
        return means_s(jobs, [self.first(iterations)] * len(jobs), self._cores, self.number, self.kept)

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
            plans = [without_spread(self._at_values(a, 1).plan, self.machine) for a in wanted]
            made = [Priced(p, {}, (p.seed,)) for p in plans]
            self._quiet.update(zip(wanted, self._simulate(made, 1, calm=True), strict=True))

    def prepare_drawn(self, draws: Mapping[Approach, int]) -> None:
        """Draws of the machine that are not yet there, up to so many by approach; the values are the row before."""
        there = {a: len(self._drawn.get(a, ())) for a in draws}
        wanted = {a: range(there[a], 1 + min(n, self._draws)) for a, n in draws.items()}
        wanted = {a: rows for a, rows in wanted.items() if len(rows) > (there[a] == 0)}
        n = self.drawn_iterations
        jobs = [(self._at_draws(a, r), self.arrivals_of(r, n)) for a, r in wanted.items()]
        for approach, times in zip(wanted, self._means(jobs, self._sampler, n), strict=True):
            self._drawn[approach] = np.concatenate([self._drawn.get(approach, times[:0]), times])

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
        if self._draws and approach not in self._drawn:
            self.prepare_drawn({approach: self._draws})
        return drawn_like(self.means(approach), self._drawn.get(approach), self.blocks(approach), self.iterations)

    def blocks(self, approach: Approach) -> Array:
        """`means` of blocks of the iterations, the parameters at their values, shape (blocks, 2)."""
        if approach not in self._blocks:
            self._prepare_blocks([approach])
        return self._blocks[approach]

    def _prepare_blocks(self, approaches: Iterable[Approach]) -> None:
        wanted = [a for a in dict.fromkeys(approaches) if a not in self._blocks]
        if not self.rest or self._alike:
            self._blocks.update({a: blocks_of(self.nominal(a), BLOCKS) for a in wanted})
            return
        each = max(1, self.iterations // BLOCKS)
        n = self.iterations // each
        draws = Draws([0] * n, [self.seed] * n, each, [each * i for i in range(n)])
        own = []
        for a in wanted:
            kinds = self._kinds(a)
            by_class = [Costs.stack([self._value(size, inside)] * n, 1) for size, inside in kinds]
            own.append((self._placed.priced(a, by_class, draws), draws))
        self._blocks.update(zip(wanted, self._means(own, None, each), strict=True))

    def _leading(self, approaches: Sequence[Approach]) -> set[Approach]:
        """The baseline, and those of each interface that `verdict.best_port` may take or a table shows."""
        leading, by_interface = {self.workload.baseline}, dict[Interface, list[Stands]]()
        for stands in self.gains(approaches):
            by_interface.setdefault(stands.approach.interface, []).append(stands)
        for some in by_interface.values():
            leading |= {simplest(some, self.workload.iterations).approach, fastest(some).approach}
        return leading

    def predict_all(self, approaches: Sequence[Approach]) -> list[ApproachPrediction]:
        """`predict` of each, in one race (see the class)."""
        base = self.workload.baseline
        for a in (base, *approaches) if not self.rest else ():
            self._all_rows(a)  # for all of what follows
        self.prepare([base, *approaches])
        raced = self.race and not self.rest
        leading = self._leading(approaches) if raced else {base, *approaches}
        few = min(RACED, self._draws)
        draws = {a: self._draws if a in leading else few for a in (base, *approaches)}
        both(lambda: self.prepare_drawn(draws), lambda: self._prepare_quiet([BULK, *approaches]))
        self._prepare_blocks([base, *approaches])
        return [self.predict(a) for a in approaches]

    def saved(self, approach: Approach) -> tuple[float, float]:
        """The share of an iteration that one approach saves, and what it is at least, as its prediction says them."""
        base = self.workload.baseline
        draws = dict.fromkeys((base, approach), self._draws)
        for a in draws if self._draws or not self.rest else ():
            self._all_rows(a)  # for both of what follows
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

    def means(self, approach: Approach) -> Array:
        """Mean times of an exchange's communication and of an iteration, shape (2,)."""
        run = self.nominal(approach)
        return np.array([exchange_s(run), float(run.iteration_s.mean())])

    def message_sizes(self, approach: Approach) -> list[float]:
        """Bytes of the approach's messages, by kind."""
        return [size for size, _ in self._kinds(approach)]

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
        return [rows[0] for rows in means_s(jobs, firsts, self._cores, kept=self.kept)]

    def gains(self, approaches: Sequence[Approach]) -> list[Stands]:
        """How each stands against what the application does today, as `predict` says it."""
        self.prepare([self.workload.baseline, *approaches])
        today, out = exchange_s(self.nominal(self.workload.baseline)), []
        for a in approaches:
            time, whole = exchange_s(self.nominal(a)), float(self.nominal(a).iteration_s.mean())
            once, eta = float(self._begin(a).flat[0]), float(metrics.eta(today, time))
            out.append(Stands(a, eta, eta * time / (time + once / self.workload.iterations), whole, once))
        return out

    def mean_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Mean communication time, optionally with some costs replaced."""
        if not replaced:
            return exchange_s(self.nominal(approach))
        made = self._at_values(approach, self.iterations, **replaced)
        return exchange_s(self._simulate([made], self.iterations)[0])

    def late(self, approach: Approach) -> float:
        """Seconds of the mean communication time that a rank waits for late neighbours."""
        out = self.nominal(approach)
        return 0.0 if self.rest else float(out.causes_s["late_neighbour"].mean()) / out.exchanges

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

    def begin_s(self, approach: Approach) -> float:
        """What beginning takes, at the parameters' values."""
        return float(self._begin(approach).flat[0])

    def _begin(self, approach: Approach) -> Array:
        """What beginning takes, at the parameters' values and with each draw of them."""
        if approach not in self._begins:
            self._begins[approach] = begin(self._sampler, self.workload, approach)
        return self._begins[approach]
