"""A sweep as JSON Lines for Extra-P: a measurement per point, approach and metric.

The format is Extra-P's own ("JSON Lines", https://github.com/extra-p/extrap/blob/master/docs/file-formats.md):
``params`` with numbers, ``callpath``, ``metric``, ``value``. Fields with numbers are parameters, in SI; machines,
libraries and other names are the call path; values of ``seed`` are repetitions. Extra-P takes a call path only if each
point has it: of all approaches a path holds the fastest of an interface, of the best of each point it is one function.
"""

from __future__ import annotations

import json
from typing import Any

from pready.model.common.errors import PreadyError
from pready.whatif.fields import magnitude
from pready.whatif.table import Table

SUFFIX = ".jsonl"
METRICS = {"communication_s": "time_s", "iteration_s": "iteration_s", "eta": "eta"}
"""Metrics by name, and their columns."""
BEST = "best approach"
"""The call path of a table that has one approach a point."""


def json_lines(table: Table) -> str:
    """The text of a file.

    Raises
    ------
    PreadyError
        No varied field has numbers, so that there is nothing to model.
    """
    numbers, names = split_fields({name: [row[name] for row in table] for name in table.varied})
    points: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
    for row in table:
        fastest = points.setdefault(tuple(repr(row[n]) for n in table.varied), {})
        name = str(row["name"]).replace("->", " ")
        if name not in fastest or row["time_s"] < fastest[name]["time_s"]:
            fastest[name] = row
    if all(len(fastest) == 1 for fastest in points.values()):
        points = {point: {BEST: row} for point, fastest in points.items() for row in fastest.values()}
    lines = []
    for fastest in points.values():
        for name, row in fastest.items():
            if any(name not in other for other in points.values()):
                continue
            path = "->".join([*(str(row[n]) for n in names), name])
            params = {n: magnitude(row[n]) for n in numbers}
            for metric, column in METRICS.items():
                line = {"params": params, "callpath": path, "metric": metric, "value": row[column]}
                lines.append(json.dumps(line, allow_nan=False))
    return "\n".join(lines) + "\n"


def split_fields(varied: dict[str, list[object]]) -> tuple[list[str], list[str]]:
    """Fields with numbers, and those with names; raises as `json_lines`."""
    numbers = [n for n, values in varied.items() if n != "seed" and all(magnitude(v) is not None for v in values)]
    if not numbers:
        raise PreadyError(
            f"Extra-P models numbers, and none of {', '.join(varied)} is a parameter",
            valid="a field with numbers, such as --set buffer=64KiB:4MiB:2x",
        )
    return numbers, [n for n in varied if n not in (*numbers, "seed")]
