"""The report as one HTML page: everything it needs is in it."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pready.model.common.units import format_size, format_time
from pready.validate import fabrics, papers
from pready.validate.report import figures, summary
from pready.validate.result import ClaimResult, Report, Status


@cache
def environment(package: str) -> Environment:
    """Of the pages' templates in a package."""
    made = Environment(
        loader=PackageLoader(package, "templates"),
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
    files = {**dict.fromkeys(papers.PAPERS, papers.load), **dict.fromkeys(fabrics.FABRICS, fabrics.load)}
    template = environment("pready.validate.report").get_template("report.html")
    return template.render(
        report=report,
        command=command,
        summary=summary,
        style=style_sheet(),
        titles={name: files[name](name) for name in {c.source for c in report.claims} & {*files}},
        contradictions=[c for c in report.claims if c.readings],
        failed=summary.failed(report),
        claims_figure=figures.claims(report.claims, "claims"),
        drawings=[_drawings(c.cases, f"c{i}") for i, c in enumerate(report.comparisons)],
    )


def style_sheet() -> Markup:
    """The style sheet of pages: light, dark and paper."""
    return Markup(environment("pready.validate.report").get_template("report.css").render())


def _drawings(cases: Any, name: str) -> dict[str, Markup]:
    return {
        "times": figures.times(cases, f"{name}-times"),
        "gains": figures.gains(cases, f"{name}-gains"),
        "residuals": figures.residuals(cases, f"{name}-residuals"),
    }
