"""A captured run in the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from pready.calibrate.capture.files import Run
from pready.calibrate.capture.run_summary import RunSummary, messages_of, summarise
from pready.model.common.units import format_size, format_time
from pready.show.terminal.table import Readable

MOST_REGIONS = 4
MOST_NOTES = 2


def summary_view(summary: RunSummary) -> RenderableType:
    """Time in MPI, the regions with the most reclaimable time, and notes."""
    run = summary.run_s or 1.0
    said = (
        f"{_count(summary.ranks, 'rank')} on {_count(summary.hosts, 'node')}, {format_time(summary.run_s)}: "
        f"{share(summary.in_mpi_s / run)} in MPI, {summary.messages} messages ({format_size(summary.message_bytes)}), "
        f"{_count(summary.collectives, 'collective')}"
    )
    parts: list[RenderableType] = [Text(said)]
    if summary.regions:
        parts.append(_regions(summary, run))
        rest = len(summary.regions) - MOST_REGIONS
        more = f"and {rest} more; " if rest > 0 else ""
        parts.append(
            Text(
                f"{more}finished threads wait for their last one {format_time(summary.reclaimable_s)}, "
                f"{share(summary.waiting)} of the run"
            )
        )
    parts += [Text(f"note: {note}", style="yellow") for note in summary.notes[:MOST_NOTES]]
    if len(summary.notes) > MOST_NOTES:
        parts.append(Text(f"{_count(len(summary.notes) - MOST_NOTES, 'note')} more: pready workload", style="yellow"))
    return Group(*parts)


def no_step_view(run: Run) -> RenderableType:
    """What is known of a run in which no step was found."""
    summary, sent = summarise(run), messages_of(run)
    parts = [summary_view(summary)]
    if sent is not None:
        peers, sizes = (
            " to ".join(dict.fromkeys(map(said, ends))) for said, ends in ((str, sent.peers), (format_size, sent.sizes))
        )
        many = f"{sent.messages:.0f} messages of {sizes}, {format_size(sent.bytes)} in all"
        parts.append(Text(f"a rank sends {many}, to {peers} ranks"))
        if not any(p.dropped for p in run.ranks):  # else nobody knows who was in MPI
            most = f"{share(sent.most)} of the run ({format_time(sent.most_s)})"
            why = f"rank {sent.rank} is outside MPI for the rest"
            parts.append(Text(f"no MPI library saves more than {most}, whatever it costs: {why}"))
    return Group(*parts)


def _regions(summary: RunSummary, run: float) -> Readable:
    table = Readable()
    table.add_column("parallel region", overflow="fold")
    for column in ("threads", "calls", "each", "last late by", "waiting"):
        table.add_column(column, justify="right", no_wrap=True)
    for r in summary.regions[:MOST_REGIONS]:
        calls = r.calls / summary.ranks
        table.add_row(
            r.name + (" (tasks)" if r.tasks else ""),
            str(r.threads),
            f"{calls:.0f}" if calls >= 1 or calls == 0 else f"{calls:.2g}",
            format_time(r.time_s / calls if calls else 0.0),
            share(r.late),
            share(r.reclaimable_s / run),
        )
    return table


def share(x: float) -> str:
    """A share in two digits."""
    return f"{100 * x:.0f} %" if x >= 0.1 or x == 0 else f"{100 * x:.2g} %"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
