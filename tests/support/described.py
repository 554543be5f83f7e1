"""A figure as text: its words, and every line, bar, band and image in numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FuncFormatter

MANY = 100
"""Cells of a bar of colours, which says nothing by itself."""


def _numbers(values: Any) -> str:
    some: list[float] = np.ma.filled(np.ma.asarray(values, float), np.nan).ravel().tolist()
    return " ".join(f"{round(x, 12) + 0.0:.4g}" for x in some)


def _texts(labels: Any) -> str:
    return " | ".join(" ".join(label.get_text().split()) for label in labels)


def _extent(path: Any) -> str:
    e = path.get_extents()
    return f"{_numbers([e.x0, e.x1])}; {_numbers([e.y0, e.y1])}"


def _axis(axis: Any) -> str:
    said = (
        f"{' '.join(axis.label.get_text().split())!r} {axis.get_scale()} {_numbers(sorted(axis.get_view_interval()))}"
    )
    fixed = isinstance(axis.get_major_formatter(), (FixedFormatter, FuncFormatter))
    return said + (f": {_texts(axis.get_ticklabels())}" if fixed else "")


def _axes(axes: Any) -> Iterator[str]:
    yield f"axes {axes.get_title('left') or axes.get_title()!r}"
    yield f"  x {_axis(axes.xaxis)}"
    yield f"  y {_axis(axes.yaxis)}"
    for line in axes.lines:
        if len(line.get_xdata()):
            look = f"{to_hex(line.get_color())} {line.get_linestyle()} {line.get_marker()} {line.get_fillstyle()}"
            yield f"  line {look}: {_numbers(line.get_xdata())}; {_numbers(line.get_ydata())}"
    for p in axes.patches:
        path = p.get_patch_transform().transform_path(p.get_path())
        fill = f"{to_hex(p.get_facecolor())} {p.get_hatch() or ''}" if p.get_fill() else "frame "
        if path.get_extents().height:
            yield f"  bar {fill}: {_extent(path)}"
    for c in axes.collections:
        values, kind = c.get_array(), "band" if "Poly" in type(c).__name__ else type(c).__name__
        if values is None:
            yield f"  {kind}: {' / '.join(map(_extent, c.get_paths()))}"
        elif values.size < MANY:
            yield f"  {kind} {_numbers(c.get_clim())}: {_numbers(values)}"
    for image in axes.images:
        scale = (
            f"{type(image.norm).__name__} {_numbers(image.get_clim())}, {image.origin}, {_numbers(image.get_extent())}"
        )
        yield f"  image {scale}: {' / '.join(map(_numbers, image.get_array()))}"
    for text in axes.texts:
        yield f"  text {_texts([text])!r} at {_numbers(text.xy if hasattr(text, 'xy') else text.get_position())}"
    if axes.get_legend():
        yield f"  legend {_texts(axes.get_legend().get_texts())}"


def described(figure: Figure) -> str:
    """A line for each thing that is drawn; numbers in four digits."""
    legends = [f"legend {_texts(legend.get_texts())}" for legend in figure.legends]
    lines = [f"title {figure.get_suptitle()!r}", *(line for axes in figure.axes for line in _axes(axes)), *legends]
    return "\n".join(line.rstrip() for line in lines)
