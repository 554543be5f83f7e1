"""The tables of ``pready validate``, in the terminal and as data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pready.model.common.units import format_time
from pready.show.terminal.table import Readable
from pready.validate.claims import summary
from pready.validate.claims.result import ClaimResult
from pready.validate.sst import Agreement, Limit, Row

STYLES = {"ok": "green", "off": "bold red", "out of scope": "dim"}


def claims_view(claims: Sequence[ClaimResult], seed: int) -> RenderableType:
    """A table for each paper or machine, with the summary last, where a terminal shows it."""
    parts: list[RenderableType] = [_source_view(*of) for of in summary.by_source(claims).items()]
    return Group(*parts, *map(Text, summary.headline(claims)), Text(f"seed {seed}", style="dim"))


def _source_view(source: str, claims: Sequence[ClaimResult]) -> RenderableType:
    """One line per claim of a paper, or per measurement on a machine."""
    found = summary.counts(claims)
    weak = sum(c.weak for c in claims)
    apart = f" ({weak} weak)" if weak else ""
    said = ", ".join(f"{n} {status}{apart if status == 'ok' else ''}" for status, n in found.items() if n)
    table = Readable(heading=f"{source}: {said}")
    measured = claims[0].of == "fabrics"
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


def claims_data(claims: Sequence[ClaimResult]) -> dict[str, Any]:
    """For JSON: ``summary``, the figures that documents quote, and ``claims``; what is not finite becomes null."""
    listed = [asdict(c) for c in claims]
    for claim in listed:
        claim["got"] = _finite(claim["got"])
    return {"summary": summary.figures(claims), "claims": listed}


def agreement_view(found: Agreement, seed: int) -> RenderableType:
    """A line for each run of SST beside the model, the limits, and whether a wrong machine breaks one."""
    runs = Readable(heading=f"against SST on one router, {found.machine} ({found.version})")
    for column in ("run", "SST", "predicted", "off", "independent", "because"):
        value = column not in ("run", "independent", "because")
        runs.add_column(column, justify="right" if value else "left", no_wrap=value, overflow="fold")
    for row in found.rows:
        times = format_time(row.sst.time), format_time(row.model.time)
        independent = row.independent or "nothing: costs shared"
        runs.add_row(row.scene.id, *times, f"{100 * row.off:+.1f} %", independent, row.cause)
    limits = Readable(heading="limits")
    for column in ("", "worst of", "off", "limit", "slack", "runs", "because"):
        value = column in ("off", "limit", "slack", "runs")
        limits.add_column(column, justify="right" if value else "left", no_wrap=value, overflow="fold")
    for c in found.checks:
        off = "no run" if math.isnan(c.worst) else f"{100 * c.worst:.1f} %"
        slack = "" if math.isnan(c.worst) else f"{100 * c.slack:.0f} %"
        limits.add_row(_verdict(c.ok), c.name, off, f"{100 * c.limit:g} %", slack, str(c.rows), c.note)
    rejected = _verdict(found.wrong_is_rejected)
    return Group(
        runs,
        limits,
        *(Text(f"failed {run}: {why}", style="bold red") for run, why in found.failed.items()),
        rejected.append("  half the machine's bandwidth in the model breaks a limit, as it must", style="default"),
        Text(f"seed {seed}", style="dim"),
    )


def _verdict(ok: bool) -> Text:
    return Text("ok", style="green") if ok else Text("off", style="bold red")


def agreement_data(found: Agreement) -> dict[str, Any]:
    """For JSON: the runs of SST with its times and the model's in seconds, and the limits."""

    def row(of: Row) -> dict[str, Any]:
        times = {"sst": asdict(of.sst), "model": asdict(of.model)}
        return {"run": of.scene.id, **times, "off": of.off, "independent": of.independent, "cause": of.cause}

    def check(of: Limit) -> dict[str, Any]:
        return asdict(of) | {"worst": _finite(of.worst), "ok": of.ok}

    return {
        "machine": found.machine,
        "sst": found.version,
        "runs": [*map(row, found.rows)],
        "limits": [*map(check, found.checks)],
        "wrong_is_rejected": found.wrong_is_rejected,
        "failed": found.failed,
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
