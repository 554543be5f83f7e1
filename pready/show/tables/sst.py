"""Results of SST: residuals of its ping-pong, and the gain that congestion takes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.common.units import format_size, format_time
from pready.show.terminal.table import Readable
from pready.sst.calibrate import Fit
from pready.sst.congestion import Beside


def residuals_view(fit: Fit, machine: str) -> RenderableType:
    """SST's ping-pong times beside the machine's."""
    table = Readable(heading=f"ping-pong: SST against {machine}")
    for name in ("size", "machine", "SST", "residual", ""):
        table.add_column(name, justify="right")
    for r in fit.residuals:
        note = "near a threshold" if r.near_threshold else ""
        table.add_row(
            format_size(r.size), format_time(r.machine), format_time(r.simulated), f"{100 * r.relative:+.1f} %", note
        )
    worst = max((abs(r.relative) for r in fit.residuals), default=0.0)
    rounds = f"{fit.rounds} round{'s' * (fit.rounds != 1)}"
    said = f"largest residual {100 * worst:.1f} %, away from thresholds {100 * fit.worst:.1f} %; {rounds}"
    return Group(table, Text(said, style="dim"))


def congestion_view(rows: Sequence[Beside], network: str) -> RenderableType:
    """Times and η on the network, beside those on one router."""
    table = Readable(heading=f"congestion on {network}, beside one router")
    for name in (
        "approach",
        "transport",
        "time, one router",
        "time here",
        "η, one router",
        "η here",
        "change of η (95 %)",
    ):
        table.add_column(name, justify="left" if name == "approach" else "right")
    for r in rows:
        times = (format_time(r.time_alone_s), format_time(r.time_s))
        table.add_row(r.name, str(r.transport_partitions), *times, f"{r.eta_alone:.2f}", f"{r.eta:.2f}", r.said)
    return table
