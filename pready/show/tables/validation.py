"""A validation in the terminal and as data: claims, checks, controls and the worst cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.common.units import format_size, format_time
from pready.show.terminal.table import Readable
from pready.validate.report import summary
from pready.validate.result import CaseResult, Check, ClaimResult, Comparison, Report

STYLES = {"ok": "green", "off": "bold red", "out of scope": "dim"}


def report_view(report: Report) -> RenderableType:
    """The whole report, with the summary last, where a terminal shows it."""
    parts: list[RenderableType] = [
        claims_view(source, claims) for source, claims in summary.by_source(report.claims).items()
    ]
    parts += [comparison_view(c) for c in report.comparisons]
    parts += [Text(line) for line in summary.headline(report)]
    return Group(*parts, Text(f"seed {report.seed}", style="dim"))


def claims_view(source: str, claims: Sequence[ClaimResult]) -> RenderableType:
    """One line per claim of a paper, or per measurement on a machine."""
    found = summary.counts(claims)
    weak = sum(c.weak for c in claims)
    apart = f" ({weak} weak)" if weak else ""
    said = ", ".join(f"{n} {status}{apart if status == 'ok' else ''}" for status, n in found.items() if n)
    table = Readable(heading=f"{source}: {said}")
    measured = any(c.of == "fabrics" for c in claims)
    for column in ("", "claim", "what" if measured else "where", "expected", "got", "tolerance"):
        number = column in ("expected", "got")
        table.add_column(column, no_wrap=number, justify="right" if number else "left", overflow="fold")
    for c in claims:
        table.add_row(
            Text(summary.status(c), style="yellow" if c.weak else STYLES[c.status]),
            summary.short_id(c),
            c.says if measured else c.where,
            *summary.pair(c, c.unit),
            c.tolerance,
            style="dim" if c.status == "out of scope" else "",
        )
    return table


def comparison_view(comparison: Comparison) -> RenderableType:
    """Checks with their limits, negative controls, and the worst cases with the suspected terms."""
    parts: list[RenderableType] = [checks_view(comparison.title, comparison.checks)]
    for control in comparison.controls:
        style = "green" if control.rejected else "bold red"
        line = Text("rejected" if control.rejected else "NOT rejected", style=style)
        parts.append(line.append(f"  negative control {control.name}: {control.says}", style="default not bold"))
    parts += [Text(f"failed {f.id}: {f.why}", style="bold red") for f in comparison.failed]
    if comparison.cases:
        parts.append(worst_view(summary.worst(comparison.cases)))
    parts += [Text(f"note: {note}", style="dim") for note in comparison.notes]
    return Group(*parts)


def checks_view(title: str, checks: Sequence[Check]) -> RenderableType:
    """One line per check, failures first."""
    table = Readable(heading=title)
    for column in ("", "check", "value", "limit", "cases", "note"):
        table.add_column(column, justify="right" if column in ("value", "cases") else "left", overflow="fold")
    for c in sorted(checks, key=lambda c: c.ok):
        table.add_row(
            Text("ok", style="green") if c.ok else Text("off", style="bold red"),
            c.name,
            summary.check_value(c.value, c.unit),
            f"{c.sense} {summary.check_value(c.limit, c.unit)}",
            str(c.cases) if c.cases else "",
            c.note,
        )
    return table


def worst_view(cases: Sequence[CaseResult]) -> RenderableType:
    """The cases with the largest errors; below them each suspected term once."""
    table = Readable(heading=f"the worst {len(cases)} cases")
    for column in ("", "approach", "messages", "threads", "buffer", "arrivals", "measured", "error", "η", "error"):
        left = column in ("approach", "arrivals")
        table.add_column(column, justify="left" if left else "right", no_wrap=not left)
    suspects: dict[str, list[str]] = {}
    for number, c in enumerate(cases, 1):
        suspects.setdefault(c.suspect or "not known", []).append(str(number))
        table.add_row(
            str(number),
            f"{c.approach}, {c.library}",
            str(c.transport_partitions),
            f"{c.threads} × {c.partitions_per_thread}",
            format_size(c.buffer),
            c.arrivals,
            format_time(c.measured_s),
            summary.signed(c.error),
            f"{c.eta_measured:.2f}×",
            summary.signed(c.eta_error),
        )
    lines = [Text(f"suspected term of {', '.join(numbers)}: {term}") for term, numbers in suspects.items()]
    return Group(table, *lines)


def report_data(report: Report) -> Any:
    """The report's data for JSON: NaN (no case to judge by) becomes null."""

    def finite(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: finite(v) for name, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [finite(v) for v in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return finite(report.to_dict())
