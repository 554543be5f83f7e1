"""Sweeps and comparisons as a terminal table, CSV and HTML."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.approach.interfaces import EACH
from pready.model.common.units import format_time
from pready.model.result.break_even import Range
from pready.show.tables.answer import VERDICT_STYLE, bare, ranges, saved_percent
from pready.show.terminal.html import as_html
from pready.show.terminal.table import Readable
from pready.whatif.predicted_rows import TODAY
from pready.whatif.table import Table


def table_view(table: Table) -> RenderableType:
    """The decision, then a row per point, or per approach; the title has what all rows share."""
    grid = Readable(heading=title(table), gap=1, tight=True)
    where, every = "pays_bytes" in table.rows[0], any(not row["best"] for row in table)
    for name in table.varied:
        numbers = all(isinstance(row[name], (int, float)) for row in table)
        grid.add_column(name, justify="right" if numbers else "left", vertical="bottom")
    if not every:
        grid.add_column("MPI_Psend\nsaves", justify="right", vertical="bottom", no_wrap=True)
        grid.add_column("if early\nsaves", justify="right", vertical="bottom", no_wrap=True)
    grid.add_column("way" if every else "best today", vertical="bottom")
    grid.add_column("× VCIs", justify="right", vertical="bottom", no_wrap=True)
    grid.add_column("saves (95 %)", vertical="bottom", no_wrap=True)
    grid.add_column("verdict", vertical="bottom")
    if where:
        grid.add_column("pays with buffers", vertical="bottom", min_width=17)
    for row in table:
        grid.add_row(
            *(str(row[name]) for name in table.varied),
            *([] if every else [_percent(row, "partitioned"), _percent(row, "if_early")]),
            str(row["name"] if every or row["key"] == EACH.key else row["key"]) + ("" if row["available"] else " *"),
            parts(row),
            saves(row),
            Text(row["verdict"], style=VERDICT_STYLE[row["verdict"]]) if row["best"] else Text(""),
            *((_pays(row["pays_bytes"]),) if where else ()),
            style="bold" if every and row["best"] else "",
        )
    said = [*table.notes]
    if not all(row["available"] for row in table):
        said.insert(0, "* " + "; ".join(dict.fromkeys(f"needs {r['needs']}" for r in table if not r["available"])))
    today = [_today(table), Text("")] if "workload" in table.varied and not every else []
    return Group(Text(decision(table)), Text(""), *today, grid, *(Text(line, style="dim") for line in said))


def _today(table: Table) -> RenderableType:
    """How workloads spend an iteration as they are sent today."""
    grid = Readable(*table.varied, heading="as sent today", tight=True)
    for name in ("iteration", "communication", "waiting for late ranks"):
        grid.add_column(name, justify="right", no_wrap=True)
    for row in table:
        times = ("-" if row[name] is None else format_time(row[name]) for name in TODAY)
        grid.add_row(*(str(row[name]) for name in table.varied), *times)
    return grid


def decision(table: Table) -> str:
    """At which points partitioned communication pays, and at which the best way today."""
    rows = [row for row in table if row["best"]]
    said = []
    for what, key in (("Partitioned (MPI_Psend)", "partitioned_verdict"), ("the best way today", "verdict")):
        at = [row for row in rows if row[key] == "port"]
        open_ = sum(row[key] == "undecided" for row in rows)
        more = f" (undecided at {open_})" if open_ else ""
        said.append(f"{what} pays at {_points(at, rows, table.varied)}{more}")
    return "; ".join(said) + "."


def _points(at: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]], varied: Sequence[str]) -> str:
    if not at or len(at) == len(rows):
        every = "this point" if len(rows) == 1 else "both points" if len(rows) == 2 else f"all {len(rows)} points"
        return every if at else "no point"
    if len(varied) == 1:
        return f"{varied[0]} = {', '.join(str(row[varied[0]]) for row in at)}"
    return f"{len(at)} of {len(rows)} points"


def _percent(row: dict[str, Any], what: str) -> str:
    percent = row[f"{what}_speedup_percent"]
    return "" if percent is None else f"{bare(percent)} %"


def saves(row: dict[str, Any]) -> str:
    """What is saved of an iteration with its interval; negative is longer."""
    return saved_percent(row["speedup_percent"], row["speedup_low_percent"], row["speedup_high_percent"])


def parts(row: dict[str, Any]) -> str:
    """Transport partitions and VCIs; "each" where every exchange has its own."""
    return "each" if row["key"] == EACH.key else f"{row['transport_partitions']} × {row['vcis']}"


def title(table: Table) -> str:
    """Workload, machine and library, where all rows share them."""
    common = {n: table.rows[0][n] for n in ("workload", "machine", "library") if n not in table.varied}
    same = {n: v for n, v in common.items() if all(row[n] == v for row in table)}
    words = [str(same["workload"])] if "workload" in same else []
    words += [f"on {same['machine']}"] if "machine" in same else []
    words += [f"({same['library']})"] if "library" in same else []
    return " ".join(words)


def _pays(pays: list[list[float | None]] | None) -> str:
    """In words the ranges of a row, as plain data: bytes, and None for no upper end."""
    if pays is None:
        return "several sizes"
    return ranges([Range(low or 0.0, math.inf if high is None else high) for low, high in pays]) or "none up to 1 GiB"


def table_csv(table: Table) -> str:
    """CSV with a header, floats in full precision; lists in cells are JSON."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(table.rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in table:
        writer.writerow({n: json.dumps(v) if isinstance(v, (list, tuple, dict)) else v for n, v in row.items()})
    return stream.getvalue()


def table_html(table: Table) -> str:
    """The table that Jupyter shows."""
    return as_html(table_view(table))
