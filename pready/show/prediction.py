"""Predictions as terminal tables, rows for CSV and HTML. Shows; computes nothing."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from pready.model.break_even import Range
from pready.model.interfaces import EACH, Interface
from pready.model.prediction import Advice, ApproachPrediction, Lever, Prediction
from pready.model.units import Unit, format_change, format_quantity, format_size, format_time
from pready.model.verdict import simplest_of_the_best
from pready.show.table import Readable

LEVERS = 5
"""Of what decides, how many are shown."""
VERDICT_STYLE = {"port": "bold green", "do not port": "bold red", "undecided": "bold yellow"}


def best_per_interface(prediction: Prediction) -> list[ApproachPrediction]:
    """The baseline, then the best row of each interface."""
    rows: dict[tuple[Interface, str], list[ApproachPrediction]] = {}
    for row in prediction.approaches:
        if row is not prediction.bulk:
            rows.setdefault((row.approach.interface, row.needs), []).append(row)
    best = {kind: simplest_of_the_best(of) for kind, of in rows.items()}
    advised = prediction.advised
    return [prediction.bulk, *(best | {(advised.approach.interface, ""): advised}).values()]


def prediction_view(prediction: Prediction, *, every_row: bool = False) -> RenderableType:
    """The table and the advice; of a step, those of each exchange before it."""
    if prediction.exchanges:
        each = [_view(e, every_row=every_row) for e in prediction.exchanges]
        return Group(*each, _view(prediction, every_row=every_row))
    return _view(prediction, every_row=every_row)


def _title(prediction: Prediction) -> str:
    """What was predicted, and where."""
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
        ("run\ntime", "right"),
        ("arrived\nby join", "right"),
    ):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    advised = prediction.advised
    can = [r for r in rows if r.available]
    for r in (*can, *(r for r in rows if not r.available)):
        if not r.available and table.row_count == len(can):
            table.add_row("  if it existed", style="dim")
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
        notes.append(f"η and run time are against today's {prediction.bulk.name}, the first row")
    needs = dict.fromkeys(r.needs for r in rows if not r.available)
    if needs:
        notes.append(f"* needs {'; '.join(needs)}")
    run = prediction.run_speedup_percent
    if run is not None:
        notes.append(f"{-run:+.2g} % of the whole run, of which these steps are {100 * (prediction.share or 0):g} %")
    return Group(
        table,
        Text("\n" + "\n".join(notes), style="dim"),
        advice_view(prediction.advice, pays(prediction)),
        *([Text(""), decides_view(prediction.decides[:LEVERS])] if prediction.decides else []),
        Text(f"seed {prediction.seed}", style="dim"),
    )


def decides_view(levers: Sequence[Lever]) -> RenderableType:
    """A line for each input: where it goes, and the run time there."""
    table = Readable("what decides, one input at a time", Column("run time", justify="right", no_wrap=True))
    for lever in levers:
        name, ends = decides_row(lever)
        table.add_row(f"  {name}", ends, style="bold" if lever.turns else "")
    return table


def decides_row(lever: Lever) -> tuple[str, str]:
    """Where an input goes, and the run time there."""
    steps = " or ".join(lever.steps) if lever.kind == "workload" else "ends of its interval"
    return f"{lever.name}, {steps}", " to ".join(format_change(-percent) for percent in lever.speedup_percent)


def pays(prediction: Prediction) -> str:
    """For which buffers the best saves enough of an iteration; "" where nobody asked."""
    if prediction.engine == "sst" or prediction.exchanges:
        return ""
    advice = prediction.advice
    enough = f"{100 * advice.min_gain:g} % of an iteration"
    if not advice.pays:
        return f"saves {enough} at no buffer up to 1 GiB"
    faces = prediction.workload["faces"] or [0]
    found, sure = _ranges(advice.pays), _ranges(advice.certain) or "at none"
    of = f"a largest face {found}" if min(faces) < max(faces) else f"buffers {found} per peer"
    return f"saves {enough} with {of}" + (f", with 95 % certainty {sure}" if sure != found else "")


def _ranges(ranges: Sequence[Range]) -> str:
    said = []
    for r in ranges:
        ends = [f"from {format_size(r.low)}"] if r.low else []
        ends += [] if math.isinf(r.high) else [f"up to {format_size(r.high)}"]
        said.append(" ".join(ends) or "of any size")
    return " and ".join(said)


def advice_view(advice: Advice, for_sizes: str) -> RenderableType:
    """Verdict, settings and reason; `for_sizes`: what `pays` says."""
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
        text.append(f"; beginning takes {format_time(best.begin_s)}, so it pays from {many} on")
    text.append(f"\nbecause {advice.because}")
    hanging = Table.grid(padding=(0, 1, 0, 0))
    hanging.add_column(no_wrap=True)
    hanging.add_column(overflow="fold")
    for what, sentences in (("set", advice.settings), ("note", advice.warnings)):
        for sentence in sentences:
            hanging.add_row(f"  {what}", sentence)
    return Group(text, hanging)


def prediction_rows(prediction: Prediction) -> list[dict[str, Any]]:
    """One row per approach, for CSV; of a step, per exchange and approach, then of the step."""
    if not prediction.exchanges:
        return [r.to_dict() for r in prediction.approaches]
    each = [(e.workload["name"], e.approaches) for e in prediction.exchanges]
    return [{"exchange": name, **r.to_dict()} for name, rows in (*each, ("step", prediction.approaches)) for r in rows]


def prediction_html(prediction: Prediction) -> str:
    """What Jupyter shows."""
    head = "".join(
        f"<th>{h}</th>" for h in ("approach", "transport partitions", "VCIs", "time", "η (95 %)", "run time")
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
