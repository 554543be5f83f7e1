"""What a saving rests on, read from its draws: the share of its variance that each input explains, what it is where an
input is at either end, and what decides it soonest: a field that the user knows, a measurement, or real MPI.

An input explains the variance of the saving's mean by bins of its draws, less what the bins' own scatter explains by
chance: the correlation ratio of Pearson, ε² (Kelley 1935). Libraries for sensitivity want draws in a design of their
own, and bring pandas and Matplotlib into every installation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Array, Wholes
from pready.model.machine.machine import Machine
from pready.model.result.interval import median
from pready.model.result.prediction import Lever, Source, Verdict
from pready.model.result.verdict import certainty_of, enough, verdict_of
from pready.model.timeline.own_error import NAME as OWN_ERROR
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.terms import of_value
from pready.model.toml.provenance import Provenance

BINS = 8
"""Bins of an input's draws, of equally many each."""
LEAST = 0.1
"""Share of the variance from which on an input is listed: of an input that explains nothing, 169 draws show as much in
fewer than one case in a hundred."""
MEASURES: Mapping[str, str] = {
    "set-up cost": "begin",
    "the threads' barrier": "approach",
    "contention for the VCI's lock": "contention",
    "message overhead o_s": "prtt",
    "the eager copies": "pingpong,memcpy",
    "the rendezvous handshake": "pingpong",
    "the border of the rendezvous": "pingpong",
    "the gap between messages": "prtt,rate",
    "bandwidth": "prtt",
    "latency": "pingpong",
    "receive overhead and matching": "receive",
    "MPI_Put": "approach",
    "RMA synchronisation": "approach",
    "the active message": "memcpy",
}
"""The measurements of ``pready calibrate`` that tell a term's values; several ranks of a node, none of two ranks."""
FIELDS: Mapping[str, str] = {
    "ranks per node": "ranks_per_node = N",
    "share of an adapter": "ranks_per_node = N",
    "placement": "placement",
    "receiver": "receiver",
    "arrivals.partitions": "arrivals.partitions",
    "thread_grid": "thread_grid",
}
"""How a workload states an alternative, which its user knows."""
MINUTES: Mapping[str, float] = {"prove": 3.0, "approach": 2.0}
"""On two nodes; one that is not listed takes one."""
_DRAWN = {"barrier": "threads.barrier", "contention": "threads.contention", "waiting": "threads.waiting"}
"""Names in the file of values that are drawn by another."""


@dataclass(frozen=True)
class Column:
    """The draws of one input."""

    input: str
    source: Source
    bins: Wholes
    """By draw."""
    ends: tuple[str, str] | tuple[str, ...]
    """The lowest and the highest bin, or each option, in words."""


def columns(sampler: Sampler) -> list[Column]:
    """All inputs that were drawn, by draw: without the rows of values as they stand."""
    out, sources, lead = list[Column](), _sources(sampler.machine), sampler.lead
    for name in sampler.drawn:
        own = name.startswith(OWN_ERROR)
        what = OWN_ERROR if own else _term(name)
        source: Source = "assumed" if own else sources.get(_DRAWN.get(name, name), "assumed")
        out.append(Column(what, source, _bins(sampler.normals(name)[lead:]), ("low end", "high end")))
    for of in sampler.alternatives.values():
        out.append(Column(of.name, of.source, sampler.chosen(of.name)[lead:], of.said))
    return out


def _term(name: str) -> str:
    if name.endswith(".begins"):
        return "the border of the rendezvous"
    if name == "one_sided.put":
        return "MPI_Put"
    term = of_value(_DRAWN.get(name, name))
    return name if term is None else term.name


def _sources(machine: Machine) -> dict[str, Source]:
    return {name: value.source for name, value in machine.values() if isinstance(value, Provenance)}


def explained(values: Array, bins: Wholes) -> float:
    """The share of the variance of values that their bins explain, beyond chance."""
    total, n = float(((values - values.mean()) ** 2).sum()), len(values)
    some = [values[bins == b] for b in np.unique(bins)]
    if total <= 0 or len(some) < 2 or n <= len(some):
        return 0.0
    within = float(sum(((v - v.mean()) ** 2).sum() for v in some))
    return max(1 - within / (n - len(some)) * (n - 1) / total, 0.0)


def wrong(saves: NDArray[np.bool_], bins: Wholes) -> float:
    """The chance of a wrong verdict where one knows the bin: each draw is judged by the others of its bin, so that bins
    of what tells nothing leave as much as none."""
    out = 0.0
    for b in np.unique(bins):
        yes, no = int(saves[bins == b].sum()), int((~saves[bins == b]).sum())
        missed = yes * ((yes - 1 < no) + (yes - 1 <= no)) / 2 + no * ((no - 1 < yes) + (no - 1 <= yes)) / 2
        out += min(missed, (yes + no) / 2)
    return out / len(saves)


def levers(sampler: Sampler, percent: Array, min_gain: float) -> list[Lever]:
    """Inputs by the share of the saving's variance that they explain, the largest first.

    One after the other: each explains what those before it leave, so that the shares add up to at most 1.
    """
    left, variance = percent - percent.mean(), float(percent.var())
    able, found = columns(sampler), dict[str, Lever]()
    while able and left.var() > 0:
        shares = [explained(left, of.bins) * float(left.var()) / variance for of in able]
        most = int(np.argmax(shares))
        if shares[most] < LEAST:
            break
        of = able.pop(most)
        for b in np.unique(of.bins):
            left = np.where(of.bins == b, left - left[of.bins == b].mean(), left)
        before = found.get(of.input)
        if before is None:
            found[of.input] = _lever(sampler, of, percent, min_gain, shares[most])
        else:
            found[of.input] = replace(before, share=before.share + shares[most])
    return sorted(found.values(), key=lambda x: -x.share)


def _lever(sampler: Sampler, of: Column, percent: Array, min_gain: float, share: float) -> Lever:
    saves, here = enough(percent, min_gain), median(percent)
    verdict, alternative = verdict_of(float(saves.mean())), of.input in sampler.alternatives
    at = np.unique(of.bins) if alternative else np.array([0, BINS - 1])
    chances = tuple(float(saves[of.bins == b].mean()) for b in at)
    return Lever(
        name=of.input,
        kind="unknown" if alternative else "machine",
        source=of.source,
        steps=tuple(of.ends[n] for n in at) if alternative else of.ends,
        here_percent=here,
        speedup_percent=tuple(median(percent[of.bins == b]) for b in at),
        probability=chances,
        share=share,
        turns=any(verdict_of(p) != verdict for p in chances),
    )


def asked_for(sampler: Sampler, percent: Array, min_gain: float) -> str:
    """The field to state that decides most, and what each of its values means; empty: none turns the verdict, by more
    than the few draws of a value do by chance."""
    saves, found = enough(percent, min_gain), list[tuple[float, str]]()
    chance = float(saves.mean())
    for name in FIELDS.keys() & sampler.alternatives.keys():
        of, bins, tells = sampler.alternatives[name], sampler.chosen(name)[sampler.lead :], False
        by_verdict = dict[Verdict, list[str]]()
        for n, option in enumerate(of.options):
            if len(some := saves[bins == n]):
                own = float(some.mean())
                tells |= abs(own - chance) > _noise(chance, len(some))
                by_verdict.setdefault(verdict_of(own), []).append(option)
        if tells and {*by_verdict} != {verdict_of(chance)}:
            means = ", ".join(f"{verdict} if {' or '.join(some)}" for verdict, some in by_verdict.items())
            decides = "may decide" if "undecided" in by_verdict else "decides"
            found.append((wrong(saves, bins), f"Say `{FIELDS[name]}` in the workload: it {decides} ({means})"))
    return min(found, default=(0.0, ""))[1]


def _noise(chance: float, draws: int) -> float:
    """What a share of so many draws is off by at most in 19 of 20."""
    return 2 * math.sqrt(chance * (1 - chance) / draws)


def measure_next(sampler: Sampler, percent: Array, min_gain: float) -> str:
    """The command after which a verdict is least likely wrong, per minute that it takes: a measurement or, where none
    decides more, real MPI; empty where the answer is certain.

    A measurement tells all its inputs at once: draws are in bins of what these say of the saving.
    """
    saves = enough(percent, min_gain)
    chance = float(saves.mean())
    if certainty_of(chance) == "certain":
        return ""
    now = min(chance, 1 - chance)
    noise = _noise(now, len(saves))
    best, most = "pready prove", now / MINUTES["prove"]
    for measure, told in _told_by(sampler).items():
        won = now - wrong(saves, _told(percent, told))
        worth = won / sum(MINUTES.get(name, 1.0) for name in measure.split(","))
        if won > noise and worth > most:
            best, most = f"pready calibrate --measure {measure}", worth
    return best


def _told_by(sampler: Sampler) -> dict[str, list[Array]]:
    """Draws of the inputs that each measurement tells."""
    out, sources, lead = dict[str, list[Array]](), _sources(sampler.machine), sampler.lead
    for name in sampler.drawn:
        measure = MEASURES.get(_term(name), "")
        if measure and sources.get(_DRAWN.get(name, name), "assumed") != "measured":
            out.setdefault(measure, []).append(sampler.normals(name)[lead:])
    for of in sampler.alternatives.values():
        if of.measure:
            chosen = sampler.chosen(of.name)[lead:]
            out.setdefault(of.measure, []).extend((chosen == n).astype(float) for n in range(1, len(of.options)))
    return out


def _told(percent: Array, told: Sequence[Array]) -> Wholes:
    """Draws in bins of what inputs say of the saving: of each half by a linear fit to the other half."""
    table, out = np.column_stack([np.ones(len(percent)), *told]), np.zeros(len(percent), np.int64)
    half = np.arange(len(percent)) % 2 > 0
    for of, by in ((half, ~half), (~half, half)):
        out[of] = _bins(table[of] @ np.linalg.lstsq(table[by], percent[by], rcond=None)[0])
    return out


def _bins(values: Array) -> Wholes:
    """`BINS` of equally many each."""
    return np.asarray(np.argsort(np.argsort(values, kind="stable"), kind="stable") * BINS // len(values))
