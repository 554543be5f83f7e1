"""Figures of what others computed.

Each function returns a Figure, which a notebook shows and `save` writes; none touches pyplot's state or backend.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from matplotlib import rc_context
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from pready.files.writing import write_text, write_with
from pready.model.arrays import Array
from pready.model.engine.simulate import Simulation
from pready.model.errors import PreadyError
from pready.model.prediction import Lever
from pready.model.timeline import Steps
from pready.model.units import format_bandwidth, format_size, format_time, unit_of_times
from pready.show.colours import COLOURS, LINES, NEUTRAL, ON_MAP
from pready.show.simulation import cause_name
from pready.show.svg import svg

if TYPE_CHECKING:  # a fit needs SciPy, the other figures do not
    from pready.calibrate.fit import Fit


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
    "figure.constrained_layout.w_pad": 0.08,
    "figure.constrained_layout.h_pad": 0.08,
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
    """How sure the first line is: 95 % of the draws, and where it is worth it."""

    low: Array
    high: Array
    """η at each size."""
    pays: Sequence[tuple[float, float]]
    """From where to where it saves enough, parameters at their values."""
    certain: Sequence[tuple[float, float]]
    """Parts of that: where it does so with 95 % certainty."""
    enough: str
    """What is enough, such as "1 % of an iteration"."""


ETAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
MORE_ETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10)


def _etas(low: float, high: float) -> list[float]:
    """Values of η that an axis names: three at least, where there are as many."""
    few = [y for y in ETAS if low <= y <= high]
    return few if len(few) > 3 else [y for y in MORE_ETAS if low <= y <= high]


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
        axes.fill_between(sizes, sure.low, sure.high, color=COLOURS[0], alpha=0.2, lw=0, label="95 % of the draws")
        top, bottom = max(top, float(sure.high.max())), min(bottom, float(sure.low.min()))
    low, high = min(0.5, bottom * 0.9), max(2.0, top * 1.1)
    axes.axhspan(low, 1, color=NEUTRAL, alpha=0.12, lw=0, zorder=0)
    axes.axhline(1, color=NEUTRAL, lw=1, label="bulk")
    for i, line in enumerate(lines):
        style = {"color": COLOURS[i % len(COLOURS)], "ls": LINES[i % len(LINES)], "lw": 2.2 if i == 0 else 1.4}
        axes.plot(sizes, line.eta, label=line.label, **style)
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)
    _name_here(axes, here)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}×"))
    axes.set_yticks(_etas(low, high))
    axes.yaxis.set_minor_formatter(NullFormatter())
    _size_axis(axes)
    axes.set_xlim(sizes[0], sizes[-1])
    axes.set_ylabel("η = bulk time / approach's time")
    axes.set_title(title, loc="left", pad=16)
    _pays_strip(strip, sure, sizes, here)
    named = [of + more for of, more in zip(*(a.get_legend_handles_labels() for a in (axes, strip)), strict=True)]
    figure.legend(*named, frameon=False, loc="outside right upper")
    strip.set_xlabel("buffer per peer")
    return figure


def _size_axis(axes: Any) -> None:
    """Bytes along x, a tick for each factor of eight."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([8.0**k for k in range(12)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(x)))


def _name_here(axes: Any, here: float) -> None:
    """Say above the axes what the dotted line is."""
    axes.annotate(
        "this buffer", (here, 1), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
        color=NEUTRAL, fontsize=8, ha="center", va="bottom",
    )  # fmt: skip


def _pays_strip(axes: Any, sure: Sure | None, sizes: Sequence[float], here: float) -> None:
    """A band below: full where it is worth it, hatched where that is open."""
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if sure is None:
        return
    for ranges, style, name in (
        (sure.pays, {"facecolor": "none", "edgecolor": COLOURS[4], "hatch": "////"}, "may save as much"),
        (sure.certain, {"color": COLOURS[2]}, f"saves {sure.enough}"),
    ):
        inside = [(max(low, sizes[0]), min(high, sizes[-1])) for low, high in ranges]
        for first, (low, high) in enumerate(ends for ends in inside if ends[0] < ends[1]):
            axes.axvspan(low, high, lw=0, label=None if first else name, **style)
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)


@_styled
def calibration(title: str, fit: Fit) -> Figure:
    """Measured times, the fit and its residuals by message size, and contention by threads."""
    figure, ((times, contention), (residuals, flight)) = _subplots(2, 2, size=(10, 6.4), width_ratios=(3, 2))
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
        _size_axis(axes)
    times.set_title("dots measured, lines fitted; grey: thresholds", loc="left", fontsize=9)
    residuals.set_title("what the fit leaves; grey: within 5 %", loc="left", fontsize=9)
    for i, (name, c) in enumerate(fit.contention.items()):
        colour = COLOURS[i % len(COLOURS)]
        contention.fill_between(c.threads, c.low, c.high, color=colour, alpha=0.2, lw=0)
        contention.plot(c.threads, c.time, LINES[i % len(LINES)], color=colour, lw=1.2, label=f"contention, {name}")
        contention.plot(c.threads, c.raw, ".", color=colour)
    contention.set(xlabel="threads sharing a VCI", ylabel="to find its lock taken")
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
    flight.set_title("one message alone, many together", loc="left", fontsize=9)
    flight.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
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
    if np.abs(late).max() < IN_STEP_S:
        figure, times = _subplots(size=(7, 3.6))
        figure.suptitle(f"{title}: all ranks end together", x=0.01, ha="left", fontsize=10)
        times.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        _besides_computing(times, simulation)
        return figure
    scale, unit = unit_of_times(np.abs(late).max())
    limit = float(np.abs(late).max()) / scale
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
    """Times of the plane through the rank that is latest in the first iteration: (iterations, rows, columns).

    And the names of its axes, and which plane of a block it is.
    """
    across = sorted((i for i in range(3) if grid[i] > 1), key=lambda i: -grid[i])[:2]
    x, y = sorted(across)
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


LIKE_BULK = 0.005
"""η so close to 1 is written 1.00×: no border is drawn there."""


@_styled
def gain_map(title: str, sizes: Sequence[float], transports: Sequence[int], eta: Array, here: float) -> Figure:
    """η over transport partitions × buffer size, a line around where bulk is slower.

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
    bar.ax.yaxis.set_major_locator(FixedLocator(np.log2(_etas(min(low, 1.0), max(high, 1.0))).tolist()))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{2.0**y:.3g}×"))
    axes.axvline(here, color=NEUTRAL, ls=":", lw=1.2)
    _name_here(axes, here)
    _size_axis(axes)
    axes.set_xlim(x[0], x[-1])
    axes.set_yticks(np.arange(len(transports)), [str(t) for t in transports])
    around = "; the line: around what is faster than bulk" if border else ""
    axes.set(xlabel=f"buffer per peer{around}", ylabel="messages per peer")
    axes.set_title(title, loc="left", pad=16)
    return figure


def _border(x: Array, y: Array, inside: NDArray[np.bool_]) -> list[Array]:
    """Between cells that are inside and cells that are not: pieces from corner to corner.

    Parameters
    ----------
    x, y
        Edges of columns and rows.
    inside
        Shape (rows, columns).
    """
    to_the_right, above = (np.argwhere(np.diff(inside.astype(int), axis=axis)) for axis in (1, 0))
    upright = [np.array([(x[j + 1], y[i]), (x[j + 1], y[i + 1])]) for i, j in to_the_right]
    return upright + [np.array([(x[j], y[i + 1]), (x[j + 1], y[i + 1])]) for i, j in above]


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
    scale, unit = unit_of_times(last - first)
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


UNSEEN = 0.01
"""Of the widest pair of bars: shorter ones are named, not drawn."""


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
    swings = np.array([np.abs(np.subtract(lever.speedup_percent, lever.here_percent)).max() for lever in levers])
    seen = swings >= UNSEEN * swings.max()
    shown = [lever for lever, one in zip(levers, seen, strict=True) if one]
    figure, axes = _subplots(size=(7.2, 1.5 + 0.34 * len(shown)))
    y = np.arange(len(shown))[::-1]
    here = levers[0].here_percent
    for end, colour in ((0, COLOURS[5]), (1, COLOURS[1])):
        saved = np.array([lever.speedup_percent[end] for lever in shown])
        axes.barh(y, saved - here, left=here, color=colour, height=0.6 - 0.25 * end, label=("low end", "high end")[end])
    for lever, place in zip(shown, y, strict=True):
        if lever.kind == "workload":
            _name_ends(axes, lever, float(place))
    axes.axvline(here, color="k", lw=1, label="as it is")
    axes.axvline(min_gain_percent, color=NEUTRAL, lw=1, ls=":", label=f"worth a port: {min_gain_percent:g} %")
    axes.set_yticks(y, [lever.name for lever in shown])
    rest = [lever.name for lever, one in zip(levers, seen, strict=True) if not one]
    unseen = "\n" + fill(f"too little to be seen: {', '.join(rest)}", 60) if rest else ""
    axes.set_xlabel(f"iteration shorter by, %{unseen}")
    axes.margins(x=0.12)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
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
