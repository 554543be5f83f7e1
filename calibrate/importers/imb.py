"""Intel MPI Benchmarks: PingPong of IMB-MPI1, 4.x to 2021.x.

    # Benchmarking PingPong
    # #processes = 2
    #---------------------------------------------------
           #bytes #repetitions      t[usec]   Mbytes/sec
                0         1000         2.23         0.00

t is half a round trip. Mbytes/sec checks it: 10^6 bytes since IMB 2018, 2^20 before.
"""

from __future__ import annotations

import re

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers import one_node
from pready.calibrate.importers.benchmarks import Imported, explain
from pready.calibrate.importers.text import (
    ImportFormatError,
    Line,
    Provenance,
    lines,
    number,
    row_after,
    whole,
    without_prefix,
)
from pready.model.common.errors import shown

_START = re.compile(r"#\s*Benchmarking\s+(\S+)", re.IGNORECASE)
_VERSION = re.compile(r"#\s*Intel\s*\(R\)\s*MPI Benchmarks\s+([0-9][0-9.]*)", re.IGNORECASE)
_PROCESSES = re.compile(r"#\s*#?processes\s*=\s*(\d{1,9})", re.IGNORECASE)
AGREE = 0.08  # covers 2^20 against 10^6 (4.9 %) and two decimals of t


def parse_imb(data: bytes, source: str = "input") -> Imported:
    """Parses IMB's PingPong; other benchmarks in the file are skipped.

    Raises
    ------
    ImportFormatError
        No PingPong of two processes, no rows, or a row that is not as its header says.
    """
    version = ""
    all_lines = without_prefix(lines(data, source), _START)
    skipped: list[str] = []
    inside = over = False
    title: Line | None = None
    columns: list[str] = []  # of the PingPong being read
    header: list[str] = []  # of all of them
    rows: list[tuple[Line, list[str]]] = []
    for line in all_lines:
        text = line.text
        if match := _VERSION.match(text):
            version = match.group(1).rstrip(".")
        elif match := _START.match(text):
            inside, over = match.group(1).lower() == "pingpong", False
            if not inside:
                skipped.append(match.group(1))
            title = line if inside else title
            columns = []
        elif not inside:
            continue
        elif match := _PROCESSES.match(text):
            if int(match.group(1)) != 2:
                raise line.error(f"#processes = {match.group(1)}", "2")
        elif text.startswith("#bytes"):
            columns = text.split()
            header = header or columns
            if columns != header:
                raise line.error(f"columns = {shown(', '.join(columns))}", ", ".join(header) + " as before")
        elif not text or not (text[0].isdigit() or text[0] in "+-.") or not row_after(line, over):
            over = over or bool(rows and columns)
        elif text[0].isdigit():
            if not columns:
                raise line.error("a row comes before its '#bytes …' header", "the header that IMB prints")
            row = text.split()
            if len(row) < len(columns):
                raise line.error(f"row {shown(text)} has {len(row)} of {len(columns)} columns", ", ".join(columns))
            rows.append((line, row))
        else:
            raise line.error(f"#bytes = {shown(text.split()[0])}", "a whole number, at least 0")
    if title is None and skipped:
        tests = ", ".join(dict.fromkeys(skipped))
        raise ImportFormatError(f"test = {shown(tests)} is not supported", valid="PingPong", source=source)
    if title is None:
        raise ImportFormatError("has no PingPong", valid="a line '# Benchmarking PingPong'", source=source)
    if not rows:
        raise title.error("no rows follow this title", "rows of #bytes, #repetitions, t[usec], Mbytes/sec")
    times = _times(header, rows)
    observations = Observations(ping_pong=Curve.of(list(times), list(times.values())))
    notes = list(explain(observations, "IMB PingPong"))
    if skipped:
        notes.append(f"not used: {', '.join(dict.fromkeys(skipped))}")
    if (runs := sum(row[0] == rows[0][1][0] for _, row in rows)) > 1:
        notes.append(f"{runs} runs of PingPong: medians, and intervals that hold all but 5 % of them")
    provenance = Provenance(source, "IMB PingPong", version, tuple(notes))
    why = one_node.of_times(observations.ping_pong, one_node.said(all_lines))
    return Imported(observations, provenance, one_node=why)


def _times(columns: list[str], rows: list[tuple[Line, list[str]]]) -> dict[float, list[float]]:
    names = [name.lower() for name in columns]
    at = next((names.index(name) for name in ("t[usec]", "t_avg[usec]") if name in names), None)
    if at is None:
        raise rows[0][0].error(f"columns = {shown(', '.join(columns))}", "one of t[usec] and t_avg[usec]")
    found: dict[float, list[float]] = {}
    for line, row in rows:
        size = float(whole(row[0], "#bytes", line))
        if "#repetitions" in names:
            whole(row[names.index("#repetitions")], "#repetitions", line, least=1)
        time = number(row[at], columns[at], line)
        if "mbytes/sec" in names:
            rate = number(row[names.index("mbytes/sec")], "Mbytes/sec", line, zero=True)
            if abs(rate - size / time) > AGREE * rate + 0.006 * (1 + size / time**2):
                raise line.error(
                    f"{columns[at]} = {row[at]} and Mbytes/sec = {rate:g} contradict {size:g} B",
                    "Mbytes/sec = #bytes/t",
                )
        found.setdefault(size, []).append(time * 1e-6)
    return found
