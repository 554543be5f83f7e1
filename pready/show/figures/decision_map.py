"""A map of verdicts over two fields: where porting pays, where not, and where that is undecided."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, format_size, parse
from pready.show.figures.colours import COLOURS, NEUTRAL
from pready.show.figures.style import styled, subplots
from pready.whatif.table import Table

FILLS = {"port": (COLOURS[5], ""), "undecided": (COLOURS[4], "//"), "do not port": ("#D8D8D8", "")}
"""Colour and hatching, so that they can be told apart without colours."""
MOST = 24
"""Columns or rows that fit a page."""


@styled
def decision_map(title: str, table: Table, min_gain: float, here: tuple[str, str] | None = None) -> Figure:
    """A cell for each pair of values: its verdict, what an iteration is shorter by in percent, and the interface.

    Parameters
    ----------
    table
        Of two fields; that with more values is along x.
    here
        Values of x and y as in the table, whose cell has a frame.

    Raises
    ------
    PreadyError
        A field has too many values.
    """
    values = {name: list(dict.fromkeys(str(row[name]) for row in table)) for name in table.varied}
    (y, rows), (x, columns) = sorted(values.items(), key=lambda of: len(of[1]))
    if len(columns) > MOST:
        raise PreadyError(f"a map with {len(columns)} values of {x} does not fit a page", valid=f"at most {MOST}")
    best = {(str(row[x]), str(row[y])): row for row in table if row["best"]}
    figure, axes = subplots(size=(max(5.0, 1.6 + 0.86 * len(columns)), 1.7 + 0.5 * len(rows)))
    for (column, line), row in best.items():
        at = columns.index(column), rows.index(line)
        colour, hatch = FILLS[row["verdict"]]
        axes.add_patch(Rectangle(at, 1, 1, facecolor=colour, hatch=hatch, edgecolor="white", lw=1.5))
        axes.text(at[0] + 0.5, at[1] + 0.5, said_of(row), ha="center", va="center", fontsize=7.5, color="black")
    if here is not None and here in best:
        at = columns.index(here[0]), rows.index(here[1])
        axes.add_patch(Rectangle(at, 1, 1, fill=False, edgecolor="black", lw=1.8))
    axes.set(xlim=(0, len(columns)), ylim=(0, len(rows)), xlabel=x, ylabel=y)
    axes.set_xticks([i + 0.5 for i in range(len(columns))], [in_short(v) for v in columns])
    axes.set_yticks([i + 0.5 for i in range(len(rows))], [in_short(v) for v in rows])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    names = {"port": f"port: at least {100 * min_gain:g} % of an iteration"}
    patches = [Patch(facecolor=c, hatch=h, edgecolor=NEUTRAL, label=names.get(v, v)) for v, (c, h) in FILLS.items()]
    figure.legend(handles=patches, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure


def in_short(value: str) -> str:
    """A size in the unit that makes it short; anything else as it is."""
    try:
        return format_size(parse(value, Unit.SIZE))
    except PreadyError:
        return value


def said_of(row: dict[str, Any]) -> str:
    """The saving in percent of an iteration, and the way, in a cell."""
    percent = round(row["speedup_percent"], 1) + 0.0  # no minus before zero
    if row["verdict"] == "do not port":
        return f"{percent:g} %"
    return f"{percent:g} %\n{row['key'].removesuffix('-active').removesuffix('-passive')}"
