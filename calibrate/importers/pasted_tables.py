"""Tables of sizes and times as other programs keep OSU's results: comma-separated values, Markdown from a web page.

    | Size | Avg Latency(us) |        Size,Latency (us)        size (bytes),time (seconds),throughput (MB/s)
    | ---: | --------------: |        1,1.55                   8,1.05E-06,8
    | 1    | 1.55            |

`as_osu` rewrites their lines as OSU prints them, each in its place; other lines stay as they are. A table without a
title of OSU's is a ping-pong if it has a column of times, else a stream of messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pready.calibrate.importers.text import Line
from pready.model.common.units import Unit, parse

_SIZE = re.compile(r"\W*(?:msg |message )?(?:size|bytes|nbytes)\W*(?:\(?(?:bytes|B)\)?)?\W*", re.IGNORECASE)
_TIME = re.compile(
    r"(?:(?P<which>avg|mean|average|median|min|max|p50|half)\w*\W+)*(?:tail )?(?:lat\w*|time|t)\W*"
    r"[(\[]\s*(?P<unit>ns|us|µs|μs|usec|microseconds?|ms|s|sec|seconds?)\s*[)\]].*",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?:(?:avg|mean|average) )?(?:bandwidth|throughput|bw|rate)?\W*"
    r"[(\[]?\s*(?P<unit>[KMG]i?B/s|[KMG]i?bytes/sec)\s*[)\]]?.*",
    re.IGNORECASE,
)
_MESSAGES = re.compile(r"(?:message rate\W*)?\(?messages/s\)?", re.IGNORECASE)
_RULE = re.compile(r"[|:\s-]*-[|:\s-]*")
_TITLE = re.compile(r"OSU MPI", re.IGNORECASE)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}
_PREFIX = {"k": 1e3, "m": 1e6, "g": 1e9, "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30}


@dataclass(frozen=True)
class _Column:
    """One column that is read, and the factor to OSU's unit."""

    at: int
    name: str
    factor: float


def as_osu(lines: list[Line]) -> tuple[list[Line], int]:
    """The lines with tables rewritten as OSU's, and how many rows that were."""
    out: list[Line] = []
    found: list[_Column] = []
    separator, titled, rows = "", False, 0
    for line in lines:
        text = line.text
        titled = titled or bool(_TITLE.search(text))
        separator_here = "|" if text.startswith("|") else separator or ("|" if text.count("|") > 1 else ",")
        cells = _cells(text, separator_here)
        columns = _header(cells)
        if columns:
            found, separator = columns, separator_here
            if not titled:
                kind = "Latency" if "Latency" in columns[0].name else "Bandwidth"
                out.append(replace(line, text=f"# OSU MPI {kind} Test"))
            out.append(replace(line, text=f"# Size {' '.join(c.name for c in columns)}"))
            titled = False
        elif found and _RULE.fullmatch(text):
            continue
        elif found and (row := _row(cells, found)) is not None:
            out.append(replace(line, text=row))
            rows += 1
        else:
            if text and not text.startswith("#"):
                found, separator = [], ""
            out.append(line)
    return out, rows


def _cells(text: str, separator: str) -> list[str]:
    return [cell.strip().strip("*`\"'") for cell in text.strip().strip("|").split(separator)]


def _header(cells: list[str]) -> list[_Column]:
    """The columns of a header to read; none if it is no header."""
    if len(cells) < 2 or not _SIZE.fullmatch(cells[0]):
        return []
    times, rates, messages = [], [], []
    for at, cell in enumerate(cells[1:], start=1):
        if match := _TIME.fullmatch(cell):
            unit = match.group("unit").lower()
            factor = _SECONDS.get(unit) or (1e-6 if unit.startswith("micro") else 1.0)
            times.append((cell, _Column(at, "Latency (us)", factor * 1e6)))
        elif _MESSAGES.fullmatch(cell):
            messages.append(_Column(at, "Messages/s", 1.0))
        elif match := _RATE.fullmatch(cell):
            prefix = re.sub(r"b(ytes)?/s(ec)?", "", match.group("unit").lower())
            rates.append(_Column(at, "Bandwidth (MB/s)", _PREFIX[prefix] * 1e-6))
    if messages:
        return [*(replace(r, name="MB/s") for r in rates[:1]), messages[0]]
    if times:  # the median, else the first, which is the mean
        best = next((c for cell, c in times if re.match(r"p50|median", cell, re.IGNORECASE)), times[0][1])
        return [best]
    return rates[:1]


def _row(cells: list[str], columns: list[_Column]) -> str | None:
    """A row as OSU prints it; None if it is none."""
    if len(cells) <= columns[-1].at or not cells[0] or not cells[0][0].isdigit():
        return None
    size = cells[0].replace(" ", "")
    if not size.isdigit():  # "64 KiB"; "1K" is refused where the row is read
        try:
            size = f"{parse(cells[0], Unit.SIZE, 'size'):.0f}"
        except ValueError:
            return None
    return " ".join([size, *(_scaled(cells[c.at], c.factor) for c in columns)])


def _scaled(text: str, factor: float) -> str:
    """The number in OSU's unit; anything else as it is, to be refused where the row is read."""
    try:
        return text if factor == 1 else repr(float(text) * factor)
    except ValueError:
        return text
