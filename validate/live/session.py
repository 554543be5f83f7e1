"""One live comparison: calibrate and measure other cases alternately, predict them, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pready.calibrate.machine import observations_of
from pready.calibrate.machine.calibrate import Calibration, calibrate, provenance, run_measurements
from pready.calibrate.measure.catalogue import MEASUREMENTS
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.schedule import sizes
from pready.calibrate.measure.session import Outcome, Progress, measure
from pready.calibrate.rig.namespaces import OFF_LOGGP, on_rig
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.model.version import VERSION
from pready.validate.limits import FEWEST_WORKLOADS, as_printed, clear, too_few
from pready.validate.live import design
from pready.validate.live.checks import SMALL, STEADY, checks, described, steady
from pready.validate.live.compare import Compared, cases_of, compare, gather, halved_bandwidth, without_laggard
from pready.validate.result import CaseResult, Comparison, Control

CALIBRATING = 0.5
"""Share of the budget for the calibration."""
TURNS = 2
"""In how many parts the cases are measured. Calibration goes on before, between and after them: a machine that others
use as well changes within minutes by as much as the model is off."""
THREADS = max(design.THREADS)
MOST_SCENES = 64
POINT_BUDGET_S = 0.4


@dataclass(frozen=True)
class Site:
    """Where to measure: two ranks of one MPI library.

    `library` is a short name for files and tables. `receive_threads`: 0 for as many as send, which
    needs a core for each; 1 where a node has fewer.
    """

    library: str
    launcher: Launcher
    built: Built
    receive_threads: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """Progress of a comparison."""

    stage: str
    done: int
    total: int
    left_s: float


def validate(
    site: Site,
    folder: Path,
    *,
    budget_s: float,
    seed: int = 0,
    on_progress: Callable[[Told], object] = lambda _: None,
) -> Comparison:
    """Compare predictions with measurements of one MPI library.

    Resumes: what `folder` holds of the same site and seed is not measured again. Raw results are
    ``live-LIBRARY.jsonl``, the calibrated machine is ``live-LIBRARY.toml``.

    Parameters
    ----------
    budget_s
        Wall-clock seconds of measuring; a point that has begun is finished.
    seed
        Of the cases, their order, and the intervals.

    Raises
    ------
    PreadyError
        The benchmark does not run, the raw file is damaged or in use, or too little was measured to
        compare anything.
    """
    raw = folder / f"live-{site.library}.jsonl"

    def calibrated() -> Calibration:
        return _calibrated(site, raw, budget_s * CALIBRATING / (TURNS + 1), seed, on_progress)

    def told(p: Progress) -> None:
        on_progress(Told("measuring", p.done, p.total, p.left_s))

    calibration = calibrated()
    scenes = scenes_for(calibration.described.machine, seed, crowded=site.receive_threads == 1)
    points = design.points(scenes, receive_threads=site.receive_threads, seed=seed, point_budget_s=POINT_BUDGET_S)
    for _ in range(TURNS):
        outcome = measure(
            points, site.launcher, raw, budget_s * (1 - CALIBRATING) / TURNS, told, built=site.built, tool=VERSION,
            seed=seed,
        )  # fmt: skip
        calibration = calibrated()
    machine = calibration.described.machine
    (folder / f"live-{site.library}.toml").write_text(dumps(machine, provenance(raw, calibration, seed)))
    return concluded(site, raw, calibration, scenes, seed, folder, outcome)


def _calibrated(
    site: Site, raw: Path, budget_s: float, seed: int, on_progress: Callable[[Told], object]
) -> Calibration:
    def told(p: Progress) -> None:
        on_progress(Told("calibrating", p.done, p.total, p.left_s))

    run_measurements(
        site.launcher, site.built, raw, threads=THREADS, budget_s=budget_s, only=MEASUREMENTS, seed=seed, on_point=told
    )
    return calibrate(raw, name=site.library, seed=seed)


def scenes_for(machine: Machine, seed: int, *, crowded: bool = False) -> list[design.Scene]:
    """The session's cases: their message sizes are not among the calibration's. `crowded` as of `design.scenes`."""
    speed = nice(machine.bandwidth)
    return design.scenes(MOST_SCENES, bytes_per_s=speed, seed=seed, avoid=sizes(design.LARGEST), crowded=crowded)


def nice(bytes_per_s: float) -> float:
    """One digit, so that cases and their measurements stay the same when a calibration moves a little."""
    return float(f"{bytes_per_s:.1g}")


def concluded(
    site: Site,
    raw: Path,
    calibration: Calibration,
    scenes: list[design.Scene],
    seed: int,
    folder: Path,
    outcome: Outcome | None = None,
) -> Comparison:
    """The comparison, from the raw file."""
    content, key = observations_of.load(raw), calibration.environment
    machine = calibration.described.machine
    gathered = [(s, m) for s in scenes if (m := gather(content, key, s, site.receive_threads, POINT_BUDGET_S))]

    def compared(machine: Machine, *, lag: bool = True, explain: bool = False) -> list[Compared]:
        name = site.library if lag else f"{site.library}-no-lag"
        both = (
            compare(machine, s, m if lag else without_laggard(m), name, folder, seed, explain=explain)
            for s, m in gathered
        )
        return [c for c in both if c is not None]

    found = compared(machine, explain=True)
    if not found:
        problem = "no workload was measured in every round"
        valid: str | None = "a larger budget"
        if outcome is not None and outcome.failures:
            problem, valid = f"{problem}; {failed(outcome)}", None
        raise PreadyError(problem, valid=valid, source=str(raw))
    cases = cases_of(found)
    controls = (
        ()
        if len(found) < FEWEST_WORKLOADS
        else (
            Control(
                "β halved", "every time per byte of the Machine doubled", checks(compared(halved_bandwidth(machine)))
            ),
            Control(
                "laggard removed",
                "the same measurements, predicted as if all partitions were ready at once",
                checks(compared(machine, lag=False)),
            ),
        )
    )
    about = content.environments[key]
    return Comparison(
        source="live",
        title=f"{site.library}: {site.launcher.name}",
        cases=cases,
        checks=checks(found),
        controls=controls,
        notes=(*site.notes, *_notes(cases, found, scenes, site, outcome, content.unsupported())),
        about={
            "MPI library": " ".join(str(about.get("library", "")).split("\n")[0].split()),
            "launcher": site.launcher.name,
            "hosts": f"{', '.join(map(str, about.get('hosts', ())))}; {about.get('cores_online')} cores online",
            "processors": ", ".join(dict.fromkeys(map(str, about.get("cpus", ())))),
            "benchmark": site.built.identity,
            "seed": str(seed),
            "raw": str(raw),
        },
    )


def failed(outcome: Outcome) -> str:
    """How many points could not be measured, and the first reason."""
    reason = next(iter(outcome.failures.values())).split("\n")[0]
    return f"{len(outcome.failures)} points could not be measured, the first because: {reason}"


def _notes(
    cases: Sequence[CaseResult],
    found: Sequence[Compared],
    scenes: Sequence[design.Scene],
    site: Site,
    outcome: Outcome | None,
    unsupported: Mapping[str, str],
) -> Iterator[str]:
    """Which cases count, figures without a limit, and what differs from the model."""
    large = [c for c in cases if c.buffer >= SMALL]
    yield (
        f"{len(found)} of {len(scenes)} workloads, {len(cases)} cases, were measured in all {design.ROUNDS} rounds; "
        "the budget ended before the others"
    )
    yield (
        f"{len(steady(cases))} of {len(large)} cases from 4 KiB up repeat themselves within {100 * STEADY:.0f} % and "
        f"are judged; {len(cases) - len(large)} smaller ones are not"
    )
    yield described(found)
    yield from too_few(len(found))
    if said := as_printed(clear([c for c in steady(cases) if c.approach != "single"])):
        yield said
    if site.receive_threads:
        yield (
            f"{site.receive_threads} thread receives, and RMA with a window per thread is left out: a node has fewer "
            "cores than the sender has threads, and polling threads would take each other's time slices"
        )
    if on_rig(site.launcher.name):
        yield OFF_LOGGP
    if outcome is not None and outcome.failures:
        yield failed(outcome)
    for reason in dict.fromkeys(unsupported.values()):
        yield f"not measured: {reason}"
