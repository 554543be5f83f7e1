"""Ways to send a step, simulated on machines in rows: row 0 has every value as it stands, the others are drawn.

All ways have the same machines and arrivals. Drawn machines differ in everything that is drawn, also in protocol, in
who makes progress and in how puts move; those that follow the same rules share a plan (`Compiler.plan`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, whole
from pready.model.common.arrays import Array, Replaced, Wholes, alike
from pready.model.common.errors import PreadyError
from pready.model.common.parallel import all_cores
from pready.model.engine import _kernel
from pready.model.engine.layout import Step
from pready.model.engine.messages import Messages, in_directions, partitions_per_direction
from pready.model.engine.pattern import Pattern
from pready.model.engine.plan import Compiler, Plan, protocol
from pready.model.machine.machine import Machine
from pready.model.machine.path import Progress
from pready.model.machine.rma import Puts
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.row import Averages, Terms, row
from pready.model.timeline import rules
from pready.model.timeline.alternatives import alternatives, with_grid, with_order
from pready.model.timeline.bound import bound_of, least_costs, tried
from pready.model.timeline.costs import Costs, costs
from pready.model.timeline.sampling import DRAWS, LEVELS, Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.toml.provenance import Value
from pready.model.workload.draws import deterministic, exchange_seed
from pready.model.workload.workload import Workload

if TYPE_CHECKING:  # a name of the stub alone
    from pready.model.engine._kernel import Outcome

EXCHANGES, OF_ROW_0 = 32, 128
"""Exchanges (ranks × iterations × those of a step, of sweeps also × octants × blocks) that are simulated with each
draw: few, as each draw has arrivals of its own; and on row 0: 4 iterations of 3 × 3 × 3 ranks."""
ALONE = 64
"""Exchanges from rest on row 0."""
MOST_MESSAGES, MOST_OF_ROW_0 = 40_000_000, 120_000
"""Messages of all draws of a way, beyond which there are fewer draws; and of row 0, with fewer iterations beyond."""
WARM_UP = 1
"""Iterations that go before: ranks start together, and one pulls them apart (docs/theory/uncertainty.md)."""
LARGEST_SEED = int(np.iinfo(np.uint64).max)
LARGEST_ITERATION = int(np.iinfo(np.uint32).max)
"""Iterations (times steps of a sweep) are a 32-bit word of the counter that draws arrivals."""
VALUES = range(1)
"""The row of the machine at its values."""

Way = tuple[Approach, ...]
"""An approach for each exchange of a step."""


@dataclass(frozen=True)
class Rows:
    """The machines that ways are simulated on, and for how long."""

    draws: int | None = None
    """Beside row 0; None: `DRAWS`, or fewer where a way has many messages."""
    seed: int = 0
    """Seed of the arrivals and of the draws: the same seed, the same result on any number of cores."""
    iterations: int | None = None
    """Counted ones of each row, from rest exchanges; None: as many as a prediction has."""
    first: int | None = None
    """Iterations that go before; None: `warm_up`."""
    only_values: bool = False
    """Do rows differ in the machine's values alone, and have the arrivals of row 0?"""
    picks: tuple[int, ...] = ()
    """Which draws, as of `Sampler`; absent, the first."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LARGEST_SEED:
            raise PreadyError(f"seed = {self.seed}", valid="0 to 2^64 - 1")


class Length(NamedTuple):
    """How long a row is simulated."""

    first: int
    """Iterations that go before."""
    iterations: int
    """That count."""
    exchanges: int = 1
    """Side by side, of exchanges from rest."""

    @property
    def all(self) -> int:
        """Iterations, those that go before included."""
        return self.first + self.iterations


class Job(NamedTuple):
    """The exchanges of a step to simulate, each on as many machines."""

    step: Sequence[Plan]
    length: Length
    rows: Wholes = np.arange(1)


class Rule(NamedTuple):
    """What changes more than costs: who answers a rendezvous, how puts move, and the option of what a workload does not
    say; `UNKNOWN` names each."""

    progress: Progress
    puts: Puts
    receiver: int = 0
    order: int = 0
    meanwhile: int = 0
    grid: int = 0
    nodes: int = 0
    placement: int = 0


UNKNOWN = (
    "who answers a rendezvous",
    "how puts move",
    "receiver",
    "arrivals.partitions",
    "progress while receivers work",
    "thread_grid",
    "ranks per node",
    "placement",
)
"""The alternative of each field of `Rule`."""


@dataclass(frozen=True)
class Times:
    """Times of an exchange, or of a whole step, by row: means over ranks and iterations, in seconds, shape (rows,)."""

    communication: Array
    """From a rank's last ready partition to its end, T of Eq. 1; of a sweep, of all its exchanges."""
    iteration: Array
    """Time of a whole iteration, all exchanges of its step included."""
    computing: Array
    late: Array
    """What follows in communication, to `consuming`: waiting for late neighbours, …"""
    issue: Array
    nic: Array
    wire: Array
    receive: Array
    consuming: Array
    """… and what a receiver's threads work when everything is there."""
    spread: Array
    """From a rank's first ready partition to its last."""
    to_join: Array
    """From a rank's last ready partition until its threads have met."""
    arrived_early: Array
    """Share of the messages that have arrived when their sender's threads have met."""


class Means(NamedTuple):
    """What came of a way on some rows: means over the ranks that count, without the iterations that go before."""

    of: Array
    """Shape (rows, iterations, exchanges, `_kernel.SUM_FIELDS`)."""
    ends: Array
    """When the last rank has ended the last iteration, in seconds, shape (rows,)."""
    counts: Array
    """Messages of an iteration by exchange, likewise, shape (rows, exchanges)."""

    @classmethod
    def joined(cls, each: Sequence[Means]) -> Means:
        """Rows of one length."""
        return cls(*(np.concatenate([x[n] for x in each]) for n in range(3)))

    def exchange(self, number: int = 0) -> Times:
        """One exchange of the step."""
        return _times(self.of[:, :, number], self.of[..., 0].sum(axis=2), self.counts[:, number])

    @property
    def step(self) -> Times:
        """The whole step: times of its exchanges add up."""
        added = self.of.sum(axis=2)
        return _times(added, added[..., 0], self.counts.sum(axis=1))

    @property
    def transfers(self) -> Array:
        """Communication of each exchange without waiting for late neighbours and a receiver's work, in seconds, shape
        (exchanges, rows)."""
        of = dict(zip(_kernel.SUM_FIELDS, np.moveaxis(self.of, -1, 0), strict=True))
        return np.asarray((of["lasts"] - of["computing"] - of["late"] - of["consuming"]).mean(axis=1).T)


def _times(each: Array, iteration: Array, count: Array) -> Times:
    """Means over iterations of what has shape (rows, iterations, `_kernel.SUM_FIELDS`) and (rows, iterations); messages
    of an iteration, shape (rows,)."""
    by_field = np.ascontiguousarray(np.moveaxis(each, 2, 0))
    own = dict(zip(_kernel.SUM_FIELDS, by_field.mean(axis=2), strict=True))
    return Times(
        communication=(by_field[0] - by_field[1]).mean(axis=1),
        iteration=iteration.mean(axis=1),
        arrived_early=own["early"] / np.maximum(count, 1e-9),  # of none, none is early
        **{name: own[name] for name in own if name not in ("lasts", "early")},
    )


@dataclass(eq=False)
class Runs:
    """Ways to send a step, each simulated once on each row that is asked for; `replace` gives those of another machine
    or step."""

    machine: Machine
    """Row 0; the others are drawn from its values' intervals, and from what nobody excluded."""
    step: Step
    """The exchanges, and their ranks."""
    rows: Rows = Rows()
    cores: int | None = None
    """That simulations may use; None: all of this process."""

    def __post_init__(self) -> None:
        self.values = Sampler(self.machine)
        """Values as they stand: what only row 0 needs does not count as drawn."""
        self._found: dict[Way, dict[int, Means]] = {}
        """What came of each way, by row."""
        self._compilers: dict[tuple[int, Rule], Compiler] = {}
        self._costs: dict[tuple[int, float, bool, bool], Costs] = {}
        self._groups: dict[tuple[int, Approach], list[tuple[Rule, Wholes]]] = {}
        self._plans: dict[object, Plan] = {}

    # What it is of.

    def of(self, workload: Workload) -> Runs:
        """Runs of another workload, likewise."""
        return replace(self, step=Step.from_rest(workload) if self.step.rest else Step.of_a_part(workload))

    def at_buffer(self, size: float, number: int = 0) -> Runs:
        """These runs with another buffer of one exchange, in bytes per peer."""
        return replace(self, step=self.step.at_buffer(size, number))

    @cached_property
    def calm(self) -> Runs:
        """One iteration without spread of arrivals."""
        made = replace(self, step=self.step.calm(), rows=Rows(0, self.rows.seed, 1, self.rows.first))
        made._plans = self._plans  # which differ by their arrivals alone
        return made

    @property
    def parts(self) -> tuple[Workload, ...]:
        """The exchanges of the step."""
        return self.step.parts

    @property
    def shared_adapter(self) -> bool:
        """Does the workload say that ranks of a node share an adapter?"""
        return any(w.ranks_of_a_node for w in self.parts)

    def pattern(self, number: int = 0) -> Pattern:
        """Who sends to whom."""
        return self.compiler(number).pattern()

    @cached_property
    def steps(self) -> int:
        """Exchanges of an iteration: 1, or of a sweep octants × blocks."""
        return 1 if self.step.rest else self.pattern().exchanges(self.parts[0].blocks)

    def bandwidth(self, number: int = 0) -> float:
        """β of the closed forms: what one large message reaches on the workload's path, in B/s."""
        return 1 / self.machine.path(self.parts[number].path).segments[-1].G.value

    def delay(self, number: int = 0) -> float:
        """Mean time from a rank's first ready partition to its last, in seconds."""
        return float(self.at_values(self.step.today).exchange(number).spread[0]) / self.steps

    def costs(self, approach: Approach, number: int = 0) -> Costs:
        """Costs of an approach's messages on row 0."""
        return self._cost(number, approach.message_size(self.parts[number].buffer), inside=False, drawn=False)

    # How long is simulated.

    @cached_property
    def _alike(self) -> bool:
        """Do all iterations look the same?"""
        return all(map(deterministic, self.parts))

    @cached_property
    def _messages(self) -> int:
        """Messages of an iteration, all ranks, a message per user partition."""
        each = (self.pattern(n).edges * w.n_partitions for n, w in enumerate(self.parts))
        return sum(each) * self.steps

    def _length(self, exchanges: int, from_rest: int, most: int | None = None) -> Length:
        """How long a row is simulated by itself: so many exchanges of any rank, and at most so many messages."""
        given, w = self.rows.iterations, self.parts[0]
        if self.step.rest:
            return Length(0, 1, 1 if self._alike else given or from_rest)
        wanted = exchanges // (self.pattern().ranks * self.steps * len(self.parts))
        able = w.iterations if most is None else most // self._messages - WARM_UP
        made = given or max(1, min(wanted, w.iterations, able))
        return Length(warm_up(w, made) if self.rows.first is None else self.rows.first, made)

    @cached_property
    def length(self) -> Length:
        """How long row 0 runs."""
        return self._length(OF_ROW_0, ALONE, MOST_OF_ROW_0)

    @cached_property
    def length_of_draw(self) -> Length:
        """How long every other row runs."""
        return self.length if self.rows.only_values else self._length(EXCHANGES, EXCHANGES // 2)

    @property
    def iterations(self) -> int:
        """Iterations, or exchanges from rest, that count on row 0."""
        return self.length.iterations * self.length.exchanges

    @cached_property
    def draws(self) -> int:
        """How many machines are drawn: the number of the last row."""
        if self.rows.draws is not None:
            return self.rows.draws
        of = self.length_of_draw
        messages = self._messages * of.exchanges * of.all
        return min(DRAWS, max(MOST_MESSAGES // messages, 3 * LEVELS))  # of 39, one lies beyond each end

    def drawn(self, most: int | None = None) -> range:
        """The rows that are drawn, or the first of them."""
        return range(1, 1 + (self.draws if most is None else min(most, self.draws)))

    @cached_property
    def _of_a_node(self) -> int:
        """Ranks that share a node in some draws."""
        return self.step.sharing() if self.draws and self.machine.intra is not None else 1

    @cached_property
    def _on_nodes(self) -> Step:
        return self.step.on_nodes(self._of_a_node)

    @cached_property
    def sampler(self) -> Sampler:
        """The sampler of the machines in rows."""
        drawn = self.machine, self.parts, self._of_a_node, self.step.rest
        known = None if self.rows.only_values else alternatives(*drawn)
        return Sampler(self.machine, self.draws, self.rows.seed, lead=1, alternatives=known, picks=self.rows.picks)

    # Costs and rules of rows.

    def _cost(self, number: int, size: float, *, inside: bool, drawn: bool) -> Costs:
        """Costs of messages of so many bytes, within a node or not: on row 0, or by row."""
        key = number, size, inside, drawn
        if key not in self._costs:
            w, sampler = self.parts[number], self.sampler if drawn else self.values
            self._costs[key] = costs(sampler, w.model_copy(update={"path": "intra"}) if inside else w, size)
        return self._costs[key]

    def _by_class(self, number: int, sent: Messages, *, drawn: bool) -> list[Costs]:
        kinds = zip(sent.sizes, sent.pattern.kinds, strict=True)
        cost = self._least if sent.approach.interface.least else self._cost
        return [cost(number, size, inside=kind.inside, drawn=drawn) for size, kind in kinds]

    def _least(self, number: int, size: float, *, inside: bool, drawn: bool) -> Costs:
        """What messages of a class cost at least, whatever their size and the library."""
        of, w, adapter = self.compiler(number), self.parts[number], self.machine.adapter
        most, path = max(of.pattern().buffers(w)), self.machine.path("intra" if inside else w.path)
        sizes = tried(path, size / w.partitions_per_thread, max(size, most))
        gap = np.zeros(()) if adapter is None else (self.sampler if drawn else self.values)("adapter.gap", adapter.gap)
        return least_costs([self._cost(number, s, inside=inside, drawn=drawn) for s in sizes], size, gap)

    def bound(self, number: int = 0) -> Approach:
        """What no way to send an exchange exceeds."""
        w, in_turn = self.parts[number], "arrivals.partitions" in self.sampler.alternatives
        return bound_of(w, partitions_per_direction(w), in_turn=in_turn)

    @cached_property
    def as_said(self) -> Rule:
        """The rule of row 0: what the machine's file and the workload say."""
        puts = self.machine.one_sided.puts
        return Rule(self.machine.progress.value, "adapter" if puts is None else puts.value)

    @cached_property
    def _rules(self) -> list[tuple[Rule, Wholes]]:
        """Rules that hold somewhere, and the rows in which each does."""
        known, said = self.sampler.alternatives, self.as_said
        first = 0 if self.rows.only_values else 1
        chosen, out = np.stack([self.sampler.chosen(n) for n in UNKNOWN], axis=1), list[tuple[Rule, Wholes]]()
        if not any(w.ranks_of_a_node for w in self.parts):
            chosen[:, -1] &= chosen[:, -2]  # of a node with one rank it does not matter
        for rows in alike(chosen[first:]):
            some = chosen[first + rows[0]]
            who, how = (
                known[n].options[k] if n in known else s for n, k, s in zip(UNKNOWN, some, said[:2], strict=False)
            )
            out.append((Rule(who, how, *map(int, some[2:])), first + rows))  # type: ignore[arg-type]
        return out

    def compiler(self, number: int = 0, rule: Rule | None = None) -> Compiler:
        """An exchange under a rule; absent, that of row 0."""
        of = self.as_said if rule is None else rule
        if (number, of) in self._compilers:
            return self._compilers[number, of]
        workload, machine = self.parts[number], self.machine
        if of.receiver:
            said = self.sampler.alternatives["receiver"].options[of.receiver]
            workload = workload.model_copy(update={"receiver": said})
        if of.order:
            workload = with_order(workload, self.sampler.alternatives["arrivals.partitions"].options[of.order])
        if of.grid:
            workload = with_grid(workload, of.grid)
        if of.placement:
            said = self.sampler.alternatives["placement"].options[of.placement]
            workload = workload.model_copy(update={"placement": said})
        if of[:2] != self.as_said[:2]:
            puts = Value[Puts](value=of.puts, source="assumed", why="as drawn")
            sided = machine.one_sided.model_copy(update={"puts": puts})
            progress = machine.progress.model_copy(update={"value": of.progress})
            machine = machine.model_copy(update={"progress": progress, "one_sided": sided})
        step, of_a_node = (self._on_nodes, self._of_a_node) if of.nodes else (self.step, 1)
        seed = exchange_seed(self.rows.seed, number)
        made = Compiler(machine, workload, step.layouts[number], seed, of_a_node)
        self._compilers[number, of] = made
        return made

    def _grouped(self, number: int, approach: Approach) -> list[tuple[Rule, Wholes]]:
        """The rows that can share a plan of an approach, and a rule that stands for theirs."""
        if (number, approach) in self._groups:
            return self._groups[number, approach]
        out: dict[tuple[object, ...], tuple[Rule, list[Wholes]]] = {}
        by_sizes = dict[tuple[int, int], list[Costs]]()
        for rule, rows in self._rules:
            if (sides := (rule.grid, rule.nodes)) not in by_sizes:
                sent = self.compiler(number, rule).messages(approach, self.length_of_draw.exchanges)
                by_sizes[sides] = self._by_class(number, sent, drawn=True)
            interface = _told(approach, rule).interface
            setting = rules.setting_for(interface, self.compiler(number, rule).setting)
            each = [x for c in by_sizes[sides] for x in protocol(c, interface, setting)]
            protocols = np.stack([np.broadcast_to(x, (self.sampler.rows,))[rows] for x in each], axis=1)
            late, who = rules.late_puts(interface, setting), rules.receivers(interface, setting)
            for same in alike(protocols):
                # A progress thread also takes in eager messages.
                key = rule[2:], late, who, setting.progress == "thread", protocols[same[0]].tobytes()
                out.setdefault(key, (rule, []))[1].append(rows[same])
        made = self._groups[number, approach] = [(rule, np.sort(np.concatenate(some))) for rule, some in out.values()]
        return made

    # Plans.

    def _plan(
        self, number: int, approach: Approach, exchanges: int = 0, replaced: Mapping[str, Replaced] | None = None
    ) -> Plan:
        """An exchange on row 0, from rest so many, made once; or with some costs replaced."""
        of, count = self.compiler(number), exchanges or self.length.exchanges
        key = number, approach, count
        if replaced or key not in self._plans:
            sent = of.messages(approach, count)
            by_class = self._by_class(number, sent, drawn=False)
            if replaced:
                return of.plan(sent, [replace(c, **replaced) for c in by_class])
            self._plans[key] = of.plan(sent, by_class)
        return replace(self._plans[key], workload=of.workload, arrivals=of.arrivals)

    def _drawn_plan(self, number: int, approach: Approach, rule: Rule, rows: Wholes) -> Plan:
        """An exchange on some rows; one of several that is sent as today is made once: it is in every way but one."""
        key, once = (number, rule, rows.tobytes()), len(self.parts) > 1 and approach == self.parts[number].baseline
        if once and key in self._plans:
            return self._plans[key]
        length, of = self.length_of_draw, self.compiler(number, rule)
        sent = of.messages(_told(approach, rule), length.exchanges)
        made = of.plan(sent, [c.rows(rows) for c in self._by_class(number, sent, drawn=True)], len(rows))
        if not self.rows.only_values:  # every draw has arrivals of its own
            each = length.exchanges if self.step.rest else length.all * self.steps
            made = replace(made, firsts=tuple(((rows - 1) * each).tolist()))
        if once:
            self._plans[key] = made
        return made

    def plans(self, way: Sequence[Approach], row: int = 0, exchanges: int = 0) -> list[Plan]:
        """The plans of a way's exchanges on one row; on row 0 also of so many exchanges from rest.

        Raises
        ------
        PreadyError
            What these ranks, or these partitions, cannot be sent by.
        """
        if row == 0:
            return [self._plan(number, approach, exchanges) for number, approach in enumerate(way)]
        job, *_ = self._jobs(way, np.array([row]))
        return [*job.step]

    def _jobs(self, way: Sequence[Approach], rows: Wholes) -> Iterator[Job]:
        """A way on some rows as jobs of the kernel."""
        if not self.rows.only_values and 0 in rows:
            yield Job(self.plans(way), self.length)
            rows = rows[rows != 0]
        if not len(rows):
            return
        groups = [self._grouped(i, a) for i, a in enumerate(way)]
        labels = np.empty((self.sampler.rows, len(way)), np.int64)
        for i, some in enumerate(groups):
            for n, (_, of) in enumerate(some):
                labels[of, i] = n
        for same in alike(labels[rows]):
            label, of = labels[rows[same[0]]], rows[same]
            step = [self._drawn_plan(i, a, groups[i][label[i]][0], of) for i, a in enumerate(way)]
            yield Job(step, self.length_of_draw, of)

    # What came of them.

    def means(self, ways: Iterable[Sequence[Approach]], rows: range = VALUES) -> list[Means]:
        """Each way on some rows of one length; what is not yet simulated is, all at once.

        Raises
        ------
        PreadyError
            What these ranks, or these partitions, cannot be sent by; times that overflow.
        """
        asked, jobs = [*map(tuple, ways)], list[tuple[dict[int, Means], Job]]()
        for way in dict.fromkeys(asked):
            known = self._found.setdefault(way, {})
            if missing := [r for r in rows if r not in known]:
                jobs += [(known, job) for job in self._jobs(way, np.array(missing))]
        for (known, job), found in zip(jobs, sums_of([job for _, job in jobs], self.cores), strict=True):
            known |= dict(zip(job.rows.tolist(), found, strict=True))
        return [Means.joined([self._found[way][r] for r in rows]) for way in asked]

    def at_values(self, way: Sequence[Approach]) -> Means:
        """A way on row 0."""
        return self.means([way])[0]

    def mean_time(self, approach: Approach, number: int = 0) -> float:
        """Mean communication time of an exchange on row 0, in seconds, the others sent as today."""
        return float(self.at_values(self.step.way(approach, number)).exchange(number).communication[0]) / self.steps

    def replaced(self, approach: Approach, each: Sequence[Mapping[str, Replaced]], number: int = 0) -> list[float]:
        """Its mean time with some costs of messages replaced, once for each of several such replacements."""
        way, jobs = self.plans(self.step.way(approach, number)), list[Job]()
        for of in each:
            way[number] = self._plan(number, approach, replaced=of)
            jobs.append(Job([*way], self.length))
        found = sums_of(jobs, self.cores)
        return [float(means.exchange(number).communication[0]) / self.steps for (means,) in found]

    # Rows of a prediction.

    def set_up(self, way: Sequence[Approach], *, drawn: bool = False) -> list[Array]:
        """Set-up cost of each exchange, in seconds, once: on row 0, shape (), or by row, shape (rows,) or ()."""
        sampler = self.sampler if drawn else self.values
        return [begin(sampler, w, a, sum(in_directions(w, a))) for w, a in zip(self.parts, way, strict=True)]

    def predicted(
        self, ways: Sequence[Sequence[Approach]], number: int | None = None, *, calm: bool = True
    ) -> list[ApproachPrediction]:
        """A row for each way on row 0, without intervals: of one exchange or, None, of the whole step; without `calm`,
        what compares with times without spread is not looked at."""
        workload = self.step.workload if number is None else self.parts[number]
        bulk = [BULK] * len(self.parts) if number is None else self.step.way(BULK, number)
        today, *found = self.means([self.step.today, *ways])
        alone, *quiet = self.calm.means([bulk, *ways]) if calm else (today, *found)

        def averages(of: Means) -> Averages:
            times = of.step if number is None else of.exchange(number)
            count = of.counts[0].sum() if number is None else of.counts[0, number]
            return Averages(
                communication_s=float(times.communication[0]) / self.steps,
                iteration_s=float(times.iteration[0]),
                spread_s=float(times.spread[0]) / self.steps,
                to_join_s=float(times.to_join[0]) / self.steps,
                arrived_early=float(times.arrived_early[0]),
                work_s=float(times.consuming[0]) / self.steps,
                messages=round(count / self.steps),
                late_s=float(times.late[0]) / self.steps,
            )

        def begins(way: Sequence[Approach]) -> float:
            each = [float(cost) for cost in self.set_up(way)]
            return sum(each) if number is None else each[number]

        terms = Terms(
            buffer=workload.buffer,
            iterations=workload.iterations,
            barrier_s=self.machine.threads.barrier.at(workload.threads),
            bulk_alone_s=averages(alone).communication_s,
            today=averages(today),
            today_begin_s=begins(self.step.today),
        )
        return [
            row(
                whole(way) if number is None else way[number],
                averages(of),
                averages(still).communication_s,
                begins(way),
                terms,
            )
            for way, of, still in zip(ways, found, quiet, strict=True)
        ]


def _told(approach: Approach, rule: Rule) -> Approach:
    """The approach where nothing comes while all threads of a receiver work."""
    if not rule.meanwhile or not approach.interface.tells or approach.interface.least:
        return approach
    return replace(approach, interface=replace(approach.interface, told_whole=True))


def warm_up(workload: Workload, iterations: int) -> int:
    """Iterations that go before so many that count, if the workload has as many."""
    return max(0, min(WARM_UP, workload.iterations - iterations))


def sums_of(jobs: Sequence[Job], cores: int | None = None) -> list[list[Means]]:
    """Simulate steps in one call of the kernel: what came of each job, row by row, without the first iterations.

    Raises
    ------
    PreadyError
        Counters, times or memory that would overflow.
    KeyboardInterrupt
        Ctrl-C.
    """
    cores = cores or all_cores()
    for job in jobs:
        check(job.step, job.length.all, cores)
    out = _kernel.simulate_all([([p.exchange for p in j.step], j.step[0].firsts, j.length.all) for j in jobs], cores)
    return [[_means(job, of) for of in rows] for job, rows in zip(jobs, out, strict=True)]


def _means(job: Job, out: Outcome) -> Means:
    refuse_overflow(out)
    ranks = job.step[0].pattern.counted
    sums = out["sums"].reshape(1, -1, len(job.step), len(_kernel.SUM_FIELDS))[:, job.length.first :]
    return Means(sums / ranks, out["extremes"][-1:, 3], np.array([[p.count / ranks for p in job.step]]))


def check(step: Sequence[Plan], iterations: int, cores: int) -> None:
    """Refuse a simulation whose counters would overflow."""
    steps = max(p.steps for p in step)
    if iterations < 1:
        raise PreadyError(f"iterations = {iterations}", valid="at least 1")
    if iterations * steps > LARGEST_ITERATION:
        raise PreadyError(
            f"iterations = {iterations}" + (f" of {steps} steps" if steps > 1 else ""),
            valid=f"at most {LARGEST_ITERATION // steps}: a 32-bit counter draws the arrivals",
        )
    if not 1 <= cores <= 4096:
        raise PreadyError(f"cores = {cores}", valid="1 to 4096")


def refuse_overflow(out: Outcome) -> None:
    """Refuse times that no longer fit."""
    if out["overflowed"]:
        raise PreadyError(
            f"after iteration {out['iterations']} the time is {out['extremes'][-1, 3]:g} s",
            valid="292 years: 63 bits of nanoseconds",
        )
