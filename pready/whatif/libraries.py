"""What another MPI library changes: the approaches whose time after the last ready partition is another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pready.model.common.units import format_change
from pready.whatif.table import Table

SAME = 0.005
"""Relative difference of two times below which they count as the same: 0.5 %."""


def beside(table: Table) -> Table:
    """The best rows of a table of every approach, and a note for each library after the first.

    A note names the approaches whose time differs from the first library's by more than `SAME`, each with its largest
    change over all points and numbers of messages; or says "none".
    """
    others = [name for name in table.varied if name != "library"]
    times: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}
    for row in table:
        what = (*(row[name] for name in others), row["key"], row["transport_partitions"], row["vcis"])
        times.setdefault(row["library"], {})[what] = row
    first, *rest = times
    said = [f"{name} instead of {first} changes: {_changes(first, times[first], times[name])}" for name in rest]
    return replace(table, rows=[row for row in table if row["best"]], notes=(*table.notes, *said))


def _changes(
    first_name: str, first: dict[tuple[Any, ...], dict[str, Any]], other: dict[tuple[Any, ...], dict[str, Any]]
) -> str:
    largest: dict[str, float] = {}
    only: dict[str, str] = {}
    for what, row in (first | other).items():
        one, two = first.get(what), other.get(what)
        here = one is not None and one["available"], two is not None and two["available"]
        if here[0] != here[1]:
            only[row["name"]] = f"only with {'it' if here[1] else first_name}"
        elif one is not None and two is not None and all(here):
            change = two["time_s"] / one["time_s"] - 1 if one["time_s"] else 0.0
            if abs(change) > max(SAME, abs(largest.get(row["name"], 0.0))):
                largest[row["name"]] = change
    parts = [f"{name} ({format_change(100 * change)})" for name, change in largest.items()]
    parts += [f"{name} ({how})" for name, how in only.items() if name not in largest]
    return ", ".join(parts) or "none"
