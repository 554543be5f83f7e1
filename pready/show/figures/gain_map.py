"""A map of η over buffer sizes and messages per peer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter
from numpy.typing import NDArray

from pready.model.common.arrays import Array
from pready.show.figures.colours import NEUTRAL, ON_MAP
from pready.show.figures.style import etas, name_here, size_axis, styled, subplots

LIKE_BULK = 0.005
"""η this close to 1 prints as 1.00×: no border there."""


@styled
def gain_map(title: str, sizes: Sequence[float], transports: Sequence[int], eta: Array, here: float) -> Figure:
    """η over transport partitions × buffer size, with a border around the cells that are faster than bulk.

    Parameters
    ----------
    eta
        Shape (len(transports), len(sizes)).
    here
        The workload's buffer size, a dotted line.
    """
    figure, axes = subplots(size=(7.2, 4.2))
    log = np.log2(eta)
    limit = float(np.abs(log).max()) or 1.0
    at = np.asarray(sizes)
    step = math.sqrt(at[1] / at[0])
    x = np.geomspace(at[0] / step, at[-1] * step, len(at) + 1)
    y = np.arange(len(transports) + 1, dtype=np.float64) - 0.5
    mesh = axes.pcolormesh(x, y, log, cmap="RdBu", vmin=-limit, vmax=limit, edgecolors="face")
    border = _border(x, y, eta > 1 + LIKE_BULK)
    if border:
        axes.add_collection(LineCollection(border, colors=ON_MAP, linewidths=1.2))
    bar = figure.colorbar(mesh, ax=axes, label="η = bulk time / approach's time")
    low, high = float(np.exp2(log.min())), float(np.exp2(log.max()))
    bar.ax.set_ylim(min(float(log.min()), -0.01), max(float(log.max()), 0.01))
    bar.ax.yaxis.set_major_locator(FixedLocator(np.log2(etas(min(low, 1.0), max(high, 1.0))).tolist()))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{2.0**y:.3g}×"))
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)
    name_here(axes, here)
    size_axis(axes)
    axes.set_xlim(x[0], x[-1])
    axes.set_yticks(np.arange(len(transports)), [str(t) for t in transports])
    around = "; inside the border: faster than bulk" if border else ""
    axes.set(xlabel=f"buffer per peer{around}", ylabel="messages per peer")
    axes.set_title(title, loc="left", pad=16)
    return figure


def _border(x: Array, y: Array, inside: NDArray[np.bool_]) -> list[Array]:
    """Segments between cells inside and cells outside, from corner to corner.

    Parameters
    ----------
    x, y
        Edges of columns and of rows.
    inside
        Shape (rows, columns).
    """
    to_the_right, above = (np.argwhere(np.diff(inside.astype(int), axis=axis)) for axis in (1, 0))
    upright = [np.array([(x[j + 1], y[i]), (x[j + 1], y[i + 1])]) for i, j in to_the_right]
    return upright + [np.array([(x[j], y[i + 1]), (x[j + 1], y[i + 1])]) for i, j in above]
