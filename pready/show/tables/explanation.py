"""The equations, alone or with a user's numbers, as tables, LaTeX and Markdown."""

from __future__ import annotations

import io

from rich.console import Console, Group, RenderableType
from rich.text import Text

from pready.model.advice.explanation import Explanation, Step, Way
from pready.model.common.units import format_size, format_time
from pready.model.equations.gain import DOI, EQUATIONS
from pready.show.terminal.table import Readable

PLAIN_WIDTH = 120


def equations_latex() -> str:
    """The equations alone as LaTeX, each below a comment: number, name, departure."""
    lines = []
    for e in EQUATIONS:
        lines += [f"% Eq. {e.number} ({e.name})" + (f": {e.departure}" if e.departure else ""), e.latex]
    return "\n".join(lines)


def equations_view() -> RenderableType:
    """The equations alone as a table."""
    table = Readable(heading=f"gillis2023, doi:{DOI}")
    for column in ("Eq.", "name", "formula", "unit", "departure from the paper"):
        table.add_column(column, overflow="fold")
    for e in EQUATIONS:
        table.add_row(e.number, e.name, f"{e.symbol} = {e.expression}", e.unit, e.departure)
    return table


def view(explanation: Explanation) -> RenderableType:
    """Equations, the steps of bulk and of the approach, sums and departures."""
    parts: list[RenderableType] = [
        Text(_title(explanation), style="bold"),
        Text(explanation.figures.text),
        Text(""),
        Text("bandwidth alone", style="bold"),
    ]
    for filled in explanation.equations:
        parts.append(Text(f"Eq. {filled.equation.number}  {filled.text}"))
        if filled.note:
            parts.append(Text(f"       {filled.note}", style="dim"))
    parts += [Text(""), Text("LogGP of two ranks (PLogGP)", style="bold"), Text(explanation.figures.loggp.text)]
    parts += [Text(""), Text(_question(explanation), style="bold")]
    for way in (explanation.bulk, explanation.way):
        parts += [_steps(way), Text("")]
    parts += [Text(_eta(explanation), style="bold"), Text("")]
    parts += [Text(f"departure: {d}", style="dim") for d in explanation.departures]
    return Group(*parts, Text(f"seed {explanation.seed}", style="dim"))


def _question(e: Explanation) -> str:
    """The figure that the steps add up to."""
    if not e.figures.neighbours:
        return "one exchange of two ranks, step by step"
    if e.figures.alone is None or abs(e.eta - e.figures.counts) < abs(e.eta - e.figures.alone):
        return "waiting for late neighbours included, cause by cause"
    return "one exchange alone, step by step"


def _steps(way: Way) -> RenderableType:
    table = Readable(heading=_heading(way))
    table.add_column("step")
    table.add_column("what happens", overflow="fold")
    table.add_column("with", overflow="fold")
    table.add_column("adds", justify="right", no_wrap=True)
    table.add_column("last message\npassed it at", justify="right", no_wrap=True)
    for step in way.steps:
        terms = ", ".join(f"{t.symbol} = {format_time(t.seconds)}" for t in step.terms)
        table.add_row(step.name, step.rule, terms, _added(step), format_time(step.passed_s))
    table.add_row("", "", "sum", format_time(way.time_s), "", style="bold")
    if way.begin_s:
        once = "requests, windows and communicators, once before the first iteration"
        table.add_row("set-up", once, "", format_time(way.begin_s), "", style="dim")
    return table


def plain(explanation: Explanation) -> str:
    """The view as plain text."""
    stream = io.StringIO()
    Console(file=stream, width=PLAIN_WIDTH, color_system=None, highlight=False).print(view(explanation))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def latex(explanation: Explanation) -> str:
    """LaTeX source: the equations, and a sum over the steps of each way. Needs amsmath, which MathJax has."""
    lines = [r"\begin{align*}"]
    for filled in explanation.equations:
        left, _, right = filled.latex.partition(" = ")
        lines.append(rf"{left} &= {right} && \text{{(Eq. {filled.equation.number})}} \\")
    for name, way in (("T_b", explanation.bulk), ("T_p", explanation.way)):
        added = [rf"\underbrace{{{_latex_time(s.added_s)}}}_{{\text{{{s.name}}}}}" for s in way.steps if _counts(s)]
        lines.append(rf"{name} &= {' + '.join(added) or '0'} = {_latex_time(way.time_s)}")
        heading = _heading(way).replace("_", r"\_").replace("%", r"\%")
        lines[-1] += rf" && \text{{({heading})}} \\"
        for s in (s for s in way.steps if s.terms):
            terms = r",\; ".join(rf"{t.latex} = {_latex_time(t.seconds)}" for t in s.terms)
            lines.append(rf"&\quad \text{{{s.name}: }} {terms} \\")
    ratio = rf"\frac{{{_latex_time(explanation.bulk.time_s)}}}{{{_latex_time(explanation.way.time_s)}}}"
    lines.append(rf"\eta &= \frac{{T_b}}{{T_p}} = {ratio} = {explanation.eta:.4g} && \text{{(Eq. 1)}}")
    return "\n".join([*lines, r"\end{align*}", *(f"% departure: {d}" for d in explanation.departures)])


def markdown(explanation: Explanation) -> str:
    """Markdown with equations in LaTeX between dollars, for notebooks."""
    out = [f"**{_title(explanation)}**", "", explanation.figures.text, ""]
    for filled in explanation.equations:
        note = f" ({filled.note})" if filled.note else ""
        out += [f"Eq. {filled.equation.number}{note}:", "", f"$${filled.latex}$$", ""]
    out += [f"PLogGP: {explanation.figures.loggp.text}", ""]
    for way in (explanation.bulk, explanation.way):
        out += [
            f"**{_heading(way)}**",
            "",
            "| step | what happens | with | adds | passed at |",
            "|---|---|---|--:|--:|",
        ]
        for s in way.steps:
            terms = ", ".join(f"${t.latex} = {_latex_time(t.seconds)}$" for t in s.terms)
            out.append(f"| {s.name} | {s.rule} | {terms} | {_added(s)} | {format_time(s.passed_s)} |")
        out += [f"| | | **sum** | **{format_time(way.time_s)}** | |"]
        if way.begin_s:
            out += [f"| set-up | once, before the first iteration | | {format_time(way.begin_s)} | |"]
        out += [""]
    out += [f"**{_eta(explanation)}**", "", *(f"- departure: {d}" for d in explanation.departures)]
    return "\n".join(out)


def _title(e: Explanation) -> str:
    return f"{e.workload} on {e.machine} ({e.library})"


def _heading(way: Way) -> str:
    a = way.approach
    count = a.messages
    return (
        f"{a.name}: {count} message{'s' * (count > 1)} of {format_size(way.message_bytes)} ({way.protocol}), "
        f"{a.vcis} VCI{'s' * (a.vcis > 1)}"
    )


def _eta(e: Explanation) -> str:
    return f"Eq. 1  η = T_b / T_p = {format_time(e.bulk.time_s)} / {format_time(e.way.time_s)} = {e.eta:.4g}×"


def _counts(step: Step) -> bool:
    return abs(step.added_s) > 1e-15  # less is rounding


def _added(step: Step) -> str:
    return format_time(step.added_s) if _counts(step) else "-"


def _latex_time(seconds: float) -> str:
    number, _, unit = format_time(seconds).partition(" ")
    mantissa, _, exponent = number.partition("e")
    shown = mantissa if not exponent else rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return rf"{shown}\,\mathrm{{{unit}}}".replace(r"\mathrm{us}", r"\mu\mathrm{s}")
