"""What each exchange of a step saves by itself, and all of them together."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from pready.model.result.prediction import ApproachPrediction
from pready.show.figures.colours import COLOURS, NEUTRAL
from pready.show.figures.style import styled, subplots


@styled
def step_savings(title: str, rows: Sequence[tuple[str, ApproachPrediction]], min_gain_percent: float) -> Figure:
    """Savings with their 95 % intervals, by name; the last is the step's.

    Parameters
    ----------
    min_gain_percent
        The saving from which a port is worth it, a dotted line.
    """
    figure, axes = subplots(size=(7.2, 1.3 + 0.3 * len(rows)))
    for y, (_, row) in enumerate(reversed(rows)):
        low, high = row.speedup_low_percent, row.speedup_high_percent
        colour = COLOURS[1] if y == 0 else COLOURS[0]
        axes.plot([low, high], [y, y], color=colour, lw=2)
        axes.plot(row.speedup_percent, y, "o", color=colour)
    axes.axvline(0, color="k", lw=1)
    axes.axvline(min_gain_percent, color=NEUTRAL, lw=1, ls=":", label=f"worth a port: {min_gain_percent:g} %")
    axes.set_yticks(range(len(rows)), [name for name, _ in reversed(rows)])
    axes.margins(y=0.1)
    axes.set_xlabel("step shorter by, % (95 % interval)")
    figure.legend(loc="outside lower center", frameon=False, fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure
