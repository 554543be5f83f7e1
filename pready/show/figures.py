"""Figures of what others computed.

Each function returns a Figure, which a notebook shows and `save` writes; none touches pyplot's state or backend.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from pready.files.writing import write_text, write_with
from pready.model.arrays import Array
from pready.model.engine import Simulation
from pready.model.errors import PreadyError
from pready.model.prediction import Lever
from pready.model.timeline import Steps
from pready.model.units import format_size, format_time

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


LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
"""For who sees no colours."""
NEUTRAL = "#808080"
"""Seen on white and on black."""


@dataclass(frozen=True)
class Line:
    """One approach's η over buffer sizes."""

    label: str
    eta: Array


P = ParamSpec("P")
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",  # text stays text
    "hatch.linewidth": 0.8,
}


def save(path: Path, figure: Figure) -> None:
    """Write a figure; the same figure gives the same bytes.

    Raises
    ------
    PreadyError
        A path that cannot be written.
    """
    if path.suffix.lower() == ".svg":
        write_text(path, svg(figure))
    else:
        write_with(path, lambda p: figure.savefig(p, dpi=150))


DARK = """<style>
:root { color: #1a1a1a; background: white }
text { font-family: "DejaVu Sans", Verdana, sans-serif; fill: currentColor }
@media (prefers-color-scheme: dark) { :root { color: #e6e6e6; background: #14161a } }
</style>"""


def svg(figure: Figure, *, alone: bool = True) -> str:
    """A figure as SVG: text is text, and black is the reader's colour, so that it can be read in the dark.

    Parameters
    ----------
    alone
        A file of its own, with its own ground; False: within a page that has one.
    """
    stream = StringIO()
    with rc_context({"svg.hashsalt": "pready", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"#(?:000000|262626)\b", "currentColor", text)
    head, body = text.split(">", 1)
    if "fill: currentColor" not in head:
        head += ' fill="currentColor"'
    start = '<?xml version="1.0" encoding="utf-8" standalone="no"?>\n' if alone else ""
    return f"{start}{head}>{DARK if alone else ''}{body}"


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


@dataclass(frozen=True)
class Sure:
    """How sure the first line is, over a few sizes: 95 % of the draws, and where it is worth it."""

    sizes: Array
    low: Array
    high: Array
    """η."""
    pays: Array
    """1 where it saves enough with certainty, 0.5 where that is open, 0 where it does not."""
    enough: str
    """What is enough, such as "1 % of an iteration"."""


@_styled
def eta_over_size(
    title: str,
    sizes: Sequence[float],
    lines: Sequence[Line],
    here: float,
    sure: Sure | None = None,
) -> Figure:
    """η over buffer size; below, for which sizes the first line is worth a port, and for which that is open.

    Parameters
    ----------
    here
        The workload's buffer size, dotted.
    sure
        Of the first line; absent: nothing is said of it.
    """
    if not lines:
        raise PreadyError("nothing to plot", valid="at least one approach")
    figure, (axes, strip) = _subplots(2, 1, size=(9, 4.6), sharex=True, height_ratios=(14, 1))
    top = max(float(line.eta.max()) for line in lines)
    bottom = min(float(line.eta.min()) for line in lines)
    if sure is not None:
        axes.fill_between(sure.sizes, sure.low, sure.high, color=COLOURS[0], alpha=0.2, lw=0, label="95 % of the draws")
        top, bottom = max(top, float(sure.high.max())), min(bottom, float(sure.low.min()))
    low, high = min(0.5, bottom * 0.9), max(2.0, top * 1.1)
    axes.axhspan(low, 1, color=NEUTRAL, alpha=0.12, lw=0, zorder=0)
    axes.axhline(1, color=NEUTRAL, lw=1, label="bulk")
    for i, line in enumerate(lines):
        style = {"color": COLOURS[i % len(COLOURS)], "ls": LINES[i % len(LINES)], "lw": 2.2 if i == 0 else 1.4}
        axes.plot(sizes, line.eta, label=line.label, **style)
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)
    axes.annotate(
        "this buffer", (here, 1), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
        color=NEUTRAL, fontsize=8, ha="center", va="bottom",
    )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}×"))
    axes.set_yticks([y for y in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low <= y <= high])
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_locator(FixedLocator([8.0**k for k in range(12)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(x)))
    axes.set_xlim(sizes[0], sizes[-1])
    axes.set_ylabel("η = bulk time / approach's time")
    axes.set_title(title, loc="left", pad=16)
    _pays_strip(strip, sure, here)
    figure.legend(*axes.get_legend_handles_labels(), frameon=False, loc="outside right upper")
    strip.set_xlabel("buffer per peer" + (f"   (strip: saves {sure.enough})" if sure is not None else ""))
    return figure


def _pays_strip(axes: Any, sure: Sure | None, here: float) -> None:
    """A band below: full where it is worth it, hatched where that is open."""
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if sure is None:
        return
    ends = np.concatenate([sure.sizes[:1], np.sqrt(sure.sizes[1:] * sure.sizes[:-1]), sure.sizes[-1:]])
    for value, style, name in (
        (1.0, {"color": COLOURS[2]}, "pays"),
        (0.5, {"facecolor": "none", "edgecolor": COLOURS[4], "hatch": "////"}, "open"),
    ):
        first, found = True, np.flatnonzero(sure.pays == value)
        for run in np.split(found, np.flatnonzero(np.diff(found) > 1) + 1) if found.size else ():
            axes.axvspan(ends[run[0]], ends[run[-1] + 1], lw=0, label=name if first else None, **style)
            first = False
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)
    if (sure.pays > 0).any():
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=2)


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


IN_STEP_S = 1e-12
"""Ranks that end within it of each other end together: what is left are the last digits of sums."""
MOST_COLUMNS = 2000
"""Ranks drawn side by side; more are thinned evenly."""


@_styled
def idle_waves(title: str, simulation: Simulation) -> Figure:
    """Delays travelling over ranks, and what an iteration spends besides computing.

    Of ranks in a row: when each ends each iteration, less the mean of the iteration. Of a plane or a block of ranks:
    the plane that holds the rank that is latest first, after some of the iterations.

    Raises
    ------
    PreadyError
        A pattern that keeps no record (sweeps).
    """
    ends = simulation.ends_s
    if ends is None:
        raise PreadyError(f"{simulation.pattern} keeps no times by rank", valid="halo3d, halo3d26, pt2pt or neighbours")
    late = ends - ends.mean(axis=1, keepdims=True)
    scale, unit = _unit_of(np.abs(late).max())
    in_step = bool(np.abs(late).max() < IN_STEP_S)
    limit = 1.0 if in_step else float(np.abs(late).max()) / scale
    shades: Any = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, "origin": "lower", "interpolation": "nearest"}
    in_a_row = sum(n > 1 for n in simulation.grid) < 2 or math.prod(simulation.grid) != ends.shape[1]
    if in_a_row:
        figure, (waves, times) = _subplots(1, 2, size=(10, 4.2), width_ratios=(3, 2))
        step = max(1, ends.shape[1] // MOST_COLUMNS)
        shown = late[:, ::step] / scale
        from_one = (-0.5, shown.shape[1] - 0.5, 0.5, len(shown) + 0.5)
        image = waves.imshow(shown, aspect="auto", extent=from_one, **shades)
        waves.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        waves.set(xlabel="rank" if step == 1 else f"rank (every {step}th)", ylabel="iteration")
        drawn = [waves]
    else:
        count = min(4, len(ends))
        figure, every = _subplots(1, count + 1, size=(3 + 2 * count, 3.6), width_ratios=(*[2] * count, 3))
        *drawn, times = every
        planes, (x, y) = _planes(late / scale, simulation.grid)
        for axes, i in zip(drawn, np.linspace(0, len(ends) - 1, count).round().astype(int), strict=True):
            image = axes.imshow(planes[i], aspect="equal", **shades)
            axes.set_title(f"iteration {i + 1}", fontsize=9)
            axes.set_xlabel(f"rank along {x}")
            axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        drawn[0].set_ylabel(f"rank along {y}")
    for axes in (*drawn, times):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if in_step:
        drawn[0].set_title("all ranks end together", fontsize=9, loc="left")
    else:
        figure.colorbar(image, ax=drawn, label=f"behind the mean ({unit})", location="right" if in_a_row else "bottom")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    _besides_computing(times, simulation)
    return figure


def _planes(late: Array, grid: tuple[int, int, int]) -> tuple[Array, tuple[str, str]]:
    """Times of the plane through the rank that is latest in the first iteration: (iterations, rows, columns)."""
    across = sorted((i for i in range(3) if grid[i] > 1), key=lambda i: -grid[i])[:2]
    x, y = sorted(across)
    block = late.reshape(-1, *grid[::-1])  # the last axis is x
    latest = np.unravel_index(int(np.argmax(block[0])), grid[::-1])
    at = tuple(slice(None) if 2 - axis in (x, y) else int(latest[axis]) for axis in range(3))
    return np.asarray(block[(slice(None), *at)]), ("xyz"[x], "xyz"[y])


def _besides_computing(axes: Any, simulation: Simulation) -> None:
    causes = {c: s for c, s in simulation.causes_s.items() if c != "compute"}
    iteration = np.arange(1, simulation.iterations + 1)
    scale, unit = _unit_of(float(np.sum(list(causes.values()), axis=0).max(initial=0.0)))
    bottom = np.zeros(simulation.iterations)
    for i, (cause, seconds) in enumerate(causes.items()):
        colour = COLOURS[i % len(COLOURS)]
        name = cause.replace("_", " ")
        axes.fill_between(iteration, bottom / scale, (bottom + seconds) / scale, color=colour, lw=0, label=name)
        bottom = bottom + seconds
    axes.set(xlabel="iteration", ylabel=f"mean over ranks ({unit})")
    axes.set_title("besides computing", fontsize=9)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), reverse=True)


def _unit_of(largest: float) -> tuple[float, str]:
    """What an axis up to so many seconds is divided by, and the unit's name."""
    units = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
    return next((u for u in units if largest >= u[0]), units[-1])


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
    mesh = axes.pcolormesh(sizes, rows, log, cmap="RdBu", vmin=-limit, vmax=limit, shading="nearest", edgecolors="face")
    if log.min() < 0 < log.max() and len(transports) > 1:
        axes.contour(sizes, rows, log, levels=[0.0], colors="k", linewidths=1)
    bar = figure.colorbar(mesh, ax=axes, label="η")
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{2.0**y:.3g}×"))
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)
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
    owner: NDArray[np.int64]
    """Of each message, in the order of `steps`: the thread that issues it."""
    peer: NDArray[np.int64]
    """And whom it is for."""
    join: float | None
    """When the threads have met, if the approach waits for that."""
    end: float


LANES = 32
"""Threads drawn one by one; of more, as many as fit, evenly."""


@_styled
def exchanges(title: str, drawn: Sequence[Exchange]) -> Figure:
    """One exchange each, one above the other: a lane per thread, in it a line per peer.

    As in gillis2023 Fig. 1-2 and marts2024 Fig. 1: bulk above, partitioned below.
    """
    first = min(float(min(e.thread_ready.min(), e.steps.ready.min())) for e in drawn)
    last = max(e.end for e in drawn)
    left = first - 0.05 * (last - first)
    scale, unit = _unit_of(last - first)
    most = min(LANES, max(len(e.thread_ready) for e in drawn))
    figure, every = _subplots(
        len(drawn), 1, size=(9, 0.6 + len(drawn) * (0.8 + 0.17 * most)), sharex=True, squeeze=False
    )
    for axes, e in zip(every[:, 0], drawn, strict=True):
        threads = np.unique(np.linspace(0, len(e.thread_ready) - 1, most).round().astype(int))
        peers = int(e.peer.max()) + 1
        height = 0.55 / peers
        for row, thread in enumerate(threads):
            ready = float(e.thread_ready[thread])
            axes.barh(row - 0.28, (ready - left) / scale, left=left / scale, color=NEUTRAL, height=0.3, alpha=0.6)
            mine = np.flatnonzero(e.owner == thread)
            y = row - 0.1 + height * (e.peer[mine] + 0.5)
            waits, leaves, arrives = (x[0, mine] / scale for x in (e.steps.ready, e.steps.left, e.steps.arrived))
            for start, width, colour in ((waits, leaves - waits, COLOURS[4]), (leaves, arrives - leaves, COLOURS[0])):
                # The edge keeps a message visible that is shorter than a pixel.
                axes.barh(y, np.maximum(width, 0), left=start, color=colour, edgecolor=colour, lw=0.5, height=height)
        if e.join is not None:
            axes.axvline(e.join / scale, color="k", lw=1)
        axes.axvline(e.end / scale, color=COLOURS[1], lw=1.5)
        axes.axvline(0, color=NEUTRAL, ls=":", lw=1)
        axes.set_ylim(len(threads) - 0.4, -0.6)
        every_other = max(1, len(threads) // 8)
        axes.set_yticks(range(0, len(threads), every_other), [str(t + 1) for t in threads[::every_other]])
        of = f" ({len(threads)} of {len(e.thread_ready)})" if len(threads) < len(e.thread_ready) else ""
        axes.set_ylabel(f"thread{of}")
        axes.set_title(f"{e.label}: done after {format_time(e.end)}", loc="left", fontsize=9)
    every[-1, 0].set_xlabel(f"{unit} after the last partition is ready")
    names = {
        "computing": Patch(color=NEUTRAL, alpha=0.6),
        "ready, not sent": Patch(color=COLOURS[4]),
        "on the wire": Patch(color=COLOURS[0]),
        "threads have met": Line2D([], [], color="k", lw=1),
        "all received": Line2D([], [], color=COLOURS[1], lw=1.5),
    }
    figure.legend(list(names.values()), list(names), frameon=False, loc="outside right upper", title="a line per peer")
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
    for lever, place in zip(levers, y, strict=True):
        if lever.kind == "workload":
            _name_ends(axes, lever, float(place))
    axes.axvline(here, color="k", lw=1)
    axes.axvline(min_gain_percent, color="0.5", lw=1, ls=":")
    axes.set_yticks(y, [lever.name for lever in levers])
    axes.set_xlabel("iteration shorter by, %")
    axes.margins(x=0.12)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=9)
    return figure


def _name_ends(axes: Any, lever: Lever, place: float) -> None:
    """Write beside a lever's bars where it goes: one text on each side, naming the ends there from left to right."""
    here = lever.here_percent
    ends = sorted(zip(lever.speedup_percent, lever.steps, strict=True))
    for side, inside in ((-1, [e for e in ends if e[0] < here]), (1, [e for e in ends if e[0] >= here])):
        if inside:
            axes.annotate(
                ", ".join(step for _, step in inside),
                (inside[0 if side < 0 else -1][0], place),
                xytext=(3 * side, 0),
                textcoords="offset points",
                ha="right" if side < 0 else "left",
                va="center",
                fontsize=7,
            )
