"""A cluster that stands for `pready.calibrate.measure.session.measure`: its ranks take what a test says."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.measure.exchange_plan import StepPlan
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point, Records
from pready.calibrate.measure.session import Outcome
from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.machine.machine import Machine
from pready.model.workload.workload import Workload
from pready.validate.prove.expected import Expected

ABOUT = {
    "library": "the model",
    "hosts": [*"aabb"],
    "allowed": ["0-3", "4-7"] * 2,
    "cpus": ["x", "x"],
    "cores_online": 8,
}
"""Two ranks on each of two nodes, with four cores each."""


def cluster(rows_of: Callable[[Point, dict[str, Any]], Array]) -> Callable[..., Outcome]:
    """Records of each point the rows that `rows_of` makes of it and of what `measure` was told."""

    def measured(points: Iterable[Point], launcher: Launcher, out: Path, *_: Any, **told: Any) -> Outcome:
        with Records(out) as records:
            records.add_environment("here", {"settings": {}, **ABOUT})
            listed = list(points)
            for point in records.missing(listed, "here"):
                lists = {"ranks_s": rows_of(point, told).tolist()}
                records.add_point(point, "here", {"measurement": "exchange", "median_s": 1.0, "lists": lists})
        return Outcome("here", len(listed), 0, 0)

    return measured


def rows(truth: Machine, workload: Workload, plan: StepPlan, ways: tuple[Approach, ...], seed: int) -> Array:
    """Ranks whose iterations are those that the engine simulates on `truth`.

    Returns
    -------
    Of each iteration when each rank began, how long it computed, and when it ended: shape (iterations, 3 ranks); of a
    step further (iterations, ranks × exchanges × 2): how long it computed for each exchange, and when that ended.
    """
    runs = Expected(truth, workload, seed, 0, plan.iterations).simulated(ways, record=True)
    last = [np.asarray(run.ends_s).reshape(plan.iterations, -1, plan.ranks)[:, -1] for run in runs]
    ends = np.stack(last, axis=2)
    computed = np.stack([e.ready.max(axis=3).sum(axis=2).T for e in plan.exchanges], axis=2)
    begins = np.vstack([np.zeros(plan.ranks), last[-1][:-1]])
    whole = np.stack([begins, computed.sum(axis=2), last[-1]], axis=2).reshape(plan.iterations, -1)
    each = np.stack([computed, ends], axis=3).reshape(plan.iterations, -1)
    return whole if len(runs) == 1 else np.hstack([whole, each])
