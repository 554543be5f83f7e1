"""Where and in which order to measure, and the machine calibrated there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.machine.calibrate import Calibration, calibrate, provenance, run_measurements
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.session import Progress
from pready.model.machine.writing import dumps

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
        site.launcher,
        site.built,
        raw,
        threads=threads,
        budget_s=budget_s,
        seed=seed,
        on_point=tells("calibrating", on_progress),
        **options,
    )
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
