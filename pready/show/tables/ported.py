"""Two captured runs, before a port and after: kept or not first, then a line for each exchange."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.common.units import format_time
from pready.model.result.verdict import verdict
from pready.show.terminal.table import Readable
from pready.validate.ported import Compared, ComparedExchange
from pready.validate.prove.decision import between, percent
from pready.validate.prove.judgement import Saving

HEADS = {
    "kept": ("Kept", "bold green"),
    "not kept": ("Not kept", "bold red"),
    "cannot be told": ("Cannot be told", "bold yellow"),
    "nothing promised": ("Nothing was promised", "bold"),
}
PAYS = {"port": "It pays", "do not port": "It does not pay", "undecided": "Cannot be told"}
NOTED = 0.02
"""Share of an iteration by which threads have to compute longer, or shorter, to be mentioned."""


def ported_view(compared: Compared, min_gain: float) -> RenderableType:
    """The answer, why it differs from what was promised, and each exchange."""
    c = compared
    told = _told(c.saving)
    if c.promise is None:
        head, style = PAYS[verdict(c.saving.low, c.saving.high, min_gain)], "bold"
        said = f"{told}; {100 * min_gain:g} % is asked for. With --machine: beside what was promised"
    else:
        assert c.finding is not None
        head, style = HEADS[c.finding]
        said = f"{told}; {percent(c.promise.saving)} promised ({between(c.promise.low, c.promise.high)})"
    lines = [Text(head, style=style).append(f": {said}.", style="default not bold"), *map(Text, _why(c))]
    notes = [*(f"not compared: {name}" for name in c.unmatched), *c.notes]
    notes.append("one run of each: what differs from run to run counts as the port")
    return Group(*lines, _table(c), *(Text(f"note: {note}", style="dim") for note in notes))


def _told(saving: Saving) -> str:
    by = percent(abs(saving.value))
    told = "too few steps for an interval" if saving.half == float("inf") else between(*saving.ends)
    saves = f"saves {by} of an iteration" if saving.value >= 0 else f"makes an iteration {by} longer"
    return f"the port {saves} ({told})"


def _why(c: Compared) -> list[str]:
    """Iterations, and how much of the difference is no communication."""
    out = [f"An iteration takes {format_time(c.before_s)} before the port, {format_time(c.after_s)} after it."]
    if abs(c.computing_s) > NOTED * c.before_s:
        longer = "longer" if c.computing_s > 0 else "shorter"
        out.append(
            f"Until threads are ready it takes {format_time(abs(c.computing_s))} {longer} than before: computing, "
            "waiting elsewhere, or what the port adds to the threads."
        )
    worst = max((e for e in c.exchanges if e.finding == "not kept"), key=_missing, default=None)
    if worst is not None and worst.promise is not None:
        before, after = format_time(worst.promise.before_s), format_time(worst.promise.after_s)
        out.append(f"Most is missing in {worst.name or worst.says}: {before} before and {after} after were predicted.")
    return out


def _missing(e: ComparedExchange) -> float:
    return e.promise.saving - e.saving.value if e.promise is not None else 0.0


def _table(c: Compared) -> Readable:
    table = Readable()
    table.add_column("exchange", overflow="fold")
    for column in ("before", "after", "saved"):
        table.add_column(column, justify="right", no_wrap=True)
    if c.promise is not None:
        table.add_column("promised", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
    for e in c.exchanges:
        row = [e.name or e.says, format_time(e.before_s), format_time(e.after_s), _share(e.saving)]
        table.add_row(*row, *(_promise(e) if c.promise is not None else ()))
    return table


def _share(saving: Saving) -> str:
    return percent(saving.value) + ("" if saving.half == float("inf") else f" ({between(saving.low, saving.high)})")


def _promise(e: ComparedExchange) -> tuple[str, str]:
    if e.promise is None:
        return "", "not ported"
    return percent(e.promise.saving), e.finding or ""
