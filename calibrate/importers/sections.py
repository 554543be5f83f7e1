"""Tables below the titles of a suite, in a file or a job's log among other text: their rows, and what their run was.

A table is read only if a suite's title names its test and its header has the suite's own columns. A line that begins
like a row has to be one: a damaged row, a size that comes twice or a header that the suite does not print is refused.
A table without a title is text. What its run was is said by the comments below the title (`formats/`), by the command
before it, and by the last line of text before it, its heading.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pready.calibrate.importers import command as commands
from pready.calibrate.importers.formats import SUITES, TESTS, Quantity, Section, Suite
from pready.calibrate.importers.measured import Measured, Test
from pready.calibrate.importers.text import Line, number, whole, without_prefix
from pready.model.common.errors import shown

MOST_ROWS = 200_000  # of one file
LONGEST = 4000
"""Characters of a line at most that may be a row, a title or a command."""
AGREE = 0.08
"""A rate agrees with its time: 2^20 against 10^6 bytes (4.9 %), and two decimals of the time; with messages/s, too."""
QUANTITIES: dict[str, tuple[Quantity, ...]] = {
    "time": ("median", "time"),
    "rate": ("rate",),
    "messages": ("messages", "rate"),
}
"""The columns that say a test's quantity, the best one first."""
_SI = {"time": 1e-6, "median": 1e-6, "rate": 1e6, "messages": 1.0}
_HEADER = re.compile(r"(?:#\s*)?(?:#bytes|Size)\b", re.IGNORECASE)
_LIKE_A_NUMBER = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?[A-Za-z]{0,2}")
_BOUND = re.compile(r"\[([\w.-]+):\d+\] (?:MCW )?rank \d+ (?:is )?bound|^ ?Data for node: (\S+)", re.IGNORECASE)
"""Where a launcher placed a rank, by --report-bindings and --display-map of Open MPI."""
_WINDOW = re.compile(r"osu_\w+\s(?:.*\s)?(?:-W|--window-size)[ =]?(\d{1,9})(?!\S)")
_NO_HEADING = re.compile(r"#(?!#)|[+-]?[\d.]+\s+[+-]?[\d.]+(?:\s|$)")  # comments, rows of tables that are not read
_RULE = re.compile(r"[`~=*#+_|\s-]*")
_OWN = "the suite's own output"


@dataclass
class _Around:
    """What was said before a title: the command and what it exports, how many nodes were allocated, the heading, the
    comments of a suite's banner, until a title follows it, those just before the title, and the hosts of ranks."""

    command: commands.Command | None = None
    nodes: int | None = None
    exported: dict[str, str] = field(default_factory=dict)
    heading: str = ""
    banner: list[str] = field(default_factory=list)
    titled: bool = False
    just: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)

    def hear(self, text: str) -> None:
        """A line that is no title and no row."""
        self.just = [*self.just[-40:], text] if text.startswith("#") else []
        if text.startswith("#"):
            if any(suite.banner and suite.banner.match(text) for suite in SUITES):
                self.banner, self.titled = [], False
            self.banner = self.banner if self.titled else [*self.banner[-200:], text]
        self.nodes = commands.allocated(text) or self.nodes
        self.exported |= commands.exported(text)
        run = commands.parsed(text, self.nodes, [*self.exported.values()])
        if bound := _BOUND.search(text):
            self.hosts.append(bound[1] or bound[2])
        elif run is not None:
            self.command, self.heading, self.hosts = run, "", []
        elif not _RULE.fullmatch(text) and not _NO_HEADING.match(text):
            self.heading = text[:200]


def measured(text: str, source: str) -> tuple[list[Measured], list[str]]:
    """The runs of all tables below a suite's title, and notes; none: there is no title.

    Raises
    ------
    ImportFormatError
        A table that is not as its suite prints it, or titles of tests that are not used alone.
    """
    sections = list(_sections(without_prefix(text, source, [suite.title for suite in SUITES])))
    unused = {s.test.name: s.test.why for s in sections if s.test is not None and s.test.why}
    unread = list(dict.fromkeys(s.called for s in sections if s.test is None))
    wanted = [(s, s.test) for s in sections if s.test is not None and not s.test.why]
    if sections and not wanted:
        told = "; ".join([*(f"{name}: {why}" for name, why in unused.items()), *map(shown, unread)])
        valid = ", ".join(name for name, test in TESTS.items() if not test.why)
        raise sections[0].line.error(f"test = {told} is not used", valid)
    notes = [f"not used: {', '.join(unread)}, which says nothing of two ranks' messages"] if unread else []
    notes += [f"not used: {name}, {why}" for name, why in unused.items()]
    first, *others = dict.fromkeys(s.datatype for s, _ in wanted if s.datatype) or [""]
    if others:
        notes.append(f"only {first} was used, not {', '.join(others)}")
    runs = [_run(s, test, source, notes) for s, test in wanted if s.datatype in ("", first)]
    if wanted and not any(runs):
        raise wanted[0][0].line.error("no rows follow this title", "rows of a size and a value")
    return [run for run in runs if run is not None], notes


def _sections(lines: Iterator[Line]) -> Iterator[Section]:
    """The sections of a file, each with its rows, in order."""
    suite: Suite | None = None
    section: Section | None = None
    around = _Around()
    rows, carried = 0, ""
    for each in lines:
        text = carried + each.text
        carried = text[:-1] if text.endswith(" \\") and len(text) < LONGEST else ""
        if carried or len(text) > LONGEST:
            continue
        line = replace(each, text=text)
        found = next(((of, match) for of in SUITES if (match := of.title.search(text))), None)
        if found is not None:
            if section is not None:
                yield section
            suite, around.titled = found[0], True
            section = replace(suite.opened(found[1], line), command=around.command, heading=around.heading)
            for comment in (*around.banner, *around.just):
                section = _told(suite, section, comment)
            if len({*around.hosts}) == 1:
                section.near = f"its ranks were bound on {around.hosts[0]} alone"
            around.just, around.hosts = [], []
        elif section is None or suite is None:
            around.hear(text)
        elif not text:
            section.over = bool(section.rows)
        elif _HEADER.match(text) and (text.startswith("#") or not section.columns):
            if section.rows:  # another table, whose title is missing
                yield section
                section = Section(line, None, "a table without a title")
            section.header, section.columns = line, _columns(suite, text)
        elif text.startswith("#"):
            around.hear(text)
            told = _told(suite, section, text)
            # After its rows, only what begins another section counts.
            if section.rows and not told.rows:
                yield section
            section = section if section.rows and told.rows else told
        elif section.test is not None and not section.test.why and (cells := _row(section, line)):
            rows += 1
            if rows > MOST_ROWS:
                raise line.error("is one row too many", f"at most {MOST_ROWS} rows of results")
            section.rows.append((line, cells))
            around.just = []
        elif not _RULE.fullmatch(text):
            around.hear(text)
            section.over = bool(section.rows)
    if section is not None:
        yield section


def _told(suite: Suite, section: Section, text: str) -> Section:
    """The section with a comment's facts; without rows, if the comment begins another."""
    for pattern, says, begins in suite.facts:
        if match := pattern.match(text):
            values = says(section, match)
            another: dict[str, Any] = {"rows": [], "over": False} if values and begins else {}
            return replace(section, **values, **another)
    return section


def _columns(suite: Suite, text: str) -> list[Quantity]:
    """What the columns of a header hold; empty: they are not the suite's."""
    found: list[Any] = [name.lastgroup for name in suite.columns.finditer(text)]
    return found if found[:1] == ["size"] and not suite.columns.sub("", text).strip("# \t") else []


def _row(section: Section, line: Line) -> list[str]:
    """The cells of a row; empty: it is text, such as a list's "1. UCX", or a row of another table, without a title.

    An ImportFormatError if it begins like a row and is none, or if its header is missing or not the suite's.
    """
    cells, many = line.text.split(), len(section.columns)
    if section.closed or not all(map(_LIKE_A_NUMBER.fullmatch, cells[:2])) or (section.over and len(cells) != many):
        return []
    if section.header is None:
        raise section.line.error("no '# Size …' header follows this title", "the header that its suite prints")
    if not section.columns:
        told = f"{shown(section.header.text)} is no header that {section.called} prints"
        raise section.header.error(told, _OWN)
    if len(cells) != many:
        raise line.error(f"row {shown(line.text)} has {len(cells)} of {many} columns", _OWN)
    last, (size, *_) = section.rows[-1] if section.rows else (line, ["0"])
    section.closed = section.over and whole(cells[0], "size", line) <= whole(size, "size", last)
    return [] if section.closed else cells


def _run(section: Section, test: Test, source: str, notes: list[str]) -> Measured | None:
    """A section's run; None: it has no rows."""
    rows, header = section.rows, section.header
    if not rows or header is None:
        return None
    wanted = next((q for q in QUANTITIES[test.quantity] if q in section.columns), None)
    if wanted is None:
        raise header.error(f"no column is the {test.quantity} of {test.name}", _OWN)
    if wanted == "median":
        notes.append(f"the medians (P50) of {test.name} were used, not its means")
    decimals = [len(cells[-1].partition(".")[2]) for _, cells in rows[-2:]]  # suites print as many in each row
    if rows[-1][0].cut and section.columns[-1] == wanted and decimals[:-1] != decimals[-1:]:
        raise rows[-1][0].error(f"row {shown(rows[-1][0].text)} is cut off", "a complete last row")
    values: list[tuple[float, float]] = []
    left = {"whose validation failed": 0, "with a rate that was rounded to 0": 0}
    for line, cells in rows:
        size, by = float(whole(cells[0], "size", line)), dict(zip(section.columns, cells, strict=True))
        if values and size <= values[-1][0] * section.divide:
            raise line.error(f"size = {size:g} after a larger one: the rows of two runs", "one run's rows")
        value = number(by[wanted], wanted, line, zero=wanted not in ("time", "median"))
        if by.get("validation", "").lower().startswith("fail"):
            left["whose validation failed"] += 1
        elif value == 0:
            left["with a rate that was rounded to 0"] += 1
        else:
            _agree(section, test, by, size, line)
            values.append((size / section.divide, _in_si(section, test, _SI[wanted] * value, wanted, size, line)))
    notes += [f"{count} rows of {test.name} {why} were left out" for why, count in left.items() if count]
    keys: dict[str, Hashable] = {"pair_rates": section.pairs, "threaded": section.threads}
    keys |= dict.fromkeys(("puts", "put_streams"), section.synchronisation)
    told = _WINDOW.search("" if section.command is None else section.command.text)
    window = (int(told[1]) if told else section.window) if test.kind in ("stream", "pair_rates") else 0
    made = Measured(test, source, section.version, keys.get(test.kind), tuple(values), window, section.memory)
    more: dict[str, Any] = {name: getattr(section, name) for name in ("command", "near", "heading")}
    return replace(made, line=section.line.number, **more) if values else None


def _agree(section: Section, test: Test, by: dict[Quantity, str], size: float, line: Line) -> None:
    """Raises where a row's rate is not that of its time or of its messages."""
    if "rate" not in by or section.divide != 1 or not ("messages" in by or test.kind == "ping_pong"):
        return
    rate, other = number(by["rate"], "rate", line, zero=True), "messages" if "messages" in by else "time"
    if other not in by:
        return
    value = number(by["messages" if other == "messages" else "time"], other, line, zero=other == "messages")
    told = value * size / 1e6 if other == "messages" else size / value
    # Two decimals of a rate say little of a small one, nor do those of a short time.
    decimals = 0.006 * (1 if other == "messages" else 1 + size / value**2)
    if abs(rate - told) > AGREE * rate + decimals:
        raise line.error(f"MB/s = {rate:g} and {other} = {value:g} contradict {size:g} B", f"MB/s = {told:.4g}")


def _in_si(section: Section, test: Test, value: float, wanted: Quantity, size: float, line: Line) -> float:
    """Seconds of a message; of several pairs, messages per second."""
    if wanted in ("time", "median"):
        return value
    if wanted == "rate" and size == 0:
        raise line.error("size = 0 has no bandwidth", "at least 1")
    rate = value / (test.messages * size) if wanted == "rate" else value
    return rate if test.kind == "pair_rates" and section.pairs != 1 else 1 / rate
