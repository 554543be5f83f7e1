"""From a Machine, a Workload and an Approach to the plain numbers that the kernel works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from pready.model.approach.interfaces import Approach
from pready.model.approach.vcis import check_transport_partitions, vci_members
from pready.model.common.errors import PreadyError
from pready.model.engine._kernel import FIELDS
from pready.model.engine.alone import alone
from pready.model.engine.exchange_numbers import Exchange, message_numbers, prices, steps, tables
from pready.model.engine.ranks.layout import Layout
from pready.model.engine.ranks.mapping import Mapping, mapped
from pready.model.engine.ranks.nodes import adapters_of
from pready.model.engine.ranks.parts import Parts, Price, mapped_to_parts, parts
from pready.model.engine.ranks.pattern import KINDS, Pattern
from pready.model.engine.ready_numbers import TABLE, ready_numbers
from pready.model.machine.machine import Machine
from pready.model.timeline.costs import Costs, costs
from pready.model.timeline.rules import Setting, setting_of
from pready.model.timeline.sampling import Sampler
from pready.model.workload.arrivals import NoArrivals
from pready.model.workload.draws import exchange_seed
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload

Row = NDArray[np.float64 | np.int64 | np.uint64]
Numbers = dict[str, Row]
ByRow = dict[str, NDArray[np.float64 | np.uint64]]
"""By field, shape (rows, its numbers)."""
_OF_PATTERN = (
    *("ranks", "periodic", "directions", "sources", "reach", "alone", "present", "degree"),
    *("out_start", "out_rank", "in_start", "in_rank", "in_slot"),
)
"""What the kernel takes by the same name."""


@dataclass(frozen=True)
class Plan:
    """What one run simulates."""

    pattern: Pattern
    workload: Workload
    approach: Approach
    seed: int
    sizes: tuple[float, ...]
    """Bytes of one message by class."""
    costs: tuple[Costs, ...]
    """By class."""
    members: list[list[int]]
    """Transport partitions by VCI; with a thread grid, messages."""
    mapping: Mapping | None
    """Of messages to threads, with a thread grid."""
    transports: int
    """Messages per neighbour."""
    steps: int
    """Exchanges per iteration: 1, or octants × blocks of a sweep."""
    numbers: Numbers
    """The same for the kernel: what `kernel/recurrence/fields.def` lists."""
    sent: Approach
    """The approach as the pattern has it: one message in each direction, where the parts of threads differ."""


def listed_price(sampler: Sampler, workload: Workload) -> Price:
    """Of a sampler's machine, on the workload's path or, within a node, on that of its ranks."""
    within = workload.model_copy(update={"path": "intra"})
    return lambda size, inside: costs(sampler, within if inside else workload, size)


@dataclass(frozen=True)
class Priced:
    """One plan at several prices, each with a seed of its own: a row each."""

    plan: Plan
    """Of the first row."""
    prices: ByRow
    """What differs between rows; empty of a single row."""
    seeds: tuple[int, ...]

    def rows(self, some: range) -> Priced:
        """Some rows, one after the other, as if no others had been made."""
        if len(self.seeds) == 1:
            return self
        prices = {name: value[some.start : some.stop] for name, value in self.prices.items()}
        seeds, of = self.seeds[some.start : some.stop], self.plan
        own = {name: value[0] for name, value in prices.items()} | {"seed": _row("seed", np.uint64(seeds[0]))}
        at = slice(some.start, some.stop)
        costs = [c.row(some.start) if len(seeds) == 1 else c.rows(at) for c in of.costs]
        first = replace(of, seed=seeds[0], costs=tuple(costs), numbers=of.numbers | own)
        return Priced(first, prices if len(seeds) > 1 else {}, seeds)


@dataclass(frozen=True)
class Draws:
    """Rows of a sampler, and the arrivals of each."""

    rows: Sequence[int]
    seeds: Sequence[int]
    """Of the step."""
    exchanges: int = 1
    """Side by side, where they are simulated from rest,"""
    firsts: Sequence[int] | None = None
    """and by row, the iteration whose arrivals the first of them has."""


@dataclass(frozen=True)
class Placed:
    """One exchange of a step on its ranks; without a layout, from rest (`alone`)."""

    machine: Machine
    workload: Workload
    layout: Layout | None
    number: int = 0

    @cached_property
    def setting(self) -> Setting:
        """What it depends on besides times and costs."""
        return setting_of(self.machine, self.workload)

    @cached_property
    def made(self) -> dict[Approach, Priced]:
        """Its approaches at the machine's values that were made for any times of the threads.

        Points of a sweep that differ by these and by their seeds share them.
        """
        if self.layout is None or self.workload.neighbour_list is not None:
            return {}
        compute = self.workload.compute
        if isinstance(compute, ComputeTime):
            compute = compute.model_copy(update={"time": 0.0})
        alike = self.workload.model_copy(update={"arrivals": NoArrivals(), "compute": compute})
        return _made(self.machine.model_dump_json(), alike.model_dump_json(), self.layout)

    @cached_property
    def _arrivals(self) -> dict[int, Arrivals]:
        """By seed, for all approaches."""
        return {}

    @cached_property
    def sends(self) -> tuple[float, ...]:
        """Bytes for each peer."""
        return self.workload.sends

    @property
    def rails(self) -> int:
        """Adapters of a node."""
        return 1 if self.machine.adapter is None else self.machine.adapter.rails.value

    @property
    def calm(self) -> Placed:
        """Without spread of arrivals."""
        return replace(self, workload=self.workload.model_copy(update={"arrivals": NoArrivals()}))

    def pattern(self, exchanges: int = 1) -> Pattern:
        """Who talks to whom."""
        return alone(self.sends, exchanges) if self.layout is None else self.layout.pattern(self.workload)

    def buffers(self, of: Pattern) -> tuple[float, ...]:
        """Bytes for a neighbour by class."""
        return tuple(dict.fromkeys(self.sends)) if self.layout is None else self.layout.buffers(self.workload, of)

    def parts(self, approach: Approach, exchanges: int = 1) -> Parts:
        """An approach's messages."""
        of = self.pattern(exchanges)
        return parts(self.workload, approach, of, self.buffers(of))

    def at_values(self, approach: Approach, price: Price, seed: int) -> Priced:
        """An approach of ranks that go on, at costs that are asked for if they are needed."""
        if approach not in self.made:
            self.made[approach] = self.priced(approach, price, Draws([0], [seed]))
        seed = exchange_seed(seed, self.number)
        if seed not in self._arrivals:
            self._arrivals[seed] = Arrivals.of(self.workload, self.setting, seed)
        return Priced(self._arrivals[seed].given_to(self.made[approach].plan), {}, (seed,))

    def beside(self, made: Priced, draws: Draws) -> Priced:
        """An approach as it is made, of another number of exchanges from rest side by side."""
        if self.layout is not None or made.plan.pattern.alone == draws.exchanges:
            return made
        of = self.parts(made.plan.approach, draws.exchanges).pattern
        plan = replace(made.plan, pattern=of, numbers=made.plan.numbers | _pattern_numbers(of, 1, self.rails))
        return replace(made, plan=plan)

    def sampled(self, approach: Approach, sampler: Sampler, draws: Draws) -> Priced:
        """An approach with some rows of a sampler."""
        price, rows = listed_price(sampler, self.workload), draws.rows

        def drawn(size: float, inside: bool) -> Costs:
            made = price(size, inside)
            return made.row(rows[0]) if len(rows) == 1 else made.rows(np.asarray(rows))

        return self.priced(approach, drawn, draws)

    def priced(self, approach: Approach, price: Price, draws: Draws) -> Priced:
        """An approach at the prices of its messages, scalars or a row each."""
        of = self.parts(approach, draws.exchanges)
        return self.at_costs(approach, of, of.at(price), draws)

    def at_costs(self, approach: Approach, of: Parts, by_class: list[Costs], draws: Draws) -> Priced:
        """An approach whose messages `of` are as large as in the first row.

        Parameters
        ----------
        by_class
            Costs by class, scalars or of shape (rows,); of one protocol in all rows.

        Raises
        ------
        PreadyError
            Transport partitions that do not divide the user partitions, or more threads than the machine's curves
            cover.
        """
        machine, workload, layout = self.machine, self.workload, self.layout
        interface, pattern, sent = approach.interface, of.pattern, approach
        seeds = [exchange_seed(s, self.number) for s in draws.seeds]
        if interface.splits:
            check_transport_partitions(approach.transport_partitions, workload.n_partitions)
        if pattern.node is not None and interface.one_by_one:
            raise PreadyError("blocking sends of ranks that share a node", valid="another approach, or a rank per node")
        if pattern.root:
            _check_relays(approach)
        contexts = machine.contexts.value
        mapping = None
        if layout is not None and layout.thread_grid is not None:
            # One message for the whole buffer waits for all threads, wherever they are.
            one_by_one = approach if interface.splits else Approach(interface)
            of_threads = mapped(pattern, workload, one_by_one, layout.thread_grid, contexts)
            mapping = of_threads if interface.splits else None
        if of.count > 1:
            mapping = mapped_to_parts(workload, approach, of.count, pattern.directions, contexts)
            sent = replace(approach, transport_partitions=1)
        members = vci_members(approach, workload.threads, contexts) if mapping is None else [*map(list, mapping.vcis)]
        x = Exchange(workload, sent, pattern, self.setting, by_class, members, mapping, len(seeds))
        fixed = {**message_numbers(x), **ready_numbers(workload, seeds[0]), **steps(x)}
        by_row: ByRow = {
            name: np.ascontiguousarray(value.reshape(len(seeds), -1)) for name, value in prices(x, fixed).items()
        }
        if layout is None and draws.firsts is not None:
            by_row["first"] = np.array(draws.firsts, np.uint64)[:, None]
        own = {name: _row(name, value) for name, value in fixed.items()} | {n: v[0] for n, v in by_row.items()}
        blocks = 1 if layout is None else layout.blocks
        made = Plan(
            pattern,
            workload,
            approach,
            seeds[0],
            of.sizes,
            tuple(by_class),
            members,
            mapping,
            x.transports,
            pattern.exchanges(blocks),
            _pattern_numbers(pattern, blocks, self.rails) | own,
            sent,
        )
        return Priced(made, by_row if len(seeds) > 1 else {}, tuple(seeds))


@lru_cache(maxsize=4)
def _made(machine: str, workload: str, layout: Layout) -> dict[Approach, Priced]:
    return {}


def _check_relays(approach: Approach) -> None:
    """Refuse what the ranks of a tree cannot send on."""
    interface = approach.interface
    if interface.one_sided or interface.one_by_one:
        raise PreadyError(f"pattern = 'bcast' with {interface.name}", valid="sends that do not block")
    if interface.completes == "master" and approach.vcis > 1:
        raise PreadyError(
            f"pattern = 'bcast' with {interface.name} over {approach.vcis} VCIs: one thread sends on what it receives",
            valid="1 VCI, or an approach whose threads complete their own messages, such as many",
        )


def without_spread(made: Plan, machine: Machine) -> Plan:
    """A plan with all partitions ready at the same time, on the machine that it was made for."""
    workload = made.workload.model_copy(update={"arrivals": NoArrivals()})
    return Arrivals.of(workload, setting_of(machine, workload), made.seed).given_to(made)


@dataclass(frozen=True)
class Arrivals:
    """When the partitions of a workload are ready, for any of its approaches."""

    workload: Workload
    setting: Setting
    seed: int
    ready: dict[str, object]
    numbers: Numbers
    """The same for the kernel, but for a table, in which approaches differ."""

    @classmethod
    def of(cls, workload: Workload, setting: Setting, seed: int) -> Arrivals:
        """Of a workload's exchange with this seed."""
        ready = ready_numbers(workload, seed)
        return cls(workload, setting, seed, ready, {n: _row(n, value) for n, value in ready.items()})

    def given_to(self, made: Plan) -> Plan:
        """A plan with these times and this seed; all else of its workload is the same."""
        own = self.numbers
        if self.ready["arrivals"] == TABLE:
            costs = list(made.costs)
            x = Exchange(self.workload, made.sent, made.pattern, self.setting, costs, made.members, made.mapping, 1)
            own = own | {"table": _row("table", tables(x, self.ready))}
        return replace(made, workload=self.workload, seed=self.seed, numbers=made.numbers | own)


def _row(name: str, value: object) -> Row:
    """As the kernel takes a field; what is no whole number where it takes whole ones is an error."""
    dtype, _ = FIELDS[name]
    return _number(dtype, value) if isinstance(value, (int, float, np.generic)) else _array(dtype, value)


def _array(dtype: str, value: object) -> Row:
    return np.array(value, ndmin=1).ravel().astype(dtype, casting="same_kind", copy=False)


@lru_cache(maxsize=1024, typed=True)
def _number(dtype: str, value: float | np.generic) -> Row:
    """The same of one number: most of a plan's fields are of few values, and not for the kernel to change."""
    row = _array(dtype, value)
    row.flags.writeable = False
    return row


@lru_cache(maxsize=4)  # as many as a step has exchanges, most often; lists of a million ranks are large
def _pattern_numbers(pattern: Pattern, blocks: int, rails: int) -> Numbers:
    """Who talks to whom, the same for hundreds of plans."""
    numbers: dict[str, object] = {
        **{name: getattr(pattern, name) for name in _OF_PATTERN},
        "pattern": KINDS[pattern.name],
        "dims": pattern.grid,
        "step": pattern.steps,
        "placed": pattern.rank_profile is not None,
        "rank_profile": [0] if pattern.rank_profile is None else pattern.rank_profile,
        "direction_class": pattern.classes,
        "profiles": len(pattern.present),
        "blocks": blocks,
        **_nodes(pattern, rails),
    }
    return {name: _row(name, value) for name, value in numbers.items()}


def _nodes(pattern: Pattern, rails: int) -> dict[str, object]:
    """The ranks of each adapter of the nodes."""
    inside = [kind.inside for kind in pattern.kinds]
    if pattern.node is None:
        return {"nodes": 0, "node_start": [0], "node_rank": np.zeros(0, np.int64), "inside": inside}
    adapter = adapters_of(pattern.node, rails)
    order = np.argsort(adapter, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(adapter))])
    return {"nodes": len(starts) - 1, "node_start": starts, "node_rank": order, "inside": inside}
