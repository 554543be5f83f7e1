"""Sensitivity: what an iteration saves with each input at either end."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import numpy as np
from matplotlib.figure import Figure

from pready.model.common.errors import PreadyError
from pready.model.result.prediction import Lever
from pready.show.figures.colours import COLOURS, NEUTRAL
from pready.show.figures.style import styled, subplots

UNSEEN = 0.01
"""Share of the widest pair of bars below which a pair is named, not drawn."""


@styled
def tornado(title: str, levers: Sequence[Lever], min_gain_percent: float) -> Figure:
    """The change of iteration time with each input at either end, the input with the largest effect on top.

    Parameters
    ----------
    min_gain_percent
        The saving from which a port is worth it, a dotted line.
    """
    if not levers:
        raise PreadyError("nothing to plot: no input changes the prediction", valid="a machine with intervals")
    swings = np.array([np.abs(np.subtract(lever.speedup_percent, lever.here_percent)).max() for lever in levers])
    seen = swings >= UNSEEN * swings.max()
    shown = [lever for lever, one in zip(levers, seen, strict=True) if one]
    labels = [_label(lever) for lever in shown]
    figure, axes = subplots(size=(7.2, 1.7 + 0.16 * sum(label.count("\n") + 2 for label in labels)))
    y = np.arange(len(shown))[::-1]
    here = levers[0].here_percent
    ends = ("low end, or first option", COLOURS[5]), ("high end, or second", COLOURS[1]), ("third option", COLOURS[2])
    for end, (label, colour) in enumerate(ends[: max(len(lever.speedup_percent) for lever in shown)]):
        # One of a single step has one bar.
        saved = np.array([dict(enumerate(lever.speedup_percent)).get(end, here) for lever in shown])
        axes.barh(y, saved - here, left=here, color=colour, height=0.6 - 0.2 * end, label=label)
    axes.axvline(here, color="k", lw=1, label="as it is")
    axes.axvline(min_gain_percent, color=NEUTRAL, lw=1, ls=":", label=f"worth a port: {min_gain_percent:g} %")
    axes.set_yticks(y, labels, fontsize=8)
    rest = [lever.name for lever, one in zip(levers, seen, strict=True) if not one]
    unseen = "\n" + fill(f"too small to draw: {', '.join(rest)}", 60) if rest else ""
    axes.set_xlabel(f"iteration shorter by, %{unseen}")
    axes.margins(x=0.12)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure


def _label(lever: Lever) -> str:
    """The input's name, and each of its options on lines of its own."""
    return "\n".join([lever.name, *(fill(step, 38) for step in lever.steps if lever.kind != "machine")])
