"""What approaches are simulated on side by side: ranks, iterations, arrivals and draws of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array, Replaced
from pready.model.common.parallel import all_cores
from pready.model.engine._kernel import KeptTimes
from pready.model.engine.other_exchanges import Beside
from pready.model.engine.plan import Draws, Placed, Priced, listed_price
from pready.model.engine.ranks.layout import of_a_step, part
from pready.model.engine.rows import WARM_UP, warm_up
from pready.model.engine.simulate import Job, means_s, run_all
from pready.model.engine.simulation import Simulation
from pready.model.machine.machine import Machine
from pready.model.timeline.costs import Costs
from pready.model.timeline.sampling import Sampler
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
NOMINAL_ALONE, DRAWS_ALONE, PER_DRAW_ALONE = 160, 20, 16
"""The same of exchanges from rest."""
MOST_MESSAGES = 1_200_000
"""Of `NOMINAL` exchanges. Above it, fewer are simulated."""


@dataclass
class SharedDraws:
    """All that approaches share for one machine and workload."""

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
        self._beside = Beside.of(self.machine, self.step, self.number, rest=self.rest)
        cut = None
        if not self.rest:
            cut = part(self.workload) if self.step is None else of_a_step(self.step, part)[self.number]
            # This exchange's sizes may be others than the step's.
            cut = replace(cut, sizes=self.workload.sizes, neighbour_sizes=self.workload.neighbour_sizes)
        self._placed = Placed(self.machine, self.workload, cut, self.number)
        self._pattern = self._placed.pattern()
        some = DRAWS if self._messages * self._steps <= MANY_MESSAGES else FEW_DRAWS
        self.draws_made = (DRAWS_ALONE if self.rest else some) if self.draws is None else self.draws
        """Of the machine's parameters, for rows that lead."""
        self.sampler = Sampler(self.machine, self.draws_made, 1, self.seed, lead=1)
        """Of these draws: row 0 has the machine's values."""
        self.all_cores = self.cores or all_cores()
        """That simulations may use."""
        self._prices: dict[tuple[float, bool], Costs] = {}
        self._values: dict[tuple[float, bool], Costs] = {}
        self._priced_all: dict[Approach, Priced] = {}
        self._priced_values: dict[Approach, Priced] = {}

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
    def messages_of_a_draw(self) -> int:
        """That are simulated with each draw, for baseline and approach."""
        return 2 * self._messages * self._steps * self.length(self.drawn_iterations)

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

    def _value(self, size: float, inside: bool) -> Costs:
        """Costs at the parameters' values."""
        if (size, inside) not in self._values:
            self._values[size, inside] = self._priced_rows(size, inside).row(0)
        return self._values[size, inside]

    def _priced_rows(self, size: float, inside: bool) -> Costs:
        """Costs at the parameters' values, then with each draw."""
        if (size, inside) not in self._prices:
            self._prices[size, inside] = listed_price(self.sampler, self.workload)(size, inside)
        return self._prices[size, inside]

    def _own_seed(self) -> int:
        return exchange_seed(self.seed, self.number)

    def _at_values(self, approach: Approach, iterations: int, **replaced: Replaced) -> Priced:
        """The approach with the parameters at their values, made once for any number of iterations, or some costs
        replaced."""
        draws = self.arrivals_of([0], iterations)
        if replaced:
            return self._placed.priced(approach, lambda *kind: replace(self._value(*kind), **replaced), draws)
        if approach not in self._priced_values:
            if approach in self._priced_all:
                made = self._priced_all[approach].rows(range(1))
            elif self.rest:
                made = self._placed.priced(approach, self._value, draws)
            else:
                made = self._placed.at_values(approach, self._value, self.seed)
            self._priced_values[approach] = made
        return self._placed.beside(self._priced_values[approach], draws)

    def _at_draws(self, approach: Approach, draws: range) -> Priced:
        """The approach with each of these draws of the parameters; 0: at their values."""
        return self._all_rows(approach).rows(draws)

    def _all_rows(self, approach: Approach) -> Priced:
        """The approach at the parameters' values, then with each draw of them, made once."""
        if approach not in self._priced_all:
            self._priced_all[approach] = self._placed.priced(approach, self._priced_rows, self.drawn_rows)
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
    def drawn_rows(self) -> Draws:
        """Rows of the sampler: the machine's values, then drawn ones."""
        return self.arrivals_of(range(self.draws_made + 1), self.per_draw)

    def _simulate(self, made: Sequence[Priced], iterations: int, *, calm: bool = False) -> list[Simulation]:
        """Each plan for so many iterations, without those that go before."""
        draws = self.arrivals_of([0], iterations)
        jobs = [self._job(p, draws, iterations, calm=calm) for p in made]
        out = run_all(jobs, self.all_cores, self.kept, self.number)
        return [rows[0][0].after(self.first(iterations)) for rows in out]

    def _means(self, own: Sequence[tuple[Priced, Draws]], sampler: Sampler | None, iterations: int) -> list[Array]:
        """`means_s` of this exchange, others sent in bulk with the same draws of the machine, or with its values."""
        jobs = [self._job(of, draws, iterations, sampler) for of, draws in own]
        return means_s(jobs, [self.first(iterations)] * len(jobs), self.all_cores, self.number, self.kept)
