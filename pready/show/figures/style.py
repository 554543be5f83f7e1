"""Style of all figures, axes of sizes and of η, and figures as SVG."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from io import StringIO
from typing import Any, ParamSpec

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from pready.model.common.units import format_size
from pready.show.figures.colours import NEUTRAL

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


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the house style, independent of the caller's rcParams."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


def subplots(*shape: int, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """As ``pyplot.subplots``, without pyplot's state or backend."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(*shape, **options)


ETAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
MORE_ETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10)


def etas(low: float, high: float) -> list[float]:
    """Ticks of an η axis: more than three where possible."""
    few = [y for y in ETAS if low <= y <= high]
    return few if len(few) > 3 else [y for y in MORE_ETAS if low <= y <= high]


def size_axis(axes: Any) -> None:
    """Bytes along x, a tick every factor of eight."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([8.0**k for k in range(12)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(x)))


def name_here(axes: Any, here: float) -> None:
    """Label the dotted line of the workload's buffer size, above the axes."""
    axes.annotate(
        "this buffer", (here, 1), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
        color=NEUTRAL, fontsize=8, ha="center", va="bottom",
    )  # fmt: skip


def svg(figure: Figure, *, alone: bool = True) -> str:
    """A figure as SVG, with text as text; the same figure gives the same bytes. Not `alone`: as a part of a page."""
    stream = StringIO()
    with rc_context({"svg.hashsalt": "pready", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    start = '<?xml version="1.0" encoding="utf-8" standalone="no"?>\n' if alone else ""
    return start + stream.getvalue()[stream.getvalue().index("<svg") :]


def drawn(figure: Figure) -> Markup:
    """A figure as a part of a page."""
    return Markup(f"<figure>{svg(figure, alone=False)}</figure>\n")
