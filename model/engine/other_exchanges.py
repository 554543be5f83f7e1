"""The other exchanges of a step, sent as they are today, while one of them is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.engine.alone import alone, buffers_alone
from pready.model.engine.plan import Priced, listed_price, priced, with_arrivals
from pready.model.engine.ranks.layout import Layout, of_a_step, part
from pready.model.engine.ranks.parts import Parts, parts
from pready.model.engine.ranks.pattern import Pattern
from pready.model.machine.machine import Machine
from pready.model.timeline.costs import Costs
from pready.model.timeline.rules import Setting, setting_of
from pready.model.timeline.sampling import Sampler
from pready.model.workload.arrivals import NoArrivals
from pready.model.workload.draws import deterministic, exchange_seed
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload


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

    def at_values(self, approach: Approach, values: Callable[[], list[Costs]], seed: int) -> Priced:
        """An approach of ranks that go on, at costs by class that are asked for if they are needed."""
        if approach not in self.made:
            self.made[approach] = self.priced(approach, values(), Draws([0], [seed]))
        seed = exchange_seed(seed, self.number)
        return Priced(with_arrivals(self.made[approach].plan, self.workload, self.setting, seed), {}, (seed,))

    def pattern(self, exchanges: int = 1) -> Pattern:
        """Who talks to whom."""
        return alone(self.workload, exchanges) if self.layout is None else self.layout.pattern(self.workload)

    def buffers(self, of: Pattern) -> tuple[float, ...]:
        """Bytes for a neighbour by class."""
        return buffers_alone(self.workload) if self.layout is None else self.layout.buffers(self.workload, of)

    def parts(self, approach: Approach, exchanges: int = 1) -> Parts:
        """Its messages."""
        of = self.pattern(exchanges)
        return parts(self.workload, approach, of, self.buffers(of))

    def priced(self, approach: Approach, by_class: list[Costs], draws: Draws) -> Priced:
        """Its messages at given costs, by class of shape () or a row each."""
        layout = self.layout
        return priced(
            self.machine,
            self.workload,
            approach,
            self.parts(approach, draws.exchanges),
            by_class,
            seeds=[exchange_seed(s, self.number) for s in draws.seeds],
            blocks=1 if layout is None else layout.blocks,
            thread_grid=None if layout is None else layout.thread_grid,
            firsts=draws.firsts if layout is None else None,
            setting=self.setting,
        )


@lru_cache(maxsize=4)
def _made(machine: str, workload: str, layout: Layout) -> dict[Approach, Priced]:
    return {}


def placed(machine: Machine, step: Workload, each: Callable[[Workload], Layout] = part, *, rest: bool) -> list[Placed]:
    """The exchanges of a step; `rest`: each from rest."""
    layouts: Sequence[Layout | None] = [None] * len(step.parts) if rest else of_a_step(step, each)
    return [Placed(machine, w, of, i) for i, (w, of) in enumerate(zip(step.parts, layouts, strict=True))]


@dataclass(frozen=True)
class Other:
    """One exchange of a step, and how it is sent."""

    placed: Placed
    approach: Approach

    def priced(self, sampler: Sampler, draws: Draws, *, calm: bool = False) -> Priced:
        """With some rows of a sampler."""
        here = self.placed
        if calm:
            here = replace(here, workload=here.workload.model_copy(update={"arrivals": NoArrivals()}))
        of, price = here.parts(self.approach), listed_price(sampler, here.workload)
        made = [price(size, inside) for size, inside in zip(of.sizes, of.inside, strict=True)]
        rows = draws.rows
        by_class = [c.row(rows[0]) if len(rows) == 1 else c.rows(np.asarray(rows)) for c in made]
        return here.priced(self.approach, by_class, draws)


@dataclass
class Beside:
    """The exchanges before and after one of a step; none where the step has no others."""

    machine: Machine
    seed: int
    number: int
    others: tuple[Other, ...]
    _made: dict[object, list[Priced]] = field(default_factory=dict)

    @classmethod
    def of(cls, machine: Machine, step: Workload | None, number: int, seed: int, *, rest: bool) -> Beside:
        """Of exchange `number` of a step."""
        if step is None:
            return cls(machine, seed, 0, ())
        others = [Other(p, p.workload.baseline) for p in placed(machine, step, rest=rest) if p.number != number]
        return cls(machine, seed, number, tuple(others))

    @cached_property
    def messages(self) -> int:
        """Of all of them, all ranks, a message per user partition."""
        return sum(o.placed.pattern().edges * o.placed.workload.n_partitions for o in self.others)

    @property
    def deterministic(self) -> bool:
        """Do all iterations look the same?"""
        return all(deterministic(o.placed.workload) for o in self.others)

    def around(self, own: Priced, draws: Draws, sampler: Sampler | None = None, *, calm: bool = False) -> list[Priced]:
        """A step with one exchange as it is given; the others with a sampler's draws, or the machine's values."""
        if not self.others:
            return [own]
        key = (sampler is None, tuple(draws.rows), tuple(draws.seeds), draws.exchanges, calm)
        if key not in self._made:
            values = sampler or Sampler(self.machine)
            self._made[key] = [o.priced(values, draws, calm=calm) for o in self.others]
        made = self._made[key]
        return [*made[: self.number], own, *made[self.number :]]
