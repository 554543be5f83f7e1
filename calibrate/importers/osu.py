"""OSU micro-benchmarks: osu_latency, osu_bw, osu_mbw_mr; OMB 3 to 7.

    # OSU MPI Latency Test v5.6.2              # OSU MPI Bandwidth Test v7.3
    # Size          Latency (us)               # Datatype: MPI_CHAR.
    0                       1.55               # Size      Bandwidth (MB/s)
                                               1                       0.63

OMB 7 prints "Avg Latency(us)", may add columns (percentiles, minimum, maximum, iterations,
validation), and prints the data type before or after the header. MB is 10^6 bytes. A latency is
half a round trip. A bandwidth is that of a window of messages, 64 unless `-W` was given, and its
answer: size/bandwidth is the gap plus a 64th of an answer, which cannot be taken out as the window
is not in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers.benchmarks import Imported, explain, undetermined
from pready.calibrate.importers.text import (
    ImportFormatError,
    Line,
    Provenance,
    lines,
    number,
    read,
    refuse_cut,
    uses_decimal_comma,
    whole,
)
from pready.model.errors import shown

TITLE = re.compile(r"#\s*OSU MPI(?:-\w+)?\s+(?P<test>.+?)\s+Test\s+v(?P<version>[0-9][0-9.]*\S*)", re.IGNORECASE)
TESTS = {
    "latency": "osu_latency",
    "bandwidth": "osu_bw",
    "multiple bandwidth / message rate": "osu_mbw_mr",
}
_COLUMNS = re.compile(
    r"Size|(?:(?:Avg|Min|Max) )?Latency ?\(us\)|P[0-9.]+ Tail Lat ?\(us\)"
    r"|P[0-9.]+ Tail BW ?\(MB/s\)|Bandwidth ?\(MB/s\)|MB/s|Messages/s|Iterations|Validation",
    re.IGNORECASE,
)
_WANTED = {
    "osu_latency": re.compile(r"(Avg )?Latency ?\(us\)", re.IGNORECASE),
    "osu_bw": re.compile(r"Bandwidth ?\(MB/s\)", re.IGNORECASE),
    "osu_mbw_mr": re.compile(r"Messages/s", re.IGNORECASE),
}
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\d{1,9})\s*\]\s*\[\s*window size:\s*(\S+)\s*\]", re.IGNORECASE)
_DATATYPE = re.compile(r"#\s*Datatype:\s*(\S+?)\.?\s*$", re.IGNORECASE)
AGREE = 0.05  # MB/s and Messages/s of one row say the same


@dataclass
class _Section:
    """One test's table within a file."""

    test: str
    version: str
    title: Line
    columns: list[str] = field(default_factory=list)
    pairs: int = 1
    datatype: str = ""
    rows: list[tuple[Line, list[str]]] = field(default_factory=list)


def import_osu(path: str | Path) -> Imported:
    """Reads a file of one or more OSU tests; see `parse_osu`."""
    return parse_osu(read(path), str(path))


def parse_osu(data: bytes, source: str = "input") -> Imported:
    """What OSU's output says.

    Parameters
    ----------
    data
        The file's bytes: one test or several, launcher messages in between are skipped and counted.
    source
        How errors name it.

    Raises
    ------
    ImportFormatError
        No title of a supported test, no rows, or a row that is not as its header says.
    """
    sections, notes = _sections(lines(data, source))
    if not sections:
        raise ImportFormatError(
            "has no title line of an OSU test",
            valid="a line such as '# OSU MPI Latency Test v7.3' (osu_latency, osu_bw, osu_mbw_mr)",
            source=" ".join(source.split()) or "input",
        )
    latency: dict[float, list[float]] = {}
    stream: dict[float, list[float]] = {}
    rates: dict[int, dict[float, list[float]]] = {}
    used = 0
    for section in sections:
        for line, size, value in _values(section, notes):
            used += 1
            if section.test == "osu_latency":
                latency.setdefault(size, []).append(value * 1e-6)
            elif section.test == "osu_bw":
                if size == 0:
                    raise line.error("size = 0 has no bandwidth", "at least 1")
                stream.setdefault(size, []).append(size / (value * 1e6))
            elif section.pairs == 1:
                stream.setdefault(size, []).append(1 / value)
            else:
                rates.setdefault(section.pairs, {}).setdefault(size, []).append(value)
    if not used:
        raise sections[0].title.error("no rows follow this title", "rows of a size and a value")
    observations = Observations(ping_pong=_curve(latency), stream=_curve(stream))
    assumed = undetermined(observations)
    tests = ", ".join(dict.fromkeys(section.test for section in sections))
    if stream:
        notes.append("the gap is size/bandwidth, which holds a share of the window's answer too")
    if not latency:
        notes.append(f"{tests} alone does not determine how long one message takes; add osu_latency")
    notes.extend(explain(assumed, tests))
    provenance = Provenance(source, tests, sections[0].version, used, tuple(notes))
    pair_rates = {pairs: curve for pairs, found in rates.items() if (curve := _curve(found)) is not None}
    return Imported(observations, assumed, provenance, pair_rates)


def _curve(found: dict[float, list[float]]) -> Curve | None:
    return Curve.of(list(found), list(found.values())) if found else None


def _sections(all_lines: list[Line]) -> tuple[list[_Section], list[str]]:
    sections: list[_Section] = []
    skipped = 0
    types = 0
    for line in all_lines:
        text = line.text
        title = TITLE.search(text)
        if title:
            sections.append(_opened(title, line))
            types = 0
        elif not sections or not text:
            continue
        elif text.startswith("#"):
            section = sections[-1]
            pairs, datatype = _PAIRS.match(text), _DATATYPE.match(text)
            if pairs:
                section.pairs = max(int(pairs.group(1)), 1)
            elif datatype:
                types += 1
                if types > 1:
                    section = _Section(section.test, section.version, line, section.columns, section.pairs)
                    sections.append(section)
                section.datatype = datatype.group(1)
            elif re.match(r"#\s*Size\b", text, re.IGNORECASE):
                section.columns = _header(text)
        elif text[0].isdigit():
            sections[-1].rows.append((line, text.split()))
        elif text[0] in "+-.":
            raise line.error(f"size = {shown(text.split()[0])}", "a whole number, at least 0")
        else:
            skipped += 1
    notes = [f"{skipped} lines that are no rows were skipped"] if skipped else []
    return _one_type(sections, notes), notes


def _opened(title: re.Match[str], line: Line) -> _Section:
    name = " ".join(title.group("test").lower().split())
    if name not in TESTS:
        raise line.error(f"test = {shown(title.group('test'))} is not supported", ", ".join(TESTS.values()))
    return _Section(TESTS[name], title.group("version"), line)


def _header(text: str) -> list[str]:
    """Column names; unknown ones between known ones by blanks, so that positions stay right."""
    found: list[str] = []
    at = 0
    body = text.lstrip("#").strip()
    for match in _COLUMNS.finditer(body):
        found.extend(body[at : match.start()].split())
        found.append(match.group())
        at = match.end()
    return found + body[at:].split()


def _one_type(sections: list[_Section], notes: list[str]) -> list[_Section]:
    """Of sections that differ in data type (OMB 7, -T all) only the first type's."""
    types = list(dict.fromkeys(s.datatype for s in sections if s.datatype))
    if len(types) < 2:
        return sections
    notes.append(f"only {types[0]} was used, not {', '.join(types[1:])}")
    return [s for s in sections if s.datatype in ("", types[0])]


def _values(section: _Section, notes: list[str]) -> list[tuple[Line, float, float]]:
    """(line, size, value in the file's unit) of each row."""
    if not section.rows:
        return []
    wanted = _WANTED[section.test]
    if not section.columns:
        raise section.title.error("no '# Size …' header follows this title", "the header that OSU prints")
    column = next((i for i, name in enumerate(section.columns) if wanted.fullmatch(name)), None)
    if column is None or section.columns[0].lower() != "size":
        raise section.title.error(
            f"columns = {shown(', '.join(section.columns))}",
            f"Size first, and one for {section.test}",
        )
    comma = uses_decimal_comma([t for _, row in section.rows for t in row[1:]])
    found: list[tuple[Line, float, float]] = []
    zeros = 0
    before: Line | None = None
    for line, row in section.rows:
        if len(row) < len(section.columns):
            raise line.error(
                f"row {shown(line.text)} has {len(row)} of {len(section.columns)} columns",
                ", ".join(section.columns),
            )
        if column == len(row) - 1:
            refuse_cut(line, before)
        before = line
        size = float(whole(row[0], "size", line))
        rate = section.test != "osu_latency"
        value = number(row[column], section.columns[column], line, decimal_comma=comma, zero=rate)
        if value == 0:
            zeros += 1
            continue
        if section.test == "osu_mbw_mr":
            _agree(section, line, row, size, value, comma)
        found.append((line, size, value))
    if zeros:
        notes.append(f"{zeros} rows of {section.test} with a rate that was rounded to 0 were left out")
    return found


def _agree(section: _Section, line: Line, row: list[str], size: float, rate: float, comma: bool) -> None:
    names = [name.lower() for name in section.columns]
    if "mb/s" not in names:
        return
    megabytes = number(row[names.index("mb/s")], "MB/s", line, decimal_comma=comma, zero=True)
    if abs(megabytes - rate * size / 1e6) > AGREE * megabytes + 0.006:
        raise line.error(
            f"MB/s = {megabytes:g} and Messages/s = {rate:g} do not belong to {size:g} bytes",
            "MB/s = Messages/s · size/10^6",
        )
