"""Figures of what others computed.

Each function returns a Figure, which a notebook shows and `save` writes; none touches pyplot's state or backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from pready.files.writing import write_with
from pready.model.engine import Simulation
from pready.model.errors import PreadyError
from pready.model.prediction import Lever
from pready.model.timeline import Steps
from pready.model.units import format_size
from pready.model.values import Array

if TYPE_CHECKING:  # a fit needs SciPy, the other figures do not
    from pready.calibrate.fit import Fit

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
)  # Okabe-Ito, colour-blind safe


@dataclass(frozen=True)
class Line:
    """One approach's η over buffer sizes."""

    label: str
    eta: Array


P = ParamSpec("P")
STYLE: dict[Any, Any] = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}


def save(path: Path, figure: Figure) -> None:
    """Write a figure; the same figure gives the same bytes.

    Raises
    ------
    PreadyError
        A path that cannot be written.
    """
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
    with rc_context({"svg.hashsalt": "pready"}):
        write_with(path, lambda p: figure.savefig(p, metadata=metadata, dpi=150))


def _styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the house style, whatever the caller's Matplotlib is set to."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with rc_context(STYLE):
            return draw(*args, **kwargs)

    return styled


def _subplots(*shape: int, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """As pyplot's, of a figure that pyplot does not know."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(*shape, **options)


@_styled
def eta_over_size(
    title: str,
    sizes: Sequence[float],
    lines: Sequence[Line],
    here: float,
    break_even: float | None,
) -> Figure:
    """η over buffer size, the break-even marked.

    Parameters
    ----------
    here
        The workload's buffer size, dotted.
    break_even
        Bytes from which the first line pays, marked on it; None or 0: no mark.
    """
    if not lines:
        raise PreadyError("nothing to plot", valid="at least one approach")
    figure, axes = _subplots(size=(7.2, 4.2))
    top = max(float(line.eta.max()) for line in lines)
    bottom = min(float(line.eta.min()) for line in lines)
    axes.axhspan(0.01, 1, color="0.95", zorder=0)
    axes.axhline(1, color="0.4", lw=1)
    axes.annotate(
        "bulk",
        (sizes[0], 1),
        xytext=(2, 3),
        textcoords="offset points",
        color="0.4",
        fontsize=8,
    )
    for i, line in enumerate(lines):
        axes.plot(
            sizes,
            line.eta,
            color=COLOURS[i % len(COLOURS)],
            lw=2.2 if i == 0 else 1.3,
            label=line.label,
        )
    axes.axvline(here, color="0.4", ls=":", lw=1)
    axes.annotate(
        "this buffer",
        (here, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(3, 0),
        textcoords="offset points",
        color="0.4",
        fontsize=8,
    )
    if break_even:
        eta = float(np.interp(break_even, sizes, lines[0].eta))
        axes.plot([break_even], [eta], "o", color=COLOURS[0], ms=7, zorder=5)
        axes.annotate(
            f"pays from {format_size(break_even)}",
            (break_even, eta),
            xytext=(8, -12),
            textcoords="offset points",
            color=COLOURS[0],
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(min(0.5, bottom * 0.9), max(2.0, top * 1.25))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}×"))
    axes.set_yticks(
        [
            y
            for y in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
            if bottom * 0.9 <= y <= max(2.0, top * 1.25)
        ]
    )
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(x)))
    axes.set_xlabel("buffer per peer")
    axes.set_ylabel("η = bulk time / partitioned time")
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, loc="upper left")
    return figure


@_styled
def calibration(title: str, fit: Fit) -> Figure:
    """Measured times, the fit and its residuals by message size, and contention by threads."""
    figure, ((times, contention), (residuals, flight)) = _subplots(2, 2, size=(10, 6), width_ratios=(3, 2))
    for i, (name, curve) in enumerate(fit.curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        positive = curve.size > 0
        at = curve.size[positive]
        times.plot(at, curve.measured[positive] * 1e6, ".", color=colour, ms=4, label=f"{name}, measured")
        times.plot(at, curve.fitted[positive] * 1e6, "-", color=colour, lw=1)
        residuals.plot(at, 100 * curve.residuals[positive], ".-", color=colour, ms=4, lw=0.5, label=name)
    for threshold in fit.thresholds:
        for axes in (times, residuals):
            axes.axvspan(threshold.low, threshold.high, color="0.85", zorder=0)
    residuals.axhspan(-5, 5, color="0.95", zorder=0)
    times.set(yscale="log", ylabel="time (us)")
    residuals.set(xlabel="message size", ylabel="measured / fitted − 1 (%)")
    limit = 25.0
    residuals.set_ylim(-limit, limit)
    for axes in (times, residuals):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(x)))
    times.legend(frameon=False)
    times.set_title(f"{title}: lines are the fit, grey bands the thresholds", loc="left")
    for i, (name, c) in enumerate(fit.contention.items()):
        colour = COLOURS[i % len(COLOURS)]
        contention.fill_between(c.threads, c.low * 1e6, c.high * 1e6, color=colour, alpha=0.2, lw=0)
        contention.plot(c.threads, c.time * 1e6, "-", color=colour, lw=1, label=name)
        contention.plot(c.threads, c.raw * 1e6, ".", color=colour)
    contention.set(xlabel="threads sharing a VCI", ylabel="to find its lock taken (us)", title="contention")
    if fit.contention:
        contention.legend(frameon=False)
    if fit.in_flight is not None:
        k = np.arange(1, 33, dtype=np.float64)
        flight.plot(k, 1e-6 / fit.in_flight.per_byte(k), color=COLOURS[0])
    flight.set(xlabel="messages in flight", ylabel="bandwidth (MB/s)", title="one message alone, many together")
    flight.set_ylim(bottom=0)
    return figure


MOST_COLUMNS = 2000
"""Ranks drawn side by side; more are thinned evenly."""


@_styled
def idle_waves(title: str, simulation: Simulation) -> Figure:
    """When each rank ends each iteration, less the mean of the iteration: delays travelling over ranks.

    Raises
    ------
    PreadyError
        A pattern that keeps no record (sweeps).
    """
    ends = simulation.ends_s
    if ends is None:
        raise PreadyError(f"{simulation.pattern} keeps no times by rank", valid="halo3d, halo3d26, pt2pt or neighbours")
    step = max(1, ends.shape[1] // MOST_COLUMNS)
    late = (ends - ends.mean(axis=1, keepdims=True))[:, ::step] * 1e6
    figure, (waves, times) = _subplots(1, 2, size=(10, 4.2), width_ratios=(3, 2))
    limit = float(np.abs(late).max()) or 1.0
    image = waves.imshow(
        late, aspect="auto", origin="lower", cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest"
    )
    figure.colorbar(image, ax=waves, label="behind the mean (us)")
    waves.set(xlabel="rank" if step == 1 else f"rank (every {step}th)", ylabel="iteration")
    waves.set_title(title, loc="left")
    iteration = np.arange(1, simulation.iterations + 1)
    bottom = np.zeros(simulation.iterations)
    for i, (cause, seconds) in enumerate(simulation.causes_s.items()):
        if cause == "compute":
            continue
        times.fill_between(
            iteration, bottom * 1e6, (bottom + seconds) * 1e6, color=COLOURS[i % len(COLOURS)], lw=0,
            label=cause.replace("_", " "),
        )  # fmt: skip
        bottom = bottom + seconds
    times.set(xlabel="iteration", ylabel="mean over ranks (us)", title="besides computing")
    times.legend(loc="lower right", framealpha=0.9, edgecolor="none", reverse=True)
    return figure


@_styled
def gain_map(title: str, sizes: Sequence[float], transports: Sequence[int], eta: Array, here: float) -> Figure:
    """η over transport partitions × buffer size, the break-even drawn as a line.

    Parameters
    ----------
    eta
        Shape (len(transports), len(sizes)).
    here
        The workload's buffer size, dotted.
    """
    figure, axes = _subplots(size=(7.2, 4.2))
    log = np.log2(eta)
    limit = float(np.abs(log).max()) or 1.0
    rows = np.arange(len(transports))
    mesh = axes.pcolormesh(sizes, rows, log, cmap="RdBu", vmin=-limit, vmax=limit, shading="nearest")
    if log.min() < 0 < log.max() and len(transports) > 1:
        axes.contour(sizes, rows, log, levels=[0.0], colors="k", linewidths=1)
    bar = figure.colorbar(mesh, ax=axes, label="η")
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{2.0**y:.3g}×"))
    axes.axvline(here, color="0.2", ls=":", lw=1)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(x)))
    axes.set_yticks(rows, [str(t) for t in transports])
    axes.set(xlabel="buffer per peer", ylabel="transport partitions")
    axes.set_title(title, loc="left")
    return figure


@dataclass(frozen=True)
class Exchange:
    """One exchange of one rank, to be drawn: times in seconds after the last ready partition."""

    label: str
    thread_ready: Array
    """When each thread has finished its last partition."""
    steps: Steps
    join: float | None
    """When the threads have met, if the approach waits for that."""
    end: float


@_styled
def exchanges(title: str, drawn: Sequence[Exchange]) -> Figure:
    """One exchange each, one above the other: threads, messages on the wire, completion.

    As in gillis2023 Fig. 1-2 and marts2024 Fig. 1: bulk above, partitioned below.
    """
    first = min(float(min(e.thread_ready.min(), e.steps.ready.min())) for e in drawn)
    last = max(e.end for e in drawn)
    left = first - 0.15 * (last - first)
    figure, every = _subplots(len(drawn), 1, size=(8, 2.4 * len(drawn)), sharex=True, squeeze=False)
    for axes, e in zip(every[:, 0], drawn, strict=True):
        threads = len(e.thread_ready)
        lanes = min(e.steps.left.shape[1], 24)
        axes.barh(np.arange(threads), (e.thread_ready - left) * 1e6, left=left * 1e6, color="0.75", height=0.8)
        if e.join is not None:
            axes.vlines(e.join * 1e6, -0.5, threads - 0.5, color="k", lw=1.5)
        for i in range(e.steps.left.shape[1]):
            y = threads + 0.5 + i * max(1, threads / 2) / max(lanes, 1)
            start, issued, leaves, arrives = (
                float(x[0, i]) * 1e6 for x in (e.steps.ready, e.steps.issued, e.steps.left, e.steps.arrived)
            )
            height = 0.8 * max(1, threads / 2) / max(lanes, 1)
            axes.barh(y, max(issued - start, 0), left=start, color=COLOURS[4], height=height)
            axes.barh(y, arrives - leaves, left=leaves, color=COLOURS[0], height=height)
        axes.axvline(e.end * 1e6, color=COLOURS[1], lw=1.5)
        axes.axvline(0, color="0.5", ls=":", lw=1)
        axes.set_yticks([(threads - 1) / 2, threads + max(1, threads / 2) / 2], ["threads", "messages"])
        axes.invert_yaxis()
        axes.set_title(f"{e.label}: done after {e.end * 1e6:.3g} us", loc="left", fontsize=9)
    every[-1, 0].set_xlabel(
        "us after the last partition is ready (grey: computing, yellow: waiting and issuing, blue: on the wire)"
    )
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure


@_styled
def tornado(title: str, levers: Sequence[Lever], min_gain_percent: float) -> Figure:
    """What is saved of an iteration with each input at either end, the input that moves it most on top.

    Parameters
    ----------
    min_gain_percent
        Of an iteration, from which a port is worth it: dotted.
    """
    if not levers:
        raise PreadyError("nothing to plot: no input moves the prediction", valid="a machine with intervals")
    figure, axes = _subplots(size=(7.2, 1.3 + 0.34 * len(levers)))
    y = np.arange(len(levers))[::-1]
    here = levers[0].here_percent
    for end, colour in ((0, COLOURS[5]), (1, COLOURS[1])):
        saved = np.array([lever.speedup_percent[end] for lever in levers])
        axes.barh(y, saved - here, left=here, color=colour, height=0.6 - 0.25 * end, label=("low end", "high end")[end])
        for lever, place, value in zip(levers, y, saved, strict=True):
            if lever.kind == "workload":
                axes.annotate(
                    lever.steps[end],
                    (value, place),
                    xytext=(3 if value >= here else -3, 0),
                    textcoords="offset points",
                    ha="left" if value >= here else "right",
                    va="center",
                    fontsize=7,
                    color="0.3",
                )
    axes.axvline(here, color="0.2", lw=1)
    axes.axvline(min_gain_percent, color="0.4", lw=1, ls=":")
    axes.set_yticks(y, [lever.name for lever in levers])
    axes.set_xlabel("iteration shorter by, %")
    axes.margins(x=0.12)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=9)
    return figure
