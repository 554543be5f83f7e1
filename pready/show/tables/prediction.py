"""Predictions as terminal tables, rows for CSV and HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from pready.model.advice.advise import called
from pready.model.approach.interfaces import Interface
from pready.model.approach.libraries import library
from pready.model.common.units import Unit, format_change, format_quantity, format_size, format_time
from pready.model.result.prediction import ApproachPrediction, Lever, Prediction
from pready.model.result.verdict import simplest
from pready.show.tables.answer import answer, asked, bare, headline, interval
from pready.show.terminal.table import Readable

MOST_ROWS = 5
"""Most approaches in a table, unless all are asked for."""
MOST_NOTES = 2
SIMULATED = "simulated "
"""How the note begins that fewer ranks were simulated: the heading says how many."""
SAVES = 0.05
"""Percent of a step from which on an exchange has a line of its own."""
CHANGE = "change of\niteration time"


def best_per_interface(prediction: Prediction) -> list[ApproachPrediction]:
    """The baseline, then each interface's best row."""
    rows: dict[tuple[Interface, str], list[ApproachPrediction]] = {}
    for row in prediction.approaches:
        if row is not prediction.bulk:
            rows.setdefault((row.approach.interface, row.needs), []).append(row)
    iterations = prediction.workload["iterations"]
    drawn = {kind: [r for r in of if r.probability is not None] for kind, of in rows.items()}
    best = {kind: simplest(drawn[kind] or of, iterations) for kind, of in rows.items()}
    advised = prediction.advised
    return [prediction.bulk, *(best | {(advised.approach.interface, ""): advised}).values()]


def prediction_view(prediction: Prediction, *, every_row: bool = False, explained: bool = False) -> RenderableType:
    """The answer, then one table.

    Parameters
    ----------
    every_row
        All numbers of transport partitions and VCIs, and what the library cannot do.
    explained
        With the closed form, all notes and the sensitivity.
    """
    if prediction.advice.doubt and not every_row and not explained:
        return Group(*answer(prediction), Text("--all: what the model says all the same", style="dim"))
    table = step_table(prediction) if prediction.exchanges else _table(prediction, every_row=every_row)
    parts: list[RenderableType] = [*answer(prediction), Text(""), table]
    parts += [Text(line, style="dim") for line in _below(prediction, every_row=every_row)]
    parts += _notes(prediction, explained=explained)
    if explained:
        parts += [Text(_closed_form(prediction), style="dim")]
        if prediction.sensitivity:
            parts += [Text(""), sensitivity_view(prediction.sensitivity)]
    return Group(*parts)


def _table(prediction: Prediction, *, every_row: bool) -> RenderableType:
    rows = prediction.approaches if every_row else best_per_interface(prediction)
    can = [r for r in rows if r.available]
    shown = can if every_row or len(can) <= MOST_ROWS else _first(prediction, can)
    table = Readable(heading=asked(prediction), gap=1, tight=True)
    consuming = prediction.workload.get("consume") is not None
    for name, justify in (
        ("approach", "left"),
        ("messages\n× VCIs", "right"),
        ("after\nready", "right"),
        ("η", "right"),
        (f"{CHANGE} (95 %)", "left"),
        ("work\nleft" if consuming else "before\njoin", "right"),
    ):
        table.add_column(name, justify=justify, no_wrap=True, vertical="bottom")  # type: ignore[arg-type]
    for r in (*shown, *((r for r in rows if not r.available) if every_row else ())):
        if not r.available and table.row_count == len(shown):
            table.add_row("  not in this library", style="dim")
        style = "bold" if r is prediction.advised else ("dim" if not r.available else "")
        mark = "→ " if r is prediction.advised else "  "
        table.add_row(
            mark + r.name + ("~" if r.unmeasured else "") + ("" if r.available else " *"),
            f"{r.approach.messages} × {r.vcis}",
            format_time(r.time_s),
            f"{r.eta:.2f}×",
            change(r),
            format_time(r.work_left_s) if consuming else f"{r.arrived_early_percent:.0f} %",
            style=style,
        )
    return table


def _first(prediction: Prediction, rows: Sequence[ApproachPrediction]) -> list[ApproachPrediction]:
    """The baseline, what is advised, and those that save most."""
    kept = [prediction.bulk, prediction.advised]
    rest = sorted((r for r in rows if r not in kept), key=lambda r: -r.speedup_percent)
    kept += rest[: MOST_ROWS - len(kept)]
    return [r for r in rows if r in kept]


def change(row: ApproachPrediction) -> str:
    """The change of iteration time with its interval."""
    low, high = -row.speedup_high_percent, -row.speedup_low_percent
    said = _signed(-row.speedup_percent)
    return f"{said} %{interval(low, high, said, _signed)}"


def _signed(percent: float) -> str:
    said = bare(percent)
    return said if percent < 0 or said == "0" else f"+{said}"


def _below(prediction: Prediction, *, every_row: bool) -> list[str]:
    """What the table's η is, what the table leaves out, and the seed."""
    out = []
    if not prediction.exchanges:
        late = "late neighbours included" if prediction.ranks else "two ranks"
        out.append(f"η: {called(prediction.bulk.approach)}'s time over this one's, {late}")
    if calls := dict.fromkeys(r.unmeasured for r in prediction.approaches if r.unmeasured):
        out.append(f"~ nobody measured {', '.join(calls)} in {prediction.library} over this fabric")
    last = f"seed {prediction.seed}"
    rows = best_per_interface(prediction)
    if every_row:
        if needs := dict.fromkeys(r.needs for r in prediction.approaches if not r.available):
            out.append(f"* needs {'; '.join(needs)}")
    elif hidden := len(rows) - min(MOST_ROWS, sum(r.available for r in rows)):
        last = f"--all: {hidden} more; {last}"
    out.append(last)
    return ["; ".join(out)] if not every_row else out


def _notes(prediction: Prediction, *, explained: bool) -> list[RenderableType]:
    """Notes, each once; what is long about the library is elsewhere."""
    advice, profile = prediction.advice, library(prediction.library)
    said = list(advice.warnings)
    if not explained:
        said = [w for w in said if w not in profile.warnings and not w.startswith(SIMULATED)]
        if bugs := [w for w in profile.warnings if w in advice.warnings]:
            said.append(f"{len(bugs)} known about partitioned calls in it: 'pready libraries {profile.name}'")
        if len(said) > MOST_NOTES:
            said = [*said[: MOST_NOTES - 1], f"{len(said) - MOST_NOTES + 1} more notes: --all"]
    run = prediction.run_speedup_percent
    if run is not None:
        share = f"{100 * (prediction.share or 0):g} %"
        said.insert(0, f"the whole run changes by {format_change(-run)}: these steps are {share} of it")
    hanging = Table.grid(padding=(0, 1, 0, 0))
    hanging.add_column(no_wrap=True)
    hanging.add_column(overflow="fold")
    for sentence in said:
        hanging.add_row("note", sentence)
    return [hanging] if said else []


def _closed_form(prediction: Prediction) -> str:
    form = prediction.closed_form
    return (
        f"bandwidth alone (closed form, Eq. 4): η = {form['eta']:.3g}, "
        f"γ = {format_quantity(form['gamma_s_per_byte'], Unit.TIME_PER_BYTE)}, D = {format_time(form['delay_s'])}"
    )


def step_table(prediction: Prediction) -> RenderableType:
    """A line per exchange of a step, those that save most first; those that save nothing in one."""
    table = Readable(heading=asked(prediction), gap=1, tight=True)
    for name in ("exchange", "per neighbour", "saves (95 %)", "best way"):
        table.add_column(name, vertical="bottom", no_wrap=name != "exchange")
    by_saving = sorted(prediction.exchanges, key=lambda e: -e.advised.speedup_percent)
    saving = [e for e in by_saving if e.advised.speedup_percent >= SAVES]
    for e in saving:
        w, best, saved = e.workload, e.advised, bare(e.advised.speedup_percent)
        table.add_row(
            str(w["name"]),
            f"{w['pattern']}, {format_size(w['buffer'])}",
            f"{saved} %{interval(best.speedup_low_percent, best.speedup_high_percent, saved)}",
            f"{best.key}, {best.approach.messages} × {best.vcis}",
        )
    rest = [str(e.workload["name"]) for e in by_saving if e not in saving]
    last = Text(f"saves nothing: {', '.join(rest)}") if rest else Text("--exchange NAME shows one")
    return Group(*([table] if saving else []), last)


def sensitivity_view(levers: Sequence[Lever]) -> RenderableType:
    """A line per input: its share of the variance, its ends, and the change of iteration time there."""
    table = Readable(
        "what the saving rests on",
        Column("share", justify="right", no_wrap=True),
        Column("change of iteration time", justify="right", no_wrap=True),
    )
    for lever in levers:
        name, ends = sensitivity_row(lever)
        table.add_row(f"  {name}", f"{100 * lever.share:.0f} %", ends, style="bold" if lever.turns else "")
    return table


def sensitivity_row(lever: Lever) -> tuple[str, str]:
    """An input with its ends, and the change of iteration time there."""
    steps = "ends of its interval" if lever.kind == "machine" else " or ".join(lever.steps)
    name = "if" if lever.kind == "unknown" else f"{lever.name},"
    return f"{name} {steps}", " to ".join(format_change(-percent) for percent in lever.speedup_percent)


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
    said = f"<p><b>{a.verdict}</b>: {html.escape(headline(prediction))} {html.escape(a.because)}</p>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"
