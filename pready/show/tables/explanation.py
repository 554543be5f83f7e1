"""The equations, alone or with a user's numbers, as tables and Markdown."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.advice.explanation import Explanation, Wait, Way
from pready.model.advice.library_changes import CHANGES, Left, LibraryChanges
from pready.model.common.units import format_size, format_time
from pready.model.equations.gain import DOI, EQUATIONS
from pready.show.tables.answer import decision
from pready.show.terminal.table import Readable
from pready.show.terminal.terminal import as_text

PLAIN_WIDTH = 120


def equations_view() -> RenderableType:
    """The equations alone as a table."""
    table = Readable(heading=f"gillis2023, doi:{DOI}")
    for column in ("Eq.", "name", "formula", "unit", "departure from the paper"):
        table.add_column(column, overflow="fold")
    for e in EQUATIONS:
        table.add_row(e.number, e.name, f"{e.symbol} = {e.expression}", e.unit, e.departure)
    return table


def view(explanation: Explanation) -> RenderableType:
    """The decision, equations, the steps of bulk and of the approach, sums and departures."""
    parts: list[RenderableType] = [*decision(explanation.prediction), Text("")]
    parts += [Text(_title(explanation), style="bold"), Text(_eta(explanation)), Text("")]
    for filled in explanation.equations:
        parts.append(Text(f"Eq. {filled.equation.number}  {filled.text}"))
        if filled.note:
            parts.append(Text(f"       {filled.note}", style="dim"))
    for way in dict.fromkeys((explanation.bulk, explanation.way)):
        parts += [Text(""), _steps(way)]
    parts += [Text(""), *(Text(f"departure: {d}", style="dim") for d in explanation.departures)]
    return Group(*parts, Text(f"seed {explanation.seed}", style="dim"))


def _steps(way: Way) -> RenderableType:
    table = Readable(heading=_heading(way))
    table.add_column("a rank waits", overflow="fold")
    table.add_column("after its last partition", overflow="fold")
    table.add_column("adds", justify="right", no_wrap=True)
    for step in way.steps:
        table.add_row(step.name, step.says, _added(step))
    table.add_row("", "sum", format_time(way.time_s), style="bold")
    if way.begin_s:
        once = "requests, windows and communicators, once before the first iteration"
        table.add_row("set-up", once, format_time(way.begin_s), style="dim")
    return table


def changes_view(of: LibraryChanges) -> RenderableType:
    """What a library would have to change, by share of what the best one saves."""
    table = Readable(
        heading=f"MPI_Psend of {of.library}: share of the {of.bound_percent:.1f} % that no library exceeds"
    )
    for column in ("change", "what it is"):
        table.add_column(column, overflow="fold")
    for column in ("alone", "with those above"):
        table.add_column(column, justify="right")
    table.add_row("none", "as it is", "", f"{round(100 * of.now)} %")
    for name, *shares in of.steps:
        table.add_row(name, CHANGES[name], *(f"{round(100 * share)} %" for share in shares))
    goals = (Text(f"{100 * goal:.0f} % takes {_made(some)}") for goal, some in of.reached_by.items())
    return Group(Text(""), table, *goals, Text(f"after all changes most time goes into {' and '.join(of.remains)}"))


def _made(some: Left | None) -> str:
    if some is None:
        return "more than all of these"
    return ", ".join(f"{name} cut to {100 * left:.0f} %" if left else name for name, left in some.items()) or "nothing"


def plain(explanation: Explanation) -> str:
    """The view as plain text."""
    return as_text(view(explanation), PLAIN_WIDTH)


def markdown(explanation: Explanation) -> str:
    """Markdown with equations in LaTeX between dollars, for notebooks."""
    out = [*(f"{line.plain}\n" for line in decision(explanation.prediction))]
    out += [f"**{_title(explanation)}**", "", _eta(explanation), ""]
    for filled in explanation.equations:
        note = f" ({filled.note})" if filled.note else ""
        out += [f"Eq. {filled.equation.number}{note}:", "", f"$${filled.latex}$$", ""]
    for way in dict.fromkeys((explanation.bulk, explanation.way)):
        out += [f"**{_heading(way)}**", "", "| a rank waits | after its last partition | adds |", "|---|---|--:|"]
        out += [f"| {s.name} | {s.says} | {_added(s)} |" for s in way.steps]
        out += [f"| | **sum** | **{format_time(way.time_s)}** |"]
        if way.begin_s:
            out += [f"| set-up | once, before the first iteration | {format_time(way.begin_s)} |"]
        out += [""]
    return "\n".join([*out, *(f"- departure: {d}" for d in explanation.departures)])


def _title(e: Explanation) -> str:
    return f"{e.workload} on {e.machine} ({e.library}), at the machine's values"


def _heading(way: Way) -> str:
    a, count = way.approach, way.approach.messages
    costs = ", ".join(f"{symbol} = {format_time(seconds)}" for symbol, seconds in way.costs)
    return (
        f"{a.name}: {count} message{'s' * (count > 1)} of {format_size(way.message_bytes)} ({way.protocol}), "
        f"{a.vcis} VCI{'s' * (a.vcis > 1)}; {costs}"
    )


def _eta(e: Explanation) -> str:
    return (
        f"Eq. 1  η = T_b / T_p = {format_time(e.bulk.time_s)} / {format_time(e.way.time_s)} = {e.eta:.4g}×; "
        f"bandwidth alone {e.closed_form_eta:.4g}× (Eq. 4)"
    )


def _added(step: Wait) -> str:
    return format_time(step.added_s) if abs(step.added_s) > 1e-15 else "-"  # less is rounding
