"""Idle waves: delays that travel over ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

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
    """Each rank's end minus the iteration's mean, over iterations, and the time of an iteration besides computing.
    Raises PreadyError: a pattern without times by rank (sweeps)."""
    ends = simulation.ends_s
    if ends is None:
        raise PreadyError(f"{simulation.pattern} has no times by rank", valid="halo3d, halo3d26, pt2pt or neighbours")
    late = ends - ends.mean(axis=1, keepdims=True)
    most = float(np.abs(late).max())
    if most < IN_STEP_S:
        figure, times = subplots(size=(7, 3.6))
        title = f"{title}: all ranks end together"
    else:
        figure, (waves, times) = subplots(1, 2, size=(10, 4.2), width_ratios=(3, 2))
        scale, unit = unit_of_times(most)
        step = math.ceil(ends.shape[1] / MOST_COLUMNS)
        shown = late[:, ::step] / scale
        image = waves.imshow(
            shown,
            aspect="auto",
            extent=(-step / 2, (shown.shape[1] - 0.5) * step, 0.5, len(shown) + 0.5),
            cmap="RdBu_r",
            vmin=-most / scale,
            vmax=most / scale,
            origin="lower",
            interpolation="nearest",
        )
        waves.set(xlabel="rank" if step == 1 else f"rank (one of {step} is drawn)", ylabel="iteration")
        figure.colorbar(image, ax=waves, label=f"behind the mean ({unit})")
        for axis in (waves.xaxis, waves.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    _besides_computing(times, simulation)
    return figure


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
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set(xlabel="iteration", ylabel=f"mean over ranks ({unit})")
    axes.set_title("besides computing", fontsize=9, loc="left")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), reverse=True)
