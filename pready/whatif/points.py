"""The points of a sweep: all combinations of values, checked like files."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pready
from pready.model.advice.predict import Engine
from pready.model.approach.libraries import library as library_by_name
from pready.model.common import _draws
from pready.model.common.errors import PreadyError, shown
from pready.model.engine import _kernel
from pready.model.engine.runs import LARGEST_SEED
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.model.result.verdict import MIN_GAIN
from pready.model.toml.reading import LARGEST_DATA, read_bytes
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload
from pready.whatif.fields import LARGEST, OPTIONS, Axis, changed

Work = Literal["per-thread", "total"]
"""If threads vary, `compute.time` stays the same per thread, or in total."""


@dataclass(frozen=True)
class Options:
    """Options that all points share."""

    engine: Engine | None = None
    min_gain: float = MIN_GAIN
    every: bool = False  # rows of all approaches, not only of the best
    sizes: bool = False  # also search the buffers worth porting


def sizes_wanted(axes: Sequence[Axis]) -> bool:
    """Are the buffers for which a way pays an answer, and not what varies?"""
    return not any(axis.field == "buffer" or axis.field.startswith(("faces", "exchanges")) for axis in axes)


@dataclass(frozen=True)
class Point:
    """One prediction to make."""

    machine: Machine
    workload: Workload
    library: str | None
    seed: int
    label: dict[str, object] = field(default_factory=dict)  # the varied fields and their values as written

    def key(self, options: Options) -> str:
        """A digest of the code and of all inputs, including files that the workload names."""
        named = [n for w in self.workload.parts for n in (getattr(w.arrivals, "file", None), w.neighbour_list)]
        files = [_digest(str(Path(self.workload.folder) / n)) for n in named if isinstance(n, str)]
        identity = [
            code_digest(),
            self.machine.model_dump_json(by_alias=True),
            self.workload.model_dump_json(),
            files,
            None if self.library is None else asdict(library_by_name(self.library)),
            self.seed,
            asdict(options),
        ]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()

    @property
    def said(self) -> str:
        """The varied fields in a line."""
        return ", ".join(f"{name} = {value}" for name, value in self.label.items())


@cache
def code_digest() -> str:
    """A digest of the installed code that predicts, in which two pready of one version may differ."""
    root, total = Path(pready.__file__).parent, hashlib.sha256()
    files = sorted(path for room in ("model", "whatif") for path in (root / room).rglob("*.py"))
    for path in (*files, Path(_draws.__file__), Path(_kernel.__file__)):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


@cache
def _digest(path: str) -> str:
    return hashlib.sha256(read_bytes(Path(path), LARGEST_DATA)).hexdigest()


def points(
    machine: Machine,
    workload: Workload,
    axes: Sequence[Axis],
    *,
    library: str | None = None,
    seed: int = 0,
    work: Work = "per-thread",
) -> list[Point]:
    """Every combination of the axes' values; the last axis changes fastest.

    Raises PreadyError: an unknown field or an invalid value, with the point.

    Parameters
    ----------
    library, seed
        Used if no axis has them.
    work
        If threads vary, `compute.time` stays the same per thread ("per-thread"), or in total ("total").
    """
    names = [a.field for a in axes]
    if len(set(names)) < len(names):
        raise PreadyError(f"{', '.join(names)}: a field twice", valid="each field once")
    if (count := math.prod(len(a.values) for a in axes)) > LARGEST:
        raise PreadyError(f"the sweep has {count} points", valid=f"at most {LARGEST}")
    out = []
    for combination in itertools.product(*(a.values for a in axes)):
        label = dict(zip(names, combination, strict=True))
        try:
            out.append(_point(machine, workload, label, library, seed, work))
        except PreadyError as error:
            said = ", ".join(f"{n} = {v}" for n, v in label.items())
            raise error.at(f"where {said}") from None
    return out


def product(
    machine: Machine,
    workloads: Sequence[Workload],
    axes: Sequence[Axis],
    *,
    library: str | None = None,
    seed: int = 0,
    work: Work = "per-thread",
) -> list[Point]:
    """The points of several workloads, labelled with their names; arguments and errors as of `points`. Raises
    PreadyError: two workloads have the same name."""
    names = [w.name for w in workloads]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise PreadyError(f"two workloads are called {twice!r}", valid="a name of its own for each")
    out = []
    for workload in workloads:
        some = points(machine, workload, axes, library=library, seed=seed, work=work)
        if len(workloads) > 1:
            some = [replace(p, label={"workload": workload.name, **p.label}) for p in some]
        out += some
    return out


def _point(
    machine: Machine, workload: Workload, label: dict[str, Any], library: str | None, seed: int, work: Work
) -> Point:
    if "machine" in label:
        given = label["machine"]
        machine = given if isinstance(given, Machine) else machines.load(given)
        label = {**label, "machine": machine.name if isinstance(given, Machine) else given}
    library = label.get("library", library)
    if library is not None:
        library = library_by_name(str(library)).full_name
    seed = label.get("seed", seed)
    if not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise PreadyError(f"seed = {shown(seed)}", valid="0 to 2^64 - 1")
    fields = {n: v for n, v in label.items() if n not in OPTIONS}
    machine, other = changed(machine, workload, fields)
    if work == "total" and other.threads != workload.threads:
        other = _same_work(other, other.threads / workload.threads, fields)
    return Point(machine, other, library, seed, label)


def _same_work(workload: Workload, more: float, fields: dict[str, Any]) -> Workload:
    """The workload with `more` times the threads and the same total compute time."""
    times = _times(workload)
    if times is None or any("compute" in n for n in fields):
        raise PreadyError(
            "the same work in total divides compute.time among the threads, and this workload has no compute.time",
            valid="--set work=per-thread, with compute.time in the file alone",
        )
    return workload.changed(**{name: f"{time / more!r} s" for name, time in times.items() if time})


def _times(workload: Workload) -> dict[str, float] | None:
    """Compute time of each exchange by dotted name; None if one follows from flops."""
    if workload.exchanges is None:
        each = {"compute.time": workload.compute}
    else:
        each = {f"exchanges[{i}].compute.time": e.compute for i, e in enumerate(workload.exchanges)}
    times = {name: compute.time for name, compute in each.items() if isinstance(compute, ComputeTime)}
    return times if len(times) == len(each) else None


def notes(workload: Workload, axes: Sequence[Axis], work: Work) -> list[str]:
    """Notes on how the points of a sweep are made."""
    if "threads" not in [a.field for a in axes]:
        return []
    if _times(workload) is None:
        return ["threads vary: each computes its part of the buffer"]
    if work == "total":
        return ["threads vary: the total work is fixed, compute.time is divided among threads (--set work=total)"]
    return ["threads vary: the work per thread is fixed, compute.time is that of each (--set work=per-thread)"]
