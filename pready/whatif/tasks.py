"""A point as it travels to a worker process, possibly of another node."""

from __future__ import annotations

import json
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
from pready.whatif.points import Options, Point, code_digest
from pready.whatif.predicted_rows import Rows, rows_of

DATE = "a date"


@dataclass(frozen=True)
class Task:
    """A point as text, since tables with units do not pickle."""

    machine: str
    workload: str  # both as JSON
    folder: str  # of the workload: files that it names have to be there for the worker, too
    library: str | None
    seed: int
    options: Options
    code: str = field(default_factory=code_digest)

    @classmethod
    def of(cls, point: Point, options: Options) -> Task:
        folder = str(Path(point.workload.folder).resolve())
        workload = _written(point.workload)
        return cls(_machine_text(point.machine), workload, folder, point.library, point.seed, options)


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


def work(task: Task, cores: int | None = 1) -> Rows:
    """Rows of a point; what a worker calls, on so many cores (None: all). Raises PreadyError: as `rows_of`; or the
    worker's pready is not the caller's."""
    if task.code != code_digest():
        raise PreadyError(f"a worker's pready {VERSION} is other code than this one", valid="the same everywhere")
    workload = validated(Workload, {**_read(task.workload), "folder": task.folder}, "workload")
    return rows_of(Point(_machine(task.machine), workload, task.library, task.seed), task.options, cores)
