"""Sensitivity: each input moved by itself, and how that changes what the advised approach saves.

A value of the machine goes to the ends of its interval, all values of one term together; a field of the workload goes
a stated step either way. Approach and draws stay the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, TypeVar, get_args

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.normal import Z95
from pready.model.engine.evaluate import Evaluation
from pready.model.equations import metrics
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine
from pready.model.machine.path import Progress
from pready.model.result.prediction import Lever
from pready.model.timeline.costs import costs
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.timeline.terms import TERMS, of_value
from pready.model.workload.arrivals import Drawn, Gaussian, Measured
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload

T = TypeVar("T")

STEP = 2.0
"""A field of the workload is divided and multiplied by it."""
NOTABLE_PERCENT = 0.01
"""Of an iteration: inputs that move less are not listed."""


def decides(evaluation: Evaluation, approach: Approach, min_gain: float) -> list[Lever]:
    """All inputs that move an approach's saving, the largest swing first.

    Changes are added to the figures of the prediction.
    """
    found = [*_machine(evaluation, approach), *_workload(evaluation, approach)]
    machine, workload = evaluation.machine, evaluation.workload
    both = (workload.baseline, approach)
    here_eta, here = gain([_run(evaluation.means(a), Sampler(machine), workload, a) for a in both])
    return levers(found, here_eta, here, min_gain)


def levers(found: Iterable[Moved], here_eta: float, here: float, min_gain: float) -> list[Lever]:
    """Changes, added to η and the percent saved of the prediction, the largest swing first."""
    out: list[Lever] = []
    for name, kind, said, etas, saved in found:
        percent = here + saved[0], here + saved[1]
        worth = {p >= 100 * min_gain for p in (here, *percent)}
        eta = float(here_eta * etas[0]), float(here_eta * etas[1])
        out.append(Lever(name, kind, said, here, percent, eta, len(worth) > 1))
    return sorted((x for x in out if x.swing > NOTABLE_PERCENT), key=lambda x: -x.swing)


Moved = tuple[str, Literal["machine", "workload"], tuple[str, str], tuple[float, float], tuple[float, float]]
"""Name, kind, steps; for both ends the factor of η and the change of the saving."""


def gain(base_and_fine: Sequence[Array]) -> tuple[float, float]:
    """η and percent saved of an iteration."""
    base, fine = base_and_fine
    return float(metrics.eta(base[0], fine[0])), float(metrics.speedup_percent(base[1], fine[1]))


def _run(means: Array, sampler: Sampler, workload: Workload, approach: Approach) -> Array:
    """Mean times of an exchange and an iteration, shape (2,) or (rows, 2), the latter with its share of set-up."""
    once = begin(sampler, workload, approach) / workload.iterations
    return np.stack([means[..., 0], means[..., 1] + once], axis=-1)


class Ends(Sampler):
    """A machine's values as they stand, then with each group of them at its low ends and at its high ends.

    Parameters
    ----------
    groups
        The group of each value, by the name it is drawn by; other values stay.
    """

    def __init__(self, machine: Machine, groups: dict[str, str]) -> None:
        self.groups = [name for name in dict.fromkeys(t.name for t in TERMS) if name in groups.values()]
        super().__init__(machine, draws=2 * len(self.groups), lead=1)
        self._place = {name: self.groups.index(group) for name, group in groups.items()}

    @property
    def rows(self) -> int:
        """Number of machines."""
        return self.lead + self.draws

    def normals(self, name: str) -> Array:
        """Z95 down and up in the rows of the value's group."""
        z = np.zeros(self.rows)
        place = self._place.get(name)
        if place is not None:
            z[1 + 2 * place : 3 + 2 * place] = -Z95, Z95
        return z


class Asked(Sampler):
    """Records the names of the values that costs are made of."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, draws=1)
        self.names: dict[str, None] = {}

    def normals(self, name: str) -> Array:
        """No draw; only the name is kept."""
        self.names[name] = None
        return np.zeros(1)

    def ends(self) -> Ends:
        """The machines at the ends of the values that were asked for."""
        return Ends(self.machine, {name: group for name in self.names if (group := _group(name)) is not None})


def _group(drawn: str) -> str | None:
    """The term of a value, by the name it is drawn by; values of `threads` are drawn by their last name."""
    for label in (drawn, f"threads.{drawn}"):
        term = of_value(label)
        if term is not None:
            return term.name
    return None


def _machine(evaluation: Evaluation, approach: Approach) -> Iterator[Moved]:
    asked, both = Asked(evaluation.machine), (evaluation.workload.baseline, approach)
    for a in both:
        begin(asked, evaluation.workload, a)
    for size in {size for a in both for size in evaluation.message_sizes(a)}:
        costs(asked, evaluation.workload, size)
    ends = asked.ends()
    if not ends.groups:
        return
    moved = evaluation.moved(both, ends)
    base, fine = (_run(times, ends, evaluation.workload, a) for times, a in zip(moved, both, strict=True))
    yield from at_ends(ends, base, fine)


def at_ends(ends: Ends, base: Array, fine: Array) -> Iterator[Moved]:
    """The effect of each group of values, from the times of baseline and approach on all machines of `ends`."""
    eta, saved = metrics.eta(base[:, 0], fine[:, 0]), metrics.speedup_percent(base[:, 1], fine[:, 1])
    for place, name in enumerate(ends.groups):
        low, high = 1 + 2 * place, 2 + 2 * place
        yield (
            name,
            "machine",
            ("low end", "high end"),
            (float(eta[low] / eta[0]), float(eta[high] / eta[0])),
            (float(saved[low] - saved[0]), float(saved[high] - saved[0])),
        )


def _workload(evaluation: Evaluation, approach: Approach) -> Iterator[Moved]:
    moves = [*steps(evaluation.machine, evaluation.workload, approach)]
    here = (evaluation.machine, evaluation.workload, approach)
    cases = [(m, w, a) for m, w, fine in (here, *(e for *_, ends in moves for e in ends)) for a in (w.baseline, fine)]
    times = evaluation.elsewhere(cases)
    there = [_run(t, Sampler(m), w, a) for t, (m, w, a) in zip(times, cases, strict=True)]
    yield from at_steps([(name, said) for name, said, _ in moves], there)


def at_steps(moves: Sequence[tuple[str, tuple[str, str]]], there: Sequence[Array]) -> Iterator[Moved]:
    """The effect of each step, from the times of baseline and approach, unmoved and at both ends of each step."""
    gains = [gain(pair) for pair in zip(there[::2], there[1::2], strict=True)]
    here_eta, as_is = gains[0]
    for place, (name, said) in enumerate(moves):
        (low_eta, low), (high_eta, high) = gains[1 + 2 * place : 3 + 2 * place]
        yield name, "workload", said, (low_eta / here_eta, high_eta / here_eta), (low - as_is, high - as_is)


Case = tuple[Machine, Workload, Approach]


THREADS = "threads, each with as much work"


def steps(
    machine: Machine, workload: Workload, approach: Approach
) -> Iterator[tuple[str, tuple[str, str], tuple[Case, Case]]]:
    """Steps of a workload's fields and of a machine's choices; both ends have to be possible."""
    halves = f"÷ {STEP:g}", f"× {STEP:g}"
    for name, scaled in (("spread of arrivals", _wider), ("compute time", _longer), ("buffer", _larger)):
        ends = _both(partial(scaled, workload))
        if ends is not None:
            yield name, halves, ((machine, ends[0], approach), (machine, ends[1], approach))
    more = _both(partial(_threads, machine, workload, approach))
    if more is not None:
        yield THREADS, halves, more
    here = machine.progress
    first, second = (p for p in get_args(Progress) if p != here.value)
    a, b = (machine.progressing(p) for p in (first, second))
    yield f"progress ({here.value})", (first, second), ((a, workload, approach), (b, workload, approach))


def _both(move: Callable[[float], T | None]) -> tuple[T, T] | None:
    try:
        low, high = move(1 / STEP), move(STEP)
    except PreadyError:
        return None
    return None if low is None or high is None else (low, high)


def _wider(workload: Workload, by: float) -> Workload | None:
    arrivals = workload.arrivals
    if not isinstance(arrivals, Drawn):
        return None
    names = [*arrivals.widths, *(("delta",) if isinstance(arrivals, Gaussian) else ())]
    wide = {n: by * value for n in names if (value := getattr(arrivals, n)) is not None}
    return workload.model_copy(update={"arrivals": arrivals.model_copy(update=wide)}).changed()


def _larger(workload: Workload, by: float) -> Workload:
    return workload.at_buffer(by * workload.buffer)


def _longer(workload: Workload, by: float) -> Workload | None:
    if workload.thread_time == 0:
        return None
    of = workload.compute
    one = (
        {"time": by * of.time}
        if isinstance(of, ComputeTime)
        else {"arithmetic_intensity": by * of.arithmetic_intensity}
    )
    return workload.model_copy(update={"compute": of.model_copy(update=one)})


def _threads(machine: Machine, workload: Workload, approach: Approach, by: float) -> Case | None:
    """Other numbers of threads, each with its part of the messages; not for a trace, which has times of these only."""
    threads = by * workload.threads
    if threads != int(threads) or (isinstance(workload.arrivals, Measured) and workload.arrivals.model == "trace"):
        return None
    other = workload.model_copy(update={"threads": int(threads)}).changed()
    machine.threads.barrier.at(int(threads))
    contention(machine).at(int(threads))
    if not approach.interface.splits:
        return machine, other, approach
    transport = math.gcd(max(1, int(by * approach.transport_partitions)), other.n_partitions)
    return machine, other, approach.interface.into(transport, min(approach.vcis, transport))
