"""Exchanges among many ranks, predicted and measured: patterns, sizes, arrivals and approaches as a seeded sample.

The same as `pready prove` for as many workloads as a budget allows; the limits hold for all of them together. Ranks
that share cores are measured and shown, not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.machine import observations_of
from pready.calibrate.machine.calibrate import Calibration, calibrate
from pready.calibrate.measure.exchange_plan import StepPlan, step_plan
from pready.calibrate.measure.raw_file import Content
from pready.calibrate.measure.session import measure
from pready.model.advice.predict import effective_library, with_library
from pready.model.approach.interfaces import BY_KEY
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.machine.machine import Machine
from pready.model.toml.reading import validated
from pready.model.version import VERSION
from pready.model.workload.arrivals import Measured, NoArrivals
from pready.model.workload.workload import Workload
from pready.validate.conclusion import concluded
from pready.validate.limits import STEADY, Judged
from pready.validate.prove import design as proving
from pready.validate.prove.design import Way, way_of
from pready.validate.prove.expected import Expected
from pready.validate.prove.performed import Performed, performed_in
from pready.validate.prove.placement import shared_cores
from pready.validate.prove.session import cases_of
from pready.validate.result import Comparison
from pready.validate.site import (
    ARRIVALS,
    CALIBRATING,
    LONGEST_TRANSFER,
    MOST_SCENES,
    POINT_BUDGET_S,
    ROUNDS,
    Site,
    Told,
    calibrated,
    in_turn,
    nice,
    sample,
    tells,
)

THREADS = (1, 2, 4)
PARTITIONS_PER_THREAD = (1, 2, 4)
SMALLEST, LARGEST = 4 << 10, 4 << 20
"""Bytes to one neighbour; with several, at most `LARGEST` to all of them in an iteration."""
DELAYS = (0.3, 2.0)
"""Delays over the time that a rank's bytes take on its cable."""
SHORTEST, LONGEST = 1e-3, 120e-3
"""Seconds of computing, and of a delay."""
ITERATIONS = 12
"""That count, of an exchange that takes no longer than `LONG`; at least `FEWEST` of longer ones."""
FEWEST, LONG = 6, 60e-3
RMA = ("rma-single-active", "rma-single-passive")
"""One of them per workload. With a window per thread, all threads of a rank poll until the epoch ends; threads that
share cores would show time slices."""
BLOCK = 3
"""Scenes whose rounds alternate."""
PATIENCE_S = 20.0
LIMIT = 0.08
"""Of the median error of η."""


@dataclass(frozen=True)
class Scene:
    """One workload and the ways that it is measured in, bulk first."""

    workload: Workload
    ways: tuple[Way, ...]
    iterations: int
    """That count."""
    steps: int
    """Exchanges of an iteration."""
    seed: int

    @property
    def first(self) -> int:
        """Iterations that go before."""
        return -(-proving.WARM_UP // self.steps)

    @cached_property
    def plan(self) -> StepPlan:
        """What the benchmark performs."""
        return step_plan(self.workload, self.first + self.iterations, self.seed)

    def performed(self, content: Content, environment: str) -> dict[Way, Performed]:
        """The ways that were measured in every round."""
        every = {
            way: performed_in(content, way, environment, self.plan.name, self.first, self.steps, ROUNDS)
            for way in self.ways
        }
        return {way: found for way, found in every.items() if found is not None}


def grid(nodes: int, axes: int) -> tuple[int, ...]:
    """So many nodes as evenly as possible along so many axes, the longest first."""
    left, found = nodes, []
    for axis in range(axes, 0, -1):
        size = min((d for d in range(1, left + 1) if left % d == 0), key=lambda d: abs(d - left ** (1 / axis)))
        found.append(size)
        left //= size
    return tuple(sorted(found, reverse=True))


def patterns(nodes: int) -> dict[str, dict[str, Any]]:
    """By name: a ring, stencils in two and three dimensions, a wavefront, and a list in which ranks differ.

    Of two, all but the wavefront are the same: a pair that sends both ways.
    """
    if nodes == 2:
        return {
            "pair": {"pattern": "pt2pt", "both_ways": True},
            "sweep": {"pattern": "sweep3d", "grid": grid(nodes, 2)},
        }
    listed: list[list[int]] = [sorted({(r + 1) % nodes, *([0] if r > 1 else [])} - {r}) for r in range(nodes)]
    found: dict[str, dict[str, Any]] = {
        "ring": {"pattern": "neighbours", "neighbour_list": [[(r + 1) % nodes] for r in range(nodes)]},
        "halo 2-D": {"pattern": "halo3d", "grid": grid(nodes, 2)},
        "sweep": {"pattern": "sweep3d", "grid": grid(nodes, 2)},
        "list": {"pattern": "neighbours", "neighbour_list": listed},
    }
    if min(grid(nodes, 3)) > 1:
        found["halo 3-D"] = {"pattern": "halo3d", "grid": grid(nodes, 3)}
    return found


def scenes(count: int, *, nodes: int, bytes_per_s: float, profile: LibraryProfile, seed: int) -> list[Scene]:
    """`count` workloads that fill the space evenly; the same seed gives the same."""
    return [_scene(i, row, nodes, bytes_per_s, profile, seed) for i, row in enumerate(sample(count, 6, seed))]


def _scene(number: int, row: Array, nodes: int, bytes_per_s: float, profile: LibraryProfile, seed: int) -> Scene:
    names = list(patterns(nodes))
    kind_of, size, threads, theta, arrivals, delay = row
    name = names[int(kind_of * len(names))]
    n = THREADS[int(threads * len(THREADS))]
    per_thread = PARTITIONS_PER_THREAD[int(theta * len(PARTITIONS_PER_THREAD))]
    peers = {"pair": 1, "ring": 1, "halo 2-D": 4, "sweep": 2, "list": 2, "halo 3-D": 6}[name]
    steps = 8 if name == "sweep" else 1
    largest = max(min(LARGEST, LONGEST_TRANSFER * bytes_per_s) / (peers * steps), SMALLEST)
    wanted = SMALLEST * (largest / SMALLEST) ** float(size)
    buffer = max(round(wanted / (n * per_thread)), 8) * n * per_thread
    on_cable = peers * buffer / bytes_per_s
    late = float(np.clip(DELAYS[0] * (DELAYS[1] / DELAYS[0]) ** float(delay) * on_cable, SHORTEST, LONGEST))
    kinds = arrivals_of(f"{late:.6g} s")
    workload = validated(
        Workload,
        {
            "name": f"{number:03d} {name}",
            "threads": n,
            "partitions_per_thread": per_thread,
            "buffer": f"{buffer} B",
            "receiver": "computing",
            "compute": {"time": f"{late:.6g} s"},
            "arrivals": kinds[int(arrivals * len(kinds))],
            **patterns(nodes)[name],
        },
        name,
    )
    iterations = int(np.clip(ITERATIONS * LONG / (steps * (on_cable + 2 * late)), FEWEST, ITERATIONS))
    return Scene(workload, _ways(workload, profile, seed + number), iterations, steps, seed)


def arrivals_of(late: str) -> tuple[dict[str, Any], ...]:
    """The kinds of arrivals, with a delay."""
    return (
        {"model": "none"},
        {"model": "laggard", "delay": late},
        {"model": "laggard", "delay": late, "late": "thread"},
        {"model": "normal by thread", "spread": 0.3, "partitions": "in turn"},
        {"model": "normal by partition", "spread": 0.1},
    )


def _ways(workload: Workload, profile: LibraryProfile, seed: int) -> tuple[Way, ...]:
    n, threads = workload.n_partitions, workload.threads
    some = np.random.default_rng([seed, 1]).choice(len(RMA), size=1)
    wanted = [workload.baseline]
    if profile.part is not None:
        wanted.append(profile.part.into(n))
    wanted += [BY_KEY["many"].into(t) for t in sorted({threads, n})]
    wanted += [BY_KEY[RMA[i]].into(n) for i in sorted(some)]
    return tuple(way_of([a], workload) for a in dict.fromkeys(wanted))


def validate(
    site: Site,
    raw: Path,
    *,
    nodes: int,
    budget_s: float,
    seed: int = 0,
    on_progress: Callable[[Told], object] = lambda _: None,
) -> Comparison:
    """Calibrate, measure exchanges among all ranks, and compare predictions with them; resumes from `raw`.

    Raises
    ------
    PreadyError
        The benchmark does not run, the raw file is damaged or in use, or too little was measured.
    """
    calibration = calibrated(
        site,
        raw,
        threads=max(THREADS),
        budget_s=budget_s * CALIBRATING,
        seed=seed,
        on_progress=on_progress,
        point_budget_s=POINT_BUDGET_S,
    )
    return _compared(
        site, raw, calibration, nodes=nodes, budget_s=budget_s * (1 - CALIBRATING), seed=seed, on_progress=on_progress
    )


def both_ways(
    site: Site,
    raw: Path,
    *,
    budget_s: float,
    seed: int = 0,
    on_progress: Callable[[Told], object] = lambda _: None,
) -> Comparison:
    """Exchanges between two ranks that both send, on the machine whose calibration `raw` holds; resumes.

    Raises
    ------
    PreadyError
        As `validate`.
    """
    calibration = calibrate(raw, name=site.library, seed=seed)
    done = _compared(site, raw, calibration, nodes=2, budget_s=budget_s, seed=seed, on_progress=on_progress)
    return replace(done, title=f"{done.title}, both ways")


def _compared(
    site: Site,
    raw: Path,
    calibration: Calibration,
    *,
    nodes: int,
    budget_s: float,
    seed: int,
    on_progress: Callable[[Told], object],
) -> Comparison:
    """Measure as many workloads as the budget allows, and compare the machine's predictions with them."""
    machine, plans, moments = calibration.described.machine, raw.parent / "plans", raw.parent / ARRIVALS
    profile = effective_library(machine)
    listed = scenes(MOST_SCENES, nodes=nodes, bytes_per_s=nice(machine.bandwidth), profile=profile, seed=seed)
    for scene in listed:
        scene.plan.write(plans)
    points = [way.point(s.plan.name, round_, proving.MOST) for s, way, round_ in in_turn(listed, BLOCK, seed)]
    outcome = measure(
        points,
        site.launcher,
        raw,
        budget_s,
        tells("measuring", on_progress),
        built=site.built,
        tool=VERSION,
        seed=seed,
        folder=plans,
        point_budget_s=1.0,
        patience_s=PATIENCE_S,
    )
    content = observations_of.load(raw)
    moments.mkdir(exist_ok=True)
    performed = [(s, s.performed(content, calibration.environment)) for s in listed]

    def compared(machine: Machine, *, lag: bool = True, explain: bool = False) -> list[Judged]:
        return [
            _judged(with_library(machine)[0], scene, seen, site.library, moments, lag=lag)
            for scene, seen in performed
            if len(seen) > 1 and scene.ways[0] in seen
        ]

    return concluded(
        site,
        raw,
        content,
        calibration,
        outcome,
        compared,
        scenes=len(listed),
        limit=LIMIT,
        seed=seed,
        shared=shared_cores(p for _, seen in performed for p in seen.values()),
    )


def replayed(workload: Workload, ready: Array, file: Path) -> Workload:
    """The workload with the moments of a run, shape (rows, user partitions), seconds, kept in `file`."""
    np.save(file, ready)
    arrivals = Measured(model="trace", file=file.name, unit="s")
    return workload.model_copy(update={"arrivals": arrivals, "folder": str(file.parent)})


def _judged(
    machine: Machine, scene: Scene, seen: Mapping[Way, Performed], library: str, folder: Path, *, lag: bool
) -> Judged:
    """Predictions start from the measured ready times of bulk, which `folder` keeps: before porting nothing else is
    known, and threads that share cores are ready later than planned. Without `lag`, predicted with no spread."""
    workload, rounds = scene.workload, 1
    trace = seen[scene.ways[0]].trace
    if trace is not None:
        workload, rounds = replayed(workload, trace, folder / f"{library}-{scene.workload.name}.npy"), ROUNDS
    if not lag:
        base = max(float(np.median([p.computing_s for p in seen.values()])), 1e-9)
        workload = workload.model_copy(
            update={"arrivals": NoArrivals(), "compute": workload.compute.model_copy(update={"time": base})}
        )
    expected = Expected(machine, workload, scene.seed, scene.first, rounds * scene.iterations)
    found = cases_of(scene.workload, expected, seen, library)
    cases = tuple(c.result for c in found)
    chosen = max(range(len(cases)), key=lambda i: cases[i].saving_predicted)
    return Judged(cases, tuple(c.iteration_s for c in found), chosen, doubtful=not cases[0].spread < STEADY)
