"""Predictions, machines and equations as terminal tables, CSV and HTML. Prints; computes nothing."""

from __future__ import annotations

import csv
import html
import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pready.model.machine import Contention, Curve, Machine, SizeCurve
from pready.model.prediction import Advice, ApproachPrediction, Prediction
from pready.model.units import format_bandwidth, format_size, format_time

if TYPE_CHECKING:
    from pready.model.workload import Workload
    from pready.simulating import Rows

VERDICT_STYLE = {"port": "bold green", "do not port": "bold red", "undecided": "bold yellow"}


def console() -> Console:
    """Standard output; wide when it is not a terminal, so that a pipe gets whole lines."""
    probe = Console()
    return probe if probe.is_terminal else Console(width=120, highlight=False)


def print_json(data: object) -> None:
    """One JSON object on standard output; NaN is an error of ours, not a value."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def best_per_interface(prediction: Prediction) -> list[ApproachPrediction]:
    """The best row of each interface, bulk first."""
    best: dict[str, ApproachPrediction] = {}
    for row in prediction.approaches:
        if row.key not in best or row.eta > best[row.key].eta * 1.005:
            best[row.key] = row
    advised = prediction.advised
    best[advised.key] = advised
    return list(best.values())


def prediction_view(prediction: Prediction, *, every_row: bool = False) -> RenderableType:
    """The table and the advice."""
    rows = prediction.approaches if every_row else best_per_interface(prediction)
    w = prediction.workload
    title = (
        f"{w['name']} on {prediction.machine} ({prediction.library}): {w['threads']} threads × "
        f"{w['partitions_per_thread']} partitions, {format_size(w['buffer'])} per peer, {w['pattern']}"
    )
    if prediction.ranks:
        title += f", {' × '.join(str(n) for n in prediction.ranks if n > 1)} ranks"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, justify in (
        ("approach", "left"),
        ("transport\npartitions", "right"),
        ("VCIs", "right"),
        ("messages", "right"),
        ("time after\nlast ready", "right"),
        ("η = T_b/T_p (95 %)", "left"),
        ("run time", "right"),
        ("arrived\nby the join", "right"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    advised = prediction.advised
    for r in rows:
        style = "bold" if r is advised else ("dim" if not r.available else "")
        mark = "→ " if r is advised else "  "
        table.add_row(
            mark + r.name + ("" if r.available else " *"),
            str(r.transport_partitions),
            str(r.vcis),
            str(r.messages),
            format_time(r.time_s),
            f"{r.eta:.2f}× ({r.eta_low:.2f}-{r.eta_high:.2f})",
            f"{-r.speedup_percent:+.1f} %" if abs(r.speedup_percent) >= 0.05 else "0 %",
            f"{r.arrived_early_percent:.0f} %",
            style=style,
        )
    form = prediction.closed_form
    notes = [
        f"closed form (Eq. 4, bandwidth only): η = {form['eta']:.3g}, "
        f"γ = {form['gamma_s_per_byte'] * 1e12:.4g} us/MB, D = {format_time(form['delay_s'])}"
    ]
    if any(not r.available for r in rows):
        notes.append("* no MPI library does this as it is")
    return Group(
        table,
        Text("\n".join(notes), style="dim"),
        advice_view(prediction.advice, sizes=not prediction.engine.startswith("sst")),
        Text(f"seed {prediction.seed}", style="dim"),
    )


def advice_view(advice: Advice, *, sizes: bool = True) -> RenderableType:
    """Verdict, settings and reason; `sizes`: was the break-even looked for?"""
    text = Text("\n")
    text.append(advice.verdict, style=VERDICT_STYLE[advice.verdict])
    plural = "" if advice.transport_partitions == 1 else "s"
    text.append(
        f": {advice.approach}, {advice.transport_partitions} transport partition{plural}, "
        f"{advice.vcis} VCI{'s' if advice.vcis > 1 else ''}: "
        f"{advice.eta:.2f}× ({advice.eta_low:.2f}-{advice.eta_high:.2f})"
    )
    if advice.break_even_bytes is not None:
        size = "any size" if advice.break_even_bytes == 0 else f"{format_size(advice.break_even_bytes)} per peer"
        text.append(f", pays from {size}")
    elif sizes:
        text.append(", pays at no size up to 1 GiB")
    text.append(f"\nbecause {advice.because}")
    for setting in advice.settings:
        text.append(f"\n  set  {setting}")
    for warning in advice.warnings:
        text.append(f"\n  note {warning}")
    return text


def rows_csv(rows: list[dict[str, object]]) -> str:
    """Rows as CSV with a header; floats in full precision."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def prediction_csv(prediction: Prediction) -> str:
    """One line per approach."""
    return rows_csv([asdict(r) for r in prediction.approaches])


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
            f"<td>{-r.speedup_percent:+.1f} %</td></tr>"
        )
    a = prediction.advice
    what = f"{html.escape(a.approach)}, {a.transport_partitions} transport partitions"
    said = f"<p><b>{a.verdict}</b>: {what}. {html.escape(a.because)}</p>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"


def machines_view(machines: list[Machine]) -> RenderableType:
    """All profiles, a line each."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("profile", "bandwidth", "latency", "contexts", "library", "described by"):
        table.add_column(column)
    for m in machines:
        s = m.inter.segments[0]
        latency = s.o_s.value + s.L.value + s.o_r.value + m.matching.base.value
        table.add_row(
            m.name.lower(),
            format_bandwidth(m.bandwidth),
            format_time(latency),
            str(m.contexts.value),
            m.library.name,
            m.description,
        )
    return table


def machine_view(machine: Machine) -> RenderableType:
    """Every value with its interval and provenance."""
    table = Table(
        title=f"{machine.name}: {machine.description} ({machine.created_by}, {machine.created})",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in ("value of", "value", "95 % interval", "source", "why"):
        table.add_column(column, overflow="fold")
    for name, item in machine.values():
        if isinstance(item, Curve):
            ys = item.stretch if isinstance(item, Contention) else tuple(format_time(t) for t in item.time)  # type: ignore[attr-defined]
            points = ", ".join(f"{x}: {y}" for x, y in zip(item.threads, ys, strict=True))
            interval = f"±{item.interval:.0%} of the excess" if isinstance(item, Contention) else ""
            table.add_row(name, points, interval, item.source, item.why)
            continue
        if isinstance(item, SizeCurve):
            points = ", ".join(
                f"{format_size(x)}: {format_time(y)}" for x, y in zip(item.sizes, item.time, strict=True)
            )
            table.add_row(name, points, f"±{item.interval:.0%}", item.source, item.why)
            continue
        shown = [_quantity(name, v) for v in (item.value, *(item.interval or ()))]
        table.add_row(name, shown[0], " to ".join(shown[1:]), item.source, item.why)
    return table


def _quantity(name: str, value: object) -> str:
    leaf = name.rpartition(".")[2]
    if not isinstance(value, float):
        return str(value)
    if leaf in ("G", "O_s", "O_r"):
        return f"{value * 1e12:.4g} us/MB"
    if leaf in ("link_bandwidth", "copy_hot", "copy_cold"):
        return format_bandwidth(value)
    if leaf == "burst":
        return format_size(value)
    return format_time(value)


def simulation_view(workload: Workload, machine: Machine, rows: Rows) -> RenderableType:
    """Bulk and the approach side by side: iteration time and where it goes."""
    runs = [s for _, s in rows]
    row, fine = rows[-1]
    ranks = " × ".join(str(n) for n in fine.grid if n > 1)
    title = f"{workload.name} on {machine.name}: {ranks} ranks, {workload.pattern}, {fine.iterations} iterations"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("mean per rank and iteration")
    for s in runs:
        a, bulk = s.approach, s.approach.interface.key == "single"
        what = a.name if bulk else f"{a.name}, {a.transport_partitions} × {a.vcis} VCI"
        table.add_column(what, justify="right", style="" if bulk else "bold")
    table.add_row("iteration", *(format_time(float(s.mean_s.mean())) for s in runs))
    for cause in fine.causes_s:
        values = [format_time(float(s.causes_s[cause].mean())) for s in runs]
        table.add_row(f"  {cause.replace('_', ' ')}", *values)
    spread = [format_time(float(s.last_end_s[-1] - s.first_end_s[-1])) for s in runs]
    table.add_row("first to last rank at the end", *spread)
    said = Text(f"η = {row.eta:.2f}×, run time {-row.speedup_percent:+.1f} %")
    messages, wall = sum(s.messages for s in runs), sum(s.wall_s for s in runs)
    cost = (
        f"{messages:.3g} messages in {wall:.2g} s on {fine.cores} core{'s' if fine.cores > 1 else ''}, seed {fine.seed}"
    )
    return Group(table, said, Text(cost, style="dim"))
