"""Where to measure, the machine calibrated there, and the comparison of its predictions with what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pready.calibrate.machine.calibrate import Calibration, calibrate, provenance, run_measurements
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Content
from pready.calibrate.measure.session import Outcome, Progress
from pready.calibrate.rig.namespaces import OFF_LOGGP, on_rig
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.validate.claims.wrong_machines import bandwidth
from pready.validate.limits import (
    FEWEST_WORKLOADS,
    SMALL,
    STEADY,
    Judged,
    as_printed,
    checks,
    clear,
    compared,
    described,
    steady,
)
from pready.validate.result import CaseResult, Comparison, Control

CALIBRATING = 0.5
"""Share of the budget for the calibration."""
ROUNDS = 3
"""How often each case is measured, far apart in time: their spread is the case's own."""
LONGEST_TRANSFER = 0.2
"""Seconds; no buffer takes longer on the link."""
MOST_SCENES = 64
POINT_BUDGET_S = 0.4
"""Seconds of a point: many points, each measured briefly."""
ARRIVALS = "arrivals"
"""Folder of the measured moments, below the results."""


class NothingMeasured(PreadyError):
    """The budget ended before anything was measured in every round."""


@dataclass(frozen=True)
class Site:
    """Where to measure: the ranks of one MPI library."""

    library: str
    """A short name for files and tables."""
    launcher: Launcher
    built: Built
    receive_threads: int = 0
    """0: as many as send, which needs a core for each; 1 where a node has fewer."""
    placed: bool = False
    """Ranks are known to share nodes as the workload says: names of hosts do not tell (on the rig)."""


@dataclass(frozen=True)
class Told:
    """Progress of a comparison."""

    stage: str
    done: int
    total: int
    left_s: float


OnProgress = Callable[[Told], object]


def tells(stage: str, on_progress: OnProgress) -> Callable[[Progress], None]:
    """Passes the progress of measuring on."""

    def tell(p: Progress) -> None:
        on_progress(Told(stage, p.done, p.total, p.left_s))

    return tell


def calibrated(
    site: Site, raw: Path, *, threads: int, budget_s: float, seed: int, on_progress: OnProgress, **options: Any
) -> Calibration:
    """Measure into `raw`, which resumes, and write the Machine beside it; `options` of `run_measurements`."""
    run_measurements(
        site.launcher, site.built, raw, threads=threads, budget_s=budget_s, seed=seed,
        on_point=tells("calibrating", on_progress), **options,
    )  # fmt: skip
    done = calibrate(raw, name=site.library, seed=seed)
    raw.with_suffix(".toml").write_text(dumps(done.described.machine, provenance(raw, done, seed)), encoding="utf-8")
    return done


def nice(bytes_per_s: float) -> float:
    """One digit, so that cases and their measurements stay the same when a calibration moves a little."""
    return float(f"{bytes_per_s:.1g}")


def sample(count: int, dimensions: int, seed: int) -> np.ndarray:
    """Shape (count, dimensions), in 0 to 1: a scrambled Sobol sequence, of which each first part is as even."""
    from scipy.stats import qmc

    every = qmc.Sobol(d=dimensions, scramble=True, seed=seed).random_base2(max(count - 1, 1).bit_length())
    return np.asarray(every[:count])


def in_turn(scenes: Sequence[Any], block: int, seed: int) -> Iterator[tuple[Any, Any, int]]:
    """Rounds of a block of scenes after each other, ways in an order drawn anew: drift falls on all of them alike."""
    rng = np.random.default_rng([seed, 2])
    for begin in range(0, len(scenes), block):
        for round_ in range(ROUNDS):
            for scene in scenes[begin : begin + block]:
                for i in rng.permutation(len(scene.ways)):
                    yield scene, scene.ways[i], round_


def about(environment: Mapping[str, Any], launcher: Launcher, built: Built, seed: int, raw: Path) -> dict[str, str]:
    """What was measured where, of a comparison."""
    hosts = ", ".join(dict.fromkeys(map(str, environment.get("hosts", ()))))
    return {
        "MPI library": " ".join(str(environment.get("library", "")).split("\n")[0].split()),
        "launcher": launcher.name,
        "hosts": f"{hosts}; {environment.get('cores_online')} cores online",
        "processors": ", ".join(dict.fromkeys(map(str, environment.get("cpus", ())))),
        "benchmark": built.identity,
        "seed": str(seed),
        "raw": str(raw),
    }


class Comparing(Protocol):
    """Predictions of all that was measured, on a machine."""

    def __call__(self, machine: Machine, *, lag: bool = True, explain: bool = False) -> list[Judged]:
        """Without `lag`, as if all partitions were ready at once; with `explain`, a case that is off has a suspect."""


def concluded(
    site: Site,
    raw: Path,
    content: Content,
    calibration: Calibration,
    outcome: Outcome,
    comparing: Comparing,
    *,
    scenes: int,
    limit: float,
    seed: int,
    shared: str | None = None,
    notes: Sequence[str] = (),
) -> Comparison:
    """The comparison, and the same on wrong machines.

    Parameters
    ----------
    scenes
        Number of workloads that were to be measured.
    limit
        Of the median error of η.
    shared
        Why nothing is judged: ranks share cores.
    notes
        What else to say.

    Raises
    ------
    NothingMeasured
        No workload in every round.
    """
    machine = calibration.described.machine
    found = comparing(machine, explain=True)
    if not found:
        failures = f"; {_failed(outcome)}" if outcome.failures else ""
        valid = None if failures else "a larger budget"
        raise NothingMeasured(f"no workload was measured in every round{failures}", valid=valid, source=str(raw))
    cases = tuple(c for one in found for c in one.cases)
    few = len(found) < FEWEST_WORKLOADS
    controls = (
        ()
        if few or shared is not None
        else (
            Control(
                "β halved",
                "every time per byte of the Machine doubled",
                checks(comparing(bandwidth(machine, 0.5)), limit),
            ),
            Control(
                "laggard removed",
                "the same measurements, predicted as if all partitions were ready at once",
                checks(comparing(machine, lag=False), limit),
            ),
        )
    )
    return Comparison(
        source="live",
        title=f"{site.library}: {site.launcher.name}",
        cases=cases,
        checks=() if shared is not None else checks(found, limit),
        controls=controls,
        notes=(
            *_notes(found, cases, scenes, outcome, content, shared),
            *([OFF_LOGGP] if on_rig(site.launcher.name) else []),
            *notes,
        ),
        about=about(content.environments[calibration.environment], site.launcher, site.built, seed, raw),
    )


def _failed(outcome: Outcome) -> str:
    reason = next(iter(outcome.failures.values())).split("\n")[0]
    return f"{len(outcome.failures)} points could not be measured, the first because: {reason}"


def _notes(
    found: Sequence[Judged],
    cases: Sequence[CaseResult],
    scenes: int,
    outcome: Outcome,
    content: Content,
    shared: str | None,
) -> Iterator[str]:
    """Which cases count, figures without a limit, and what differs from the model."""
    large = sum(c.buffer >= SMALL for c in cases)
    yield (
        f"{len(found)} of {scenes} workloads, {len(cases)} cases, were measured in all {ROUNDS} rounds; the budget "
        "ended before the others"
    )
    yield (
        f"{len(steady(cases))} of {large} cases from 4 KiB up repeat themselves within {100 * STEADY:.0f} % and are "
        f"judged; {len(cases) - large} smaller ones are not"
    )
    yield described(found)
    if shared is not None:
        yield shared
    elif len(found) < FEWEST_WORKLOADS:
        few = f"{len(found)} workloads are too few, {FEWEST_WORKLOADS} are needed"
        yield f"no negative controls: {few}; a larger --budget"
    if said := as_printed(clear(compared(found))):
        yield said
    if outcome.failures:
        yield _failed(outcome)
    for reason in dict.fromkeys(content.unsupported().values()):
        yield f"not measured: {reason}"
