"""η over buffer sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from pready.model.common.arrays import Array
from pready.show.figures.colours import COLOURS, LINES, NEUTRAL
from pready.show.figures.style import etas, name_here, size_axis, styled, subplots


@dataclass(frozen=True)
class Sure:
    """95 % of the draws of the first line, and the sizes at which the best way there is worth a port."""

    low: Array
    high: Array  # η at each size
    pays: Sequence[tuple[float, float]]  # size ranges of which the verdict is "port"
    enough: str  # the threshold as text, such as "1 % of an iteration"


@styled
def eta_over_size(title: str, sizes: Sequence[float], lines: Mapping[str, Array], here: float, sure: Sure) -> Figure:
    """η over buffer size; a strip below shows the sizes at which a port is worth it.

    Parameters
    ----------
    lines
        η of each approach by its label.
    here
        The workload's buffer size, a dotted line.
    """
    figure, (axes, strip) = subplots(2, 1, size=(9, 4.6), sharex=True, height_ratios=(14, 1))
    top = max(float(eta.max()) for eta in lines.values())
    bottom = min(float(eta.min()) for eta in lines.values())
    axes.fill_between(sizes, sure.low, sure.high, color=COLOURS[0], alpha=0.2, lw=0, label="95 % of the draws")
    top, bottom = max(top, float(sure.high.max())), min(bottom, float(sure.low.min()))
    low, high = min(0.5, bottom * 0.9), max(2.0, top * 1.1)
    axes.axhspan(low, 1, color=NEUTRAL, alpha=0.12, lw=0, zorder=0)
    axes.axhline(1, color=NEUTRAL, lw=1, label="bulk")
    for i, (label, eta) in enumerate(lines.items()):
        style = {"color": COLOURS[i % len(COLOURS)], "ls": LINES[i % len(LINES)], "lw": 2.2 if i == 0 else 1.4}
        axes.plot(sizes, eta, label=label, **style)
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)
    name_here(axes, here)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}×"))
    axes.set_yticks(etas(low, high))
    axes.yaxis.set_minor_formatter(NullFormatter())
    size_axis(axes)
    axes.set_xlim(sizes[0], sizes[-1])
    axes.set_ylabel("η = bulk time / approach's time")
    axes.set_title(title, loc="left", pad=16)
    _pays_strip(strip, sure, sizes, here)
    named = [of + more for of, more in zip(*(a.get_legend_handles_labels() for a in (axes, strip)), strict=True)]
    figure.legend(*named, frameon=False, loc="outside right upper")
    strip.set_xlabel("buffer per peer")
    return figure


def _pays_strip(axes: Any, sure: Sure, sizes: Sequence[float], here: float) -> None:
    """The strip: filled where a port is worth it."""
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    inside = [(max(low, sizes[0]), min(high, sizes[-1])) for low, high in sure.pays]
    for first, (low, high) in enumerate(ends for ends in inside if ends[0] <= ends[1]):
        label = None if first else f"likely saves {sure.enough}"
        axes.axvspan(low, high, lw=2, color=COLOURS[2], label=label)
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)
