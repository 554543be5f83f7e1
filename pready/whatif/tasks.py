"""Points as they travel to a worker process, possibly of another node."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.toml import dotted
from pready.model.toml.provenance import Strict
from pready.model.toml.reading import validated
from pready.model.version import VERSION
from pready.model.workload.workload import Workload
from pready.whatif import installed_code
from pready.whatif.points import Options, Point
from pready.whatif.predicted_rows import Rows, rows_of

Results = list[Rows | PreadyError]
"""Rows of a task's points, in order, or their errors."""


DATE = "a date"

PointText = tuple[str, str, str, str | None, int]
"""Machine and workload as JSON, the workload's folder, library and seed."""


def points_per_task(count: int) -> int:
    """1 below 2000 points, 32 from 62,000: a cluster's scheduler takes about a millisecond per task."""
    return min(32, 1 + count // 2000)


@dataclass(frozen=True)
class Task:
    """Some points as text, since tables with units do not pickle: 7 kB for a machine, 0.5 kB for each point."""

    points: tuple[PointText, ...]
    options: Options
    code: str = field(default_factory=installed_code.digest)

    @classmethod
    def of(cls, points: Sequence[Point], options: Options) -> Task:
        """The task of some points; files that a workload names have to be there for the worker, too."""
        return cls(tuple(_text(p) for p in points), options)


def _text(point: Point) -> PointText:
    folder = str(Path(point.workload.folder).resolve())
    return _machine_text(point.machine), _written(point.workload), folder, point.library, point.seed


@lru_cache(maxsize=64)
def _machine_text(machine: Machine) -> str:
    return _written(machine)


def _written(table: Strict) -> str:
    return json.dumps(dotted.written(table), default=lambda day: {DATE: day.isoformat()})


def _read(text: str) -> Any:
    return json.loads(text, object_hook=lambda d: date.fromisoformat(d[DATE]) if DATE in d else d)


@lru_cache(maxsize=64)
def _machine(text: str) -> Machine:
    return validated(Machine, _read(text), "machine")


def work(task: Task, cores: int | None = 1) -> Results:
    """Rows of each point of a task, or its error; what a worker calls, on so many cores (None: all).

    Raises
    ------
    PreadyError
        The worker's pready is not the caller's.
    """
    if task.code != installed_code.digest():
        raise PreadyError(f"a worker's pready {VERSION} is other code than this one", valid="the same everywhere")
    return [_rows(point, task.options, cores) for point in task.points]


def _rows(point: PointText, options: Options, cores: int | None) -> Rows | PreadyError:
    machine, workload, folder, library, seed = point
    try:
        what = validated(Workload, {**_read(workload), "folder": folder}, "workload")
        return rows_of(Point(_machine(machine), what, library, seed), options, cores)
    except PreadyError as error:
        return error
