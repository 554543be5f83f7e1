"""A cluster that stands for `pready.calibrate.measure.session.measure`: its ranks take what a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.measure.exchange_plan import ExchangePlan
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point, Records
from pready.calibrate.measure.session import Outcome
from pready.model.common.arrays import Array


def cluster(rows_of: Callable[[Point, dict[str, Any]], Array]) -> Callable[..., Outcome]:
    """Records of each point the rows that `rows_of` makes of it and of what `measure` was told."""

    def measured(points: Iterable[Point], launcher: Launcher, out: Path, *_: Any, **told: Any) -> Outcome:
        with Records(out) as records:
            records.add_environment("here", {"library": "the model", "settings": {}})
            listed = list(points)
            for point in records.missing(listed, "here"):
                lists = {"ranks_s": rows_of(point, told).tolist()}
                records.add_point(point, "here", {"measurement": "exchange", "median_s": 1.0, "lists": lists})
        return Outcome("here", len(listed), 0, 0)

    return measured


def rows(plan: ExchangePlan, ends: Array | None) -> Array:
    """Of each iteration when each rank began, how long it computed, and when it ended: shape (iterations, 3 ranks).

    Parameters
    ----------
    ends
        Shape (iterations × phases, ranks).
    """
    assert ends is not None
    ends = ends.reshape(plan.iterations, -1, plan.ranks)[:, -1]
    begins = np.vstack([np.zeros(plan.ranks), ends[:-1]])
    computed = plan.ready.max(axis=3).sum(axis=2).T
    return np.stack([begins, computed, ends], axis=2).reshape(plan.iterations, -1)
