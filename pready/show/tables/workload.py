"""The step found in a captured run."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from pready.calibrate.capture.step import Step
from pready.model.common.units import format_size, format_time
from pready.show.terminal.table import Readable

MOST_EXCHANGES = 16


def step_view(step: Step) -> RenderableType:
    """The step's exchanges, those with the largest possible gain first."""
    table = Readable("exchange", "pattern")
    for column in ("bytes to a rank", "threads", "compute", "spread", "exchange", "can gain"):
        table.add_column(column, justify="right", no_wrap=True)
    ranked = sorted(step.exchanges, key=lambda e: -e.most_s)
    for e in ranked[:MOST_EXCHANGES]:
        sizes = [*e.pattern.faces, *e.pattern.edges, e.pattern.corner, *(b for to in e.pattern.lists for _, b in to)]
        least, most = min(filter(None, sizes), default=0), max(sizes)
        table.add_row(
            e.name,
            e.pattern.said,
            format_size(most) if least == most else f"{format_size(least)} … {format_size(most)}",
            str(e.threads) if e.region else "",
            format_time(e.compute_s),
            f"{e.times.std() / e.compute_s:.1%}" if e.compute_s > 0 else "",
            format_time(e.exchange_s),
            f"≤ {e.most_s / step.step_s:.1%}" if step.step_s > 0 else "",
        )
    said = (
        f"{step.steps} steps of {format_time(step.step_s)}, {step.share:.0%} of the run; "
        f"{step.ranks} ranks, {step.ranks_per_node} on a node"
    )
    rest = len(ranked) - MOST_EXCHANGES
    more = [Text(f"and {rest} more", style="dim")] if rest > 0 else []
    return Group(Text(said), table, *more, *(Text(f"note: {note}", style="yellow") for note in step.notes))
