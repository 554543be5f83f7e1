"""Residuals of SST's ping-pong."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.common.units import format_size, format_time
from pready.show.terminal.table import Readable
from pready.sst.ping_pong import Residual


def residuals_view(residuals: Sequence[Residual], machine: str) -> RenderableType:
    """SST's ping-pong times beside the machine's."""
    table = Readable(heading=f"ping-pong: SST against {machine}")
    for name in ("size", "machine", "SST", "residual"):
        table.add_column(name, justify="right")
    for r in residuals:
        times = format_time(r.machine), format_time(r.simulated)
        table.add_row(format_size(r.size), *times, f"{100 * r.relative:+.1f} %")
    worst = max((abs(r.relative) for r in residuals), default=0.0)
    return Group(table, Text(f"largest residual {100 * worst:.1f} %", style="dim"))
