"""Predictions as terminal tables, rows for CSV and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from pready.model.advice.advise import called
from pready.model.approach.interfaces import Interface
from pready.model.common.units import Unit, format_quantity, format_size, format_time
from pready.model.result.prediction import ApproachPrediction, Lever, Prediction
from pready.model.result.verdict import simplest
from pready.show.tables.answer import YOURS, answer, answer_of_exchange, as_one, asked, bare, saved
from pready.show.terminal.html import as_html
from pready.show.terminal.table import Readable
from pready.show.terminal.terminal import as_text

TEXT_WIDTH = 80
"""Columns of a prediction as text."""
NAME = 21
"""Characters of a way's name in a line of 80 columns."""
MOST_ROWS = 3
"""Most approaches in a table, unless all are asked for: today's, partitioned, and the best."""


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
    if advised is not prediction.bulk:
        best[advised.approach.interface, ""] = advised
    return [prediction.bulk, *best.values()]


def prediction_view(
    prediction: Prediction, *, every_row: bool = False, explained: bool = False, of: Prediction | None = None
) -> RenderableType:
    """The answer, then one table.

    Parameters
    ----------
    of
        The step of which `prediction` is an exchange: its verdict comes first.
    every_row
        All numbers of transport partitions and VCIs, and what the library cannot do.
    explained
        With the closed form, all notes and the sensitivity.
    """
    if prediction.advice.doubt and not every_row and not explained:
        return Group(*answer(prediction), Text("--all: what the model says all the same", style="dim"))
    table = step_table(prediction) if prediction.exchanges else ways_table(prediction, every_row=every_row)
    said = answer(prediction, explained=explained) if of is None else answer_of_exchange(prediction, of)
    parts: list[RenderableType] = [*said, *_reasons(prediction, explained=explained)]
    parts += [Text(""), table]
    parts += [Text(line, style="dim") for line in _below(prediction, every_row=every_row)]
    parts += _notes(prediction, explained=explained)
    if explained:
        parts += [Text(_closed_form(prediction), style="dim")]
        if prediction.sensitivity:
            parts += [Text(""), sensitivity_view(prediction.sensitivity)]
    return Group(*parts)


def ways_table(prediction: Prediction, *, every_row: bool) -> RenderableType:
    """A line per way to send; `every_row`: all numbers of messages and VCIs, and what the library cannot do."""
    rows = prediction.approaches if every_row else best_per_interface(prediction)
    can = [r for r in rows if r.available]
    shown = can if every_row or len(can) <= MOST_ROWS else _first(prediction, can)
    table = Readable(heading=asked(prediction, explained=every_row), gap=1, tight=True)
    consuming = prediction.workload.get("consume") is not None
    columns = [
        ("way", "left"),
        ("× VCIs", "right"),
        ("after\nready", "right"),
        ("η", "right"),
        ("saves (95 %)", "left"),
    ]
    most = prediction.advice.bound
    shares = most is not None and (every_row or not consuming)
    columns += [("of most", "right")] * shares
    if consuming or every_row:
        columns.append(("work left" if consuming else "before\njoin", "right"))
    for name, justify in columns:
        table.add_column(name, justify=justify, no_wrap=True, vertical="bottom")  # type: ignore[arg-type]
    best = prediction.advised if prediction.advised.speedup_percent >= 0 else prediction.bulk
    for r in (*shown, *((r for r in rows if not r.available) if every_row else ())):
        if not r.available and table.row_count == len(shown):
            table.add_row("  not in this library", style="dim")
        style = "bold" if r is best else ("dim" if not r.available else "")
        mark = "→ " if r is best else "  "
        table.add_row(
            mark + _name(r, folded=not every_row),
            f"{r.approach.messages} × {r.vcis}",
            format_time(r.time_s),
            f"{r.eta:.2f}×",
            "now" if r is prediction.bulk else saved(r),
            *([_of_most(prediction, r)] * shares),
            *([format_time(r.work_left_s)] if consuming else [f"{r.arrived_early_percent:.0f} %"] * every_row),
            style=style,
        )
    if most is not None:
        ratio = f"{most.eta:.2f}×" if most.eta < 1000 else ""
        by = [format_time(most.time_s), ratio, saved(most)]
        table.add_row(f"  {most.name}", "", *by, *[""] * (len(columns) - 5))
    return table


def _name(row: ApproachPrediction, *, folded: bool) -> str:
    """The name of a way with its marks, on lines that leave room for the columns beside it."""
    name = row.name + ("~" if row.unmeasured else "") + ("" if row.available else " *")
    return "\n    ".join(wrap(name, NAME)) if folded else name


def _of_most(prediction: Prediction, row: ApproachPrediction) -> str:
    """The share of what any library could save that a way saves."""
    share = None if row is prediction.bulk else prediction.advice.of_bound(row)
    return "" if share is None or share <= 0 else f"{100 * share:.0f} %"


def _first(prediction: Prediction, rows: Sequence[ApproachPrediction]) -> list[ApproachPrediction]:
    """The baseline, what is advised, partitioned ones, and those that save most."""
    asked = prediction.advice.partitioned
    kept = [prediction.bulk, *([asked.row] if asked is not None and asked.row is not None else [])]
    kept += [prediction.advised] if prediction.advised not in kept else []
    rest = sorted((r for r in rows if r not in kept), key=lambda r: -r.speedup_percent)
    kept += rest[: MOST_ROWS - len(kept)]
    return [r for r in rows if r in kept]


def _reasons(prediction: Prediction, *, explained: bool) -> list[RenderableType]:
    because = prediction.advice.because
    return [Text(f"Why: {because}.")] if explained and because else []


def _below(prediction: Prediction, *, every_row: bool) -> list[str]:
    """What the table's columns are, what it leaves out, and the seed."""
    yours, seed = [YOURS] * prediction.example, f"seed {prediction.seed}"
    if not every_row:
        hidden = len(best_per_interface(prediction)) - MOST_ROWS if not prediction.exchanges else 0
        more = f"{hidden} more ways" if hidden > 0 else "reasons and notes"
        return ["; ".join([f"--all: {more}", *yours, seed])]
    late = "late neighbours included" if prediction.ranks else "two ranks"
    out = [f"η: {called(prediction.bulk.approach)}'s time after the last partition is ready over this one's, {late}"]
    if calls := dict.fromkeys(r.unmeasured for r in prediction.approaches if r.unmeasured):
        out.append(f"~ nobody measured {', '.join(calls)} in {prediction.library} over this fabric")
    if needs := dict.fromkeys(r.needs for r in prediction.approaches if not r.available):
        out.append(f"* needs {'; '.join(needs)}")
    return [*out, seed, *yours]


def _notes(prediction: Prediction, *, explained: bool) -> list[RenderableType]:
    """Notes, each once; `explained`: all of them, else what the steps are of the run."""
    said = list(prediction.advice.warnings) if explained else []
    run = prediction.run_speedup_percent
    if run is not None:
        share = f"{100 * (prediction.share or 0):g} %"
        whole = f"saves {bare(run)} % of the whole run" if run >= 0 else f"makes the whole run {bare(-run)} % longer"
        said.insert(0, f"{whole}: these steps are {share} of it")
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
    """A line per exchange of a step to port, those that save most first; those that stay as they are in one."""
    table = Readable(heading=asked(prediction), gap=1, tight=True)
    for name in ("exchange", "per neighbour", "send by", "alone saves (95 %)"):
        table.add_column(name, vertical="bottom", no_wrap=name != "exchange")
    ported = [e for e in prediction.exchanges if e.advice.verdict != "do not port"]
    for e in sorted(ported, key=lambda e: -e.advised.speedup_percent):
        w, best = e.workload, e.advised
        size = f"{w['pattern']}, {format_size(w['buffer'])}"
        table.add_row(str(w["name"]), size, f"{best.key}, {best.approach.messages} × {best.vcis}", saved(best))
    left, joined = [str(e.workload["name"]) for e in prediction.exchanges if e not in ported], as_one(prediction)
    lists = {
        "stay as they are": [name for name in left if name not in joined],
        "as they are, or as one": [name for name in left if name in joined],
    }
    last = "; ".join(f"{said}: {', '.join(names)}" for said, names in lists.items() if names)
    return Group(table if ported else Text(asked(prediction), style="bold"), Text(last or "--exchange NAME shows one"))


def sensitivity_view(levers: Sequence[Lever]) -> RenderableType:
    """A line per input: its share of the variance, its ends, and what is saved there."""
    table = Readable(
        "what the saving rests on",
        Column("share", justify="right", no_wrap=True),
        Column("saves", justify="right", no_wrap=True),
    )
    for lever in levers:
        name, ends = sensitivity_row(lever)
        table.add_row(f"  {name}", f"{100 * lever.share:.0f} %", ends, style="bold" if lever.turns else "")
    return table


def sensitivity_row(lever: Lever) -> tuple[str, str]:
    """An input with its ends, and what is saved there."""
    steps = "ends of its interval" if lever.kind == "machine" else " or ".join(lever.steps)
    name = "if" if lever.kind == "unknown" else f"{lever.name},"
    return f"{name} {steps}", " to ".join(f"{bare(percent)} %" for percent in lever.speedup_percent)


def prediction_html(prediction: Prediction) -> str:
    """What Jupyter shows."""
    return as_html(prediction_view(prediction))


def prediction_text(prediction: Prediction) -> str:
    """What a terminal of 80 columns shows."""
    return as_text(prediction_view(prediction), TEXT_WIDTH)
