"""The step found in a captured run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pready.calibrate.capture.step import Exchange, Step
from pready.model.common.units import format_size, format_time
from pready.show.tables.capture import share
from pready.show.terminal.table import Readable

MOST_EXCHANGES = 3
MOST_NOTES = 1


def step_view(step: Step, *, everything: bool = False) -> RenderableType:
    """The step in a dozen lines: the exchanges with the largest possible gain, and what bounds it.

    Parameters
    ----------
    everything
        All exchanges and notes.
    """
    most, most_notes = (len(step.exchanges), len(step.notes)) if everything else (MOST_EXCHANGES, MOST_NOTES)
    table = Readable()
    table.add_column("exchange", overflow="fold")
    for column in ("bytes to a rank", "takes", "can gain"):
        table.add_column(column, justify="right", no_wrap=True)
    ranked = sorted(step.exchanges, key=lambda e: -e.most_s)
    for e in ranked[:most]:
        gain = f"≤ {share(e.most_s / step.step_s)}" if step.step_s > 0 else ""
        table.add_row(e.name, bytes_said(e), format_time(e.exchange_s), gain)
    n = len(ranked)
    said = (
        f"{step.steps} steps of {format_time(step.step_s)}, {share(step.share)} of the run; {step.ranks} ranks, "
        f"{step.ranks_per_node} on a node; {n} exchange{'s' * (n > 1)}"
    )
    return Group(
        Text(said),
        table,
        *(Text(line) for line in [_rest(step, ranked[most:]), *_bounds(step)] if line),
        *_notes(step.notes, most_notes),
    )


def bytes_said(exchange: Exchange) -> str:
    """Bytes from a rank to another, least and most."""
    p = exchange.pattern
    sizes = [*p.faces, *p.edges, p.corner, *(b for to in p.lists for _, b in to)]
    least, most = min(filter(None, sizes), default=0), max(sizes)
    return format_size(most) if least == most else f"{format_size(least)} … {format_size(most)}"


def _rest(step: Step, rest: Sequence[Exchange]) -> str:
    """The exchanges that are not listed, and the patterns of all."""
    patterns = dict.fromkeys(e.pattern.said_whole for e in step.exchanges)
    short = [p.partition(" on ")[0] for p in patterns]
    some = next(iter(patterns)) if len(patterns) == 1 else ", ".join(dict.fromkeys(short))
    if not rest:
        return f"pattern: {some}"
    least = share(step.share_of(e.most_s for e in rest))
    return f"and {len(rest)} more, ≤ {least} together; pattern: {some}"


def _bounds(step: Step) -> list[str]:
    """What lies between the threads' waiting and what a port saves."""
    if not any(e.region for e in step.exchanges):
        return []
    waiting, taken, quick, most = (
        share(step.share_of(times))
        for times in zip(*((e.waiting_s, e.exchange_s, e.quick_s, e.most_s) for e in step.exchanges), strict=True)
    )
    return [
        f"threads wait for their last one {share(step.waiting)} of the run, {waiting} before an exchange",
        f"exchanges take {taken} of a step, {quick} without late ranks; a port saves ≤ {most}",
    ]


def _notes(notes: Sequence[str], most: int) -> list[Text]:
    shown = [f"note: {note}" for note in notes[:most]]
    if len(notes) > most:
        shown[-1] += f" (and {len(notes) - most} more, in the file's head)"
    return [Text(line, style="yellow") for line in shown]
