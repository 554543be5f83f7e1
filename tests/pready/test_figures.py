"""What pictures draw of figures made by hand: every line, bar and shade in its place."""

from collections.abc import Iterator
from types import SimpleNamespace as Of
from typing import Any

import numpy as np
import pytest
from made_row import point
from matplotlib import rcParams
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator
from readable import check_readable
from tables import table_of

from pready.model.common.errors import PreadyError
from pready.show.figures import idle_waves, whatif_pictures
from pready.show.figures.eta_over_size import Sure, eta_over_size
from pready.whatif.table import Table

LIMITED = (idle_waves, whatif_pictures)
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


def what_if(rows: Any, varied: list[str], copies: int = 1) -> Figure:
    made = [point(size, f"{library}{'+' * n}", *of) | more for n in range(copies) for size, library, *of, more in rows]
    return whatif_pictures.figure(Table(tuple(varied), made), 0.01)


def waves(ends: Any, grid: Any, late: Any = ()) -> Figure:
    """Ranks that end at 1, 2, ... s; `late`: iteration, rank and seconds."""
    of = np.ones((ends, int(np.prod(grid)))) * np.arange(1, ends + 1)[:, None]
    for iteration, rank, seconds in late:
        of[iteration, rank] += seconds
    number: Any = np.arange(ends)
    causes = {"compute": 9.0 + number, "late_neighbours": 1e-3 * (number + 1), "nic": 2e-3 + 0 * number}
    run: Any = Of(pattern="halo3d", ends_s=of, grid=tuple(grid), iterations=ends, causes_s=causes)
    return idle_waves.idle_waves("title", run)


def sweep_without_times() -> Figure:
    run: Any = Of(pattern="sweep3d", ends_s=None)
    return idle_waves.idle_waves("title", run)


def strip(pays: Any, etas: Any, low: Any, high: Any) -> Figure:
    """Lines and the uncertainty of the first: η of the least and of the largest buffer, the others between."""
    sizes: Any = 2.0 ** np.arange(10, 20)
    least, most, *lines = (np.geomspace(first, last, 10) for first, last in (low, high, *etas))
    sure = Sure(least, most, pays, "1 % of an iteration")
    return eta_over_size("title", sizes.tolist(), dict(zip(("one", "other"), lines, strict=False)), 4096.0, sure)


@pytest.mark.parametrize(
    ("name", "given"), [(name, of) for name, each in table_of("pready/figures").items() for of in each]
)
def test_figures(name: str, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in [name for name in given if name.isupper()]:
        (of,) = (m for m in LIMITED if hasattr(m, limit))
        monkeypatch.setattr(of, limit, given.pop(limit))
    if (problem := given.pop("refused", None)) is not None:
        with pytest.raises(PreadyError, match=problem):
            globals()[name](**given)
        return
    said, figure = given.pop("said"), globals()[name](**given)
    check_readable(figure)
    assert described(figure) == said.strip("\n")
