"""MPI library profiles as terminal tables."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pready.model.approach.libraries import LibraryProfile, Messages
from pready.model.common.units import format_size
from pready.model.machine.machine import Fabric
from pready.model.machine.transports import ANSWERS, KNOWN, SAYS, Transport
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

EARLY = {True: "yes", False: "no", None: "unknown"}
"""Does MPI_Pready send before the last partition is ready?"""


def libraries_view(profiles: list[LibraryProfile]) -> RenderableType:
    """All profiles, a line each."""
    table = Readable()
    for column in ("library", "title", "sends early", "VCIs", "available"):
        table.add_column(column, no_wrap=column in ("library", "VCIs"), justify="right" if column == "VCIs" else "left")
    for p in profiles:
        early = "no calls" if p.messages == "none" else EARLY[p.early]
        table.add_row(p.name, p.title, early, str(p.max_vcis), f"needs {p.needs}" if p.needs else "yes")
    return table


def library_view(profile: LibraryProfile) -> RenderableType:
    """All of a profile."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(no_wrap=True, style="dim")
    rows.add_column(overflow="fold")
    part = (
        "none"
        if profile.part is None
        else f"{MESSAGES[profile.messages]}, on {profile.part_vcis} VCI" + "s" * (profile.part_vcis > 1)
    )
    rows.add_row("messages of MPI_Psend", part)
    if profile.part is not None:
        rows.add_row("sends before the last MPI_Pready", EARLY[profile.early])
        if profile.part_since:
            rows.add_row("partitioned calls", f"from {profile.part_since}")
    rows.add_row("VCIs of communicators", str(profile.max_vcis))
    if profile.max_vcis > 1:
        rows.add_row("progress", "for all VCIs" if profile.global_progress else "for the caller's VCI")
    for fabric, row in _transports(profile).items():
        rows.add_row(f"over {fabric}", transport_line(row))
    rows.add_row("why", f"{profile.why} ({profile.source})" if profile.source else profile.why)
    for fact in profile.known:
        rows.add_row("bug" if fact.bug else "known", fact.text(profile.version))
    if profile.needs:
        rows.add_row("needs", f"{profile.needs}; use {profile.installable} instead")
    return Group(Text(f"{profile.full_name}: {profile.title}", style="bold"), rows)


def transport_line(row: Transport) -> str:
    """A transport's defaults on a line: protocol border, who answers, puts."""
    low, high = row.rendezvous.interval or (row.rendezvous.value, row.rendezvous.value)
    span = "" if low == high else f" ({format_size(low)} to {format_size(high)})"
    told = f"{row.name}: rendezvous from {format_size(row.rendezvous.value)}{span}; {ANSWERS[row.receiver.value]}"
    return told if row.puts is None else f"{told}; puts: {SAYS[row.puts.value]}"


def _transports(profile: LibraryProfile) -> dict[Fabric, Transport]:
    """Transports by fabric: this very library's, else its family's."""
    found = {fabric: row for (who, fabric), row in KNOWN.items() if who == profile.family}
    found.update({fabric: row for (who, fabric), row in KNOWN.items() if who == profile.name})
    return found
