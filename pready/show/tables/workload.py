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
LONGEST_NAME = 26
"""Characters of a name of an exchange in a line of 80."""


def step_view(step: Step) -> RenderableType:
    """The step in a dozen lines: the exchanges that take longest, and what bounds a port."""
    folded = _folded(step.exchanges)
    table = Readable()
    table.add_column("exchange", overflow="fold")
    for column in ("bytes to a rank", "sent", "computing", "in MPI"):
        table.add_column(column, justify="right", no_wrap=True)
    for alike in folded[:MOST_EXCHANGES]:
        e = alike[0]
        table.add_row(
            _named(e.name if len(alike) == 1 else e.routine, len(alike)),
            bytes_said(alike),
            _sent(e),
            format_time(sum(one.last_s for one in alike)),
            format_time(sum(one.exchange_s for one in alike)),
        )
    n = len(step.exchanges)
    said = (
        f"{step.steps} steps of {format_time(step.step_s)}, {share(step.share)} of the run; {step.ranks} ranks, "
        f"{step.ranks_per_node} on a node; {n} exchange{'s' * (n > 1)}"
    )
    return Group(
        Text(said),
        table,
        *(Text(line) for line in [_rest(step, folded[MOST_EXCHANGES:]), *_bounds(step)] if line),
        *_notes(step.notes),
    )


def _named(name: str, times: int) -> str:
    """The name, shortened, and how many there are."""
    count = f" × {times}" if times > 1 else ""
    if len(name) + len(count) > LONGEST_NAME:
        name = name[: LONGEST_NAME - len(count) - 1] + "…"
    return name + count


def _folded(exchanges: Sequence[Exchange]) -> list[list[Exchange]]:
    """Exchanges of one routine as one, those that take longest first."""
    by_name: dict[str, list[Exchange]] = {}
    for e in exchanges:
        by_name.setdefault(e.routine, []).append(e)
    return sorted(by_name.values(), key=lambda alike: -sum(e.exchange_s for e in alike))


def _sent(e: Exchange) -> str:
    """How it is sent, in a word or two."""
    if e.today == "partitioned":
        return f"{e.partitions} partitions"
    return "by threads" if e.early else f"{e.messages} messages" if e.messages > 1 else e.today


def bytes_said(exchanges: Sequence[Exchange]) -> str:
    """Bytes from a rank to another, least and most."""
    sizes = list[int]()
    for p in (e.pattern for e in exchanges):
        each = (*p.faces, *p.edges, p.corner, *(b for to in p.lists for _, b in to))
        sizes += p.to_a_rank if p.to_a_rank[1] else each
    most = max(sizes)
    ends = dict.fromkeys(map(format_size, (min(filter(None, sizes), default=most), most)))
    return " … ".join(ends)


def _rest(step: Step, rest: Sequence[Sequence[Exchange]]) -> str:
    """The exchanges that are not listed, and the patterns of all; a note says which pipeline one is."""
    if not rest and step.chain is not None:
        return ""
    patterns = dict.fromkeys(e.pattern.said_whole for e in step.exchanges)
    short = [p.partition(" on ")[0] for p in patterns]
    some = next(iter(patterns)) if len(patterns) == 1 else ", ".join(dict.fromkeys(short))
    if not rest:
        return f"pattern: {some}"
    others = [e for alike in rest for e in alike]
    return f"and {len(others)} more, {share(step.share_of(e.exchange_s for e in others))} of a step; pattern: {some}"


def _bounds(step: Step) -> list[str]:
    """What a port saves at most."""
    if step.chain is not None and not step.sweeps:
        return []
    said = f"a port saves at most {share(step.share_of([step.exchange_s]))} of a step (its exchanges)"
    if not any(e.region for e in step.exchanges):
        return [said]
    waiting = share(step.share_of(e.waiting_s for e in step.exchanges))
    return [f"{said}; threads wait {waiting} for the last"]


def _notes(notes: Sequence[str]) -> list[Text]:
    """The first one, and how many more the file has."""
    if not notes:
        return []
    more = f" (and {len(notes) - 1} more in the file)" if len(notes) > 1 else ""
    return [Text(f"note: {notes[0]}{more}", style="yellow")]
