"""mpiP 3.x reports: which calls sent how much, and how long tasks were in MPI.

    @--- Aggregate Sent Message Size (top twenty, descending, bytes) ----------
    Call                 Site      Count      Total       Avrg  Sent%
    Isend                  25      71742   1.47e+08   2.04e+03  63.34

    @--- Callsite Message Sent statistics (all, sent bytes) -------------------
    Name              Site Rank   Count       Max      Mean       Min       Sum
    Send                 5    0      80      6000      6000      6000   4.8e+05

mpiP counts per task: it says nothing of threads, and rounds sizes to three digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pready.calibrate.fit.float_arrays import FloatArray
from pready.calibrate.importers.text import (
    ImportFormatError,
    Line,
    Provenance,
    lines,
    number,
    read,
    whole,
)
from pready.model.common.errors import shown

_VERSION = re.compile(r"@\s*Version\s*:\s*([0-9][0-9.]*)")
_COMMAND = re.compile(r"@\s*Command\s*:\s*(.*)")
_SECTIONS = {
    "MPI Time (seconds)": ("time", ("Task", "AppTime", "MPITime", "MPI%")),
    "Aggregate Sent Message Size": (
        "aggregate",
        ("Call", "Site", "Count", "Total", "Avrg", "Sent%"),
    ),
    "Callsite Message Sent statistics": (
        "callsite",
        ("Name", "Site", "Rank", "Count", "Max", "Mean", "Min", "Sum"),
    ),
}


@dataclass(frozen=True)
class SentMessages:
    """One call site's messages, of one rank or of all.

    Attributes
    ----------
    call, site
        "Isend" and mpiP's number of the call site.
    rank
        None for all ranks together.
    count
        How many messages.
    mean, total
        Bytes; `mean` is of one message.
    least, most
        Bytes; None where the report has only the aggregate.
    """

    call: str
    site: int
    rank: int | None
    count: int
    mean: float
    total: float
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class MpiPReport:
    """The messages of an mpiP report.

    Attributes
    ----------
    sent
        Per rank where the report has it ("Callsite Message Sent statistics"), else the aggregate
        of the top twenty.
    app_time, mpi_time
        Seconds by task, shape (tasks,); empty where the report has no such section.
    command
        The command line, "" if not given.
    provenance
        File, version, notes.
    """

    sent: tuple[SentMessages, ...]
    app_time: FloatArray
    mpi_time: FloatArray
    command: str
    provenance: Provenance


def import_mpip(path: str | Path) -> MpiPReport:
    """Reads an mpiP report; see `parse_mpip`."""
    return parse_mpip(read(path), str(path))


def parse_mpip(data: bytes, source: str = "input") -> MpiPReport:
    """Parses an mpiP report.

    Raises
    ------
    ImportFormatError
        Not an mpiP report, no section of sent messages (or one without rows), or a row that does
        not fit its header.
    """
    all_lines = lines(data, source)
    where = " ".join(source.split()) or "input"
    if not any(re.match(r"@\s*mpiP\b", line.text) for line in all_lines):
        raise ImportFormatError("is no mpiP report", valid="a first line '@ mpiP'", source=where)
    version = next((m.group(1) for line in all_lines if (m := _VERSION.match(line.text))), "")
    command = next((m.group(1).strip() for line in all_lines if (m := _COMMAND.match(line.text))), "")
    tables = _tables(all_lines)
    sent = _callsites(tables["callsite"]) or _aggregate(tables["aggregate"])
    if not sent:
        raise ImportFormatError(
            "has no rows of sent messages",
            valid="rows under 'Aggregate Sent Message Size' or 'Callsite Message Sent statistics'",
            source=where,
        )
    app, mpi = _times(tables["time"])
    notes = ["mpiP counts per task, so the spread over threads is not known"]
    if not tables["callsite"]:
        notes.append("only the aggregate of the top twenty call sites is in the report")
    if not any(re.match(r"@-+\s*End of Report", line.text) for line in all_lines):
        notes.append("the report has no end mark: it may be cut off")
    if version and not version.startswith("3."):
        notes.append(f"written by mpiP {version}, read as 3.5")
    return MpiPReport(sent, app, mpi, command, Provenance(source, "mpiP", version, len(sent), tuple(notes)))


_Rows = list[tuple[Line, list[str]]]


def _tables(all_lines: list[Line]) -> dict[str, _Rows]:
    """Rows of the three sections, checked for their number of fields."""
    tables: dict[str, _Rows] = {name: [] for name, _ in _SECTIONS.values()}
    current: tuple[str, tuple[str, ...]] | None = None
    headed = False
    for line in all_lines:
        text = line.text
        if text.startswith("@"):
            current = next((s for title, s in _SECTIONS.items() if title in text), None)
            headed = False
        elif current is None or not text or set(text) == {"-"}:
            continue
        elif not headed:
            if text.split() != list(current[1]):
                raise line.error(f"header = {shown(text)}", " ".join(current[1]))
            headed = True
        else:
            fields = text.split()
            if len(fields) != len(current[1]):
                raise line.error(
                    f"row {shown(text)} has {len(fields)} of {len(current[1])} fields",
                    " ".join(current[1]),
                )
            if line.cut:
                raise line.error(f"row {shown(text)} is cut off", "a complete last row")
            tables[current[0]].append((line, fields))
    return tables


def _callsites(rows: _Rows) -> tuple[SentMessages, ...]:
    found = []
    for line, (name, site, rank, count, most, mean, least, total) in rows:
        sizes = [
            number(value, field, line, zero=True)
            for field, value in (("Max", most), ("Mean", mean), ("Min", least), ("Sum", total))
        ]
        if rank == "*":
            continue  # the sum over ranks, which are all listed
        found.append(
            SentMessages(
                name,
                whole(site, "Site", line),
                whole(rank, "Rank", line),
                whole(count, "Count", line),
                mean=sizes[1],
                total=sizes[3],
                least=sizes[2],
                most=sizes[0],
            )
        )
    return tuple(found)


def _aggregate(rows: _Rows) -> tuple[SentMessages, ...]:
    return tuple(
        SentMessages(
            call,
            whole(site, "Site", line),
            None,
            whole(count, "Count", line),
            mean=number(average, "Avrg", line, zero=True),
            total=number(total, "Total", line, zero=True),
        )
        for line, (call, site, count, total, average, _) in rows
    )


def _times(rows: _Rows) -> tuple[FloatArray, FloatArray]:
    app, mpi = [], []
    for line, (task, app_time, mpi_time, _) in rows:
        if task == "*":
            continue
        whole(task, "Task", line)
        app.append(number(app_time, "AppTime", line, zero=True))
        mpi.append(number(mpi_time, "MPITime", line, zero=True))
    return np.array(app, dtype=np.float64), np.array(mpi, dtype=np.float64)
