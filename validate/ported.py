"""Two captured runs, of a program before its port and after: did the port bring what was promised?

Runs are compared by their steps. Each run's steps are cut into blocks in a row, so that slow drift within a run counts
as noise; what differs from one run to the next (nodes, other jobs) cannot be told from the port by one run of each.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from pready.calibrate.capture.step import Exchange, Step
from pready.calibrate.capture.workload_file import Writer
from pready.model.advice.approach_by_name import approach_named
from pready.model.advice.predict import evaluator, with_library
from pready.model.advice.savings import Savings, drawn_row
from pready.model.approach.interfaces import Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.normal import student95
from pready.model.common.units import format_size
from pready.model.engine.evaluate import Evaluation, WholeStep
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import MIN_GAIN
from pready.model.workload.workload import Workload, load
from pready.validate.prove.judgement import PROMISED, Saving

PortFinding = Literal["kept", "not kept", "cannot be told", "nothing promised"]
BLOCKS = 10
"""Blocks of a run's steps."""
LEAST_STEPS = 3
"""Fewer steps have no interval."""


@dataclass(frozen=True)
class Promise:
    """The prediction of a port: of an iteration, or of one exchange in it."""

    approach: Approach
    saving: float
    """Share of an iteration."""
    low: float
    high: float
    before_s: float
    """Communication after the last partition is ready."""
    after_s: float


@dataclass(frozen=True)
class _Compared:
    before_s: float
    after_s: float
    saving: Saving
    """Share of an iteration before the port."""
    promise: Promise | None

    @property
    def finding(self) -> PortFinding | None:
        """None without a prediction."""
        return None if self.promise is None else finding(self.promise.saving, self.saving)


@dataclass(frozen=True)
class ComparedExchange(_Compared):
    """One exchange of both runs: mean times from the last thread's finish to the end."""

    name: str
    says: str


@dataclass(frozen=True)
class Compared(_Compared):
    """Both runs: mean times of an iteration.

    Attributes
    ----------
    computing_s
        By how much later threads are ready after the port, of an iteration.
    unmatched
        Exchanges of one run that the other one does not have.
    """

    computing_s: float
    exchanges: tuple[ComparedExchange, ...]
    unmatched: tuple[str, ...]
    notes: tuple[str, ...] = ()


def finding(promised: float, saving: Saving) -> PortFinding:
    """Kept if the whole interval reaches half of what was promised, not kept if none of it does.

    Half, as in ``pready prove``: a port that saves less was decided on a figure that misled.
    """
    if promised <= 0:
        return "nothing promised"
    least = PROMISED * promised
    return "kept" if saving.low >= least else "not kept" if saving.high < least else "cannot be told"


def blocks_of(values: Array) -> Array:
    """Means of at most `BLOCKS` blocks in a row, as long as each other to one value."""
    return np.array([part.mean() for part in np.array_split(values, min(BLOCKS, len(values)))])


def saved(before: Array, after: Array, iteration_s: float) -> Saving:
    """What is saved of an iteration, from blocks of two runs that have nothing in common.

    The interval is that of Student's t with the degrees of freedom of the shorter run (less than Welch's, so wider).
    """
    n = min(len(before), len(after))
    value = float(before.mean() - after.mean()) / iteration_s
    if n < LEAST_STEPS:
        return Saving(value, -np.inf, np.inf, n, np.inf)
    error = float(np.sqrt(before.var(ddof=1) / len(before) + after.var(ddof=1) / len(after))) / iteration_s
    half = student95(n - 1) * error
    return Saving(value, value - half, value + half, n, error * float(np.sqrt(n)))


def compare(before: Step, after: Step, promises: tuple[Promise, Mapping[str, Promise]] | None = None) -> Compared:
    """Compare the steps of two runs.

    Parameters
    ----------
    promises
        Of an iteration, and of exchanges by their name before the port; see `promised`.

    Raises
    ------
    PreadyError
        The runs have different numbers of ranks, or no exchange in common.
    """
    pairs = matched(before, after)
    whole, each = promises or (None, {})
    iteration, after_s = float(before.times_s.mean()), float(after.times_s.mean())
    exchanges = tuple(_exchange(b, a, iteration, each.get(b.name)) for b, a in pairs)
    theirs = {b.name for b, _ in pairs}, {a.name for _, a in pairs}
    unmatched = [f"{e.name} (before)" for e in before.exchanges if e.name not in theirs[0]]
    unmatched += [f"{e.name} (after)" for e in after.exchanges if e.name not in theirs[1]]
    communication = sum(e.after_s - e.before_s for e in exchanges)
    return Compared(
        before_s=iteration,
        after_s=after_s,
        saving=saved(blocks_of(before.times_s), blocks_of(after.times_s), iteration),
        computing_s=after_s - iteration - communication,
        exchanges=exchanges,
        promise=whole,
        unmatched=tuple(unmatched),
        notes=tuple(_notes(before, after)),
    )


def matched(before: Step, after: Step) -> list[tuple[Exchange, Exchange]]:
    """Exchanges of both runs, in the order of the first: of one name, else of one pattern and as many bytes.

    Raises
    ------
    PreadyError
        The runs have different numbers of ranks, or no exchange in common.
    """
    if before.ranks != after.ranks:
        raise PreadyError(f"{before.ranks} ranks before the port and {after.ranks} after it", valid="as many in both")
    rest, pairs = list(after.exchanges), dict[int, Exchange]()
    for key in (_name, _bytes):
        for i, mine in enumerate(before.exchanges):
            found = next((e for e in rest if i not in pairs and key(mine) and key(mine) == key(e)), None)
            if found is not None:
                pairs[i] = found
                rest.remove(found)
    if not pairs:
        raise PreadyError(
            f"no exchange in common: {_said(before.exchanges)} before the port, {_said(after.exchanges)} after it",
            valid="runs of one program on one input, with exchanges of one name, or of one pattern and as many bytes",
        )
    return [(before.exchanges[i], pairs[i]) for i in sorted(pairs)]


def _name(e: Exchange) -> str:
    return e.name


def _bytes(e: Exchange) -> tuple[object, ...]:
    """All that is sent, in whatever order and number of messages."""
    p = e.pattern
    return p.name, p.grid, p.boundaries, p.faces, p.edges, p.corner, [sorted(to) for to in p.lists], p.blocks


def _said(exchanges: Sequence[Exchange]) -> str:
    return ", ".join(f"{e.name or 'an exchange'} ({e.pattern.said}, {format_size(_largest(e))})" for e in exchanges)


def _largest(e: Exchange) -> int:
    p = e.pattern
    return max(*p.faces, *p.edges, p.corner, *(b for to in p.lists for _, b in to))


def _exchange(before: Exchange, after: Exchange, iteration_s: float, promise: Promise | None) -> ComparedExchange:
    name = before.name if before.name == after.name else f"{before.name} → {after.name}"
    return ComparedExchange(
        name=name,
        says=before.pattern.said,
        before_s=float(before.after_s.mean()),
        after_s=float(after.after_s.mean()),
        saving=saved(blocks_of(before.after_s), blocks_of(after.after_s), iteration_s),
        promise=promise,
    )


def _notes(before: Step, after: Step) -> list[str]:
    said = []
    if before.threads != after.threads:
        said.append(f"{before.threads} threads before the port, {after.threads} after it")
    if not any(e.early for e in after.exchanges):
        said.append(
            "no thread of the second run sends while others compute: nothing is ported there, or no region seen"
        )
    return said


def promised(
    before: Step,
    after: Step,
    machine: Machine,
    approach: str | None = None,
    library: str | None = None,
    seed: int = 0,
) -> tuple[Promise, dict[str, Promise]]:
    """What the model predicts of this port: the exchanges of the first run, in the way that the second one sends them.

    Parameters
    ----------
    approach
        As users name it; None: partitioned, where the second run's sends are.

    Raises
    ------
    PreadyError
        The second run sends otherwise and `approach` does not say how, or the model cannot predict the first.
    """
    pairs = {b.name: a for b, a in matched(before, after)}
    machine, profile = with_library(machine, library)
    with tempfile.TemporaryDirectory() as folder:
        workload = _workload(before, after, Path(folder), seed)
        ways: list[Approach] = []
        for mine, part in zip(before.exchanges, workload.parts, strict=True):
            theirs = pairs.get(mine.name)
            ported = theirs is not None and theirs.early
            ways.append(_way(theirs, part, approach, profile) if ported and theirs is not None else part.baseline)
        if all(a == w.baseline for a, w in zip(ways, workload.parts, strict=True)):
            raise PreadyError(
                "no exchange of the second run is sent while threads compute",
                valid="the run of the ported program, with its parallel regions; or no --machine",
            )
        several = workload.exchanges is not None
        if several:
            parts = enumerate(workload.parts)
            each = [Evaluation(machine, w, seed, alone=False, step=workload, number=i) for i, w in parts]
        else:
            each = [evaluator(machine, workload, seed)[0]]
        rows = [(drawn_row(e, e.workload.baseline), drawn_row(e, a)) for e, a in zip(each, ways, strict=True)]
        by_name = {
            e.name: _promise(*of)
            for e, of, a, w in zip(before.exchanges, rows, ways, workload.parts, strict=True)
            if a != w.baseline
        }
        if not several:
            return _promise(*rows[0]), by_name
        today = tuple(w.baseline for w in workload.parts)
        of_step = WholeStep(machine, workload, seed, each[0]).predict([today, ways])
        bulk, ported_all = Savings(each[0].drawn, (today, tuple(ways))).rows(of_step, MIN_GAIN)
        return _promise(bulk, ported_all), by_name


def _promise(bulk: ApproachPrediction, way: ApproachPrediction) -> Promise:
    saving = (way.speedup_percent, way.speedup_low_percent, way.speedup_high_percent)
    value, low, high = (s / 100 for s in saving)
    return Promise(way.approach, value, low, high, bulk.time_s, way.time_s)


def _workload(before: Step, after: Step, folder: Path, seed: int) -> Workload:
    """The first run's workload, its threads with as many partitions as the second run's."""

    def beside(name: str, content: bytes) -> None:
        (folder / name).write_bytes(content)

    path = folder / "before.toml"
    path.write_text(Writer("before", beside, "auto", seed).text(before, "before", ""), encoding="utf-8")
    workload = load(path)
    counts = {e.partitions for e in after.exchanges if e.partitions}
    each = {n // before.threads for n in counts if n % before.threads == 0}
    return workload.changed(partitions_per_thread=each.pop()) if len(counts) == len(each) == 1 else workload


def _way(theirs: Exchange, part: Workload, approach: str | None, profile: LibraryProfile) -> Approach:
    """How the second run sends an exchange."""
    if approach is not None:
        return approach_named(approach, part, "--approach")
    if not theirs.partitions:
        raise PreadyError(
            f"{theirs.name or 'the second run'} sends {theirs.pattern.messages} messages per neighbour: whether each "
            "thread waits for its own, and through how many VCIs, the run does not tell",
            valid=f"--approach KEY:TRANSPORTS:VCIS, such as --approach many:{theirs.pattern.messages}:1",
        )
    if profile.part is None:
        raise PreadyError(f"{profile.name} has no partitioned calls", valid="--library, that of the second run")
    n = part.n_partitions
    able = profile.transports([n], part.threads, n)
    return profile.part.into(able[-1] if able else n, 1)
