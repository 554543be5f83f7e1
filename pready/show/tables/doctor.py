"""A diagnosis as lines."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pready.calibrate.doctor.diagnosis import Diagnosis
from pready.calibrate.doctor.findings import Grade

MARKS: dict[Grade, tuple[str, str]] = {
    "good": ("ok", "green"),
    "care": ("care", "yellow"),
    "bad": ("BAD", "red"),
}


def diagnosis_view(found: Diagnosis) -> RenderableType:
    """A line for each finding, and what to do."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for f in found.findings:
        mark, style = MARKS[f.grade]
        says = f"{f.says}; {f.do}" if f.do else f.says
        rows.add_row(Text(mark, style=style), Text(f.name, style="bold"), Text(says))
    return Group(rows, Text(f"--library {found.profile}; {found.seconds:.0f} s", style="dim"))
