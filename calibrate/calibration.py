"""One calibration from raw file to Machine, and from launcher to raw file; the command line only prints around it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from pready.calibrate import observe
from pready.calibrate.build import Built
from pready.calibrate.describe import Described, describe
from pready.calibrate.fit import Fit, Observations, ThinDataError, fit, refine_sizes
from pready.calibrate.launch import Launcher
from pready.calibrate.records import Content, Point
from pready.calibrate.run import Outcome, Progress, measure, plan
from pready.model.version import VERSION

REFINEMENTS = 2
"""Rounds of measuring what a first fit asks for."""


@dataclass(frozen=True)
class Calibration:
    """A machine with everything behind it."""

    described: Described
    fit: Fit
    observations: Observations
    probes: observe.Probes
    environment: str
    """Key of the environment in the raw file."""


def run_measurements(
    launcher: Launcher,
    built: Built,
    raw: Path,
    *,
    threads: int,
    budget_s: float,
    only: Iterable[str] | None = None,
    seed: int = 0,
    on_point: Callable[[Progress], object] = lambda _: None,
) -> Outcome:
    """Measure the plan into `raw`, then what a first fit asks for, until the budget ends.

    Resumes: what `raw` holds for the same environment is not measured again.

    Raises
    ------
    MeasureError, RecordsError
        The benchmark does not run; the file is damaged or in use.
    """
    import time

    begun = time.monotonic()

    def go(points: list[Point]) -> Outcome:
        left = max(budget_s - (time.monotonic() - begun), 0.0)

        def told(progress: Progress) -> None:
            on_point(progress)

        return measure(points, launcher, raw, left, told, built=built, tool=VERSION, seed=seed)

    outcome = go(plan(threads=threads, only=only))
    for _ in range(REFINEMENTS):
        if outcome.left or (only is not None and "pingpong" not in only):
            break
        more = _asked_for(observe.load(raw), outcome.environment, seed)
        if not more:
            break
        outcome = go(more)
    return outcome


def _asked_for(content: Content, key: str, seed: int) -> list[Point]:
    """Ping-pong sizes that would tell most, as the fit so far sees it."""
    try:
        fitted = fit(observe.observations(content, key), np.random.default_rng(seed), refuse_thin=False)
        sizes = refine_sizes(fitted)
    except ThinDataError as thin:
        sizes = thin.measure_next
    return [Point.of("pingpong", bytes=int(size), mode="isend") for size in sizes]


def calibrate(
    raw: Path, *, name: str, environment: str | None = None, seed: int = 0, description: str = ""
) -> Calibration:
    """Fit a Machine to a raw result file.

    The same file and seed give the same machine, to the byte: the date is that of the last record.

    Raises
    ------
    ThinDataError
        Too few points; carries the estimate so far and the sizes to measure next.
    PreadyError
        A file that is missing or damaged, or lacks what a machine needs.
    """
    content = observe.load(raw)
    key, about = observe.environment(content, environment)
    observed = observe.observations(content, key)
    probes = observe.probes(content, key)
    fitted = fit(observed, np.random.default_rng(seed))
    described = describe(fitted, probes, about, name=name, when=_last_day(content, key), description=description)
    return Calibration(described, fitted, observed, probes, key)


def provenance(raw: Path, calibration: Calibration, seed: int) -> str:
    """What the machine file's head says of its origin."""
    content = observe.load(raw)
    points = sorted(k for k, p in content.points.items() if p["environment"] == calibration.environment)
    digest = hashlib.sha256(json.dumps(points).encode()).hexdigest()[:16]
    return "\n".join(
        [
            f"Written by pready {VERSION} calibrate from {raw.name}, seed {seed},",
            f"environment {calibration.environment}.",
            f"{len(points)} measured points, digest {digest}.",
            *(f"Note: {note}" for note in calibration.described.notes),
        ]
    )


def _last_day(content: Content, key: str) -> date:
    stamps: list[str] = [str(p.get("time", "")) for p in content.points.values() if p["environment"] == key]
    last = max(stamps, default="")
    return date.fromisoformat(last[:10]) if last else date.today()
