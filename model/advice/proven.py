"""Whole exchanges that `pready prove` has measured: they choose among drawn machines, and decide where they are the
workload that is asked for.

Draws are weighted by how likely they make the measured times, and drawn again by these weights: 169 machines of a few
hundred or more, so that everything that is read from draws stays as it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pready.model.advice.approach_by_name import approach_named
from pready.model.advice.savings import Savings
from pready.model.common._draws import uniforms
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs, Way
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction, Prediction
from pready.model.result.verdict import certainty_of, verdict, verdict_of
from pready.model.timeline.sampling import DRAWS, STREAM_PARAMETERS
from pready.model.toml import dotted
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

FILE = "report.json"
"""In the folder of a proof."""
BATCHES = 4, 16
"""Times `DRAWS` machines that are weighted; more, where too few of these explain what was measured."""
FEW = 30.0
"""Effective draws, fewer than which are too few."""
REPEATS, BESIDE = 0.03, 0.015
"""Standard deviations of ln of an exchange's time from one allocation of nodes, and one sample of arrivals, to the
next; and of the ratio of two ways that were measured side by side."""
NO_RECORD = "a folder that 'pready prove -o FOLDER' wrote"


@dataclass(frozen=True)
class Timed:
    """A way of sending that was measured."""

    way: Way
    time_s: float
    """Communication of an exchange."""
    sd: float
    """Standard deviation of its logarithm."""
    saving: tuple[float, float, float]
    """Share of today's iteration, and the ends of its 95 % interval."""


@dataclass(frozen=True)
class Proven:
    """A workload whose exchange was measured."""

    workload: Workload
    ways: tuple[Timed, ...]
    """Today's first."""


def load(folder: Path) -> Proven:
    """A proof by its folder.

    Raises
    ------
    PreadyError
        No proof, or none of today's format.
    """
    file = folder / FILE
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        workload = validated(Workload, data["workload"] | {"folder": data["folder"]}, str(file))
        return Proven(workload, tuple(_timed(case, workload) for case in data["cases"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = str(error.strerror) if isinstance(error, OSError) else f"no proof ({error!r})"
        raise PreadyError(what, valid=NO_RECORD, source=str(file)) from None


def _timed(case: dict[str, Any], workload: Workload) -> Timed:
    of, saving = case["measured"], case["measured"]["saving"]
    way = tuple(approach_named(text, part) for text, part in zip(case["ways"], workload.parts, strict=True))
    range_ = math.log(of["time_high_s"] / of["time_low_s"]) / 2
    return Timed(way, of["time_s"], range_, (saving["value"], saving["low"], saving["high"]))


@dataclass(frozen=True)
class Chosen:
    """Drawn machines, chosen by what was measured on the one that is asked about."""

    picks: tuple[int, ...]
    """Numbers of draws over all batches, of the seeds that follow each other."""
    effective: float
    """Effective number of draws (Kish)."""
    of: int
    """Draws that were weighted."""


def chosen(machine: Machine, proofs: Sequence[Proven], seed: int, cores: int | None = None) -> Chosen:
    """Machines as likely as the measured exchanges make them.

    Errors are those of a prediction of the proofs' workloads.
    """
    logs = np.zeros(0)
    for batch in range(BATCHES[1]):
        logs = np.append(logs, sum(_likelihood(machine, proof, (seed + batch) % 2**64, cores) for proof in proofs))
        effective = 1 / float((_weights(logs) ** 2).sum())
        if batch + 1 >= BATCHES[0] and effective >= FEW:
            break
    weights = _weights(logs)
    while 1 / (weights**2).sum() < FEW:  # what was measured counts less, until enough machines explain it
        logs *= 0.9
        weights = _weights(logs)
    # Systematic resampling: each as often as its weight says, to within one; then in any order.
    start, order = uniforms(seed, 1, 0, 2, DRAWS, STREAM_PARAMETERS)
    picks = np.searchsorted(np.cumsum(weights), (np.arange(DRAWS) + start[0]) / DRAWS).clip(max=len(weights) - 1)
    return Chosen(tuple(picks[np.argsort(order)].tolist()), effective, len(weights))


def _weights(logs: Array) -> Array:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _likelihood(machine: Machine, proof: Proven, seed: int, cores: int | None) -> Array:
    """ln of how likely each drawn machine makes the measured times, shape (`DRAWS`,)."""
    runs = Runs(machine, Step.of_a_part(proof.workload), Rows(DRAWS, seed), cores)
    found = Savings(runs, tuple(timed.way for timed in proof.ways))
    today, *others = (np.log(found.times(t.way)[0] / runs.steps / t.time_s) for t in proof.ways)
    out = -0.5 * (today / math.hypot(proof.ways[0].sd, REPEATS)) ** 2
    for off, timed in zip(others, proof.ways[1:], strict=True):
        out -= 0.5 * ((off - today) / math.hypot(timed.sd, BESIDE)) ** 2
    return out


def with_proofs(prediction: Prediction, workload: Workload, proofs: Sequence[Proven], of: Chosen) -> Prediction:
    """A prediction that says how many machines explain what was measured; where its very workload was, measuring
    decides."""
    advice, least = prediction.advice, 100 * prediction.advice.min_gain
    few = "" if of.effective >= FEW else ": the machine file, or the model, does not hold what was measured"
    notes = [f"{of.effective:.0f} of {of.of} drawn machines explain what was measured{few}", *advice.warnings]
    rows: dict[Way, ApproachPrediction] = {(p.approach,): p for p in prediction.approaches}
    measured = [t for p in proofs if _alike(p.workload, workload) for t in p.ways[1:] if t.way in rows]
    if not measured:
        return replace(prediction, advice=replace(advice, warnings=notes))
    best = max(measured, key=lambda t: t.saving[0])
    (value, low, high), row = (100 * x for x in best.saving), rows[best.way]
    said = verdict(low, high, least)
    chance = {"port": 1.0, "do not port": 0.0}.get(said, 0.5)
    now = replace(row, speedup_percent=value, speedup_low_percent=low, speedup_high_percent=high, probability=chance)
    before = f"{row.speedup_percent:.1f} % ({row.speedup_low_percent:.1f} to {row.speedup_high_percent:.1f} %)"
    off = high < row.speedup_low_percent or low > row.speedup_high_percent or said != verdict_of(row.probability or 0.0)
    first = f"measured: {row.name} saves {value:.1f} %, where {before} was predicted"
    if off:
        first = f"measuring contradicts the prediction, and decides: {row.name} saves {value:.1f} %, not {before}"
    decided = replace(advice, verdict=said, best=now, probability=chance, certainty=certainty_of(chance), ask="")
    told = replace(decided, measure_next="", warnings=[first, *notes])
    return replace(prediction, approaches=[now if p is row else p for p in prediction.approaches], advice=told)


def _alike(one: Workload, other: Workload) -> bool:
    """Are two workloads the same but for names and the number of iterations?"""

    named = dict.fromkeys(("name", "description", "iterations"))
    return dotted.written(one) | named == dotted.written(other) | named
