"""Sweeps and comparisons as a terminal table, CSV and HTML."""

from __future__ import annotations

import html
import json
import math
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pready.files.rows import csv_text
from pready.model.approach.interfaces import EACH
from pready.model.common.units import format_change, format_size
from pready.show.tables.answer import VERDICT_STYLE
from pready.show.tables.prediction import CHANGE
from pready.show.terminal.table import Readable
from pready.whatif.table import Table


def table_view(table: Table) -> RenderableType:
    """A row per point, or per approach; the title has what all rows share."""
    grid = Readable(heading=title(table), gap=2)
    sizes, every = "pays_bytes" in table.rows[0], any(not row["best"] for row in table)
    for name in table.varied:
        numbers = all(isinstance(row[name], (int, float)) for row in table)
        grid.add_column(name, justify="right" if numbers else "left", vertical="bottom")
    grid.add_column("approach" if every else "best approach", vertical="bottom")
    grid.add_column("parts\n× VCIs", justify="right", vertical="bottom", no_wrap=True)
    grid.add_column("η = T_b/T_p\n(95 %)", vertical="bottom", no_wrap=True)
    grid.add_column(CHANGE, justify="right", vertical="bottom", no_wrap=True)
    grid.add_column("verdict", vertical="bottom")
    if sizes:
        grid.add_column("worth porting with buffers", vertical="bottom", min_width=17)
    for row in table:
        grid.add_row(
            *(str(row[name]) for name in table.varied),
            str(row["name"]) + ("" if row["available"] else " *"),
            parts(row),
            f"{row['eta']:.2f}× ({row['eta_low']:.2f}-{row['eta_high']:.2f})",
            change(row),
            Text(row["verdict"], style=VERDICT_STYLE[row["verdict"]]) if row["best"] else Text(""),
            *((_pays(row["pays_bytes"]),) if sizes else ()),
            style="bold" if every and row["best"] else "",
        )
    said = [*table.notes]
    if not all(row["available"] for row in table):
        said.insert(0, "* " + "; ".join(dict.fromkeys(f"needs {r['needs']}" for r in table if not r["available"])))
    return Group(grid, *(Text(line, style="dim") for line in said))


def change(row: dict[str, Any]) -> str:
    """The change of iteration time; negative is shorter."""
    return format_change(-row["speedup_percent"])


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


def _pays(ranges: list[list[float | None]] | None) -> str:
    if ranges is None:
        return "several sizes"
    said = []
    for low, high in ranges:
        ends = [f"from {format_size(low)}"] if low else []
        ends += [f"to {format_size(high)}"] if high is not None and not math.isinf(high) else []
        said.append(" ".join(ends) or "of any size")
    return ", ".join(said) or "none up to 1 GiB"


def table_csv(table: Table) -> str:
    """CSV; lists in cells are JSON."""
    return csv_text(flat(table))


def flat(table: Table) -> list[dict[str, Any]]:
    """Rows of plain values; lists become JSON."""
    return [{n: json.dumps(v) if isinstance(v, (list, tuple, dict)) else v for n, v in row.items()} for row in table]


def table_html(table: Table) -> str:
    """The table that Jupyter shows."""
    head = "".join(
        f"<th>{html.escape(h)}</th>"
        for h in (*table.varied, "approach", "η (95 %)", "change of iteration time", "verdict")
    )
    body = ""
    for row in table:
        shown = (
            *(row[name] for name in table.varied),
            f"{row['name']}, {parts(row)}",
            f"{row['eta']:.2f}× ({row['eta_low']:.2f}-{row['eta_high']:.2f})",
            change(row),
            row["verdict"] if row["best"] else "",
        )
        body += "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in shown) + "</tr>"
    notes = "".join(f"<p>{html.escape(line)}</p>" for line in table.notes)
    caption = html.escape(title(table))
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"
