"""A figure as text: its words, and every line, bar, band and image in numbers and in how it looks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator

MANY = 100
"""Cells of a bar of colours, which says nothing by itself."""
LOOK = {"linewidth": "lw", "markersize": "ms", "alpha": "alpha", "fontsize": "pt", "ha": "", "zorder": "z"}
USUAL_Z = (1, 2, 3)


def _numbers(values: Any) -> str:
    some: list[float] = np.ma.filled(np.ma.asarray(values, float), np.nan).ravel().tolist()
    return " ".join(f"{round(x, 12) + 0.0:.4g}" for x in some)


def _texts(labels: Any) -> str:
    return " | ".join(" ".join(label.get_text().split()) for label in labels)


def _extent(path: Any) -> str:
    e = path.get_extents()
    return f"{_numbers([e.x0, e.x1])}; {_numbers([e.y0, e.y1])}"


def _look(artist: Any) -> str:
    """Line widths, marker and font sizes, and drawing order, where an artist has them."""
    found = {short: getattr(artist, f"get_{name}", lambda: None)() for name, short in LOOK.items()}
    found["z"] = None if found["z"] in USUAL_Z else found["z"]
    said = {short: x if isinstance(x, str) else _numbers(x) for short, x in found.items() if x is not None}
    return " ".join(f"{short} {x}".strip() for short, x in said.items())


def _tint(artist: Any) -> str:
    of = artist.get_color() if hasattr(artist, "get_color") else artist.get_facecolor()
    return to_hex(of) if isinstance(of, str) else " ".join(map(to_hex, np.atleast_2d(of)))


def _axis(axis: Any) -> str:
    label, along = axis.label, int(axis.axis_name == "y")
    said = f"{' '.join(label.get_text().split())!r} {axis.get_scale()} {_numbers(axis.get_view_interval())}"
    said += f" base {axis.get_transform().base:g}" if axis.get_scale() == "log" else ""
    fixed = isinstance(axis.get_major_formatter(), (FixedFormatter, FuncFormatter))
    fixed |= type(axis.get_major_locator()) in (FixedLocator, MaxNLocator)
    ticks = [f"{_texts([t])} at {_numbers(t.get_position()[along])}" for t in axis.get_ticklabels() if fixed]
    return f"{said} {_look(axis.get_ticklabels()[0])}: {' | '.join(ticks)}" if ticks else said


def _legend(of: Any) -> str:
    title, texts = _texts([of.get_title()]), of.get_texts()
    names = " | ".join(f"{_texts([t])} {_tint(h)}" for t, h in zip(texts, of.legend_handles, strict=True))
    return f"legend {title + ': ' if title else ''}{names}, {of._ncols} columns, {_look(texts[0])}"


def _axes(axes: Any) -> Iterator[str]:
    title = axes.title if axes.title.get_text() else axes._left_title
    pad = 72 * axes.titleOffsetTrans._t[1]
    yield f"axes {_texts([title])!r} {_look(title)}{'' if pad == rcParams['axes.titlepad'] else f' pad {pad:g}'}"
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        yield f"  {name} {_axis(axis)}"
    for line in axes.lines:
        if len(line.get_xdata()):
            look = f"{to_hex(line.get_color())} {line.get_linestyle()} {line.get_marker()} {line.get_fillstyle()}"
            yield f"  line {look} {_look(line)}: {_numbers(line.get_xdata())}; {_numbers(line.get_ydata())}"
    for p in axes.patches:
        path = p.get_patch_transform().transform_path(p.get_path())
        fill = f"{to_hex(p.get_facecolor())} {p.get_hatch() or ''}" if p.get_fill() else "frame "
        if path.get_extents().height:
            yield f"  bar {fill} {_look(p)}: {_extent(path)}"
    for c in axes.collections:
        values, kind = c.get_array(), "band" if "Poly" in type(c).__name__ else type(c).__name__
        if values is None:
            yield f"  {kind} {_tint(c)} {_look(c)}: {' / '.join(map(_extent, c.get_paths()))}"
        elif values.size < MANY:
            yield f"  {kind} {_numbers(c.get_clim())}: {_numbers(values)}"
    for image in axes.images:
        scale = (
            f"{type(image.norm).__name__} {_numbers(image.get_clim())}, {image.origin}, {_numbers(image.get_extent())}"
        )
        yield f"  image {scale}: {' / '.join(map(_numbers, image.get_array()))}"
    for text in axes.texts:
        at = (*text.xy, *text.xyann) if hasattr(text, "xy") else text.get_position()
        yield f"  text {_texts([text])!r} at {_numbers(at)} {_look(text)}"
    if axes.get_legend():
        yield f"  {_legend(axes.get_legend())}"


def described(figure: Figure) -> str:
    """A line for each thing that is drawn; numbers in four digits."""
    size, title = _numbers(figure.get_size_inches()), figure._suptitle  # type: ignore[attr-defined]
    grid = figure.axes[0].get_subplotspec().get_gridspec()  # type: ignore[union-attr]
    parts = [_numbers(ratios) for ratios in (grid.get_width_ratios(), grid.get_height_ratios())]
    lines = [f"title {figure.get_suptitle()!r} {_look(title)} on {size}, columns {parts[0]}, rows {parts[1]}"]
    lines += [line for axes in figure.axes for line in _axes(axes)]
    return "\n".join(line.rstrip() for line in [*lines, *map(_legend, figure.legends)])
