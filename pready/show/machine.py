"""Machines as terminal tables."""

from __future__ import annotations

from rich import box
from rich.console import RenderableType
from rich.table import Table

from pready.model.machine import Barrier, Contention, Machine, SizeCurve, TeamTimes
from pready.model.terms import unit_of
from pready.model.units import format_bandwidth, format_quantity, format_size, format_time


def machines_view(machines: list[Machine]) -> RenderableType:
    """All profiles, a line each."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("profile", "bandwidth", "latency", "contexts", "library", "described by"):
        table.add_column(column)
    for m in machines:
        s = m.inter.segments[0]
        latency = s.o_s.value + s.L.value + s.o_r.value + m.matching.base.value
        table.add_row(
            m.name.lower(),
            format_bandwidth(m.bandwidth),
            format_time(latency),
            str(m.contexts.value),
            m.library.name,
            m.description,
        )
    return table


def machine_view(machine: Machine) -> RenderableType:
    """Every value with its interval and provenance."""
    table = Table(
        title=f"{machine.name}: {machine.description} ({machine.created_by}, {machine.created})",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in ("value of", "value", "95 % interval", "source", "why"):
        table.add_column(column, overflow="fold")
    for name, item in machine.values():
        if isinstance(item, TeamTimes):
            points = ", ".join(f"{x}: {format_time(t)}" for x, t in zip(item.threads, item.time, strict=True))
            interval = f"±{item.interval:.0%}" if isinstance(item, (Barrier, Contention)) else ""
            table.add_row(name, points, interval, item.source, item.why)
            continue
        if isinstance(item, SizeCurve):
            points = ", ".join(
                f"{format_size(x)}: {format_time(y)}" for x, y in zip(item.sizes, item.time, strict=True)
            )
            table.add_row(name, points, f"±{item.interval:.0%}", item.source, item.why)
            continue
        shown = [_quantity(name, v) for v in (item.value, *(item.interval or ()))]
        table.add_row(name, shown[0], " to ".join(shown[1:]), item.source, item.why)
    return table


def _quantity(name: str, value: object) -> str:
    unit = unit_of(name)
    return str(value) if unit is None or not isinstance(value, float) else format_quantity(value, unit)
