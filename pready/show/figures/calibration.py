"""A calibration: data, fit and residuals."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pready.calibrate.fit import Fit
from pready.model.common.units import format_bandwidth, format_time
from pready.show.figures.colours import COLOURS, LINES, NEUTRAL
from pready.show.figures.style import size_axis, styled, subplots


@styled
def calibration(title: str, fit: Fit) -> Figure:
    """Times, fit and residuals over message size; contention over threads; bandwidth over messages in flight."""
    figure, ((times, contention), (residuals, flight)) = subplots(2, 2, size=(10, 6.4), width_ratios=(3, 2))
    for i, (name, curve) in enumerate(fit.curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        positive = curve.size > 0
        at = curve.size[positive]
        times.plot(at, curve.measured[positive], ".", color=colour, ms=4, label=name)
        times.plot(at, curve.fitted[positive], "-", color=colour, lw=1)
        residuals.plot(at, 100 * curve.residuals[positive], ".-", color=colour, ms=4, lw=0.5)
    for threshold in fit.thresholds:
        for axes in (times, residuals):
            axes.axvspan(threshold.low, threshold.high, color=NEUTRAL, alpha=0.25, lw=0, zorder=0)
    residuals.axhspan(-5, 5, color=NEUTRAL, alpha=0.12, lw=0, zorder=0)
    times.set(yscale="log", ylabel="time")
    residuals.set(xlabel="message size", ylabel="measured / fitted − 1 (%)")
    limit = 25.0
    residuals.set_ylim(-limit, limit)
    for axes in (times, residuals):
        size_axis(axes)
    times.set_title("dots measured, lines fitted; grey: thresholds", loc="left", fontsize=9)
    residuals.set_title("residuals; grey: within 5 %", loc="left", fontsize=9)
    for i, (name, c) in enumerate(fit.contention.items()):
        colour = COLOURS[i % len(COLOURS)]
        contention.fill_between(c.threads, c.low, c.high, color=colour, alpha=0.2, lw=0)
        contention.plot(c.threads, c.time, LINES[i % len(LINES)], color=colour, lw=1.2, label=f"contention, {name}")
        contention.plot(c.threads, c.raw, ".", color=colour)
    contention.set(xlabel="threads sharing a VCI", ylabel="wait for its lock")
    slowest = max((float(c.high.max()) for c in fit.contention.values()), default=0.0)
    contention.set_ylim(0, 1.1 * slowest or 1e-6)
    contention.set_title("contention" if slowest > 0 else "contention: none measured", loc="left", fontsize=9)
    contention.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    for axes in (times, contention):
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: format_time(y)))
    if fit.in_flight is not None:
        k = np.arange(1, 33, dtype=np.float64)
        flight.plot(k, 1 / fit.in_flight.per_byte(k), color=COLOURS[0])
        flight.yaxis.set_major_formatter(FuncFormatter(lambda y, _: format_bandwidth(y)))
    flight.set(xlabel="messages in flight", ylabel="bandwidth")
    flight.set_title("bandwidth of one message and of many", loc="left", fontsize=9)
    flight.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure
