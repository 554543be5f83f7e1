"""Exchanges among many ranks, predicted and measured: patterns, sizes, arrivals and approaches as a seeded sample.

The same as `pready prove` for as many workloads as a budget allows; the limits hold for all of them together. Ranks
that share cores are measured and shown, not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.machine import observations_of
from pready.calibrate.machine.calibrate import Calibration, calibrate, provenance, run_measurements
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.exchange_plan import step_plan
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Content, Point
from pready.calibrate.measure.session import Outcome, Progress, measure
from pready.model.advice.predict import effective_library, with_library
from pready.model.approach.interfaces import BY_KEY
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.engine.ranks.layout import layout
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.model.toml.reading import validated
from pready.model.version import VERSION
from pready.model.workload.arrivals import Measured, NoArrivals
from pready.model.workload.workload import Workload
from pready.validate.limits import FEWEST_WORKLOADS, as_printed, clear, too_few
from pready.validate.live.compare import ARRIVALS, halved_bandwidth
from pready.validate.live.design import LONGEST_TRANSFER
from pready.validate.live.session import CALIBRATING, Told, failed, nice
from pready.validate.prove import design as proving
from pready.validate.prove.cores import shared_cores
from pready.validate.prove.design import Way, way_of
from pready.validate.prove.expected import Expected
from pready.validate.prove.many_checks import STEADY, Judged, checks, compared, described
from pready.validate.prove.performed import performed_in
from pready.validate.prove.session import cases_of
from pready.validate.result import Comparison, Control

KINDS = ("none", "laggard", "late thread", "normal by thread", "normal by partition")
THREADS = (1, 2, 4)
PARTITIONS_PER_THREAD = (1, 2, 4)
SMALLEST, LARGEST = 4 << 10, 4 << 20
"""Bytes to one neighbour; with several, at most `LARGEST` to all of them in an iteration."""
DELAYS = (0.3, 2.0)
"""Delays over the time that a rank's bytes take on its cable."""
SHORTEST, LONGEST = 1e-3, 120e-3
"""Seconds of computing, and of a delay."""
MOST_SCENES = 64
ITERATIONS = 12
"""That count, of an exchange that takes no longer than `LONG`; at least `FEWEST` of longer ones."""
FEWEST, LONG = 6, 60e-3
RMA = ("rma-single-active", "rma-single-passive")
"""One of them per workload. With a window per thread, all threads of a rank poll until the epoch ends; threads that
share cores would show time slices."""
ROUNDS = 3
"""How often each way is measured."""
BLOCK = 3
"""Scenes whose rounds alternate."""
POINT_BUDGET_S = 0.4
PATIENCE_S = 20.0


class NothingMeasured(PreadyError):
    """The budget ended before any exchange was measured in every round."""


@dataclass(frozen=True)
class Scene:
    """One workload and the ways that it is measured in."""

    workload: Workload
    ways: tuple[Way, ...]
    iterations: int

    @property
    def steps(self) -> int:
        """Exchanges of an iteration."""
        return layout(self.workload).pattern(self.workload).exchanges(self.workload.blocks)

    @property
    def first(self) -> int:
        """Iterations that go before."""
        return -(-proving.WARM_UP // self.steps)


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
    from scipy.stats import qmc

    sample = qmc.Sobol(d=6, scramble=True, seed=seed).random_base2(max(count - 1, 1).bit_length())[:count]
    return [_scene(i, row, nodes, bytes_per_s, profile, seed + i) for i, row in enumerate(sample)]


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
    kind = KINDS[int(arrivals * len(KINDS))]
    workload = validated(
        Workload,
        {
            "name": f"{number:03d} {name}",
            "threads": n,
            "partitions_per_thread": per_thread,
            "buffer": f"{buffer} B",
            "receiver": "computing",
            "compute": {"time": f"{late:.6g} s"},
            "arrivals": _arrivals(kind, late),
            **patterns(nodes)[name],
        },
        name,
    )
    iteration_s = steps * (on_cable + 2 * late)
    return Scene(
        workload, _ways(workload, profile, seed), int(np.clip(ITERATIONS * LONG / iteration_s, FEWEST, ITERATIONS))
    )


def _arrivals(kind: str, late: float) -> dict[str, Any]:
    by_kind: dict[str, dict[str, Any]] = {
        "none": {"model": "none"},
        "laggard": {"model": "laggard", "delay": f"{late:.6g} s"},
        "late thread": {"model": "laggard", "delay": f"{late:.6g} s", "late": "thread"},
        "normal by thread": {"model": "normal by thread", "spread": 0.3, "partitions": "in turn"},
        "normal by partition": {"model": "normal by partition", "spread": 0.1},
    }
    return by_kind[kind]


def _ways(workload: Workload, profile: LibraryProfile, seed: int) -> tuple[Way, ...]:
    n, threads = workload.n_partitions, workload.threads
    some = np.random.default_rng([seed, 1]).choice(len(RMA), size=1)
    wanted = [workload.baseline]
    if profile.part is not None:
        wanted.append(profile.part.into(n))
    wanted += [BY_KEY["many"].into(t) for t in sorted({threads, n})]
    wanted += [BY_KEY[RMA[i]].into(n) for i in sorted(some)]
    return tuple(way_of(a, n) for a in dict.fromkeys(wanted))


def validate(
    library: str,
    launcher: Launcher,
    built: Built,
    folder: Path,
    *,
    nodes: int,
    budget_s: float,
    seed: int = 0,
    on_progress: Callable[[Told], object] = lambda _: None,
) -> Comparison:
    """Calibrate, measure exchanges among all ranks, and compare predictions with them; resumes as `live.validate`.

    Raises
    ------
    PreadyError
        The benchmark does not run, the raw file is damaged or in use, or too little was measured.
    """
    raw = folder / f"nodes-{nodes}-{library}.jsonl"
    run_measurements(
        launcher, built, raw, threads=max(THREADS), budget_s=budget_s * CALIBRATING, seed=seed,
        on_point=_tells("calibrating", on_progress), point_budget_s=POINT_BUDGET_S,
    )  # fmt: skip
    calibration = calibrate(raw, name=library, seed=seed)
    machine = calibration.described.machine
    raw.with_suffix(".toml").write_text(dumps(machine, provenance(raw, calibration, seed)), encoding="utf-8")
    return _compared(
        library, launcher, built, raw, calibration, nodes=nodes, budget_s=budget_s * (1 - CALIBRATING), seed=seed,
        on_progress=on_progress,
    )  # fmt: skip


def both_ways(
    library: str,
    launcher: Launcher,
    built: Built,
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
    calibration = calibrate(raw, name=library, seed=seed)
    done = _compared(
        library, launcher, built, raw, calibration, nodes=2, budget_s=budget_s, seed=seed, on_progress=on_progress
    )
    return replace(done, title=f"{done.title}, both ways")


def _tells(stage: str, on_progress: Callable[[Told], object]) -> Callable[[Progress], None]:
    def tell(p: Progress) -> None:
        on_progress(Told(stage, p.done, p.total, p.left_s))

    return tell


def _compared(
    library: str,
    launcher: Launcher,
    built: Built,
    raw: Path,
    calibration: Calibration,
    *,
    nodes: int,
    budget_s: float,
    seed: int,
    on_progress: Callable[[Told], object],
) -> Comparison:
    """Measure as many workloads as the budget allows, and compare the machine's predictions with them."""
    machine, folder = calibration.described.machine, raw.parent
    profile = effective_library(machine)
    listed = scenes(MOST_SCENES, nodes=nodes, bytes_per_s=nice(machine.bandwidth), profile=profile, seed=seed)
    plans = [step_plan(s.workload, s.first + s.iterations, seed).write(folder / "plans") for s in listed]
    outcome = measure(
        list(_points(listed, plans, seed)), launcher, raw, budget_s, _tells("measuring", on_progress), built=built,
        tool=VERSION, seed=seed, folder=folder / "plans", point_budget_s=1.0, patience_s=PATIENCE_S,
    )  # fmt: skip
    return concluded(library, launcher, raw, calibration, listed, plans, seed, outcome)


def _points(listed: Sequence[Scene], plans: Sequence[str], seed: int) -> Iterator[Point]:
    """Rounds of a block of scenes after each other, the ways of each in random order."""
    rng = np.random.default_rng([seed, 2])
    for begin in range(0, len(listed), BLOCK):
        for round_ in range(ROUNDS):
            for scene, plan in zip(listed[begin : begin + BLOCK], plans[begin : begin + BLOCK], strict=True):
                for i in rng.permutation(len(scene.ways)):
                    yield scene.ways[i].point(plan, round_, proving.MOST)


def concluded(
    library: str,
    launcher: Launcher,
    raw: Path,
    calibration: Calibration,
    listed: Sequence[Scene],
    plans: Sequence[str],
    seed: int,
    outcome: Outcome | None = None,
) -> Comparison:
    """The comparison, from the raw file; without checks and controls where ranks share cores."""
    content, key, machine = observations_of.load(raw), calibration.environment, calibration.described.machine
    moments = raw.parent / ARRIVALS
    moments.mkdir(exist_ok=True)
    found = judged(machine, listed, plans, content, key, library, seed, moments)
    if not found:
        raise NothingMeasured("no exchange was measured in every round", valid="a larger budget", source=str(raw))
    cases = tuple(c for one in found for c in one.cases)
    about = content.environments[key]
    steady = sum(c.spread < STEADY for c in cases)
    notes = [
        f"{len(found)} of {len(listed)} workloads, {len(cases)} cases, were measured in all {ROUNDS} rounds; "
        f"{steady} of the cases repeat themselves within {100 * STEADY:.0f} % and count",
        described(found),
    ]
    notes += [said] if (said := as_printed(clear(compared(found)))) else []
    performed = (
        performed_in(content, way, key, plan, s.first, s.steps, ROUNDS)
        for s, plan in zip(listed, plans, strict=True)
        for way in s.ways
    )
    shared = shared_cores(p for p in performed if p is not None)
    notes += [shared] if shared else too_few(len(found))

    def controls() -> tuple[Control, ...]:
        half = judged(halved_bandwidth(machine), listed, plans, content, key, library, seed, moments)
        calm = judged(machine, listed, plans, content, key, library, seed, moments, lag=False)
        return (
            Control("β halved", "every time per byte of the Machine doubled", checks(half)),
            Control("spread removed", "the same measurements, predicted as if threads finished together", checks(calm)),
        )

    if outcome is not None and outcome.failures:
        notes.append(failed(outcome))
    return Comparison(
        source="live",
        title=f"{library}: {launcher.name}",
        cases=cases,
        checks=() if shared else checks(found),
        controls=() if shared or len(found) < FEWEST_WORKLOADS else controls(),
        notes=tuple(notes),
        about={
            "MPI library": " ".join(str(about.get("library", "")).split("\n")[0].split()),
            "launcher": launcher.name,
            "seed": str(seed),
            "raw": str(raw),
        },
    )


def replayed(workload: Workload, ready: Array, file: Path) -> Workload:
    """The workload with the moments of a run, shape (rows, user partitions), seconds, kept in `file`."""
    np.save(file, ready)
    arrivals = Measured(model="trace", file=file.name, unit="s")
    return workload.model_copy(update={"arrivals": arrivals, "folder": str(file.parent)})


def judged(
    machine: Machine,
    listed: Sequence[Scene],
    plans: Sequence[str],
    content: Content,
    environment: str,
    library: str,
    seed: int,
    folder: Path,
    *,
    lag: bool = True,
) -> list[Judged]:
    """Scenes of which bulk and another way were measured in every round; without `lag`, predicted with no spread.

    Predictions start from the measured ready times of bulk, which `folder` keeps: before porting nothing else is known,
    and threads that share cores are ready later than planned.
    """
    out, (machine, _) = [], with_library(machine)
    for scene, plan in zip(listed, plans, strict=True):
        every = (
            (way, performed_in(content, way, environment, plan, scene.first, scene.steps, ROUNDS)) for way in scene.ways
        )
        seen = {way: found for way, found in every if found is not None}
        if len(seen) < 2 or all(w.approach != scene.workload.baseline for w in seen):
            continue
        workload, rounds = scene.workload, 1
        trace = next(p.trace for w, p in seen.items() if w.approach == workload.baseline)
        if trace is not None:
            workload, rounds = replayed(workload, trace, folder / f"{library}-{scene.workload.name}.npy"), ROUNDS
        if not lag:
            base = max(float(np.median([p.computing_s for p in seen.values()])), 1e-9)
            workload = workload.model_copy(
                update={"arrivals": NoArrivals(), "compute": workload.compute.model_copy(update={"time": base})}
            )
        expected = Expected(machine, workload, seed, scene.first, rounds * scene.iterations)
        cases = cases_of(scene.workload, expected, seen, library)
        out.append(Judged(tuple(c.result for c in cases), tuple(c.iteration_s for c in cases)))
    return out
