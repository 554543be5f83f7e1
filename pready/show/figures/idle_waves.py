"""Idle waves: delays that travel over ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.units import unit_of_times
from pready.model.engine.simulate import Simulation
from pready.show.figures.colours import COLOURS
from pready.show.figures.style import styled, subplots
from pready.show.tables.simulation import cause_name

IN_STEP_S = 1e-12
"""Ranks whose ends differ by less end together: the rest is rounding."""
MOST_COLUMNS = 2000
"""Ranks drawn side by side; larger numbers are thinned evenly."""


@styled
def idle_waves(title: str, simulation: Simulation) -> Figure:
    """Delays travelling over ranks, and the time of an iteration besides computing.

    Ranks in a row: each rank's end minus the iteration's mean, over iterations. A plane or a block of ranks: up to four
    iterations of the plane through the rank that is latest in the first one.

    Raises
    ------
    PreadyError
        A pattern without times by rank (sweeps).
    """
    ends = simulation.ends_s
    if ends is None:
        raise PreadyError(f"{simulation.pattern} has no times by rank", valid="halo3d, halo3d26, pt2pt or neighbours")
    late = ends - ends.mean(axis=1, keepdims=True)
    if np.abs(late).max() < IN_STEP_S:
        figure, times = subplots(size=(7, 3.6))
        figure.suptitle(f"{title}: all ranks end together", x=0.01, ha="left", fontsize=10)
        times.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        _besides_computing(times, simulation)
        return figure
    scale, unit = unit_of_times(np.abs(late).max())
    limit = float(np.abs(late).max()) / scale
    shades: Any = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, "origin": "lower", "interpolation": "nearest"}
    in_a_row = sum(n > 1 for n in simulation.grid) < 2 or math.prod(simulation.grid) != ends.shape[1]
    if in_a_row:
        figure, (waves, times) = subplots(1, 2, size=(10, 4.2), width_ratios=(3, 2))
        step = math.ceil(ends.shape[1] / MOST_COLUMNS)
        shown = late[:, ::step] / scale
        ends_of_axes = (-step / 2, (shown.shape[1] - 0.5) * step, 0.5, len(shown) + 0.5)
        image = waves.imshow(shown, aspect="auto", extent=ends_of_axes, **shades)
        waves.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        waves.set(xlabel="rank" if step == 1 else f"rank (one of {step} is drawn)", ylabel="iteration")
        drawn = [waves]
    else:
        count = min(4, len(ends))
        figure, every = subplots(1, count + 1, size=(3 + 2 * count, 3.6), width_ratios=(*[2] * count, 3))
        *drawn, times = every
        planes, (x, y), where = _planes(late / scale, simulation.grid)
        title += where
        for axes, i in zip(drawn, np.linspace(0, len(ends) - 1, count).round().astype(int), strict=True):
            image = axes.imshow(planes[i], aspect="equal", **shades)
            axes.set_title(f"iteration {i + 1}", fontsize=9)
            axes.set_xlabel(f"rank along {x}")
            axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        drawn[0].set_ylabel(f"rank along {y}")
    for axes in (*drawn, times):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    figure.colorbar(image, ax=drawn, label=f"behind the mean ({unit})", location="right" if in_a_row else "bottom")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    _besides_computing(times, simulation)
    return figure


def _planes(late: Array, grid: tuple[int, int, int]) -> tuple[Array, tuple[str, str], str]:
    """Times of the plane through the rank that is latest in the first iteration.

    Returns
    -------
    times, axes, where
        Times of shape (iterations, rows, columns), names of x and y, and which plane of a block it is.
    """
    x, y = sorted(sorted(range(3), key=lambda i: -grid[i])[:2])
    block = late.reshape(-1, *grid[::-1])  # the last axis is x
    latest = np.unravel_index(int(np.argmax(block[0])), grid[::-1])
    at = tuple(slice(None) if 2 - axis in (x, y) else int(latest[axis]) for axis in range(3))
    through = next(i for i in range(3) if i not in (x, y))
    where = f"; ranks with {'xyz'[through]} = {latest[2 - through]}" if grid[through] > 1 else ""
    return np.asarray(block[(slice(None), *at)]), ("xyz"[x], "xyz"[y]), where


def _besides_computing(axes: Any, simulation: Simulation) -> None:
    causes = {c: s for c, s in simulation.causes_s.items() if c != "compute"}
    iteration = np.arange(1, simulation.iterations + 1)
    scale, unit = unit_of_times(float(np.sum(list(causes.values()), axis=0).max(initial=0.0)))
    bottom = np.zeros(simulation.iterations)
    for i, (cause, seconds) in enumerate(causes.items()):
        colour = COLOURS[i % len(COLOURS)]
        name = cause_name(cause)
        axes.fill_between(iteration, bottom / scale, (bottom + seconds) / scale, color=colour, lw=0, label=name)
        bottom = bottom + seconds
    axes.set(xlabel="iteration", ylabel=f"mean over ranks ({unit})")
    axes.set_title("besides computing", fontsize=9, loc="left")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), reverse=True)
