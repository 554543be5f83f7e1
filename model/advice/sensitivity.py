"""Sensitivity: what an iteration saves as each input is another, and what it is worth to know that input better.

A value of the machine is moved by its draws: the saving is fitted to them, all values of one term together. What nobody
measured is another by `unknowns`, and a field of the workload by a stated step either way; these are simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from pready.model.advice.case import Case, Study, Ways
from pready.model.advice.unknowns import unknowns
from pready.model.approach.interfaces import Approach
from pready.model.common import normal
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine
from pready.model.machine.path import SizeCurve
from pready.model.machine.threads import Contention
from pready.model.result.prediction import Lever, LeverKind, Source
from pready.model.timeline.costs import costs
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.terms import of_value
from pready.model.toml.provenance import Value
from pready.model.workload.arrivals import Drawn, Gaussian, Measured
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload

T = TypeVar("T")

STEP = 2.0
"""A field of the workload is divided and multiplied by it."""
NOTABLE_PERCENT = 0.01
"""Percent of an iteration: inputs that move less are not listed."""
AS_IT_IS = 0.5
"""Weight of what a file says of an input that nobody measured; what else it could be shares the rest."""
TELLS = {
    "set-up cost": "begin",
    "the threads' barrier": "approach",
    "contention for the VCI's lock": "contention",
    "threads that wait in MPI": "",
    "message overhead o_s": "prtt",
    "the eager copies": "pingpong,memcpy",
    "the rendezvous handshake": "pingpong",
    "the gap between messages": "prtt,rate",
    "bandwidth": "prtt",
    "latency": "pingpong",
    "receive overhead and matching": "receive",
    "RMA synchronisation": "approach",
    "the active message": "memcpy",
    "the adapter that ranks of a node share": "",
}
"""The measurements of ``pready calibrate`` that tell a term's values; several ranks of a node, none of two ranks."""


@dataclass(frozen=True)
class Sensitivity:
    """What the saving depends on."""

    levers: list[Lever]
    """Inputs that move it, the largest swing first."""
    rests_on: dict[str, int]
    """Number of the machine's values by source."""
    probability: float
    """Share of the draws of the machine with which the saving is enough."""


def sensitivity(study: Study, rivals: Sequence[Ways], min_gain: float) -> Sensitivity:
    """All inputs that move a saving.

    Parameters
    ----------
    rivals
        Other ways that would be advised if an unknown input made them pay; none if a way is advised already.
    """
    here = study.here
    asked = _asked(study)
    found = [*_machine(study, asked, min_gain), *_elsewhere(study, rivals, min_gain)]
    listed = sorted((x for x in found if x.swing > NOTABLE_PERCENT), key=lambda x: -x.swing)
    sources = {**asked.sources}
    if any(a.interface.shakes for a in (*here.ways, *here.baseline.ways)):
        sources["progress"] = here.machine.progress.source
    counts = {s: sum(of == s for of in sources.values()) for s in ("measured", "literature", "assumed")}
    return Sensitivity(listed, counts, float(np.mean(study.saving.draws >= 100 * min_gain)))


class Asked(Sampler):
    """Records the names and sources of the values that costs are made of."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, draws=1)
        self.sources: dict[str, Source] = {}
        self.drawn: dict[str, None] = {}
        """Names of those with an interval."""

    def normals(self, name: str) -> Array:
        """No draw; only the name is kept."""
        self.drawn[name] = None
        return np.zeros(1)

    def __call__(self, name: str, value: Value[float]) -> Array:
        """The value as it stands."""
        self.sources[name] = value.source
        return super().__call__(name, value)

    def curve(self, name: str, curve: SizeCurve, size: float) -> Array:
        self.sources[name] = curve.source
        return super().curve(name, curve, size)

    def relative(self, name: str, value: float, interval: float) -> Array:
        """The value as it stands; the barrier's source is the machine's."""
        if name == "barrier":
            self.sources[name] = self.machine.threads.barrier.source
        return super().relative(name, value, interval)

    def sharing(self, name: str, curve: Contention, threads: int) -> Array:
        self.sources[name] = curve.source
        return super().sharing(name, curve, threads)


def _asked(study: Study) -> Asked:
    asked = Asked(study.here.machine)
    for case in (study.here.baseline, study.here):
        case.begin(asked)
        for workload, size in study.sizes(case):
            costs(asked, workload, size)
    return asked


def _group(drawn: str) -> str | None:
    """The term of a value, by the name it is drawn by; values of `threads` are drawn by their last name."""
    for label in (drawn, f"threads.{drawn}"):
        term = of_value(label)
        if term is not None:
            return term.name
    return None


def _machine(study: Study, asked: Asked, min_gain: float) -> Iterator[Lever]:
    """Terms of the machine, from the draws."""
    saving, groups = study.saving, dict[str, list[str]]()
    for name in asked.drawn:
        if (term := _group(name)) is not None:
            groups.setdefault(term, []).append(name)
    draws = len(saving.draws)
    if draws < 2 or not groups:
        return
    names = [n for of in groups.values() for n in of]
    slopes = dict(zip(names, _slopes(study.sampler, names, saving.draws), strict=True))
    here = saving.percent
    for term, of in groups.items():
        deviation = math.hypot(*(slopes[n] for n in of))
        up = math.copysign(deviation, sum(slopes[n] for n in of))
        ends = here - normal.Z95 * up, here + normal.Z95 * up
        sources = {asked.sources[n] for n in of}
        yield Lever(
            name=term,
            kind="machine",
            source="assumed" if "assumed" in sources else "literature" if "literature" in sources else "measured",
            steps=("low end", "high end"),
            here_percent=here,
            speedup_percent=ends,
            turns=_turns(here, ends, min_gain),
            worth_percent=_worth_of_normal(here - 100 * min_gain, deviation),
            measure=TELLS.get(term, ""),
        )


def _slopes(sampler: Sampler, names: Sequence[str], saved: Array) -> Array:
    """Change of the saving by each value's standard normal draw: a linear fit."""
    z = np.stack([sampler.normals(n)[sampler.lead :][: len(saved)] for n in names], axis=1)
    off = saved - saved.mean()
    if len(saved) < 2 * len(names):  # too few for a fit: each by itself
        return np.asarray(z.T @ off / len(saved))
    centred = z - z.mean(axis=0)
    return np.asarray(np.linalg.lstsq(centred, off, rcond=None)[0])


def _worth_of_normal(middle: float, deviation: float) -> float:
    """E max(S, 0) - max(E S, 0) of a normal S."""
    if deviation <= 0:
        return 0.0
    u = abs(middle) / deviation
    return deviation * (math.exp(-u * u / 2) / math.sqrt(2 * math.pi) - u * normal.below(-u))


def worth_of_knowing(saved: Sequence[float], weights: Sequence[float]) -> float:
    """Expected value of knowing which of several savings is true before deciding: Σ w max(S, 0) - max(Σ w S, 0)."""
    known = math.fsum(w * max(s, 0.0) for s, w in zip(saved, weights, strict=True))
    return known - max(math.fsum(w * s for s, w in zip(saved, weights, strict=True)), 0.0)


def _turns(here: float, ends: Sequence[float], min_gain: float) -> bool:
    return len({p >= 100 * min_gain for p in (here, *ends)}) > 1


def _elsewhere(study: Study, rivals: Sequence[Ways], min_gain: float) -> Iterator[Lever]:
    """What nobody measured, and the fields of the workload."""
    here = study.here
    seen = {way: unknowns(replace(here, ways=way)) for way in (here.ways, *rivals)}
    moves = [*_moves(here)]
    cases = [here, *(c for _, _, ends in moves for c in ends)]
    cases += [case for of in seen.values() for u in of for _, case in u.others]
    saved = iter(study.percent(cases))
    shift = study.saving.percent - next(saved)
    for name, said, ends in moves:
        percent = tuple(shift + next(saved) for _ in ends)
        yield _lever(study, name, "workload", "given", said, percent, min_gain, "")
    best: dict[str, tuple[Source, list[str], list[float], str]] = {}
    for of in seen.values():
        for u in of:
            each = [shift + next(saved) for _ in u.others]
            source, said_of, already, measure = best.setdefault(
                u.name, (u.source, [s for s, _ in u.others], list(each), u.measure)
            )
            best[u.name] = source, said_of, [max(a, b) for a, b in zip(already, each, strict=True)], measure
    for name, (source, clauses, percents, measure) in best.items():
        yield _lever(study, name, "unknown", source, tuple(clauses), tuple(percents), min_gain, measure)


def _lever(
    study: Study,
    name: str,
    kind: LeverKind,
    source: Source,
    steps: tuple[str, ...],
    percent: tuple[float, ...],
    min_gain: float,
    measure: str,
) -> Lever:
    here, least = study.saving.percent, 100 * min_gain
    weights = [AS_IT_IS, *[(1 - AS_IT_IS) / len(percent)] * len(percent)]
    worth = 0.0 if kind == "workload" else worth_of_knowing([p - least for p in (here, *percent)], weights)
    return Lever(
        name=name,
        kind=kind,
        source=source,
        steps=steps,
        here_percent=here,
        speedup_percent=percent,
        turns=_turns(here, percent, min_gain),
        worth_percent=worth,
        measure=measure,
    )


THREADS = "threads, each with as much work"
Move = tuple[str, tuple[str, str], tuple[Case, Case]]


def _moves(here: Case) -> Iterator[Move]:
    """Steps in all exchanges that have them; threads only if every exchange does."""
    each = [
        {name: (said, ends) for name, said, ends in steps(here.machine, w, a)}
        for w, a in zip(here.parts, here.ways, strict=True)
    ]
    for name in dict.fromkeys(n for of in each for n in of):
        having = [of[name] for of in each if name in of]
        if name == THREADS and len(having) < len(each):
            continue
        said, ends = having[0][0], []
        for end in (0, 1):
            moved = [
                of[name][1][end] if name in of else (w, a) for of, w, a in zip(each, here.parts, here.ways, strict=True)
            ]
            ends.append(replace(here, parts=tuple(w for w, _ in moved), ways=tuple(a for _, a in moved)))
        yield name, said, (ends[0], ends[1])


Sent = tuple[Workload, Approach]


def steps(
    machine: Machine, workload: Workload, approach: Approach
) -> Iterator[tuple[str, tuple[str, str], tuple[Sent, Sent]]]:
    """Steps of a workload's fields; both ends have to be possible."""
    halves = f"÷ {STEP:g}", f"× {STEP:g}"
    for name, scaled in (("spread of arrivals", _wider), ("compute time", _longer), ("buffer", _larger)):
        ends = _both(partial(scaled, workload))
        if ends is not None:
            yield name, halves, ((ends[0], approach), (ends[1], approach))
    more = _both(partial(_threads, machine, workload, approach))
    if more is not None:
        yield THREADS, halves, more


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


def _threads(machine: Machine, workload: Workload, approach: Approach, by: float) -> Sent | None:
    """Other numbers of threads, each with its part of the messages; not for a trace, which has times of these only."""
    threads = by * workload.threads
    if threads != int(threads) or (isinstance(workload.arrivals, Measured) and workload.arrivals.model == "trace"):
        return None
    other = workload.model_copy(update={"threads": int(threads)}).changed()
    machine.threads.barrier.at(int(threads))
    contention(machine).at(int(threads))
    if not approach.interface.splits:
        return other, approach
    transport = math.gcd(max(1, int(by * approach.transport_partitions)), other.n_partitions)
    return other, approach.interface.into(transport, min(approach.vcis, transport))
