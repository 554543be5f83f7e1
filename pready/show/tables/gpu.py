"""The bound for a GPU in the terminal: the verdict, what it is a bound of, and where its values come from."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.advice.gpu import GpuBound, GpuRow
from pready.model.advice.gpu_parameters import Assumed
from pready.model.common.units import format_bandwidth, format_size, format_time
from pready.show.tables.answer import VERDICT_STYLE, bare, from_to, interval
from pready.show.terminal.table import Readable


def gpu_view(b: GpuBound, *, explained: bool = False) -> RenderableType:
    """The verdict first; then a line for each way, and the parameters; `explained`: with their sources."""
    head = Text(b.verdict.capitalize(), style=VERDICT_STYLE[b.verdict])
    sure = b.certainty.capitalize() or "Unsure"
    lines = [
        head.append(f": {_said(b)}", style="default not bold"),
        Text(
            f"{sure}: a bound from {len(b.parameters)} assumed values (below, --explain: why), not a measurement: "
            "messages beyond the first cost nothing, nobody contends, no neighbour is late, all waves take as long."
        ),
    ]
    table = Readable(heading=_what(b))
    table.add_column("way", overflow="fold")
    for column in ("after kernel", "η at most", "saves of an iteration"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("needs", overflow="fold")
    table.add_row("send after the kernel", format_time(b.bulk_s), "1.00×", "", "")
    for r in b.rows:
        table.add_row(r.name, format_time(r.time_s), f"{r.eta:.2f}×", _saved(r), r.needs)
    return Group(*lines, table, *(Text(_parameter(p, explained=explained), style="dim") for p in b.parameters))


def _said(b: GpuBound) -> str:
    best, least, saved = b.best, f"{100 * b.min_gain:g} %", bare(100 * b.best.saving)
    span = interval(100 * best.low, 100 * best.high, saved)
    if b.verdict == "port":
        return (
            f"{best.name}: an iteration gets up to {saved} % shorter{span}: {from_to(b.iteration_s, best.iteration_s)}."
        )
    if b.verdict == "do not port":
        return f"the best way, {best.name}, makes an iteration at most {saved} % shorter{span}, less than {least}."
    return f"{best.name}: an iteration gets up to {saved} % shorter{span}, and a port has to save {least}."


def _saved(r: GpuRow) -> str:
    saved = bare(100 * r.saving)
    return f"{saved} %{interval(100 * r.low, 100 * r.high, saved)}"


def _what(b: GpuBound) -> str:
    return (
        f"{b.workload} on {b.machine}: a kernel of {b.waves} waves of {format_time(b.wave_time_s)}, "
        f"{format_size(b.size)} to all neighbours at {format_bandwidth(b.bandwidth)}"
    )


def _parameter(p: Assumed, *, explained: bool) -> str:
    def of(x: float) -> str:
        return format_time(x) if p.unit == "s" else format_bandwidth(x) if p.unit == "B/s" else f"{x:g}"

    return f"{p.symbol} = {of(p.value)} ({of(p.low)} to {of(p.high)}): {p.says}" + (f"; {p.why}" if explained else "")
