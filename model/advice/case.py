"""A machine, the exchanges of a step and how each is sent: what a question "what if" is asked of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.engine.evaluate import Evaluation, WholeStep, on_part
from pready.model.engine.plan import Compiler
from pready.model.engine.rows import Saving
from pready.model.engine.simulation import means_s
from pready.model.equations import metrics
from pready.model.machine.machine import Machine
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.workload.workload import Workload

Ways = tuple[Approach, ...]


@dataclass(frozen=True)
class Case:
    """One exchange, or several in order."""

    machine: Machine
    parts: tuple[Workload, ...]
    ways: Ways
    rest: bool = False
    """Exchanges from rest, of ranks in step, each on a node of its own."""

    @property
    def baseline(self) -> Case:
        """The case with each exchange sent as the application does now."""
        return replace(self, ways=tuple(w.baseline for w in self.parts))

    def begin(self, sampler: Sampler) -> Array:
        """Set-up cost of all exchanges over the iterations."""
        each = [begin(sampler, w, a) / w.iterations for w, a in zip(self.parts, self.ways, strict=True)]
        return np.asarray(sum(each), dtype=np.float64)


@dataclass(frozen=True)
class OneExchange:
    """A study of an exchange that is alone in its step."""

    evaluation: Evaluation
    """With its draws made."""
    approach: Approach

    @property
    def here(self) -> Case:
        """The machine and the workload as they are, with the ways to advise."""
        return Case(self.evaluation.machine, (self.evaluation.workload,), (self.approach,), self.evaluation.rest)

    @property
    def saving(self) -> Saving:
        """What an iteration saves, and with each draw of the machine."""
        return self.evaluation.saving(self.approach)

    @property
    def sampler(self) -> Sampler:
        return self.evaluation.sampler

    def sizes(self, case: Case) -> list[tuple[Workload, float]]:
        """Each exchange with the bytes of its messages, by kind."""
        return [(case.parts[0], size) for size in self.evaluation.message_sizes(case.ways[0])]

    def percent(self, cases: Sequence[Case]) -> list[float]:
        """What each case saves over its baseline, the parameters at their values; all simulated in one call."""
        asked = list(dict.fromkeys(one for c in cases for one in (c.baseline, c)))
        times = self.evaluation.elsewhere([(c.machine, c.parts[0], c.ways[0]) for c in asked])
        whole = {c: float(t[1] + c.begin(Sampler(c.machine))) for c, t in zip(asked, times, strict=True)}
        return [float(metrics.speedup_percent(whole[c.baseline], whole[c])) for c in cases]


@dataclass(frozen=True)
class StepOfSeveral:
    """A study of a step of several exchanges."""

    step: WholeStep
    ways: Ways
    saving: Saving

    @property
    def here(self) -> Case:
        return Case(self.step.machine, self.step.workload.parts, self.ways, self.step.like.rest)

    @property
    def sampler(self) -> Sampler:
        return self.step.like.sampler

    def sizes(self, case: Case) -> list[tuple[Workload, float]]:
        return [
            (there.workload, approach.message_size(size))
            for there, approach in self._compilers(case)
            for size in there.buffers(there.pattern())
        ]

    def percent(self, cases: Sequence[Case]) -> list[float]:
        """All simulated in one call."""
        like, asked = self.step.like, list(dict.fromkeys(one for c in cases for one in (c.baseline, c)))
        length, first = like.length(like.studied), like.first(like.studied)
        seed, count = self.step.seed, like.side_by_side(like.studied)
        jobs = [
            ([p.sampled(a, Sampler(c.machine), seed, exchanges=count) for p, a in self._compilers(c)], length)
            for c in asked
        ]
        times = means_s(jobs, [first] * len(jobs), like.all_cores)
        whole = {c: float(t[0, 1] + c.begin(Sampler(c.machine))) for c, t in zip(asked, times, strict=True)}
        return [float(metrics.speedup_percent(whole[c.baseline], whole[c])) for c in cases]

    def _compilers(self, case: Case) -> list[tuple[Compiler, Approach]]:
        """The case's exchanges on the ranks that stand for the step, and how each is sent."""
        out, whole, per_node = list[tuple[Compiler, Approach]](), self.step.workload, case.parts[0].ranks_per_node
        if per_node != whole.ranks_per_node:
            whole = whole.changed(ranks_per_node=per_node)
        here = on_part(case.machine, whole, rest=self.step.like.rest)
        for there, w, a in zip(here, case.parts, case.ways, strict=True):
            layout = there.layout
            if layout is not None:
                layout = replace(layout, sizes=w.sizes, neighbour_sizes=w.neighbour_sizes)
            out.append((replace(there, workload=w, layout=layout), a))
        return out


Study = OneExchange | StepOfSeveral
"""What is predicted, and how other cases of it are."""
