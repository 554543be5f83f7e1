"""The report's figures as inline SVG: text stays text, colours are the page's own, nothing is fetched.

Matplotlib draws with placeholder colours, which become CSS variables of the page, so that one figure serves light,
dark and paper.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from pready.model.common.arrays import Array
from pready.model.common.units import format_size, format_time
from pready.validate.report.summary import deviation, is_bulk
from pready.validate.result import CaseResult, ClaimResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND = 0.1
"""Half-width of the grey band of the scatters: 10 %."""

FARTHEST, FARTHEST_CLAIM = 4.0, 10.0
"""Factors at which the axes of residuals and of claims end: beyond, only the direction counts."""

INK, MUTED, RULE, SHADE = "#010101", "#020202", "#030303", "#040404"
SERIES = tuple(f"#0500{i:02x}" for i in range(8))
OFF = "#060606"
_VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    SHADE: "--shade",
    OFF: "--off",
    **{c: f"--s{i + 1}" for i, c in enumerate(SERIES)},
}
MARKERS = "osD^vPXh"
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


def times(cases: Sequence[CaseResult], name: str) -> Markup:
    """Measured against predicted time, a panel for each library, a colour for each approach."""
    points = [(c, c.measured_s, c.predicted_s) for c in cases]
    return _against(points, name, "Measured against predicted time", "", format_time)


def gains(cases: Sequence[CaseResult], name: str) -> Markup:
    """Measured against predicted η, bulk left out."""
    points = [(c, c.eta_measured, c.eta_predicted) for c in cases if not is_bulk(c)]
    return _against(points, name, "Measured against predicted η", "η ", lambda y: f"{y:g}×")


def _against(
    points: Sequence[tuple[CaseResult, float, float]], name: str, title: str, what: str, tick: Callable[[float], str]
) -> Markup:
    if not points:
        return Markup("")
    libraries, approaches = _unique(c.library for c, *_ in points), _unique(c.approach for c, *_ in points)
    values = np.array([xy for _, *xy in points])
    low, high = values.min() / 1.3, values.max() * 1.3

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, len(libraries), sharey=True, squeeze=False)[0]
        for axes, library in zip(panels, libraries, strict=True):
            line = np.array([low, high])
            axes.fill_between(line, line * (1 - BAND), line * (1 + BAND), color=SHADE, lw=0)
            axes.plot(line, line, color=MUTED, lw=0.8)
            for i, approach in enumerate(approaches):
                mine = np.array([(c.library, c.approach) == (library, approach) for c, *_ in points])
                if mine.any():
                    _dots(axes, values[mine, 0], values[mine, 1], i, approach)
            axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), title=library)
            axes.set_xlabel(f"{what}measured")
            axes.set_box_aspect(1)
            _decades(axes.xaxis, low, high, tick)
            _decades(axes.yaxis, low, high, tick)
        panels[0].set_ylabel(f"{what}predicted")
        _legend(figure, panels, "outside right upper", 1)

    wide = 3.5 * len(libraries) + 1.9
    described = f"{title}: {len(points)} cases, the band is ±{100 * BAND:.0f} % around equality"
    return svg_element(name, title, described, (wide, 3.9), draw)


def residuals(cases: Sequence[CaseResult], name: str) -> Markup:
    """Predicted over measured by buffer size: time, η, and η of Eq. 3 alone on the same scale."""
    fine = [c for c in cases if not is_bulk(c)]
    panels: list[tuple[str, list[tuple[CaseResult, float]]]] = [
        ("time, timeline", [(c, c.predicted_s / c.measured_s) for c in cases]),
        ("η, timeline", [(c, c.eta_predicted / c.eta_measured) for c in fine]),
        ("η, Eq. 3 alone", [(c, c.eta_closed_form / c.eta_measured) for c in fine if c.eta_closed_form is not None]),
    ]
    panels = [(title, points) for title, points in panels if points]
    if not panels:
        return Markup("")
    approaches = _unique(c.approach for c in cases)
    top = min(FARTHEST, max(1.5, *(max(r, 1 / r) for _, points in panels for _, r in points)) * 1.1)

    def draw(figure: Any) -> None:
        row = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, (title, points) in zip(row, panels, strict=True):
            axes.axhspan(1 - BAND, 1 + BAND, color=SHADE, lw=0)
            axes.axhline(1, color=MUTED, lw=0.8)
            for i, approach in enumerate(approaches):
                mine = [(c.buffer, r) for c, r in points if c.approach == approach]
                if not mine:
                    continue
                x, y = np.array(mine, dtype=float).T
                shown = np.clip(y, 1 / top, top)
                _dots(axes, x[shown == y], y[shown == y], i, approach)
                _dots(axes, x[shown != y], shown[shown != y], i, None, hollow=True)
            sizes = [float(c.buffer) for c, _ in points]
            axes.plot(*_medians(sizes, [r for _, r in points]), color=INK, lw=1.4, label="median")
            axes.set(title=title, xlabel="buffer", yscale="log", ylim=(1 / top / 1.05, top * 1.05))
            axes.set_xscale("log", base=2)
            _sizes(axes.xaxis, sizes)
            _factors(axes.yaxis, top)
        row[0].set_ylabel("predicted / measured")
        _legend(figure, row, "outside lower center", 5)

    described = "Predicted over measured by buffer size; 1× is a perfect prediction, the band ±10 %"
    return svg_element(name, "Residuals by buffer size", described, (3.1 * len(panels) + 0.6, 3.6), draw)


def claims(found: Sequence[ClaimResult], name: str) -> Markup:
    """Ours over theirs for every claim that is a number, a row for each machine and each paper."""
    points = [(c, d + 1) for c in found if (d := deviation(c.expected, c.got)) is not None and d > -1]
    if not points:
        return Markup("")
    sources = [source for _, source in sorted({(c.of, c.source) for c, _ in points})]
    top = min(FARTHEST_CLAIM, max(1.25, *(max(r, 1 / r) for _, r in points)))
    points = [(c, float(np.clip(r, 1 / top, top))) for c, r in points]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.axvspan(1 - BAND, 1 + BAND, color=SHADE, lw=0)
        axes.axvline(1, color=MUTED, lw=0.8)
        for row, source in enumerate(sources):
            mine = [(c, r) for c, r in points if c.source == source]
            # Spread over the row's height in the order of the claims, so that equal values stay apart.
            heights = row + (np.linspace(-0.28, 0.28, len(mine)) if len(mine) > 1 else np.zeros(1))
            for wanted, colour, marker in (("ok", SERIES[0], "o"), ("off", OFF, "D")):
                at = [i for i, (c, _) in enumerate(mine) if c.status == wanted]
                label = wanted if row == 0 else None
                ratios = [mine[i][1] for i in at]
                axes.plot(ratios, heights[at], marker, color=colour, ms=4, mew=0, alpha=0.85, label=label)
        axes.set(
            xscale="log", xlim=(1 / top / 1.05, top * 1.05), xlabel="ours / theirs", ylim=(len(sources) - 0.5, -0.5)
        )
        axes.set_yticks(range(len(sources)), sources)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        _factors(axes.xaxis, top)
        _legend(figure, [axes], "outside lower center", 2)

    described = f"Our value over theirs for the {len(points)} claims that are numbers; the band is ±10 %"
    return svg_element(name, "Claims: ours over theirs", described, (7.4, 0.8 + 0.5 * len(sources)), draw)


def _medians(sizes: Sequence[float], ratios: Sequence[float]) -> tuple[list[float], list[float]]:
    """Medians over cases whose sizes are within a factor of four, at the centre of their sizes."""
    exponents, values = np.log2(sizes), np.array(ratios)
    bins = np.round(exponents / 2)
    found = [(2.0 ** exponents[bins == b].mean(), float(np.median(values[bins == b]))) for b in np.unique(bins)]
    return [x for x, _ in found], [y for _, y in found]


def _dots(axes: Axes, x: Array, y: Array, nth: int, label: str | None, *, hollow: bool = False) -> None:
    colour, marker = SERIES[nth % len(SERIES)], MARKERS[nth % len(MARKERS)]
    fill = {"mfc": "none", "mew": 0.8} if hollow else {"mew": 0}
    axes.plot(x, y, marker, color=colour, ms=3.6, alpha=0.75, label=label, **fill)


def _unique(names: Any) -> list[str]:
    return sorted(set(names))


def _legend(figure: Any, panels: Sequence[Axes], where: str, columns: int) -> None:
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        figure.legend(entries.values(), entries.keys(), loc=where, ncols=columns)


def _set(axis: Any, at: Sequence[float], text: Callable[[float], str]) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axis.set_major_locator(FixedLocator(list(at)))
    axis.set_major_formatter(FixedFormatter([text(x) for x in at]))
    axis.set_minor_locator(NullLocator())


def _decades(axis: Any, low: float, high: float, text: Callable[[float], str]) -> None:
    """Powers of ten; with 2 and 5 between them where the axis is short."""
    steps = (
        (1.0,) if high / low > 300 else (1.0, 2.0, 5.0) if high / low > 5 else (1.0, 1.25, 1.6, 2.0, 3.0, 4.0, 5.0, 8.0)
    )
    exponents = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    _set(axis, [s * 10.0**e for e in exponents for s in steps if low <= s * 10.0**e <= high], text)


def _factors(axis: Any, top: float) -> None:
    """1× and factors to both sides of it."""
    steps = (
        (1.1, 1.25, 1.5, 2) if top < 2.5 else (1.5, 2, 4) if top < 6 else (2, 5, 10) if top < 20 else (10, 100, 1000)
    )
    beyond = [f for f in steps if f <= top * 1.1]
    _set(axis, [*(1 / f for f in reversed(beyond)), 1, *beyond], lambda r: f"{r:.2g}×" if r < 1 else f"{r:g}×")


def _sizes(axis: Any, sizes: Sequence[float]) -> None:
    """At most five buffer sizes, powers of two."""
    first, last = int(np.floor(np.log2(min(sizes)))), int(np.ceil(np.log2(max(sizes))))
    step = max(1, -(-(last - first) // 4))
    _set(axis, [2.0**e for e in range(first, last + 1, step)], format_size)


def svg_element(
    name: str, title: str, described: str, size: tuple[float, float], draw: Callable[[Any], None]
) -> Markup:
    """What `draw` draws, as an accessible SVG element whose identifiers start with `name`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = plt.figure(figsize=size, layout="constrained")
        draw(figure)
        stream = io.StringIO()
        # Square panels beside a legend do not always fit the figure: take what was drawn.
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)
    return _inline(stream.getvalue(), name, title, described)


def _inline(svg: str, name: str, title: str, described: str) -> Markup:
    """Matplotlib's file as an element of a page: no prolog, no metadata, no namespaces, no fixed colours or fonts."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = body.replace("xlink:href", "href")
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'href="#', f'href="#{name}-', body)
    body = body.replace("url(#", f"url(#{name}-")
    body = re.sub(r"'DejaVu Sans'[^;\"]*sans-serif", "var(--sans)", body)
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    width, height = (float(x) for x in re.findall(r"viewBox=\"0 0 ([\d.]+) ([\d.]+)\"", body)[0])
    head = (
        f'<svg role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {width:g} {height:g}" '
        f'style="max-width: {width * 4 / 3:.0f}px"><title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(described)}</desc>'
    )
    return Markup(head + body[body.index(">") + 1 :].strip())
