"""The other exchanges of a step, sent as they are today, while one of them is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pready.model.engine.plan import Draws, Placed, Priced
from pready.model.engine.ranks.layout import Layout, of_a_step, part
from pready.model.machine.machine import Machine
from pready.model.timeline.sampling import Sampler
from pready.model.workload.draws import deterministic
from pready.model.workload.workload import Workload


def placed(machine: Machine, step: Workload, *, rest: bool) -> list[Placed]:
    """The exchanges of a step on the ranks that stand for its own; `rest`: each from rest."""
    layouts: Sequence[Layout | None] = [None] * len(step.parts) if rest else of_a_step(step, part)
    return [Placed(machine, w, of, i) for i, (w, of) in enumerate(zip(step.parts, layouts, strict=True))]


@dataclass
class Beside:
    """The exchanges before and after one of a step; none where the step has no others."""

    machine: Machine
    number: int
    """Of the one."""
    others: Sequence[Placed]
    _made: dict[object, list[Priced]] = field(default_factory=dict)

    @classmethod
    def of(cls, machine: Machine, step: Workload | None, number: int, *, rest: bool) -> Beside:
        """Of exchange `number` of a step."""
        others = [] if step is None else [p for p in placed(machine, step, rest=rest) if p.number != number]
        return cls(machine, number, others)

    @cached_property
    def messages(self) -> int:
        """Of all of them, all ranks, a message per user partition."""
        return sum(o.pattern().edges * o.workload.n_partitions for o in self.others)

    @property
    def deterministic(self) -> bool:
        """Do all iterations look the same?"""
        return all(deterministic(o.workload) for o in self.others)

    def around(self, own: Priced, draws: Draws, sampler: Sampler | None = None, *, calm: bool = False) -> list[Priced]:
        """A step with one exchange as it is given; the others with a sampler's draws, or the machine's values."""
        if not self.others:
            return [own]
        key = (sampler is None, tuple(draws.rows), tuple(draws.seeds), draws.exchanges, calm)
        if key not in self._made:
            values = sampler or Sampler(self.machine)
            self._made[key] = [(o.calm if calm else o).sampled(o.workload.baseline, values, draws) for o in self.others]
        made = self._made[key]
        return [*made[: self.number], own, *made[self.number :]]
