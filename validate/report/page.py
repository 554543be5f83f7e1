"""The report as one HTML page: everything it needs is in it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pready.model.common.units import format_size, format_time
from pready.validate.fabrics import FABRICS
from pready.validate.papers import PAPERS
from pready.validate.report import figures, summary
from pready.validate.result import ClaimResult, Report, Status


@dataclass(frozen=True)
class Title:
    """The name of a paper or a machine, and a paper's place."""

    title: str
    doi: str


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("pready.validate.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "size": format_size,
        "time": format_time,
        "value": summary.value,
        "check": summary.check_value,
        "percent": summary.percent,
        "signed": summary.signed,
        "slug": slug,
        "difference": difference,
        "short": summary.short_id,
    }
    return made


def difference(claim: ClaimResult) -> str:
    """How far ours is from theirs; of percentages in points, whose ratio would say little."""
    relative = summary.deviation(claim.expected, claim.got)
    if relative is None or claim.unit != "%":
        return summary.signed(relative)
    points = float(claim.got or 0) - float(claim.expected or 0)
    return f"{points:+.2g}\N{NO-BREAK SPACE}points".replace("-", "\N{MINUS SIGN}")


def slug(status: Status) -> str:
    """A status as the name of a CSS class."""
    return status.replace(" ", "-")


def html(report: Report, command: str) -> str:
    """The page.

    Parameters
    ----------
    report
        The findings.
    command
        The command line that finds it again.

    Returns
    -------
    A complete HTML document: no script, style, font or image comes from elsewhere.
    """
    template = _environment().get_template("report.html")
    return template.render(
        report=report,
        command=command,
        summary=summary,
        style=style_sheet(),
        titles=titles(c.source for c in report.claims),
        contradictions=[c for c in report.claims if c.readings],
        failed=summary.failed(report),
        claims_figure=figures.claims(report.claims, "claims"),
        drawings=[_drawings(c.cases, f"c{i}") for i, c in enumerate(report.comparisons)],
    )


def style_sheet() -> Markup:
    """The style sheet of pages: light, dark and paper."""
    return Markup(_environment().get_template("report.css").render())


def titles(sources: Iterable[str]) -> dict[str, Title]:
    """Titles, and DOIs of papers, from the claims' files; a source without a file has none."""
    wanted, found = set(sources), {}
    for kind, names in (("papers", PAPERS), ("fabrics", FABRICS)):
        for name in wanted & set(names):
            file = resources.files("pready.validate") / kind / f"{name}.toml"
            data = tomllib.loads(file.read_text(encoding="utf-8"))
            found[name] = Title(data["title"], data.get("doi", ""))
    return found


def _drawings(cases: Any, name: str) -> dict[str, Markup]:
    return {
        "times": figures.times(cases, f"{name}-times"),
        "gains": figures.gains(cases, f"{name}-gains"),
        "residuals": figures.residuals(cases, f"{name}-residuals"),
    }
