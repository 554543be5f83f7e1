"""Sweeps and comparisons: all combinations of values in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.workload.workload import Workload
from pready.whatif.compute import compute
from pready.whatif.fields import Axis
from pready.whatif.points import Options, Point, Work, notes, points
from pready.whatif.table import Table


def product(
    machine: Machine,
    workloads: Sequence[Workload],
    axes: Sequence[Axis],
    *,
    library: str | None = None,
    seed: int = 0,
    work: Work = "per-thread",
) -> list[Point]:
    """The points of several workloads, labelled with their names; arguments and errors as of `points`.

    Raises
    ------
    PreadyError
        Two workloads have the same name.
    """
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


def tabulate(
    some: Sequence[Point],
    workloads: Sequence[Workload],
    axes: Sequence[Axis],
    options: Options,
    *,
    work: Work = "per-thread",
    **how: Any,
) -> Table:
    """Compute the points of `product` as a table; further arguments and errors as of `compute`."""
    rows = compute(some, options, **how)
    said = dict.fromkeys(note for w in workloads for note in notes(w, axes, work))
    varied = (*(("workload",) if len(workloads) > 1 else ()), *(a.field for a in axes))
    return Table(varied, [row for of in rows for row in of], tuple(said))
