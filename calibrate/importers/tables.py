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

import numpy as np

from pready.calibrate.importers import command as commands
from pready.calibrate.importers.benchmarks import TESTS, Measured
from pready.calibrate.importers.columns import (
    WOULD_DO,
    Column,
    chosen,
    column,
    decimal_comma,
    of_unit,
    plain,
    size_of,
)
from pready.calibrate.importers.formats import SUITES, Section, Suite
from pready.calibrate.importers.text import ImportFormatError, Line, number, whole, without_prefix
from pready.model.common.errors import shown

MOST_ROWS = 200_000
LONGEST = 4000
"""Characters of a line at most that may be a row, a title or a command."""
AGREE = 0.08
"""A rate agrees with its time: 2^20 against 10^6 bytes (4.9 %), and two decimals of the time."""
AGREE_RATES = 0.05
"""MB/s and Messages/s of a row say the same."""
FIRST_ROWS = 3
MOST_SHOWN = 12
_HEADER = re.compile(r"size|bytes|len", re.IGNORECASE)
_RULE = re.compile(r"[|│┃+:=\s─━┼╋-]*[-─━][|│┃+:=\s─━┼╋-]*")
_BARS = re.compile(r"[│┃]")
_UNITED = re.compile(r"(?<=\d) (?=(?:[KMG]i?)?B(?:ytes)?\b)", re.IGNORECASE)
_COUNT = re.compile(r"[+-]?[0-9][0-9,.]*\s?[A-Za-z]*")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?")
_NAME = re.compile(
    r"(?:(?:Avg|Min|Max|Mean|Median|Average|P[0-9.]+|Tail|Message|Msg|Transmit|Half|Round|Trip|Window|MPI)\s)*"
    r"\S+(?:\s?[(\[][^)\]]*[)\]])?"
)
_NAMED = re.compile(r"osu_\w+")


def measured(text: str, source: str) -> tuple[list[Measured], list[str]]:
    """The runs of all tables in a text, and notes.

    Raises
    ------
    ImportFormatError
        A table that is not understood, a row that is not as its header says, or no table.
    """
    title = re.compile("|".join(re.sub(r"\(\?P<\w+>", "(", suite.title.pattern) for suite in SUITES), re.IGNORECASE)
    notes: list[str] = []
    sections = list(_sections(without_prefix(text, source, title), source, notes))
    unread = list(dict.fromkeys(s.called for s in sections if not s.test))
    if unread and all(not s.test for s in sections):
        valid = ", ".join(TESTS)
        raise sections[0].line.error(f"test = {shown(unread[0])} is not supported", valid)
    if unread:
        notes.append(f"not used: {', '.join(unread)}, which says nothing of two ranks' messages")
    sections = [s for s in sections if s.test]
    types = list(dict.fromkeys(s.datatype for s in sections if s.datatype))
    if len(types) > 1:
        notes.append(f"only {types[0]} was used, not {', '.join(types[1:])}")
    sections = [s for s in sections if s.datatype in ("", *types[:1])]
    runs = [run for section in sections for run in _runs(section, source, notes)]
    if sections and not runs:
        raise sections[0].line.error("no rows follow this title", "rows of a size and a value")
    return runs, notes


def _sections(all_lines: Iterator[Line], source: str, notes: list[str]) -> Iterator[Section]:
    """The sections of a file, each with its rows, in order."""
    suite: Suite | None = None
    section: Section | None = None
    command: commands.Command | None = None
    nodes: int | None = None
    head: list[str] = []
    said: list[str] = []
    maybe: Line | None = None  # a header that is not understood
    rows = skipped = 0
    for line in all_lines:
        text = line.text
        if len(text) > LONGEST:
            skipped += 1
            continue
        if not text:
            if section is not None:
                section.over = bool(section.rows)
            continue
        found = commands.allocated(text)
        nodes = nodes if found is None else found
        if (run := commands.parsed(text, nodes)) is not None:
            command, maybe = run, None
            if section is not None:
                section.over = bool(section.rows)
            continue
        opened = next(((s, match) for s in SUITES if (match := s.title.search(text))), None)
        if opened is not None:
            if section is not None:
                yield section
            suite, match = opened
            section = suite.opened(match, line)
            section.command = command
            for comment in [*head, *said]:
                _told(suite, section, comment)
            said, maybe = [], None
            continue
        header = _HEADER.search(text) is not None and bool(_cells(text)) and _columns(text)
        if header and (text.startswith("#") or not _is_row(section, line)):
            columns = _columns(text)
            if _understood(columns, section):
                if section is None or (section.rows and section.header is not None):
                    same = section is not None and section.called == "" and section.header is not None
                    if section is not None and (same or section.rows):
                        yield section
                    section = Section(line, _untitled(columns, command, source), "", command=command)
                    suite = None
                section.header, section.over = line, False
                continue
            maybe = maybe or (line if _like_a_header(text) else None)
        if text.startswith("#") and (suite is not None or section is None):
            (head if section is None else said).append(text)
            del said[:-40], head[:-200]
            if section is not None and suite is not None:
                # After its rows, only what begins another section counts; the rest is said of the next title.
                another = _told(suite, replace(section) if section.rows else section, text)
                if another is not None:
                    yield section
                    section = another
            continue
        if section is None:
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


def _told(suite: Suite, section: Section, text: str) -> Section | None:
    """Keep a comment's facts about its section; a section that follows it, if the comment begins one."""
    for pattern, fact in suite.facts:
        if match := pattern.match(text):
            return fact(section, match)
    return None


def _untitled(columns: Sequence[Column], command: commands.Command | None, source: str) -> str:
    """The test of a table without a title: as its command or its file is called, or by its columns."""
    for text in ("" if command is None else command.text, PurePath(source.partition(":")[0]).name.lower()):
        named: str | None = next((name for name in _NAMED.findall(text) if name in TESTS), None)
        if named is not None:
            return named
    quantities = {c.quantity for c in columns}
    if "time" in quantities or "value" in quantities or any(c.name == "benchmark" for c in columns):
        return "osu_latency"
    if "messages" in quantities:
        return "osu_mbw_mr"
    return "osu_bibw" if any(c.both_ways for c in columns) else "osu_bw"


# --- headers and rows -----------------------------------------------------------------------------------


def _delimiter(text: str) -> str:
    """What parts the cells of a line; empty: blanks."""
    barred = str(_BARS.sub("|", text))
    for mark in "|\t;,":
        if mark in barred.strip("#| ") or (mark == "|" and barred.count("|") > 1):
            return mark
    return ""


def _cells(text: str, delimiter: str | None = None) -> list[str]:
    """The cells of a header or row."""
    mark = _delimiter(text) if delimiter is None else delimiter
    body = text.lstrip("#").strip() if delimiter is None else text
    if not mark:
        return _names(body) if delimiter is None else _UNITED.sub("", body).split()
    if mark == "|":
        cells = _BARS.sub("|", body).strip().removeprefix("|").removesuffix("|").split("|")
    else:
        try:
            cells = next(csv.reader([body], delimiter=mark, skipinitialspace=True), [])
        except csv.Error:
            return []
    return [cell.strip().strip("*`\"'").strip() for cell in cells]


def _names(text: str) -> list[str]:
    """The names of a header of blanks: two part them, or one where a name of two words is none that is known."""
    return [
        name
        for part in re.split(r"\s{2,}", text)
        for name in ([part] if _known(column(0, part)) else _NAME.findall(part))
    ]


def _known(c: Column) -> bool:
    return c.rank is not None or c.quantity in ("size", "label", "value", "unit", "harmless")


@lru_cache(maxsize=256)
def _columns(text: str) -> tuple[Column, ...]:
    return tuple(column(at, name) for at, name in enumerate(_cells(text)))


def _understood(columns: Sequence[Column], section: Section | None) -> bool:
    """Whether it is a header: a size, beside what may be read, or, below a title, beside anything."""
    sized = any(c.quantity == "size" for c in columns)
    quantities = {c.quantity for c in columns}
    return sized and (
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
    text = line.text
    mark = "" if section.header is None else _delimiter(section.header.text)
    cells = _cells(text, mark)
    names = () if section.header is None else _columns(section.header.text)
    at = next((c.at for c in names if c.quantity == "size"), 0)
    if mark:
        return (
            at < len(cells) > 1
            and bool(re.match(r"[+-]?\d", cells[at]))
            and (not section.over or len(cells) >= len(names))
        )
    if at > 0:
        return len(cells) >= len(names) and at < len(cells) and bool(_COUNT.fullmatch(cells[at]))
    if text[0] in "+-." and not text[1:2].isdigit():
        return False
    if not (text[0].isdigit() or text[0] in "+-."):
        return False
    if not section.over:
        return True
    return len(cells) > 1 and bool(
        re.fullmatch(r"[+-]?[0-9][0-9,]*[A-Za-z]*", cells[0]) and _NUMBER.fullmatch(cells[1])
    )


def _like_a_header(text: str) -> bool:
    """Whether a line may be a header that is not understood, and not prose."""
    cells = _cells(text)
    single = all(cell and " " not in cell for cell in cells)
    sized = any(column(0, cell).quantity == "size" for cell in cells)
    return len(cells) > 1 and (sized or single) and not any(_NUMBER.fullmatch(cell) for cell in cells)


def _like_a_row(header: Line, text: str) -> bool:
    """Whether a line may be a row of a table with that header."""
    mark = _delimiter(header.text)
    cells = _cells(text, mark)
    return len(cells) > 1 and (bool(_NUMBER.match(cells[0])) or (bool(mark) and len(cells) == len(_cells(header.text))))


def _not_understood(header: Line) -> ImportFormatError:
    names = ", ".join(shown(cell) for cell in _cells(header.text)[:MOST_SHOWN] if cell)
    return header.error(f"columns = {names}: none is read", WOULD_DO)


# --- from a section to runs -----------------------------------------------------------------------------


def _runs(section: Section, source: str, notes: list[str]) -> Iterator[Measured]:
    """A section's runs: one, or one for each value of columns such as pairs; two where a time and a rate differ."""
    if not section.rows:
        return
    if section.header is None:
        raise section.line.error("no '# Size …' header follows this title", "the header that its suite prints")
    columns, rows = _aligned(section)
    line = section.header
    size = next((c for c in columns if c.quantity == "size"), None)
    if size is None:
        raise _not_understood(line)
    quantities = {c.quantity for c in columns}
    by = [c for c in columns if c.quantity == "label"]
    if {"value", "unit"} <= quantities:
        at = next(c.at for c in columns if c.quantity == "unit")
        by.append(Column(at, "unit", "label"))
    _refuse_mixed(columns, rows, size, line)
    groups: dict[tuple[str, ...], list[tuple[Line, list[str]]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[1][c.at] for c in by), []).append(row)
    for labels, some in groups.items():
        own = replace(section)
        for label, cell in zip(by, labels, strict=True):
            _label(own, label.name, cell, some[0][0])
        mine = columns
        if "unit" in [c.name for c in by]:
            unit = of_unit(labels[-1])
            value = next(c for c in columns if c.quantity == "value")
            if unit is None:
                raise some[0][0].error(f"unit = {shown(labels[-1])}", "us, MB/s, or messages/s")
            mine = [*columns, replace(unit, at=value.at, name=value.name, rank=2)]
            if own.test == "osu_latency" and unit.quantity != "time":
                own.test = "osu_bw" if unit.quantity == "rate" else "osu_mbw_mr"
        yield from _figures(own, mine, some, size, source, notes)


def _aligned(section: Section) -> tuple[list[Column], list[tuple[Line, list[str]]]]:
    """The columns, as many as its rows have cells, and the rows' cells."""
    assert section.header is not None
    mark = _delimiter(section.header.text)
    rows = [(line, _cells(line.text, mark)) for line in section.rows]
    names = _cells(section.header.text)
    fewest = min(len(cells) for _, cells in rows)
    if not mark and fewest != len(names):
        single = [m.group() for m in _NAME.finditer(section.header.text.lstrip("#").strip())]
        names = single if len(single) >= len(names) else names
        counts = [cells[0] for _, cells in rows]
        # pandas prints its index without a name.
        if fewest == len(names) + 1 and len(rows) > FIRST_ROWS and counts == [str(k) for k in range(len(rows))]:
            names = ["", *names]
    columns = [column(at, name) for at, name in enumerate(names)]
    for line, cells in rows:
        if len(cells) < len(names) or (mark and len([c for c in cells if c]) > len(names)):
            many = f"{len(cells)} of {len(names)} columns"
            raise line.error(f"row {shown(line.text)} has {many}", ", ".join(c for c in names if c))
    return columns, rows


def _refuse_mixed(columns: Sequence[Column], rows: Sequence[tuple[Line, list[str]]], size: Column, line: Line) -> None:
    """Raises where sizes are there several times, of runs that differ in a column that is not read."""
    sizes = [cells[size.at] for _, cells in rows]
    if len(set(sizes)) == len(sizes):
        return
    for c in columns:
        if c.quantity != "other":
            continue
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
    elif name == "pairs":
        section.pairs = whole(cell, name, line, least=1, largest=10**7)
    elif name == "window":
        section.window = whole(cell, name, line, least=1, largest=10**7)
    elif name == "threads":
        section.threads = (1, whole(cell, name, line, least=1, largest=10**6))


def _figures(
    section: Section,
    columns: Sequence[Column],
    rows: Sequence[tuple[Line, list[str]]],
    size: Column,
    source: str,
    notes: list[str],
) -> Iterator[Measured]:
    assert section.header is not None
    test, header = TESTS[section.test], section.header
    wanted = chosen(columns, test.quantity, header)
    if wanted is None and test.quantity == "messages":
        wanted = chosen(columns, "rate", header)
    if wanted is None and test.kind == "unused":
        notes.append(f"not used: {test.name}")
        return
    if wanted is None:
        names = ", ".join(shown(c.name) for c in columns if c.name)
        raise header.error(f"columns = {names}: none is a {test.quantity} of {test.name}", WOULD_DO)
    if wanted.rank == 0 and test.quantity != "messages":
        notes.append(f"the medians ({wanted.name}) of {test.name} were used, not its means")
    rate = chosen(columns, "rate", header) if wanted.quantity != "rate" else None
    comma = decimal_comma([cells[wanted.at] for _, cells in rows])
    commas = bool(comma) or any(decimal_comma([c[k.at] for _, c in rows]) is True for k in (wanted, rate) if k)
    _refuse_cut(rows, wanted, size, titled=bool(section.called))
    values: list[tuple[float, float]] = []
    rates: list[tuple[float, float]] = []
    zeros = failed = 0
    check = next((c.at for c in columns if c.name.lower() in ("validation", "validated", "pass")), None)
    for line, cells in rows:
        bytes_ = size_of(cells[size.at], size, line, comma=commas)
        cell = cells[wanted.at]
        if comma is None and "," in cell:
            raise line.error(
                f"{wanted.name} = {shown(cell)} may be read in two ways", "a decimal point, or two decimals"
            )
        value = number(plain(cell, comma=commas), wanted.name, line, zero=wanted.quantity != "time")
        other = (
            None
            if rate is None or not cells[rate.at]
            else number(plain(cells[rate.at], comma=commas), rate.name, line, zero=True)
        )
        if value == 0:
            zeros += 1
            continue
        if check is not None and cells[check].lower() in ("fail", "failed", "false"):
            failed += 1
            continue
        if other is not None and rate is not None:
            if (
                wanted.quantity == "messages"
                and abs(other - value * bytes_ / 1e6) > AGREE_RATES * other + 0.006
                and rate.factor == 1e6
            ):
                raise line.error(
                    f"{rate.name} = {other:g} and {wanted.name} = {value:g} do not belong to {bytes_:g} bytes",
                    f"{rate.name} = {wanted.name} · size/10^6",
                )
            rates.append((bytes_, other * rate.factor))
        values.append((bytes_ / section.divide, _in_si(test, wanted, section, line, bytes_, value)))
    if failed:
        notes.append(f"{failed} rows of {test.name} whose validation failed were left out")
    if zeros:
        notes.append(f"{zeros} rows of {test.name} with a rate that was rounded to 0 were left out")
    own = _measured(section, source, values)
    if wanted.quantity == "time" and rates and rate is not None and section.divide == 1:
        off = [s / t / r - 1 for (s, t), (_, r) in zip(values, rates, strict=False) if s and r]
        # Two decimals of a rate say little of a small one.
        bad = [
            (line, s, r)
            for (line, _), (s, t), (_, r) in zip(rows, values, rates, strict=False)
            if abs(r - s / t) > AGREE * r + rate.factor * 0.006 * (1 + s / (t * 1e6) ** 2)
        ]
        if bad and section.called and "avg" not in wanted.name.lower() and test.kind == "ping_pong":
            line, s, r = bad[0]
            raise line.error(
                f"{wanted.name} and {rate.name} = {r / rate.factor:g} contradict {s:g} B",
                f"{rate.name} = size/{wanted.name}",
            )
        if len(bad) > len(rates) / 2 and np.median(np.abs(off)) > AGREE and not section.called:
            notes.append(f"{rate.name} is not size over {wanted.name}: taken as a stream's")
            stream = replace(section, test="osu_bibw" if rate.both_ways else "osu_bw")
            each = [(s, TESTS[stream.test].messages * s / r) for s, r in rates if s and r]
            yield _measured(stream, source, each)
    if values:
        yield own


def _in_si(test: object, wanted: Column, section: Section, line: Line, size: float, value: float) -> float:
    """Seconds of a message; of several pairs, messages per second."""
    made, about = value * wanted.factor, TESTS[section.test]
    if wanted.quantity == "time":
        return made
    if wanted.quantity == "rate":
        if size == 0:
            raise line.error("size = 0 has no bandwidth", "at least 1")
        made = about.messages * size / made
        return made if about.kind != "pair_rates" or section.pairs == 1 else 1 / made
    return 1 / made if section.pairs == 1 else made


def _measured(section: Section, source: str, values: Sequence[tuple[float, float]]) -> Measured:
    test, said = TESTS[section.test], section.command
    keys: dict[str, Hashable] = {
        "pair_rates": section.pairs,
        "threaded": section.threads,
        "puts": section.synchronisation,
        "put_streams": section.synchronisation,
    }
    local = "" if said is None or not said.one_node else f"its command line asks for one node: {said.text[:60]}"
    return Measured(
        test,
        source,
        section.version,
        keys.get(test.kind),
        tuple(values),
        section.window if test.kind in ("stream", "pair_rates") else 0,
        section.memory,
        "" if said is None else said.text,
        local or section.waiting,
        None if said is None else said.nodes,
        None if said is None else said.settings,
    )


def _refuse_cut(rows: Sequence[tuple[Line, list[str]]], wanted: Column, size: Column, *, titled: bool) -> None:
    """Raises when a last row has no line end and its last cell may have lost digits.

    Suites print a fixed number of decimals: a cell is complete when it has as many as the one before. Elsewhere it may
    be where all other rows have one number of decimals.
    """
    line, cells = rows[-1]
    if not line.cut or len(cells) - 1 not in (wanted.at, size.at):
        return
    before = [_decimals(row[-1]) for _, row in rows[:-1]]
    if titled and before[-1:] != [_decimals(cells[-1])]:
        raise line.error(f"row {shown(line.text)} is cut off", "a complete last row")
    if not titled and len(before) >= FIRST_ROWS and len(set(before)) == 1 and before[0] != _decimals(cells[-1]):
        raise line.error(f"row {shown(line.text)} is cut off", "a complete last row")


def _decimals(cell: str) -> int | None:
    """How many decimals a cell has; None if it has no decimal point."""
    _, point, decimals = cell.partition(".")
    return len(decimals) if point else None
