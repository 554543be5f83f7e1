"""Approaches side by side on the same draws, on the ranks that stand for a workload's (``pready predict``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, Interface
from pready.model.common.arrays import Array, Replaced
from pready.model.common.parallel import both
from pready.model.engine.from_rest import FromRest
from pready.model.engine.plan import ByRow, Draws, Placed, Priced, listed_price, without_spread
from pready.model.engine.rows import Drawn, Saving, blocks_of, drawn_like, exchange_s, row, saving
from pready.model.engine.simulate import Job, means_s
from pready.model.engine.simulation import LATE, Simulation
from pready.model.equations import metrics
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import Stands, fastest, simplest
from pready.model.timeline.costs import Costs
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.workload.workload import Workload

RACED = 6
"""Draws for approaches that have lost."""
BLOCKS = 10
"""Blocks of the simulated iterations: from how their means differ comes what the arrivals leave uncertain."""
SAMPLES = 16
"""Exchanges from rest per size, where many sizes are looked at."""


@dataclass
class Evaluation(FromRest):
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

    def __post_init__(self) -> None:
        super().__post_init__()
        self._begins: dict[Approach, Array] = {}
        self._nominal: dict[Approach, Simulation] = {}
        self._quiet: dict[Approach, Simulation] = {}
        self._drawn: dict[Approach, Array] = {}
        self._blocks: dict[Approach, Array] = {}
        self._over: dict[tuple[Approach, float, int], tuple[float, float]] = {}

    def with_draws(self, draws: int) -> Evaluation:
        """The same with so many draws of the machine, the first of them the same; its simulations are kept."""
        other = replace(self, draws=draws)
        other._nominal, other._quiet, other._blocks = self._nominal, self._quiet, self._blocks
        other._drawn = {a: rows[: 1 + draws] for a, rows in self._drawn.items()}
        return other

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
        return self._value(approach.message_size(self.workload.buffer), inside=False)

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
        wanted = {a: range(there[a], 1 + min(n, self.draws_made)) for a, n in draws.items()}
        wanted = {a: rows for a, rows in wanted.items() if len(rows) > (there[a] == 0)}
        n = self.drawn_iterations
        jobs = [(self._at_draws(a, r), self.arrivals_of(r, n)) for a, r in wanted.items()]
        for approach, times in zip(wanted, self._means(jobs, self.sampler, n), strict=True):
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
        if self.draws_made and approach not in self._drawn:
            self.prepare_drawn({approach: self.draws_made})
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
        firsts: ByRow = {"first": np.array(draws.firsts, np.uint64)[:, None]} if n > 1 else {}
        own = [(replace(self._at_values(a, each), prices=firsts, seeds=(self._own_seed(),) * n), draws) for a in wanted]
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
        for a in (base, *approaches):
            self._all_rows(a)  # for all of what follows
        self.prepare([base, *approaches])
        raced = self.race and not self.rest
        leading = self._leading(approaches) if raced else {base, *approaches}
        few = min(RACED, self.draws_made)
        draws = {a: self.draws_made if a in leading else few for a in (base, *approaches)}
        both(lambda: self.prepare_drawn(draws), lambda: self._prepare_quiet([BULK, *approaches]))
        self._prepare_blocks([base, *approaches])
        return [self.predict(a) for a in approaches]

    def saved(self, approach: Approach) -> tuple[float, float]:
        """The share of an iteration that one approach saves, and what it is at least, as its prediction says them."""
        base = self.workload.baseline
        draws = dict.fromkeys((base, approach), self.draws_made)
        for a in draws:
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
        return [*self._placed.parts(approach).sizes]

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
        return [rows[0] for rows in means_s(jobs, firsts, self.all_cores, 0, self.kept)]

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
        return 0.0 if self.rest else float(out.causes_s[LATE].mean()) / out.exchanges

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
            self._begins[approach] = begin(self.sampler, self.workload, approach)
        return self._begins[approach]

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
        alike: dict[tuple[Approach, object], list[tuple[float, Placed, list[Costs]]]] = {}
        for approach, size in wanted:
            there = self.workload.at_buffer(size)
            layout = None
            if self._placed.layout is not None:
                layout = replace(self._placed.layout, sizes=there.sizes, neighbour_sizes=there.neighbour_sizes)
            here = Placed(self.machine, there, layout, self.number)
            by_class = here.parts(approach).at(listed_price(sampler, there))
            # One plan at several prices, as long as protocols and arrivals are the same.
            rate = getattr(there.arrivals, "delay_rate", None)
            kind = (*(c.protocol(approach.interface) for c in by_class), there.thread_time, rate and size)
            alike.setdefault((approach, kind), []).append((size, here, by_class))
        iterations = (1 if self._alike else samples) if self.rest else self.per_draw
        own = []
        for (approach, _), some in alike.items():
            n, (_, here, first) = len(some), some[0]
            draws = Draws([0] * n, [self.seed] * n, iterations, [0] * n)
            rows = [Costs.stack([c[k] for *_, c in some], 1) for k in range(len(first))]
            own.append((here.at_costs(approach, here.parts(approach, iterations), rows, draws), draws))
        for (approach, _), some, times in zip(alike, alike.values(), self._means(own, None, iterations), strict=True):
            for (size, *_), (exchange, iteration) in zip(some, times.tolist(), strict=True):
                once = float(begin(sampler, self.workload.model_copy(update={"buffer": size}), approach))
                self._over[approach, size, samples] = exchange, iteration + once / self.workload.iterations


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
