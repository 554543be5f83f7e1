"""The bound for a GPU in the terminal: the verdict, what it is a bound of, and where its values come from."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.advice.gpu import Assumed, GpuBound, GpuRow
from pready.model.common.units import format_bandwidth, format_size, format_time
from pready.show.tables.answer import VERDICT_STYLE
from pready.show.terminal.table import Readable


def gpu_view(b: GpuBound) -> RenderableType:
    """The verdict first; then a line for each way, and the parameters with their sources."""
    head = Text(b.verdict.capitalize(), style=VERDICT_STYLE[b.verdict])
    if b.certainty:
        head.append(f", {b.certainty}", style="default not bold")
    lines = [head.append(f": {_said(b)}", style="default not bold")]
    lines.append(
        Text(
            "A bound, not a measurement: messages beyond the first cost nothing, nobody contends, no neighbour is "
            "late, all waves take as long."
        )
    )
    table = Readable(heading=_what(b))
    table.add_column("way", overflow="fold")
    for column in ("after kernel", "η at most", "saves of an iteration"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("needs", overflow="fold")
    table.add_row("send after the kernel", format_time(b.bulk_s), "1.00×", "", "")
    for r in b.rows:
        table.add_row(r.name, format_time(r.time_s), f"{r.eta:.2f}×", _saved(r), r.needs)
    return Group(*lines, table, *(Text(_parameter(p), style="dim") for p in b.parameters))


def _said(b: GpuBound) -> str:
    best, least = b.best, f"{100 * b.min_gain:g} %"
    span = f"{_saved(best)} of an iteration of {format_time(b.iteration_s)}"
    if b.verdict == "port":
        return f"{best.name}: saves up to {span}."
    if b.verdict == "do not port":
        return f"{best.name} saves {span} at most, less than {least}."
    return f"{best.name}: saves up to {span}, and a port has to save {least}."


def _saved(r: GpuRow) -> str:
    return f"{100 * r.saving:z.1f} % ({100 * r.low:z.1f} to {100 * r.high:z.1f})"


def _what(b: GpuBound) -> str:
    return (
        f"{b.workload} on {b.machine}: a kernel of {b.waves} waves of {format_time(b.wave_time_s)}, "
        f"{format_size(b.size)} to all neighbours at {format_bandwidth(b.bandwidth)}"
    )


def _parameter(p: Assumed) -> str:
    def of(x: float) -> str:
        return format_time(x) if p.unit == "s" else format_bandwidth(x) if p.unit == "B/s" else f"{x:g}"

    return f"{p.symbol} = {of(p.value)} ({of(p.low)} to {of(p.high)}): {p.says}; {p.why}"
