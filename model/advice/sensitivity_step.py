"""Sensitivity of a step of several exchanges: each input moved in all of them (as `decides` does for one exchange)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pready.model.advice.sensitivity import THREADS, Asked, Moved, at_ends, at_steps, levers, steps
from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.engine.other_exchanges import Draws, Other, placed
from pready.model.engine.plan import listed_price
from pready.model.engine.simulate import means_of_steps
from pready.model.engine.whole_step import WholeStep
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction, Lever
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class _Case:
    """A step: the machine, its exchanges, and how each is sent."""

    machine: Machine
    parts: tuple[Workload, ...]
    ways: tuple[Approach, ...]

    @property
    def today(self) -> _Case:
        """The same with every exchange as its baseline."""
        return replace(self, ways=tuple(w.baseline for w in self.parts))

    def others(self, step: WholeStep) -> list[Other]:
        """Its exchanges on the ranks that stand for `step`."""
        out = []
        for here, w, a in zip(
            placed(self.machine, step.workload, rest=step.like.rest), self.parts, self.ways, strict=True
        ):
            layout = here.layout
            if layout is not None:
                layout = replace(layout, sizes=w.sizes, neighbour_sizes=w.neighbour_sizes)
            out.append(Other(replace(here, workload=w, layout=layout), a))
        return out

    def begin(self, sampler: Sampler) -> Array:
        """Set-up cost of all exchanges."""
        each = [begin(sampler, w, a) for w, a in zip(self.parts, self.ways, strict=True)]
        return np.asarray(sum(each), dtype=np.float64)


def decides_step(step: WholeStep, ways: Sequence[Approach], best: ApproachPrediction, min_gain: float) -> list[Lever]:
    """All inputs that move the saving of a step, the largest swing first.

    Parameters
    ----------
    ways
        How each exchange is sent.
    best
        The row of that; changes are added to its figures.
    """
    here = _Case(step.machine, step.workload.parts, tuple(ways))
    return levers([*_machine(step, here), *_workload(step, here)], best.eta, best.speedup_percent, min_gain)


def _times(step: WholeStep, cases: Sequence[_Case], samplers: Sequence[Sampler]) -> list[Array]:
    """Mean times of communication and of a whole step with its share of set-up, by case of shape (rows, 2)."""
    means = _simulated(step, cases, samplers)
    return [
        np.stack([times[:, 0], times[:, 1] + case.begin(sampler) / step.workload.iterations], axis=-1)
        for times, case, sampler in zip(means, cases, samplers, strict=True)
    ]


def _simulated(step: WholeStep, cases: Sequence[_Case], samplers: Sequence[Sampler]) -> list[Array]:
    """The same without the set-up cost, by the engine."""
    like, jobs = step.like, []
    for case, sampler in zip(cases, samplers, strict=True):
        n = max(sampler.lead + sampler.draws, 1)
        draws = Draws(range(n), [step.seed] * n, like.studied, [0] * n)
        jobs.append(([o.priced(sampler, draws) for o in case.others(step)], like.length(like.studied)))
    return means_of_steps(jobs, like.first(like.studied), like.all_cores)


def _machine(step: WholeStep, here: _Case) -> Iterator[Moved]:
    asked, both = Asked(step.machine), (here.today, here)
    for case in both:
        case.begin(asked)
        for other in case.others(step):
            price, of = listed_price(asked, other.placed.workload), other.placed.pattern()
            for size, kind in zip(other.placed.buffers(of), of.kinds, strict=True):
                price(other.approach.message_size(size), kind.inside)
    ends = asked.ends()
    if ends.groups:
        base, fine = _times(step, both, (ends, ends))
        yield from at_ends(ends, base, fine)


def _workload(step: WholeStep, here: _Case) -> Iterator[Moved]:
    moves = [*_moves(here)]
    cases = [c for case in (here, *(e for *_, ends in moves for e in ends)) for c in (case.today, case)]
    there = _times(step, cases, [Sampler(c.machine) for c in cases])
    yield from at_steps([(name, said) for name, said, _ in moves], [times[0] for times in there])


def _moves(here: _Case) -> Iterator[tuple[str, tuple[str, str], tuple[_Case, _Case]]]:
    """The steps of `decides.steps`, in all exchanges that have them; threads only if every exchange does."""
    each = [
        {name: (said, ends) for name, said, ends in steps(here.machine, w, a)}
        for w, a in zip(here.parts, here.ways, strict=True)
    ]
    for name in dict.fromkeys(n for of in each for n in of):
        having = [of[name] for of in each if name in of]
        if name == THREADS and len(having) < len(each):
            continue
        said, (first, second) = having[0]
        ends = []
        for end, machine in enumerate((first[0], second[0])):
            moved = [
                of[name][1][end] if name in of else (machine, w, a)
                for of, w, a in zip(each, here.parts, here.ways, strict=True)
            ]
            ends.append(_Case(machine, tuple(w for _, w, _ in moved), tuple(a for *_, a in moved)))
        yield name, said, (ends[0], ends[1])
