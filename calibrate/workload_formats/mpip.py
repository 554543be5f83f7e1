"""mpiP 3.x reports: which calls sent how much, and how long tasks were in MPI.

    @--- Aggregate Sent Message Size (top twenty, descending, bytes) ----------
    Call                 Site      Count      Total       Avrg  Sent%
    Isend                  25      71742   1.47e+08   2.04e+03  63.34

    @--- Callsite Message Sent statistics (all, sent bytes) -------------------
    Name              Site Rank   Count       Max      Mean       Min       Sum
    Send                 5    0      80      6000      6000      6000   4.8e+05

mpiP counts per task: it says nothing of threads, and rounds sizes to three digits. A concise report (``-c``) has the
times of all tasks together. One section of messages suffices; others, and lines after a table, are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pready.calibrate.importers.text import LARGEST_FILE, ImportFormatError, Line, lines, number, text_of, whole
from pready.calibrate.workload_formats import FORMATS, WorkloadFormat
from pready.model.common.arrays import Array
from pready.model.common.errors import shown
from pready.model.toml.reading import read_bytes

_VERSION = re.compile(r"@\s*Version\s*:\s*([0-9][0-9.]*)")
_TASK = re.compile(r"@\s*MPI Task Assignment\s*:")
TIMES, SENT, SENT_BY_RANK = "MPI Time (seconds)", "Aggregate Sent Message Size", "Callsite Message Sent statistics"
TIMES_OF_ALL = "Task Time Statistics (seconds)"
_COLUMNS = {
    TIMES: ["Task", "AppTime", "MPITime", "MPI%"],
    SENT: ["Call", "Site", "Count", "Total", "Avrg", "Sent%"],
    SENT_BY_RANK: ["Name", "Site", "Rank", "Count", "Max", "Mean", "Min", "Sum"],
    TIMES_OF_ALL: ["AppTime", "MPITime", "MPI%"],
}
_Rows = list[tuple[Line, dict[str, str]]]


@dataclass(frozen=True)
class SentMessages:
    """One call site's messages, of one rank or of all: such as "Isend", how many, and their bytes together."""

    call: str
    count: int
    total: float


@dataclass(frozen=True)
class MpiPReport:
    """The messages of an mpiP report.

    Attributes
    ----------
    sent
        By call site and rank where the report has that, else the aggregate of the top twenty call sites.
    app_time, mpi_time
        Seconds by task, shape (tasks,), of a concise report the means of all; empty where the report has no such
        section.
    version
        mpiP's, such as "3.5.0"; "" where the report does not say.
    """

    sent: tuple[SentMessages, ...]
    app_time: Array
    mpi_time: Array
    version: str


def import_mpip(path: str | Path) -> MpiPReport:
    """Reads an mpiP report; see `parse_mpip`."""
    return parse_mpip(read_bytes(Path(path), LARGEST_FILE), str(path))


def parse_mpip(data: bytes, source: str = "input") -> MpiPReport:
    """Parses an mpiP report.

    Raises
    ------
    ImportFormatError
        Not an mpiP report, no section of sent messages that is understood (or one without rows), or a row that does
        not fit its header.
    """
    all_lines = list(lines(text_of(data, source), source))
    if not any(re.match(r"@\s*mpiP\b", line.text) for line in all_lines):
        raise ImportFormatError("is no mpiP report", valid="a first line '@ mpiP'", source=source)
    version = next((m.group(1) for line in all_lines if (m := _VERSION.match(line.text))), "")
    tables, unknown = _tables(all_lines)
    by_rank = [(line, row) for line, row in tables[SENT_BY_RANK] if row["Rank"] != "*"]  # that is the sum over ranks
    sent = [SentMessages(row["Name"], _count(line, row), _of(line, row, "Sum")) for line, row in by_rank]
    sent = sent or [SentMessages(row["Call"], _count(line, row), _of(line, row, "Total")) for line, row in tables[SENT]]
    if not sent:
        raise unknown or ImportFormatError(
            "has no rows of sent messages", valid=f"rows under '{SENT}' or '{SENT_BY_RANK}'", source=source
        )
    times = [(line, row) for line, row in tables[TIMES] if row["Task"] != "*"]
    if not times:
        tasks = sum(bool(_TASK.match(line.text)) for line in all_lines)
        times = [each for each in tables[TIMES_OF_ALL] if each[1]["of"].lower() == "mean"][:1] * max(tasks, 1)
    app, mpi = ([_of(line, row, column) for line, row in times] for column in ("AppTime", "MPITime"))
    return MpiPReport(tuple(sent), np.array(app, np.float64), np.array(mpi, np.float64), version)


def _count(line: Line, row: dict[str, str]) -> int:
    return whole(row["Count"], "Count", line)


def _of(line: Line, row: dict[str, str], column: str) -> float:
    return number(row[column], column, line, zero=True)


def _tables(all_lines: Iterable[Line]) -> tuple[dict[str, _Rows], ImportFormatError | None]:
    """Rows of the sections by column, checked for their number of fields; and what is wrong with another header."""
    tables: dict[str, _Rows] = {title: [] for title in _COLUMNS}
    unknown: ImportFormatError | None = None
    current: str | None = None
    columns: list[str] = []
    over = False
    for line in all_lines:
        text = line.text
        if text.startswith("@"):
            current, columns, over = next((title for title in _COLUMNS if title in text), None), [], False
        elif current is None or set(text) == {"-"}:
            continue
        elif not text:
            over = bool(tables[current])  # the next call site's rows follow, or sums
        elif not columns:
            columns = _COLUMNS[current]
            if text.split()[: len(columns)] != columns:
                unknown, current = unknown or line.error(f"header = {shown(text)}", " ".join(columns)), None
            elif current == TIMES_OF_ALL:
                columns = ["of", *columns]
        else:
            fields = text.split()
            if over and len(fields) != len(columns):
                continue
            # Of all tasks' times, the share may be missing, and tasks' numbers may follow.
            if len(fields) != len(columns) and not (current == TIMES_OF_ALL and len(fields) >= len(columns) - 1):
                raise line.error(f"row {shown(text)} has {len(fields)} of {len(columns)} fields", " ".join(columns))
            if line.cut:
                raise line.error(f"row {shown(text)} is cut off", "a complete last row")
            tables[current].append((line, dict(zip(columns, fields, strict=False))))
    return tables, unknown


FORMATS.append(WorkloadFormat("mpiP", lambda _, head: head.lstrip().startswith(b"@ mpiP")))
