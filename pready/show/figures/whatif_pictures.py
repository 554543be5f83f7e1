"""Figures of sweeps and comparisons: η and the change of iteration time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from pready.model.approach.interfaces import BULK
from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, format_size, format_time, parse
from pready.model.result.verdict import enough, verdict_of
from pready.show.figures.colours import COLOURS, LINES, NEUTRAL
from pready.show.figures.style import styled, subplots
from pready.show.tables.whatif import title
from pready.whatif.fields import magnitude
from pready.whatif.table import Table

MOST_LINES = 8
MOST_OF_ALL = 12
MOST_TICKS = 8
MOST_POINTS = 60
_FORMS = ((Unit.SIZE, format_size), (Unit.TIME, format_time))
MARKS = {"port": ("o", "full"), "undecided": ("o", "none"), "do not port": ("x", "full")}


@styled
def figure(table: Table, min_gain: float) -> Figure:
    """η and saving over the axis with the most values, a line for each combination of the others.

    Of a table of all approaches, a line for each interface, too. Without a numerical axis, or with too many lines to
    tell apart: a bar for each point.

    Raises
    ------
    PreadyError
        More points than fit a page.
    """
    best = [row for row in table if row["best"]]
    every = len(best) < len(table)
    numerical = [n for n in table.varied if _is_axis(best, n)]
    axis = max(numerical, key=lambda n: len({str(r[n]) for r in best}), default="")
    if not every and not axis:
        return _bars(table, min_gain)
    others = [n for n in table.varied if n != axis]
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in _of_each_interface(table) if every else best:
        label = [f"{n} {row[n]}" for n in others] + ([row["name"]] if every else [])
        lines.setdefault(", ".join(label), []).append(row)
    if every and (not axis or len(lines) > MOST_OF_ALL):
        raise PreadyError(
            f"a picture of {len(lines)} lines, one for each approach, does not fit a page",
            valid="one field of three or more numbers with --all, or no --all",
        )
    if len(lines) > MOST_LINES and not every:
        return _bars(table, min_gain)
    return _lines(title(table), axis, lines, min_gain, every=every)


def _of_each_interface(table: Table) -> list[dict[str, Any]]:
    """The row that saves most, for each point and each interface that a library has; without the baseline."""
    best: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in table:
        if row["key"] == BULK.interface.key or row["needs"]:
            continue
        place = (*(str(row[n]) for n in table.varied), row["key"])
        if place not in best or row["speedup_percent"] > best[place]["speedup_percent"]:
            best[place] = row
    return list(best.values())


def _is_axis(rows: Sequence[dict[str, Any]], name: str) -> bool:
    places = {magnitude(row[name]) for row in rows}
    return None not in places and len(places) > 2


def _lines(said: str, axis: str, lines: dict[str, list[dict[str, Any]]], min_gain: float, *, every: bool) -> Figure:
    drawn, (above, below) = subplots(2, 1, size=(7.2, 5.6), sharex=True)
    for i, (label, rows) in enumerate(lines.items()):
        rows.sort(key=lambda r: magnitude(r[axis]) or 0.0)
        x = [magnitude(r[axis]) for r in rows]
        colour = COLOURS[i % len(COLOURS)]
        style = LINES[(i + i // len(COLOURS)) % len(LINES)]
        for axes, value, low, high in (
            (above, "eta", "eta_low", "eta_high"),
            (below, "speedup_percent", "speedup_low_percent", "speedup_high_percent"),
        ):
            if not every:  # a dozen bands hide each other
                axes.fill_between(x, [r[low] for r in rows], [r[high] for r in rows], color=colour, alpha=0.15, lw=0)
            named = label if axes is above and label else None
            axes.plot(x, [r[value] for r in rows], ls=style, color=colour, label=named)
            for verdict, (marker, fill) in MARKS.items():
                there = [(p, r[value]) for p, r in zip(x, rows, strict=True) if _verdict(r, min_gain) == verdict]
                places, values = [p for p, _ in there], [v for _, v in there]
                axes.plot(places, values, marker, ms=4.5, color=colour, fillstyle=fill)
    above.axhline(1, color=NEUTRAL, lw=1, label="bulk")
    above.set_ylabel("η = bulk time / approach's time")
    below.axhline(0, color=NEUTRAL, lw=1)
    below.axhline(100 * min_gain, color=NEUTRAL, lw=1, ls=":")
    below.set_ylabel("iteration shorter by, %")
    least, most = below.get_ylim()
    if every and least < -most:  # a way that loses much would make gains a line
        below.set_ylim(-most, most)
        below.set_ylabel(f"iteration shorter by, %\n(cut at {-most:.3g} %)")
    _scale(below, axis, [r[axis] for rows in lines.values() for r in rows])
    _legend(drawn, above, min_gain)
    drawn.suptitle(said, x=0.01, ha="left", fontsize=10)
    return drawn


def _verdict(row: dict[str, Any], min_gain: float) -> str:
    """A point's verdict, as in the table; of another way, on the probability that it saves enough."""
    if row["best"]:
        return str(row["verdict"])
    nothing_drawn = row["probability"] is None
    return verdict_of(float(enough(row["speedup_percent"], min_gain)) if nothing_drawn else row["probability"])


def _scale(axes: Axes, name: str, values: Sequence[object]) -> None:
    """A logarithmic scale over more than a decade; few points have a tick each, in the form of the input."""
    written = {p: v for v in values if (p := magnitude(v)) is not None}
    places = sorted(written)
    wide = places[0] > 0 and places[-1] >= 10 * places[0]
    form = next((f for u, f in _FORMS if isinstance(values[0], str) and _measures(values[0], u)), None)
    if wide:
        axes.set_xscale("log", base=2 if form is format_size else 10)
    if len(places) <= MOST_TICKS:
        names = [form(p) if form else str(written[p]) for p in places]
        axes.set_xticks(places, names)
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


def _legend(drawn: Figure, axes: Axes, min_gain: float) -> None:
    """The legend of lines and verdict marks, beside the axes."""
    for verdict, (marker, fill) in MARKS.items():
        axes.plot([], [], marker, color=NEUTRAL, ms=4.5, fillstyle=fill, label=verdict)
    axes.plot([], [], ":", color=NEUTRAL, lw=1, label=_worth(min_gain))
    drawn.legend(loc="outside right upper", frameon=False, fontsize=8)


def _worth(min_gain: float) -> str:
    return f"worth a port: {100 * min_gain:g} %"


def _bars(table: Table, min_gain: float) -> Figure:
    """The saving at each point with its interval, a bar for each."""
    rows = [row for row in table if row["best"]]
    if len(rows) > MOST_POINTS:
        valid = f"an axis of numbers, or {MOST_POINTS} points"
        raise PreadyError(f"a picture of {len(rows)} points does not fit a page", valid=valid)
    drawn, axes = subplots(size=(7.2, 1.2 + 0.28 * len(rows)))
    y = np.arange(len(rows))[::-1]
    saved = np.array([r["speedup_percent"] for r in rows])
    low, high = (np.array([r[f"speedup_{end}_percent"] for r in rows]) for end in ("low", "high"))
    colours = {"port": COLOURS[2], "undecided": COLOURS[4], "do not port": NEUTRAL}
    for verdict, colour in colours.items():
        of = np.array([r["verdict"] == verdict for r in rows])
        if of.any():
            axes.barh(y[of], saved[of], color=colour, label=verdict, height=0.7)
    axes.errorbar(saved, y, xerr=[saved - low, high - saved], fmt="none", color="k", elinewidth=1, capsize=2)
    axes.axvline(0, color=NEUTRAL, lw=1)
    axes.axvline(100 * min_gain, color=NEUTRAL, lw=1, ls=":", label=_worth(min_gain))
    axes.set_yticks(y, [", ".join(str(r[n]) for n in table.varied) or r["name"] for r in rows])
    axes.set_xlabel("iteration shorter by, %")
    drawn.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    drawn.suptitle(title(table), x=0.01, ha="left", fontsize=10)
    return drawn
