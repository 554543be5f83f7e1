"""One exchange for several of a step that follow each other: one message to each neighbour with the bytes of all.

Not where one sends what the one before brought (`depends`).
"""

from __future__ import annotations

from typing import Any

from pready.model.workload.exchange import ComputeTime, Exchange, SizedNeighbour
from pready.model.workload.workload import Workload

BETWEEN = 0.01
"""Share of a step's computing up to which what is computed between two exchanges is packing."""
ADDED = ("buffer", "faces", "edge", "edges", "corner", "neighbour_list")
OWN = ("name", "compute", "arrivals", "depends", *ADDED)


def merged(step: Workload) -> tuple[Workload, list[str]] | None:
    """The step with such exchanges as one, and the names of those; None: there are none with the same neighbours."""
    times = [float(e.compute.time) for e in step.exchanges or () if isinstance(e.compute, ComputeTime)]
    if step.today != "nonblocking" or len(times) < len(step.parts):
        return None
    out: list[tuple[Exchange, list[str]]] = []
    for e, time, part in zip(step.exchanges or (), times, step.parts, strict=True):
        one = _one(out[-1][0], e) if out and not e.depends and time <= BETWEEN * sum(times) else None
        out = [*out[:-1], (one, [*out[-1][1], part.name])] if one is not None else [*out, (e, [part.name])]
    names = [name for _, some in out if len(some) > 1 for name in some]
    return (step.model_copy(update={"exchanges": tuple(e for e, _ in out)}), names) if names else None


def _one(first: Exchange, then: Exchange) -> Exchange | None:
    """Both as one, all computed before; None: to other neighbours, or in another way."""
    alike = all(getattr(first, n) == getattr(then, n) for n in Exchange.model_fields if n not in OWN)
    given = [n for n in ADDED if (getattr(first, n), getattr(then, n)) != (None, None)]
    sums = {n: _sum(getattr(first, n), getattr(then, n)) for n in given}
    before = sum(e.compute.time for e in (first, then) if isinstance(e.compute, ComputeTime))
    sums["compute"] = first.compute.model_copy(update={"time": before})
    return first.model_copy(update=sums) if alike and None not in sums.values() else None


def _sum(a: Any, b: Any) -> Any:
    """Sizes added, of lists by neighbour; None where they are of other neighbours, or not given alike."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        each = [_sum(x, y) for x, y in zip(a, b, strict=False)]
        return None if len(a) != len(b) or None in each else tuple(each)
    if isinstance(a, SizedNeighbour) and isinstance(b, SizedNeighbour):
        return a.model_copy(update={"size": a.size + b.size}) if a.to == b.to else None
    if isinstance(a, float) and isinstance(b, float):
        return a + b
    return a if a == b and isinstance(a, int) else None
