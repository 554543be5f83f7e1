"""MPI library profiles as terminal tables and data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pready.model.approach.libraries import LibraryProfile, Messages
from pready.model.machine.rma_by_fabric import KNOWN, SAYS
from pready.show.terminal.table import Readable

MESSAGES: dict[Messages, str] = {
    "one": "one for the whole buffer",
    "aggregated": "partitions aggregated up to a configured size",
    "per partition": "one for each of the sender's partitions",
    "min size": "partitions aggregated up to a least size",
    "set": "as many as the Info key says",
    "none": "the calls are not used",
}
"""The messages of ``MPI_Psend``, in words."""


def libraries_view(profiles: list[LibraryProfile]) -> RenderableType:
    """All profiles, a line each."""
    table = Readable()
    for column in ("library", "title", "sends early", "VCIs", "available"):
        table.add_column(column, no_wrap=column in ("library", "VCIs"), justify="right" if column == "VCIs" else "left")
    for p in profiles:
        early = "-" if p.messages == "none" else "yes" if p.early else "no"
        table.add_row(p.name, p.title, early, str(p.max_vcis), f"needs {p.needs}" if p.needs else "yes")
    return table


def library_view(profile: LibraryProfile) -> RenderableType:
    """All of a profile."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True, style="dim")
    rows.add_column(overflow="fold")
    part = (
        "none"
        if profile.part is None
        else f"{MESSAGES[profile.messages]}, on {profile.part_vcis} VCI" + "s" * (profile.part_vcis > 1)
    )
    rows.add_row("messages of MPI_Psend", part)
    if profile.part is not None:
        rows.add_row("sends before the last MPI_Pready", "yes" if profile.early else "no")
    rows.add_row("VCIs of communicators", str(profile.max_vcis))
    for (family, fabric), puts in KNOWN.items():
        if family == profile.family:
            rows.add_row(f"MPI_Put, {fabric}", f"{SAYS[puts.value]} ({puts.why})")
    rows.add_row("why", profile.why)
    for warning in profile.warnings:
        rows.add_row("note", warning)
    if profile.needs:
        rows.add_row("needs", f"{profile.needs}; use {profile.installable} instead")
    return Group(Text(f"{profile.name}: {profile.title}", style="bold"), rows)


def library_data(profile: LibraryProfile) -> dict[str, Any]:
    """The same as data for JSON."""
    puts = {fabric: SAYS[p.value] for (family, fabric), p in KNOWN.items() if family == profile.family}
    return asdict(profile) | {"warnings": list(profile.warnings), "puts": puts}
