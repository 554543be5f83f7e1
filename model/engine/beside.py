"""The other exchanges of a step, sent as they are today, while one of them is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pready.model.arrival_models import NoArrivals
from pready.model.arrivals import exchange_seed
from pready.model.costs import Costs
from pready.model.engine.layout import Layout, of_a_step, part
from pready.model.engine.pattern import Pattern
from pready.model.engine.plan import Priced, listed_price, priced
from pready.model.evaluate import deterministic
from pready.model.interfaces import Approach
from pready.model.machine import Machine
from pready.model.sampling import Sampler
from pready.model.workload import Workload


@dataclass
class Other:
    """One exchange of a step: who talks to whom, and its costs with each draw of the machine."""

    machine: Machine
    workload: Workload
    layout: Layout
    number: int
    approach: Approach
    pattern: Pattern = field(init=False)

    def __post_init__(self) -> None:
        self.pattern = self.layout.pattern(self.workload)

    def priced(self, sampler: Sampler, rows: Sequence[int], seeds: Sequence[int], *, calm: bool = False) -> Priced:
        """With some rows of a sampler, each from a step's seed."""
        workload = self.workload.model_copy(update={"arrivals": NoArrivals()}) if calm else self.workload
        each = [self.approach.message_size(b) for b in self.layout.buffers(workload, self.pattern)]
        price = listed_price(sampler, workload)
        made = [price(size, kind.inside) for size, kind in zip(each, self.pattern.kinds, strict=True)]
        by_class = [c.row(rows[0]) if len(rows) == 1 else Costs.stack([c.row(r) for r in rows], 1) for c in made]
        return priced(
            self.machine,
            workload,
            self.approach,
            self.pattern,
            each,
            by_class,
            seeds=[exchange_seed(s, self.number) for s in seeds],
            blocks=self.layout.blocks,
            thread_grid=self.layout.thread_grid,
        )


@dataclass
class Beside:
    """The exchanges before and after one of a step; none where the step has no others."""

    machine: Machine
    seed: int
    number: int
    others: tuple[Other, ...]
    _made: dict[object, list[Priced]] = field(default_factory=dict)

    @classmethod
    def of(cls, machine: Machine, step: Workload | None, number: int, seed: int) -> Beside:
        """Of exchange `number` of a step."""
        if step is None:
            return cls(machine, seed, 0, ())
        each = [*zip(step.parts, of_a_step(step, part), strict=True)]
        others = [Other(machine, w, of, i, w.baseline) for i, (w, of) in enumerate(each) if i != number]
        return cls(machine, seed, number, tuple(others))

    @property
    def messages(self) -> int:
        """Of all of them, all ranks, a message per user partition."""
        return sum(o.pattern.edges * o.workload.n_partitions for o in self.others)

    @property
    def deterministic(self) -> bool:
        """Do all iterations look the same?"""
        return all(deterministic(o.workload) for o in self.others)

    def around(
        self,
        own: Priced,
        sampler: Sampler | None = None,
        rows: Sequence[int] = (0,),
        seeds: Sequence[int] | None = None,
        *,
        calm: bool = False,
    ) -> list[Priced]:
        """A step with one exchange as it is given.

        Parameters
        ----------
        sampler, rows
            Whose draws the others take, the same sampler in all calls; absent: the machine's values.
        seeds
            Of the step, by row; absent: its own.
        """
        if not self.others:
            return [own]
        given = [self.seed] if seeds is None else seeds
        key = (sampler is None, tuple(rows), tuple(given), calm)
        if key not in self._made:
            values = sampler or Sampler(self.machine)
            self._made[key] = [o.priced(values, rows, given, calm=calm) for o in self.others]
        made = self._made[key]
        return [*made[: self.number], own, *made[self.number :]]
