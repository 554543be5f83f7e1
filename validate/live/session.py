"""One live comparison: calibrate and measure other cases alternately, predict them, judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pready.calibrate.machine import observations_of
from pready.calibrate.machine.calibrate import Calibration
from pready.calibrate.measure.schedule import sizes
from pready.calibrate.measure.session import measure
from pready.model.machine.machine import Machine
from pready.model.version import VERSION
from pready.validate.conclusion import concluded
from pready.validate.limits import Judged
from pready.validate.live import design
from pready.validate.live.compare import compare, gather, without_laggard
from pready.validate.result import Comparison
from pready.validate.site import CALIBRATING, MOST_SCENES, POINT_BUDGET_S, Site, Told, calibrated, nice, tells

TURNS = 2
"""In how many parts the cases are measured. Calibration goes on before, between and after them: a machine that others
use as well changes within minutes by as much as the model is off."""
LIMIT = 0.05
"""Of the median error of η."""


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

    def once_more() -> Calibration:
        part = budget_s * CALIBRATING / (TURNS + 1)
        threads = max(design.THREADS)
        return calibrated(site, raw, threads=threads, budget_s=part, seed=seed, on_progress=on_progress)

    calibration = once_more()
    speed, crowded = nice(calibration.described.machine.bandwidth), site.receive_threads == 1
    scenes = design.scenes(MOST_SCENES, bytes_per_s=speed, seed=seed, avoid=sizes(design.LARGEST), crowded=crowded)
    points = design.points(scenes, receive_threads=site.receive_threads, seed=seed, point_budget_s=POINT_BUDGET_S)
    for _ in range(TURNS):
        outcome = measure(
            points,
            site.launcher,
            raw,
            budget_s * (1 - CALIBRATING) / TURNS,
            tells("measuring", on_progress),
            built=site.built,
            tool=VERSION,
            seed=seed,
        )
        calibration = once_more()
    content, key = observations_of.load(raw), calibration.environment
    gathered = [(s, m) for s in scenes if (m := gather(content, key, s, site.receive_threads, POINT_BUDGET_S))]

    def compared(machine: Machine, *, lag: bool = True, explain: bool = False) -> list[Judged]:
        name = site.library if lag else f"{site.library}-no-lag"
        both = (
            compare(machine, s, m if lag else without_laggard(m), name, folder, seed, explain=explain)
            for s, m in gathered
        )
        return [c for c in both if c is not None]

    few_cores = (
        f"{site.receive_threads} thread receives, and RMA with a window per thread is left out: a node has fewer "
        "cores than the sender has threads, and polling threads would take each other's time slices"
    )
    return concluded(
        site,
        raw,
        content,
        calibration,
        outcome,
        compared,
        scenes=len(scenes),
        limit=LIMIT,
        seed=seed,
        notes=[few_cores] if site.receive_threads else [],
    )
