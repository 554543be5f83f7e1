"""Machines as terminal tables."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType

from pready.model.common.units import Unit, format_bandwidth, format_quantity, format_size, format_time
from pready.model.machine.machine import Machine
from pready.model.machine.path import SizeCurve
from pready.model.machine.threads import TeamTimes
from pready.show.terminal.table import Readable


def _latency(machine: Machine) -> float:
    """Latency of the smallest message, in seconds."""
    s = machine.inter.segments[0]
    return s.o_s.value + s.L.value + s.o_r.value + machine.matching.base.value


SOURCES = ("measured", "literature", "assumed")
"""Where a value comes from: by pready or somebody's benchmark, published, or assumed."""


def sources_of(machine: Machine) -> dict[str, int]:
    """How many of a machine's values come from where; those of a path of its own are counted one by one."""
    found: list[str] = [item.source for _, item in machine.values()]
    return {source: found.count(source) for source in SOURCES}


def by_fabric(profiles: Mapping[str, Machine]) -> dict[str, Machine]:
    """The profiles sorted by fabric, then by name."""
    return dict(sorted(profiles.items(), key=lambda each: (each[1].fabric or "", each[0])))


def machines_view(profiles: Mapping[str, Machine]) -> RenderableType:
    """All profiles, a line each, by fabric; how many values were measured, published and assumed."""
    table, kinds = Readable(), "measured published assumed"
    for column in ("profile", "fabric"):
        table.add_column(column, no_wrap=True)
    for column in ("bandwidth", "latency"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column(kinds, justify="right")
    table.add_column("library")
    table.add_column("described by", min_width=20)
    for name, m in by_fabric(profiles).items():
        figures = (format_bandwidth(m.bandwidth), format_time(_latency(m)), " ".join(map(str, sources_of(m).values())))
        table.add_row(name, m.fabric or "-", *figures, m.library.name, m.description)
    return table


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
            interval = f"{1 / item.factor:.3g} to {item.factor:.3g} times" if item.factor > 1 else ""
        elif isinstance(item, SizeCurve):
            shown = ", ".join(f"{format_size(x)}: {format_time(y)}" for x, y in zip(item.sizes, item.time, strict=True))
            interval = f"±{100 * item.interval:.0f} %" if item.interval else ""
        else:
            shown, *ends = [_quantity(v, getattr(item, "unit", None)) for v in (item.value, *(item.interval or ()))]
            interval = " to ".join(ends)
        rows.append((name, shown, interval, str(item.source), item.why))
    return rows


def _quantity(value: object, unit: Unit | None) -> str:
    return str(value) if unit is None or not isinstance(value, float) else format_quantity(value, unit)
