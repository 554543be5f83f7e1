"""One calibration from raw file to Machine, and from launcher to raw file; the command line only prints around it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.fit import Fit, ThinDataError, fit, refine_sizes
from pready.calibrate.machine.description import Described, describe
from pready.calibrate.machine.round_trip import RoundTrip, round_trip
from pready.calibrate.machine.values import observations_of
from pready.calibrate.machine.values.protocol import stall_bracket
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.missing import lacking, most_threads
from pready.calibrate.measure.raw_file import Content, Point
from pready.calibrate.measure.schedule import ping, plan, trains
from pready.calibrate.measure.session import POINT_BUDGET_S, Outcome, Progress, measure
from pready.model.version import VERSION

REFINEMENTS = 20
"""Most rounds of measuring the sizes that a fit asks for; two are made even if the first fit asks for none."""
CONTENT_AFTER = 2  # rounds of measuring, from which on a fit that asks for nothing ends them
TRAIN_SIZES, LARGEST_TRAIN = 8, 256 << 10
BRACKET, COARSE_BRACKET = 1.02, 1.1
"""Ratio of the sizes between which a rendezvous begins, below which no closer look is taken; and before all else."""


@dataclass(frozen=True)
class Calibration:
    described: Described
    fit: Fit
    environment: str  # key of the environment in the raw file
    lacking: tuple[str, ...]  # the parts of the plan that were not measured
    round_trip: RoundTrip
    warnings: tuple[str, ...]  # doubts about the place of the measurement


def run_measurements(
    launcher: Launcher,
    built: Built,
    raw: Path,
    *,
    threads: int,
    budget_s: float,
    only: Iterable[str] | None = None,
    seed: int = 0,
    on_point: Callable[[Progress], None] = lambda _: None,
    point_budget_s: float = POINT_BUDGET_S,
) -> Outcome:
    """Measure the plan into `raw`, then the sizes that a first fit asks for, until the budget ends.

    Resumes: points that `raw` holds for the same environment are not measured again. Raises MeasureError, RecordsError:
    the benchmark does not run; the file is damaged or in use.
    """
    begun, measured = time.monotonic(), 0
    failures: dict[str, str] = {}

    def go(points: list[Point]) -> Outcome:
        nonlocal measured
        left_s = max(budget_s - (time.monotonic() - begun), 0.0)
        how: dict[str, Any] = {"built": built, "seed": seed, "point_budget_s": point_budget_s}
        outcome = measure(points, launcher, raw, left_s, on_point, **how)
        measured += outcome.measured
        failures.update(outcome.failures)
        return outcome

    outcome = go(plan(threads=threads, only=only, coarse=True))
    # The size from which messages wait for progress decides more than any finer curve, so it comes first.
    asked: list[Point] = []
    while only is None or "overlap" in only:
        more = [] if outcome.left else _stalls(observations_of.load(raw), outcome.environment, COARSE_BRACKET)
        if more == asked or not more:
            break
        outcome, asked = go(more), more
    outcome = go(plan(threads=threads, only=only))
    for n in range(REFINEMENTS):
        if outcome.left or (only is not None and "pingpong" not in only):
            break
        more, content = _asked_for(observations_of.load(raw), outcome.environment, seed)
        if not more or (content and n >= CONTENT_AFTER):
            break
        outcome = go(more)
    return replace(outcome, measured=measured, failed=len(failures), failures=failures)


def _asked_for(content: Content, key: str, seed: int) -> tuple[list[Point], bool]:
    """Points at the sizes that would tell most, and whether the fit would do without them."""
    observed = observations_of.observations(content, key)
    try:
        found = fit(observed, np.random.default_rng(seed))
        enough = found.thin is None
        sizes = sorted({*refine_sizes(found), *(found.thin.measure_next if found.thin is not None else ())})
    except ThinDataError as thin:
        enough, sizes = False, list(thin.measure_next)
    pings = [ping(int(size)) for size in sizes]
    # A train costs 16 times as much as a ping-pong: a few sizes, and none of the largest.
    affordable = [int(size) for size in sizes if size <= LARGEST_TRAIN]
    some = affordable[:: max(len(affordable) // TRAIN_SIZES, 1)]
    of_trains = [point for size in some for point in trains(size)]
    stalls = _stalls(content, key, BRACKET)
    return pings + of_trains + stalls, enough and not stalls


def _stalls(content: Content, key: str, ratio: float) -> list[Point]:
    """The size halfway between a message that moves by itself and one that waits for progress, unless within a ratio.

    The wait does not show in a ping-pong, so that the fit cannot find its limit.
    """
    bracket = stall_bracket(observations_of.probes(content, key))
    if bracket is None or bracket[1] <= ratio * bracket[0]:
        return []
    size = round((bracket[0] * bracket[1]) ** 0.5)
    return [Point.of("overlap", bytes=size)]


def calibrate(raw: Path, *, name: str, environment: str | None = None, seed: int = 0) -> Calibration:
    """Fit a Machine to a raw result file; a ThinDataError if fewer than three message sizes were timed.

    The same file and seed give the same machine, to the byte: the date is that of the last record. Thin data widen its
    intervals, and a note says which sizes to measure next.
    """
    content = observations_of.load(raw)
    key, about = observations_of.environment(content, environment)
    observed = observations_of.observations(content, key)
    probes = observations_of.probes(content, key)
    fitted = fit(observed, np.random.default_rng(seed))
    when = _last_day(content, key)
    described = describe(fitted, probes, about, name=name, when=when)
    warnings = tuple(_warnings(about, most_threads(content, key)))
    back = round_trip(described.machine, observed)
    return Calibration(described, fitted, key, lacking(content, key), back, warnings)


def _warnings(about: observations_of.Record, threads: int) -> Iterator[str]:
    """What makes the ranks' places or their network a poor measurement."""
    hosts = set(map(str, about.get("hosts", ())))
    if len(hosts) == 1:
        yield (
            f"both ranks were on one node ({hosts.pop()}): [inter] is the path within it and no network; measure two "
            "nodes (srun -N 2 -n 2, mpiexec -n 2 --hosts a,b)"
        )
    cores = observations_of.cores_per_rank(about)
    if cores is not None and cores < threads:
        yield (
            f"a rank had {cores} {'core' if cores == 1 else 'cores'} for its {threads} threads: contention, barriers "
            f"and teams are those of threads that share cores; give each rank {threads} cores (srun -c {threads}, "
            f"mpiexec -bind-to core:{threads}, --map-by slot:PE={threads})"
        )


def provenance(raw: Path, calibration: Calibration, seed: int) -> str:
    content = observations_of.load(raw)
    points = sorted(k for k, p in content.points.items() if p["environment"] == calibration.environment)
    digest = hashlib.sha256(json.dumps(points).encode()).hexdigest()[:16]
    return "\n".join(
        [
            f"Written by pready {VERSION} calibrate from {raw.name}, seed {seed},",
            f"environment {calibration.environment}.",
            f"{len(points)} measured points, digest {digest}.",
            *(f"Note: {note}" for note in calibration.described.notes),
            f"Round trip: {calibration.round_trip.line}.",
            *(f"Lacks: {what}" for what in calibration.lacking),
            *(f"Warning: {what}" for what in calibration.warnings),
        ]
    )


def _last_day(content: Content, key: str) -> date:
    stamps: list[str] = [str(p.get("time", "")) for p in content.points.values() if p["environment"] == key]
    last = max(stamps, default="")
    return date.fromisoformat(last[:10]) if last else date.today()
