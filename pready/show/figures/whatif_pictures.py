"""The figure of a sweep or a comparison: what the best way saves of an iteration, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, format_size, format_time, parse
from pready.show.figures.colours import COLOURS, LINES, NEUTRAL
from pready.show.figures.style import styled, subplots
from pready.show.tables.whatif import title
from pready.whatif.fields import magnitude
from pready.whatif.table import Table

MOST_LINES = 8
MOST_TICKS = 8
MOST_POINTS = 60
SAVES = "iteration shorter by, %"
_FORMS = ((Unit.SIZE, format_size), (Unit.TIME, format_time))
MARKS = {"port": ("o", "full"), "undecided": ("o", "none"), "do not port": ("x", "full")}


@styled
def figure(table: Table, min_gain: float) -> Figure:
    """The saving over the axis with the most values, a line for each combination of the others.

    Without a numerical axis, or with too many lines to tell apart: a bar for each point. Raises PreadyError: more
    points than fit a page.
    """
    rows = [row for row in table if row["best"]]
    numerical = [n for n in table.varied if _is_axis(rows, n)]
    axis = max(numerical, key=lambda n: len({str(r[n]) for r in rows}), default="")
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(", ".join(f"{n} {row[n]}" for n in table.varied if n != axis), []).append(row)
    if axis and len(lines) <= MOST_LINES:
        drawn, axes = subplots(size=(7.2, 4.0))
        _lines(axes, axis, lines)
        axes.axhline(0, color=NEUTRAL, lw=1)
        axes.axhline(100 * min_gain, color=NEUTRAL, lw=1, ls=":", label=_worth(min_gain))
        drawn.legend(loc="outside right upper", frameon=False, fontsize=8)
    elif len(rows) <= MOST_POINTS:
        drawn, axes = subplots(size=(7.2, 1.2 + 0.28 * len(rows)))
        _bars(axes, [", ".join(str(r[n]) for n in table.varied) or r["name"] for r in rows], rows)
        axes.axvline(0, color=NEUTRAL, lw=1)
        axes.axvline(100 * min_gain, color=NEUTRAL, lw=1, ls=":", label=_worth(min_gain))
        drawn.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    else:
        valid = f"an axis of numbers, or {MOST_POINTS} points"
        raise PreadyError(f"a picture of {len(rows)} points does not fit a page", valid=valid)
    drawn.suptitle(title(table), x=0.01, ha="left", fontsize=10)
    return drawn


def _is_axis(rows: Sequence[dict[str, Any]], name: str) -> bool:
    places = {magnitude(row[name]) for row in rows}
    return None not in places and len(places) > 2


def _worth(min_gain: float) -> str:
    return f"worth a port: {100 * min_gain:g} %"


def _lines(axes: Axes, axis: str, lines: dict[str, list[dict[str, Any]]]) -> None:
    for i, (label, rows) in enumerate(lines.items()):
        rows.sort(key=lambda r: _place(r[axis]))
        x, colour = [_place(r[axis]) for r in rows], COLOURS[i % len(COLOURS)]
        saved, low, high = ([r[f"speedup{end}_percent"] for r in rows] for end in ("", "_low", "_high"))
        axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        axes.plot(x, saved, ls=LINES[(i + i // len(COLOURS)) % len(LINES)], color=colour, label=label or None)
        for verdict, (marker, fill) in MARKS.items():
            there = [n for n, r in enumerate(rows) if r["verdict"] == verdict]
            axes.plot([x[n] for n in there], [saved[n] for n in there], marker, ms=4.5, color=colour, fillstyle=fill)
    for verdict, (marker, fill) in MARKS.items():
        axes.plot([], [], marker, color=NEUTRAL, ms=4.5, fillstyle=fill, label=verdict)
    axes.set_ylabel(SAVES)
    _scale(axes, axis, [r[axis] for rows in lines.values() for r in rows])


def _place(value: object) -> float:
    """Along an axis, all of whose values are numbers."""
    return magnitude(value) or 0.0


def _scale(axes: Axes, name: str, values: Sequence[object]) -> None:
    """A logarithmic scale over more than a decade; few points have a tick each, in the form of the input."""
    written = {p: v for v in values if (p := magnitude(v)) is not None}
    places = sorted(written)
    form = next((f for u, f in _FORMS if isinstance(values[0], str) and _measures(values[0], u)), None)
    if places[0] > 0 and places[-1] >= 10 * places[0]:
        axes.set_xscale("log", base=2 if form is format_size else 10)
    if len(places) <= MOST_TICKS:
        axes.set_xticks(places, [form(p) if form else str(written[p]) for p in places])
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_minor_formatter(NullFormatter())
        shown = form or "{:g}".format
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: shown(x)))
    axes.set_xlabel(name)


def _measures(value: str, unit: Unit) -> bool:
    try:
        parse(value, unit)
    except PreadyError:
        return False
    return True


def _bars(axes: Axes, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    """The saving at each point with its interval, a bar for each."""
    y = np.arange(len(rows))[::-1]
    saved, low, high = (np.array([r[f"speedup{end}_percent"] for r in rows]) for end in ("", "_low", "_high"))
    for verdict, colour in {"port": COLOURS[2], "undecided": COLOURS[4], "do not port": NEUTRAL}.items():
        of = np.array([r["verdict"] == verdict for r in rows])
        if of.any():
            axes.barh(y[of], saved[of], color=colour, label=verdict, height=0.7)
    axes.errorbar(saved, y, xerr=[saved - low, high - saved], fmt="none", color="k", elinewidth=1, capsize=2)
    axes.set_yticks(y, names)
    axes.set_xlabel(SAVES)
