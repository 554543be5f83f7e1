"""Machines as terminal tables and data."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType

from pready.model.common.units import format_bandwidth, format_quantity, format_size, format_time
from pready.model.machine.machine import Machine
from pready.model.machine.path import SizeCurve
from pready.model.machine.threads import Barrier, Contention, TeamTimes
from pready.show.terminal.table import Readable


def _latency(machine: Machine) -> float:
    """Latency of the smallest message, in seconds."""
    s = machine.inter.segments[0]
    return s.o_s.value + s.L.value + s.o_r.value + machine.matching.base.value


def machines_view(machines: list[Machine]) -> RenderableType:
    """All profiles, a line each."""
    table = Readable()
    for column in ("profile", "bandwidth", "latency", "contexts", "library", "described by"):
        number = column in ("bandwidth", "latency", "contexts")
        last = column == "described by"
        table.add_column(
            column, justify="right" if number else "left", no_wrap=not last, min_width=20 if last else None
        )
    for m in machines:
        figures = (format_bandwidth(m.bandwidth), format_time(_latency(m)), str(m.contexts.value))
        table.add_row(m.name.lower(), *figures, m.library.name, m.description)
    return table


def machines_data(machines: list[Machine]) -> list[dict[str, Any]]:
    """The same as data for JSON."""
    return [
        {
            "name": m.name.lower(),
            "title": m.name,
            "description": m.description,
            "created": m.created.isoformat(),
            "bandwidth_bytes_per_s": m.bandwidth,
            "latency_s": _latency(m),
            "contexts": m.contexts.value,
            "library": m.library.name,
        }
        for m in machines
    ]


def machine_data(machine: Machine) -> dict[str, Any]:
    """One machine with every value, its interval and provenance, in SI units."""
    (head,) = machines_data([machine])
    return head | {"created_by": machine.created_by, "file": machine.model_dump(mode="json", by_alias=True)}


def machine_view(machine: Machine) -> RenderableType:
    """Every value with its interval and provenance."""
    table = Readable(heading=f"{machine.name}: {machine.description} ({machine.created_by}, {machine.created})")
    for column in ("name", "value", "95 % interval", "source", "why"):
        table.add_column(column, overflow="fold", no_wrap=column == "source", min_width=24 if column == "why" else 8)
    for row in value_rows(machine):
        table.add_row(*row)
    return table


def value_rows(machine: Machine) -> list[tuple[str, str, str, str, str]]:
    """Every value as text: its name, value, 95 % interval, source and why."""
    rows = []
    for name, item in machine.values():
        if isinstance(item, TeamTimes):
            shown = ", ".join(f"{x}: {format_time(t)}" for x, t in zip(item.threads, item.time, strict=True))
            interval = f"±{item.interval:.0%}" if isinstance(item, (Barrier, Contention)) else ""
        elif isinstance(item, SizeCurve):
            shown = ", ".join(f"{format_size(x)}: {format_time(y)}" for x, y in zip(item.sizes, item.time, strict=True))
            interval = f"±{item.interval:.0%}"
        else:
            shown, *ends = [_quantity(name, v) for v in (item.value, *(item.interval or ()))]
            interval = " to ".join(ends)
        rows.append((name, shown, interval, str(item.source), item.why))
    return rows


def _quantity(name: str, value: object) -> str:
    from pready.model.timeline.terms import unit_of

    unit = unit_of(name)
    return str(value) if unit is None or not isinstance(value, float) else format_quantity(value, unit)
