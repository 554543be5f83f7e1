"""A calibration: data, fit and residuals."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from pready.calibrate.fit import Fit
from pready.model.common.units import format_time
from pready.show.figures.colours import COLOURS, NEUTRAL
from pready.show.figures.style import size_axis, styled, subplots


@styled
def calibration(title: str, fit: Fit) -> Figure:
    """Times, fit and residuals over message size."""
    figure, (times, residuals) = subplots(2, 1, size=(7, 6.4))
    for i, (name, curve) in enumerate(fit.curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        positive = curve.series.size > 0
        at = curve.series.size[positive]
        times.plot(at, curve.series.value[positive], ".", color=colour, ms=4, label=name)
        times.plot(at, curve.fitted[positive], "-", color=colour, lw=1)
        residuals.plot(at, 100 * curve.residuals[positive], ".-", color=colour, ms=4, lw=0.5)
    for threshold in fit.thresholds:
        for axes in figure.axes:
            axes.axvspan(threshold.low, threshold.high, color=NEUTRAL, alpha=0.25, lw=0, zorder=0)
    residuals.axhspan(-5, 5, color=NEUTRAL, alpha=0.12, lw=0, zorder=0)
    times.set(yscale="log", ylabel="time")
    residuals.set(xlabel="message size", ylabel="measured / fitted − 1 (%)")
    limit = 25.0
    residuals.set_ylim(-limit, limit)
    for axes in figure.axes:
        size_axis(axes)
    times.set_title("dots measured, lines fitted; grey: thresholds", loc="left", fontsize=9)
    residuals.set_title("residuals; grey: within 5 %", loc="left", fontsize=9)
    times.yaxis.set_major_formatter(FuncFormatter(lambda y, _: format_time(y)))
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure
