"""Sensitivity: what an iteration saves with each input at either end."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

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
    figure, axes = subplots(size=(7.2, 1.5 + 0.34 * len(shown)))
    y = np.arange(len(shown))[::-1]
    here = levers[0].here_percent
    for end, colour in ((0, COLOURS[5]), (1, COLOURS[1])):
        # One of a single step has one bar.
        saved = np.array([dict(enumerate(lever.speedup_percent)).get(end, here) for lever in shown])
        label = ("low end, first step", "high end, second step")[end]
        axes.barh(y, saved - here, left=here, color=colour, height=0.6 - 0.25 * end, label=label)
    for lever, place in zip(shown, y, strict=True):
        if lever.kind != "machine":
            _name_ends(axes, lever, float(place))
    axes.axvline(here, color="k", lw=1, label="as it is")
    axes.axvline(min_gain_percent, color=NEUTRAL, lw=1, ls=":", label=f"worth a port: {min_gain_percent:g} %")
    axes.set_yticks(y, [lever.name for lever in shown])
    rest = [lever.name for lever, one in zip(levers, seen, strict=True) if not one]
    unseen = "\n" + fill(f"too small to draw: {', '.join(rest)}", 60) if rest else ""
    axes.set_xlabel(f"iteration shorter by, %{unseen}")
    axes.margins(x=0.12)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure


def _name_ends(axes: Any, lever: Lever, place: float) -> None:
    """Label a lever's bars on both sides with the values there, from left to right."""
    here = lever.here_percent
    ends = sorted(zip(lever.speedup_percent, lever.steps, strict=True))
    how: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 7}
    if low := [e for e in ends if e[0] < here]:
        axes.annotate(", ".join(s for _, s in low), (low[0][0], place), xytext=(-3, 0), ha="right", **how)
    if high := [e for e in ends if e[0] >= here]:
        axes.annotate(", ".join(s for _, s in high), (high[-1][0], place), xytext=(3, 0), ha="left", **how)
