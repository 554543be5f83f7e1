"""Predictions as terminal tables, rows for CSV and HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from pready.model.approach.interfaces import EACH, Interface
from pready.model.common.units import Unit, format_change, format_quantity, format_size, format_time
from pready.model.result.break_even import Range
from pready.model.result.prediction import Advice, ApproachPrediction, Lever, Prediction
from pready.model.result.verdict import simplest_of_the_best
from pready.show.terminal.table import Readable

MOST_LEVERS = 5
"""Most inputs in the table of sensitivity."""
CHANGE = "change of\niteration\ntime"
VERDICT_STYLE = {"port": "bold green", "do not port": "bold red", "undecided": "bold yellow"}


def best_per_interface(prediction: Prediction) -> list[ApproachPrediction]:
    """The baseline, then each interface's best row."""
    rows: dict[tuple[Interface, str], list[ApproachPrediction]] = {}
    for row in prediction.approaches:
        if row is not prediction.bulk:
            rows.setdefault((row.approach.interface, row.needs), []).append(row)
    best = {kind: simplest_of_the_best(of) for kind, of in rows.items()}
    advised = prediction.advised
    return [prediction.bulk, *(best | {(advised.approach.interface, ""): advised}).values()]


def prediction_view(prediction: Prediction, *, every_row: bool = False) -> RenderableType:
    """Table and advice; a step of several exchanges has those of each exchange first."""
    if prediction.exchanges:
        each = [_view(e, every_row=every_row) for e in prediction.exchanges]
        return Group(*each, _view(prediction, every_row=every_row))
    return _view(prediction, every_row=every_row)


def _title(prediction: Prediction) -> str:
    """Workload, machine, library and sizes in a line."""
    w = prediction.workload
    where = f"{w['name']} on {prediction.machine} ({prediction.library})"
    if prediction.exchanges:
        return f"{where}: the whole step of {len(prediction.exchanges)} exchanges"
    size = f"{format_size(w['buffer'])} per peer"
    if w.get("faces"):
        size = f"faces of {', '.join(format_size(b) for b in w['faces'])}"
    threads, each = w["threads"], w["partitions_per_thread"]
    team = f"{threads} thread{'s' * (threads > 1)} × {each} partition{'s' * (each > 1)}"
    return f"{where}: {team}, {size}, {w['pattern']}"


def _view(prediction: Prediction, *, every_row: bool) -> RenderableType:
    rows = prediction.approaches if every_row else best_per_interface(prediction)
    title = _title(prediction)
    if prediction.ranks:
        title += f", {' × '.join(str(n) for n in prediction.ranks if n > 1)} ranks"
    if prediction.network:
        title += f" on {prediction.network}"
    table = Readable(heading=title, gap=1)
    for name, justify in (
        ("approach", "left"),
        ("parts\n× VCIs", "right"),
        ("time after\nlast ready", "right"),
        ("η = T_b/T_p\n(95 %)", "left"),
        (CHANGE, "right"),
        ("arrived\nbefore\njoin", "right"),
    ):
        table.add_column(name, justify=justify, no_wrap=True, vertical="bottom")  # type: ignore[arg-type]
    advised = prediction.advised
    can = [r for r in rows if r.available]
    for r in (*can, *(r for r in rows if not r.available)):
        if not r.available and table.row_count == len(can):
            table.add_row("  not in this library", style="dim")
        style = "bold" if r is advised else ("dim" if not r.available else "")
        mark = "→ " if r is advised else "  "
        table.add_row(
            mark + r.name + ("" if r.available else " *"),
            "" if r.approach.interface is EACH else f"{r.transport_partitions} × {r.vcis}",
            format_time(r.time_s),
            f"{r.eta:.2f}× ({r.eta_low:.2f}-{r.eta_high:.2f})",
            format_change(-r.speedup_percent),
            f"{r.arrived_early_percent:.0f} %",
            style=style,
        )
    form = prediction.closed_form
    notes = [
        f"closed form (Eq. 4, bandwidth only): η = {form['eta']:.3g}, "
        f"γ = {format_quantity(form['gamma_s_per_byte'], Unit.TIME_PER_BYTE)}, D = {format_time(form['delay_s'])}"
    ]
    if prediction.workload["today"] != "nonblocking":
        notes.append(f"η and changes are relative to the baseline, {prediction.bulk.name}, in the first row")
    needs = dict.fromkeys(r.needs for r in rows if not r.available)
    if needs:
        notes.append(f"* needs {'; '.join(needs)}")
    run = prediction.run_speedup_percent
    if run is not None:
        notes.append(
            f"{-run:+.2g} % change of the whole run, of which these steps are {100 * (prediction.share or 0):g} %"
        )
    return Group(
        table,
        Text("\n" + "\n".join(notes), style="dim"),
        advice_view(prediction.advice, pays(prediction)),
        *([Text(""), sensitivity_view(prediction.decides[:MOST_LEVERS])] if prediction.decides else []),
        Text(f"seed {prediction.seed}", style="dim"),
    )


def sensitivity_view(levers: Sequence[Lever]) -> RenderableType:
    """A line per input: its ends, and the change of iteration time there."""
    table = Readable(
        "sensitivity, one input at a time", Column("change of iteration time", justify="right", no_wrap=True)
    )
    for lever in levers:
        name, ends = sensitivity_row(lever)
        table.add_row(f"  {name}", ends, style="bold" if lever.turns else "")
    return table


def sensitivity_row(lever: Lever) -> tuple[str, str]:
    """An input with its ends, and the change of iteration time there."""
    steps = " or ".join(lever.steps) if lever.kind == "workload" else "ends of its interval"
    return f"{lever.name}, {steps}", " to ".join(format_change(-percent) for percent in lever.speedup_percent)


def pays(prediction: Prediction) -> str:
    """The buffers for which the best approach is worth porting; "" if they were not searched."""
    if prediction.engine == "sst" or prediction.exchanges:
        return ""
    advice = prediction.advice
    least = f"{100 * advice.min_gain:g} % of an iteration"
    if not advice.pays:
        return f"not worth porting with any buffer up to 1 GiB (expected saving below {least})"
    faces = prediction.workload["faces"] or [0]
    what = "a largest face" if min(faces) < max(faces) else "buffers per peer"
    found, sure = _ranges(advice.pays), _ranges(advice.certain)
    if not sure:
        return f"worth porting at no size with certainty (expected saving at least {least} with {what} {found})"
    return f"worth porting with {what} {sure}" + (
        f" (expected saving at least {least} {found})" if sure != found else ""
    )


def _ranges(ranges: Sequence[Range]) -> str:
    said = []
    for r in ranges:
        low, high = format_size(r.low), format_size(r.high) if math.isfinite(r.high) else ""
        if r.low and high:
            said.append(f"between {low} and {high}")
        else:
            said.append(f"from {low}" if r.low else f"up to {high}" if high else "of any size")
    return " and ".join(said)


def advice_view(advice: Advice, for_sizes: str) -> RenderableType:
    """Verdict, reason and settings; `for_sizes` is the text of `pays`."""
    text = Text("\n")
    text.append(advice.verdict, style=VERDICT_STYLE[advice.verdict])
    best = advice.best
    parts = (
        f", {best.transport_partitions} transport partition{'s' * (best.transport_partitions > 1)}, "
        f"{best.vcis} VCI{'s' * (best.vcis > 1)}"
    )
    text.append(
        f": {best.name}{'' if best.approach.interface is EACH else parts}: "
        f"{best.eta:.2f}× ({best.eta_low:.2f}-{best.eta_high:.2f})"
    )
    if for_sizes:
        text.append(f", {for_sizes}")
    if best.begin_s and advice.from_iterations is not None:
        many = "the first iteration" if advice.from_iterations == 1 else f"{advice.from_iterations} iterations"
        text.append(f"; its set-up takes {format_time(best.begin_s)} and is paid back from {many} on")
    text.append(f"\nbecause {advice.because}")
    hanging = Table.grid(padding=(0, 1, 0, 0))
    hanging.add_column(no_wrap=True)
    hanging.add_column(overflow="fold")
    for what, sentences in (("set", advice.settings), ("note", advice.warnings)):
        for sentence in sentences:
            hanging.add_row(f"  {what}", sentence)
    return Group(text, hanging)


def prediction_rows(prediction: Prediction) -> list[dict[str, Any]]:
    """One row per approach, for CSV; a step of several exchanges has rows of each exchange, then of the step."""
    if not prediction.exchanges:
        return [r.to_dict() for r in prediction.approaches]
    each = [(e.workload["name"], e.approaches) for e in prediction.exchanges]
    return [{"exchange": name, **r.to_dict()} for name, rows in (*each, ("step", prediction.approaches)) for r in rows]


def prediction_html(prediction: Prediction) -> str:
    """The table that Jupyter shows."""
    head = "".join(
        f"<th>{h}</th>"
        for h in ("approach", "transport partitions", "VCIs", "time", "η (95 %)", "change of iteration time")
    )
    body = ""
    for r in best_per_interface(prediction):
        bold = "font-weight:bold" if r is prediction.advised else ""
        body += (
            f"<tr style='{bold}'><td style='text-align:left'>{html.escape(r.name)}</td>"
            f"<td>{r.transport_partitions}</td>"
            f"<td>{r.vcis}</td><td>{format_time(r.time_s)}</td><td>{r.eta:.2f}× ({r.eta_low:.2f}-{r.eta_high:.2f})</td>"
            f"<td>{format_change(-r.speedup_percent)}</td></tr>"
        )
    a = prediction.advice
    what = f"{html.escape(a.best.name)}, {a.best.transport_partitions} transport partitions"
    said = f"<p><b>{a.verdict}</b>: {what}. {html.escape(a.because)}</p>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"
