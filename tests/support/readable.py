"""A figure that can be read: no text on another, on a curve or on a bar, none cut off, no legend within axes."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

TOUCH, GAP = 1.0, 2.0
"""Pixels: what counts as on each other, and what texts keep from each other."""


def drawn(figure: Figure) -> FigureCanvasAgg:
    """The canvas of a figure, drawn, so that everything has its place."""
    canvas = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return canvas


def texts(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every text that is seen, with its place."""
    return [(said, box) for _, said, box in _placed(figure)]


def _placed(figure: Figure) -> list[tuple[Text, str, Bbox]]:
    renderer = drawn(figure).get_renderer()  # type: ignore[no-untyped-call]
    beyond = {id(label) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for label in _beyond(axis)}
    found = [t for t in figure.findobj(Text) if isinstance(t, Text) and t.get_visible() and t.get_text().strip()]
    return [(t, t.get_text(), t.get_window_extent(renderer)) for t in found if id(t) not in beyond]


def _beyond(axis: Axis) -> Iterator[Text]:
    """Labels of ticks that are not drawn, because the axis ends before."""
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if not low <= tick.get_loc() <= high:
            yield from (tick.label1, tick.label2)


def check_readable(figure: Figure) -> None:
    """Raise AssertionError, naming what cannot be read."""
    placed = _placed(figure)
    seen = [(said, box) for _, said, box in placed]
    for (one, a), (other, b) in combinations(seen, 2):
        assert not _over(Bbox(a.get_points()).padded(GAP), b), f"{one!r} over {other!r}"
    for said, box in seen:
        assert -TOUCH < box.x0 < box.x1 < figure.bbox.x1 + TOUCH, f"{said!r} cut off"
        assert -TOUCH < box.y0 < box.y1 < figure.bbox.y1 + TOUCH, f"{said!r} cut off"
    legends = [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
    for legend in legends:
        box = legend.get_window_extent()  # type: ignore[union-attr]
        assert not any(_over(box, axes.get_window_extent()) for axes in figure.axes), "a legend within axes"
        own = {id(t) for t in (*legend.get_texts(), legend.get_title())}  # type: ignore[union-attr]
        under = [said for t, said, other in placed if id(t) not in own and _over(box, other)]
        assert not under, f"{under[0]!r} under a legend"
    for axes in figure.axes:
        _check_labels(axes)


def _check_labels(axes: Axes) -> None:
    renderer = axes.figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for label in (t for t in axes.texts if t.get_text().strip()):
        box = Bbox(label.get_window_extent(renderer).get_points()).padded(-TOUCH)
        for line in axes.lines:
            curve = line.get_transform().transform_path(line.get_path())
            if np.size(curve.vertices):
                assert not curve.intersects_bbox(box, filled=False), f"{label.get_text()!r} on a curve"
        assert not any(_over(box, bar) for bar in _bars(axes)), f"{label.get_text()!r} on a bar"


def _bars(axes: Axes) -> Iterator[Bbox]:
    for container in axes.containers:
        if isinstance(container, BarContainer):
            yield from (patch.get_window_extent() for patch in container.patches)


def _over(one: Bbox, other: Bbox) -> bool:
    both = Bbox.intersection(one, other)
    return both is not None and both.width > TOUCH and both.height > TOUCH
