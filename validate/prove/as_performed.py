"""A workload as it is measured, where that is not what its file says."""

from __future__ import annotations

import math
from typing import Any

from pready.model.workload import supported_by
from pready.model.workload.workload import Workload


def as_performed(workload: Workload) -> tuple[Workload, list[str]]:
    """The workload that is predicted and measured, and what to say of the difference. Raises PreadyError: the engine,
    which predicts it, cannot."""
    supported_by.check(workload, "engine")
    notes: list[str] = []
    fields: dict[str, Any] = {}
    for number, part in enumerate(workload.parts):
        before = "" if workload.exchanges is None else f"exchanges[{number}]."
        if part.pattern == "pt2pt" and not part.both_ways:
            fields[f"{before}both_ways"] = True
            notes.append("pairs were predicted and measured with both ranks sending (both_ways = true)")
        whole = _whole_partitions(part)
        fields |= {f"{before}{name}": value for name, value in whole.items()}
        if whole:
            name = "" if workload.exchanges is None else f" of {part.name}"
            notes.append(f"sizes{name} were rounded up to whole bytes of {part.n_partitions} user partitions")
    return (workload.changed(**fields) if fields else workload), list(dict.fromkeys(notes))


def _whole_partitions(part: Workload) -> dict[str, Any]:
    """Fields of sizes that are no multiple of the user partitions, each made the next one."""
    n = part.divisor

    def up(size: float) -> str:
        return f"{math.ceil(size / n) * n} B"

    found: dict[str, Any] = {}
    for name in ("edge", "corner", "faces", "edges"):
        given = getattr(part, name)
        if isinstance(given, tuple) and any(size % n for size in given):
            found[name] = [*map(up, given)]
        elif isinstance(given, (int, float)) and given % n:
            found[name] = up(given)
    ranks, listed = part.neighbour_lists, part.neighbour_sizes
    if ranks is not None and listed is not None and any(size % n for row in listed for size in row):
        found["neighbour_list"] = [
            [{"to": to, "size": up(size)} for to, size in zip(*row, strict=True)]
            for row in zip(ranks, listed, strict=True)
        ]
    return found
