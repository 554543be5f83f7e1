"""Tables of sizes with times or rates, wherever they stand: below a suite's titles, among text, as csv or Markdown.

A header is a line with a size and a time or rate, by their names (`columns.py`), apart by bars, tabs, semicolons,
commas or blanks. What its run was is said by a suite's title and comments (`formats/`), by the command before it, and
by columns such as pairs; a table without a title is a ping-pong if it has times, else a stream.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from pready.calibrate.importers import columns as by_name
from pready.calibrate.importers import command as commands
from pready.calibrate.importers.benchmarks import Measured, Test
from pready.calibrate.importers.columns import LABELS, WOULD_DO, Column, chosen, column
from pready.calibrate.importers.formats import SUITES, TESTS, Section, Suite
from pready.calibrate.importers.text import ImportFormatError, Line, number, whole, without_prefix
from pready.model.common.errors import shown

MOST_ROWS = 200_000  # of one file
LONGEST = 4000
"""Characters of a line at most that may be a row, a title or a command."""
WORDS = {"messages": "message rate"}
AGREE = 0.08
"""A rate agrees with its time: 2^20 against 10^6 bytes (4.9 %), and two decimals of the time."""
AGREE_RATES = 0.05
"""MB/s and Messages/s of a row say the same."""
FIRST_ROWS = 3  # rows from which on a pattern of their cells is no accident
MOST_SHOWN = 12  # columns that a refusal lists
_HEADER = re.compile(r"size|bytes|len", re.IGNORECASE)
_RULE = re.compile(r"[|│┃+:=\s─━┼╋-]*[-─━][|│┃+:=\s─━┼╋-]*")
_BARS = re.compile(r"[│┃]")
_SPACED = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_UNITED = re.compile(r"(?<=\d) (?=(?:[KMG]i?)?B(?:ytes)?\b)", re.IGNORECASE)
_COUNT = re.compile(r"[+-]?[0-9][0-9,.]*\s?[A-Za-z]*")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?")
_NAME = re.compile(
    r"(?:(?:Avg|Min|Max|Mean|Median|Average|P[0-9.]+|Tail|Message|Msg|Transmit|Half|Round|Trip|Window|MPI)\s)*"
    r"\S+(?:\s?[(\[][^)\]]*[)\]])?"
)


class Row(NamedTuple):
    line: Line
    cells: list[str]


def measured(text: str, source: str) -> tuple[list[Measured], list[str]]:
    """The runs of all tables in a text, and notes.

    Raises
    ------
    ImportFormatError
        A table that is not understood, a row that is not as its header says, or no table.
    """
    notes: list[str] = []
    lines = without_prefix(text, source, [suite.title for suite in SUITES])
    every = list(_sections(lines, source, notes))
    sections = [s for s in every if s.test]
    unread = list(dict.fromkeys(s.called for s in every if not s.test))
    if unread and not sections:
        raise every[0].line.error(f"test = {shown(unread[0])} is not supported", ", ".join(TESTS))
    if unread:
        notes.append(f"not used: {', '.join(unread)}, which says nothing of two ranks' messages")
    first, *others = dict.fromkeys(s.datatype for s in sections if s.datatype) or [""]
    if others:
        notes.append(f"only {first} was used, not {', '.join(others)}")
    runs = [run for s in sections if s.datatype in ("", first) for run in _runs(s, source, notes)]
    if sections and not runs:
        raise sections[0].line.error("no rows follow this title", "rows of a size and a value")
    return runs, notes


def _sections(all_lines: Iterator[Line], source: str, notes: list[str]) -> Iterator[Section]:
    """The sections of a file, each with its rows, in order."""
    suite: Suite | None = None
    section: Section | None = None
    command: commands.Command | None = None
    nodes: int | None = None
    exported: dict[str, str] = {}
    head: list[str] = []  # comments before the first title
    said: list[str] = []  # comments since the last row
    maybe: Line | None = None  # a header that is not understood
    rows, skipped, carried = 0, 0, ""
    for line in all_lines:
        text = carried + line.text
        carried = text[:-1] if text.endswith(" \\") and len(text) < LONGEST else ""
        if carried:
            continue
        if len(text) > LONGEST:
            skipped += 1
            continue
        nodes = commands.allocated(text) or nodes
        exported |= commands.exported(text)
        run = commands.parsed(text, nodes, [*exported.values()])
        if not text or run is not None:
            command, maybe = (command, maybe) if run is None else (run, None)
            if section is not None:
                section.over = bool(section.rows)
            continue
        opened = next(((each, match) for each in SUITES if (match := each.title.search(text))), None)
        if opened is not None:
            if section is not None:
                yield section
            suite, match = opened
            section = replace(suite.opened(match, line), command=command)
            for comment in [*head, *said]:
                section = _told(suite, section, comment)
            said, maybe = [], None
            continue
        columns = _header(text)[1] if _HEADER.search(text) else ()
        if columns and (text.startswith("#") or not _is_row(section, line)):
            if _understood(columns, section):
                if section is None or (section.rows and section.header is not None):
                    if section is not None:
                        yield section
                    section, suite = Section(line, _untitled(columns, command, source), command=command), None
                section.header, section.over = line, False
                continue
            maybe = maybe or (line if _like_a_header(text) else None)
        if text.startswith("#") and (suite is not None or section is None):
            (head if section is None else said).append(text)
            del said[:-40], head[:-200]
            if section is not None and suite is not None:
                told = _told(suite, section, text)
                # After its rows, only what begins another section counts; the rest is said of the next title.
                if section.rows and not told.rows:
                    yield section
                section = section if section.rows and told.rows else told
        elif section is None:
            if maybe is not None and maybe is not line and _like_a_row(maybe, text):
                raise _not_understood(maybe)
        elif _is_row(section, line):
            rows += 1
            if rows > MOST_ROWS:
                raise line.error("is one row too many", f"at most {MOST_ROWS} rows of results")
            section.rows.append(line)
            said = []
        elif not _RULE.fullmatch(text):
            skipped += 1
            section.over = bool(section.rows)
    if section is not None:
        yield section
    if skipped:
        notes.append(f"{skipped} lines that are no rows were skipped")


def _told(suite: Suite, section: Section, text: str) -> Section:
    """The section with a comment's facts; without rows, if the comment begins another."""
    for pattern, says, begins in suite.facts:
        if match := pattern.match(text):
            values = says(section, match)
            another: dict[str, Any] = {"rows": [], "over": False} if values and begins else {}
            return replace(section, **values, **another)
    return section


def _untitled(columns: Sequence[Column], command: commands.Command | None, source: str) -> str:
    """The test of a table without a title: as its command or its file is called, or by its columns."""
    for text in ("" if command is None else command.text, PurePath(source.partition(":")[0]).name.lower()):
        for name in re.findall(r"osu_\w+", text):
            if name in TESTS:
                return str(name)
    quantities = {c.quantity for c in columns}
    if quantities & {"time", "value"}:
        return "osu_latency"
    if "messages" in quantities:
        return "osu_mbw_mr"
    return "osu_bibw" if any(c.both_ways for c in columns) else "osu_bw"


# --- headers and rows -----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _header(text: str) -> tuple[str, tuple[Column, ...]]:
    """What parts the cells of a line (empty: blanks), and its columns."""
    barred = _BARS.sub("|", text)
    within = barred.strip("#| ")
    mark = next((m for m in "|\t;," if m in within or (m == "|" and barred.count("|") > 1)), "")
    mark = mark or " " * text.startswith('"')  # R's write.table
    body = text.lstrip("#").strip()
    names = _cells(body, mark) if mark else [name for part in re.split(r"\s{2,}", body) for name in _names(part)]
    return mark, tuple(column(at, name) for at, name in enumerate(names))


def _names(part: str) -> list[str]:
    """The names in a part of a header of blanks, which is one where it is known."""
    c = column(0, part)
    known = c.rank is not None or c.quantity in ("size", "label", "value", "unit", "harmless")
    return [part] if known else _NAME.findall(part)


def _cells(text: str, mark: str) -> list[str]:
    if not mark:
        return _UNITED.sub("", text).split()
    text = _SPACED.sub("", text)
    if mark == "|":
        cells = _BARS.sub("|", text).strip().removeprefix("|").removesuffix("|").split("|")
    else:
        cells = next(csv.reader([text], delimiter=mark, skipinitialspace=True), [])
    return [cell.strip().strip("*`\"'").strip() for cell in cells]


def _understood(columns: Sequence[Column], section: Section | None) -> bool:
    """Whether it is a header: a size, beside what may be read, or, below a title, beside anything."""
    quantities = {c.quantity for c in columns}
    return "size" in quantities and (
        bool(quantities & {"time", "rate", "messages"})
        or {"value", "unit"} <= quantities
        or (section is not None and section.called != "" and not section.rows)
    )


def _is_row(section: Section | None, line: Line) -> bool:
    """Whether a line is a row of the section's table, or text such as a list's "1. UCX" or a rule's "---".

    Within a table every line that begins like a number is one, so that a damaged row is refused; where other lines
    have come after the table's rows, only one that begins with two numbers, the first without a point.
    """
    if section is None:
        return False
    mark, columns = ("", ()) if section.header is None else _header(section.header.text)
    cells = _cells(line.text, mark)
    at = next((c.at for c in columns if c.quantity == "size"), 0)
    enough = at < len(cells) and len(cells) >= len(columns)
    if mark:
        return at < len(cells) > 1 and bool(re.match(r"[+-]?\d", cells[at])) and (not section.over or enough)
    if at > 0:
        return enough and bool(_COUNT.fullmatch(cells[at]))
    two = re.fullmatch(r"[+-]?[0-9][0-9,]*[A-Za-z]*", cells[0]) and _NUMBER.fullmatch(" ".join(cells[1:2]))
    return line.text[line.text[0] in "+-." :][:1].isdigit() and (not section.over or bool(two))


def _like_a_header(text: str) -> bool:
    """Whether a line may be a header that is not understood, and not prose."""
    columns = _header(text)[1]
    single = all(c.name and " " not in c.name for c in columns)
    sized = any(c.quantity == "size" for c in columns)
    return len(columns) > 1 and (sized or single) and not any(_NUMBER.fullmatch(c.name) for c in columns)


def _like_a_row(header: Line, text: str) -> bool:
    """Whether a line may be a row of a table with that header."""
    mark, columns = _header(header.text)
    cells = _cells(text, mark)
    return len(cells) > 1 and (bool(_NUMBER.match(cells[0])) or (bool(mark) and len(cells) == len(columns)))


def _not_understood(header: Line) -> ImportFormatError:
    names = ", ".join(shown(c.name) for c in _header(header.text)[1][:MOST_SHOWN] if c.name)
    return header.error(f"columns = {names}: none is read", WOULD_DO)


# --- from a section to runs -----------------------------------------------------------------------------


def _runs(section: Section, source: str, notes: list[str]) -> Iterator[Measured]:
    """A section's runs: one, or one for each value of columns such as pairs; two where a time and a rate differ."""
    if not section.rows:
        return
    if section.header is None:
        raise section.line.error("no '# Size …' header follows this title", "the header that its suite prints")
    columns, rows = _aligned(section, section.header)
    size = next((c for c in columns if c.quantity == "size"), None)
    if size is None:
        raise _not_understood(section.header)
    unit, value = (next((c for c in columns if c.quantity == q), None) for q in ("unit", "value"))
    by = [c for c in columns if c.quantity == "label"]
    _refuse_mixed(columns, rows, [c.at for c in (size, unit) if c], section.header)
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        labels = [row.cells[c.at] for c in by]
        groups.setdefault((*labels, row.cells[unit.at] if unit and value else ""), []).append(row)
    for (*labels, of), some in groups.items():
        own, mine = replace(section), columns
        for label, cell in zip(by, labels, strict=True):
            _label(own, LABELS[by_name.words(label.name)], cell, some[0].line)
        if unit and value:
            valued = by_name.of_unit(of)
            if valued is None:
                raise some[0].line.error(f"unit = {shown(of)}", "us, MB/s, or messages/s")
            mine = [*columns, replace(valued, at=value.at, name=value.name, rank=2)]
            if own.test == "osu_latency" and valued.quantity != "time":
                own.test = "osu_bw" if valued.quantity == "rate" else "osu_mbw_mr"
        yield from _figures(own, mine, some, size, source, notes)


def _aligned(section: Section, header: Line) -> tuple[list[Column], list[Row]]:
    """The columns, as many as its rows have cells, and the rows' cells."""
    mark, columns = _header(header.text)
    rows = [Row(line, _cells(line.text, mark)) for line in section.rows]
    names = [c.name for c in columns]
    fewest = min(len(cells) for _, cells in rows)
    if fewest != len(names):
        single = [m.group() for m in _NAME.finditer(header.text.lstrip("#").strip())]
        names = single if not mark and len(single) >= len(names) else names
        first, counts = rows[0].cells[:1], [cells[0] for _, cells in rows]
        # pandas and R print their index without a name, from 0 and from 1.
        if fewest == len(names) + 1 and len(rows) > FIRST_ROWS and first in (["0"], ["1"]):
            names = ["", *names] if counts == [str(k + int(first[0])) for k in range(len(rows))] else names
        columns = tuple(column(at, name) for at, name in enumerate(names))
    for line, cells in rows:
        if len(cells) < len(names) or (mark and len([c for c in cells if c]) > len(names)):
            many = f"{len(cells)} of {len(names)} columns"
            raise line.error(f"row {shown(line.text)} has {many}", ", ".join(c for c in names if c))
    return list(columns), rows


def _refuse_mixed(columns: Sequence[Column], rows: Sequence[Row], apart: Sequence[int], line: Line) -> None:
    """Raises where sizes are there several times, of runs that differ in a column that is not read."""
    if len({tuple(cells[at] for at in apart) for _, cells in rows}) == len(rows):
        return
    for c in (c for c in columns if c.quantity == "other"):
        values = list(dict.fromkeys(cells[c.at] for _, cells in rows))
        if 1 < len(values) <= max(len(rows) // 2, 2):
            some = ", ".join(shown(v) for v in values[:3])
            raise line.error(f"column {shown(c.name)} tells rows of a size apart: {some}", "rows of one of them")


def _label(section: Section, name: str, cell: str, line: Line) -> None:
    if name == "benchmark":
        known = {test.lower().removeprefix("imb ").removeprefix("osu_"): test for test in TESTS}
        test = known.get(cell.lower().removeprefix("osu_").removeprefix("imb "))
        if test is None:
            raise line.error(f"benchmark = {shown(cell)} is not supported", ", ".join(TESTS))
        section.test = test
    elif name in ("pairs", "window", "threads"):
        count = whole(cell, name, line, least=1, largest=10**6)
        setattr(section, name, (1, count) if name == "threads" else count)


class Figure(NamedTuple):
    """A row's bytes, and as they are written the value that is read and the rate beside it."""

    line: Line
    size: float
    value: float
    rate: float | None


def _figures(
    section: Section, columns: Sequence[Column], rows: Sequence[Row], size: Column, source: str, notes: list[str]
) -> Iterator[Measured]:
    assert section.header is not None
    test, header = TESTS[section.test], section.header
    wanted = chosen(columns, test.quantity, header)
    if wanted is None and test.quantity == "messages":
        wanted = chosen(columns, "rate", header)
    if wanted is None:
        if test.kind == "unused":
            notes.append(f"not used: {test.name}")
            return
        names, what = ", ".join(shown(c.name) for c in columns if c.name), WORDS.get(test.quantity, test.quantity)
        raise header.error(f"columns = {names}: none is a {what} of {test.name}", WOULD_DO)
    if wanted.rank == 0 and test.quantity != "messages":
        notes.append(f"the medians ({wanted.name}) of {test.name} were used, not its means")
    rate = None if wanted.quantity == "rate" else chosen(columns, "rate", header)
    kept, left = list[Figure](), {"whose validation failed": 0, "with a rate that was rounded to 0": 0}
    checks = [c.at for c in columns if c.name.lower() in ("validation", "validated", "pass")]
    for figure, cells in _read(rows, size, wanted, rate, titled=bool(section.called)):
        if figure.value == 0:
            left["with a rate that was rounded to 0"] += 1
        elif any(cells[at].lower() in ("fail", "failed", "false") for at in checks):
            left["whose validation failed"] += 1
        else:
            kept.append(figure)
    notes += [f"{count} rows of {test.name} {why} were left out" for why, count in left.items() if count]
    if wanted.quantity == "time" and rate is not None and section.divide == 1:
        yield from _as_stream(section, kept, wanted, rate, source, notes)
    if kept:
        values = [(f.size / section.divide, _in_si(test, wanted, section.pairs, f)) for f in kept]
        yield _measured(section, source, values)


def _read(
    rows: Sequence[Row], size: Column, wanted: Column, rate: Column | None, *, titled: bool
) -> Iterator[tuple[Figure, list[str]]]:
    comma = by_name.decimal_comma([cells[wanted.at] for _, cells in rows])
    commas = any(by_name.decimal_comma([cells[c.at] for _, cells in rows]) is True for c in (wanted, rate) if c)
    _refuse_cut(rows, wanted, size, titled=titled)
    for line, cells in rows:
        bytes_ = by_name.size_of(cells[size.at], size, line, comma=commas)
        cell = cells[wanted.at]
        if comma is None and "," in cell:
            twice = f"{wanted.name} = {shown(cell)} may be read in two ways"
            raise line.error(twice, "a decimal point, or two decimals")
        value = number(by_name.plain(cell, comma=commas), wanted.name, line, zero=wanted.quantity != "time")
        other = None
        if rate is not None and cells[rate.at]:
            other = number(by_name.plain(cells[rate.at], comma=commas), rate.name, line, zero=True)
            off = abs(other - value * bytes_ / 1e6) > AGREE_RATES * other + 0.006
            if value and wanted.quantity == "messages" and off and rate.factor == 1e6:
                told = f"{rate.name} = {other:g} and {wanted.name} = {value:g} do not belong to {bytes_:g} bytes"
                raise line.error(told, f"{rate.name} = {wanted.name} · size/10^6")
        yield Figure(line, bytes_, value, other), cells


def _as_stream(
    section: Section, kept: Sequence[Figure], wanted: Column, rate: Column, source: str, notes: list[str]
) -> Iterator[Measured]:
    """The rates beside times as a run of their own, where they are not size over time.

    Raises
    ------
    ImportFormatError
        Such rates of a suite that prints them so.
    """
    rates = [(f, f.value * wanted.factor, f.rate * rate.factor) for f in kept if f.rate is not None]
    decimals = 0.006 * rate.factor  # two of a rate say little of a small one
    bad = [f for f, t, r in rates if abs(r - f.size / t) > AGREE * r + decimals * (1 + f.size / (t * 1e6) ** 2)]
    kind = TESTS[section.test].kind
    if bad and section.called and "avg" not in wanted.name.lower() and kind == "ping_pong":
        told = f"{wanted.name} and {rate.name} = {bad[0].rate:g} contradict {bad[0].size:g} B"
        raise bad[0].line.error(told, f"{rate.name} = size/{wanted.name}")
    off = [abs(f.size / t / r - 1) for f, t, r in rates if f.size and r]
    if off and len(bad) > len(rates) / 2 and np.median(off) > AGREE and not section.called:
        notes.append(f"{rate.name} is not size over {wanted.name}: taken as a stream's")
        test = TESTS["osu_bibw" if rate.both_ways else "osu_bw"]
        each = [(f.size, test.messages * f.size / r) for f, _, r in rates if f.size and r]
        yield _measured(replace(section, test=test.name), source, each)


def _in_si(test: Test, wanted: Column, pairs: int, f: Figure) -> float:
    """Seconds of a message; of several pairs, messages per second."""
    made = f.value * wanted.factor
    if wanted.quantity == "time":
        return made
    if wanted.quantity == "rate":
        if f.size == 0:
            raise f.line.error("size = 0 has no bandwidth", "at least 1")
        made /= test.messages * f.size
    return made if test.kind == "pair_rates" and pairs != 1 else 1 / made


def _measured(section: Section, source: str, values: Sequence[tuple[float, float]]) -> Measured:
    test, s = TESTS[section.test], section
    keys: dict[str, Hashable] = {"pair_rates": s.pairs, "threaded": s.threads, "puts": s.synchronisation}
    key = keys.get("puts" if test.kind == "put_streams" else test.kind)
    window = s.window if test.kind in ("stream", "pair_rates") else 0
    return Measured(test, source, s.version, key, tuple(values), window, s.memory, s.command, s.waiting)


def _refuse_cut(rows: Sequence[Row], wanted: Column, size: Column, *, titled: bool) -> None:
    """Raises when a last row has no line end and its last cell may have lost digits.

    Suites print a fixed number of decimals: a cell is complete when it has as many as the one before. Elsewhere it may
    be where all other rows have one number of decimals.
    """
    line, cells = rows[-1]
    if not line.cut or len(cells) - 1 not in (wanted.at, size.at):
        return
    *before, last = (len(point + rest) for _, row in rows for _, point, rest in [row[-1].partition(".")])
    lost = before[-1:] != [last] if titled else len(before) >= FIRST_ROWS and {*before} == {before[0]} != {last}
    if lost:
        raise line.error(f"row {shown(line.text)} is cut off", "a complete last row")
