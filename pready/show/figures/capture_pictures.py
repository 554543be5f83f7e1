"""Figures of a captured run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pready.calibrate.capture.run_summary import Finishes, RegionSummary
from pready.model.common.arrays import Array
from pready.model.common.units import format_size, unit_of_times
from pready.show.figures.colours import COLOURS, NEUTRAL
from pready.show.figures.style import styled, subplots

MOST_ITERATIONS = 400
"""Most iterations in the heat map; longer runs are thinned evenly."""
MOST_BARS = 12


@styled
def heat_map(finishes: Finishes) -> Figure:
    """Finish times of the first rank's threads, iteration by iteration."""
    times = finishes.first
    at = np.unique(np.linspace(0, len(times) - 1, min(len(times), MOST_ITERATIONS)).astype(int))
    top = float(np.percentile(times, 99))
    scale, unit = unit_of_times(top)
    shown = times[at].T / scale
    figure, axes = subplots(size=(7.4, 2.6))
    image = axes.imshow(
        shown, aspect="auto", interpolation="nearest", cmap="viridis", vmax=top / scale,
        extent=(-0.5, len(times) - 0.5, len(shown) - 0.5, -0.5),
    )  # fmt: skip
    figure.colorbar(image, ax=axes, label=f"finished after, {unit}", extend="max")
    axes.set(xlabel="iteration", ylabel="thread")
    axes.set_yticks(range(0, len(shown), max(1, len(shown) // 8)))
    return figure


@styled
def distribution(finishes: Finishes) -> Figure:
    """Histogram of finish times over all ranks, lateness of the last thread, and which thread is last."""
    times = finishes.every.ravel()
    upper = float(np.percentile(times, 99.5))
    scale, unit = unit_of_times(upper)
    behind, share = 100 * finishes.behind, 100 * finishes.last_share
    figure, (left, middle, right) = subplots(1, 3, size=(7.4, 2.6))
    left.hist(times[times <= upper] / scale, bins=60, color=COLOURS[0])
    left.set(xlabel=f"finished after, {unit}", ylabel="shares", title="all shares")
    middle.hist(behind, bins=40, color=COLOURS[1])
    middle.set(xlabel="last thread late by, %", ylabel="iterations", title="laggards")
    right.bar(range(len(share)), share, color=COLOURS[2])
    right.set_xticks(range(0, len(share), max(1, len(share) // 8)))
    right.axhline(100 / len(share), color=NEUTRAL, lw=0.8)
    right.set(xlabel="thread", ylabel="last, % of iterations", title="last thread")
    return figure


@styled
def reclaimable(regions: Sequence[RegionSummary], run_s: float) -> Figure:
    """Time that finished threads wait for the last one, by region."""
    shown = [r for r in regions if r.reclaimable_s > 0][:MOST_BARS]
    figure, axes = subplots(size=(7.4, 0.8 + 0.28 * len(shown)))
    axes.barh(range(len(shown)), [100 * r.reclaimable_s / run_s for r in shown], color=COLOURS[0])
    axes.set_yticks(range(len(shown)), [r.name if len(r.name) <= 48 else r.name[:47] + "…" for r in shown])
    axes.invert_yaxis()
    axes.set(xlabel="reclaimable, % of the run")
    return figure


@styled
def matrix(sent: Array) -> Figure:
    """Bytes from rank to rank, of which some are sent."""
    figure, axes = subplots(size=(4.4, 3.6))
    some = np.ma.masked_equal(sent, 0)
    least, most = float(some.min()), float(some.max())
    norm = LogNorm(least, most) if most > 10 * least else Normalize(0, most)
    image = axes.imshow(some, cmap="viridis", interpolation="nearest", norm=norm)
    figure.colorbar(image, ax=axes, label="sent", format=FuncFormatter(lambda b, _: format_size(b)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set(xlabel="to rank", ylabel="from rank")
    return figure
