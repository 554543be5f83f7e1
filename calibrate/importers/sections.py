"""Tables below the titles of a suite, in a file or a job's log among other text: their rows, and what their run was.

A table is read only if a suite's title names its test and its header has the suite's own columns. A line that begins
like a row has to be one: a damaged row, a size that comes twice or a header that the suite does not print is refused.
A table without a title is text. What its run was is said by the comments below the title (`formats/`), by the command
before it, and by the last line of text before it, its heading.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.importers import command as commands
from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.suites import SUITES, Fact, Suite
from pready.calibrate.importers.text import Line, NotUsedError, number, whole, without_prefix
from pready.model.common.errors import shown

LONGEST = 4000
"""Characters of a line at most that may be a row, a title or a command."""
_COLUMNS = {"ping_pong": ["time"], "stream": ["rate"], "pair_rates": ["messages", "rate"]}  # the best one first
_SI = {"time": 1e-6, "rate": 1e6, "messages": 1.0}
_HEADER = re.compile(r"(?:#\s*)?(?:#bytes|Size)\b", re.IGNORECASE)
_LIKE_A_NUMBER = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?[A-Za-z]{0,2}")
# Where a launcher placed a rank, by --report-bindings and --display-map of Open MPI.
_BOUND = re.compile(r"\[([\w.-]+):\d+\] (?:MCW )?rank \d+ (?:is )?bound|^ ?Data for node: (\S+)", re.IGNORECASE)
_WINDOW = re.compile(r"osu_\w+\s(?:.*\s)?(?:-W|--window-size)[ =]?(\d{1,9})(?!\S)")
_NO_HEADING = re.compile(r"#(?!#)|[+-]?[\d.]+\s+[+-]?[\d.]+(?:\s|$)")  # comments, rows of tables that are not read
_RULE = re.compile(r"[`~=*#+_|\s-]*")
_OWN = "the suite's own output"


@dataclass
class Section:
    """A table under its title, and its run as far as it is known; without one it is not read, `called` says what it is.
    It is over once other lines have followed its rows, and closed once another table has."""

    line: Line
    called: str
    run: Measured | None = None
    columns: Sequence[str] = ()
    header: Line | None = None
    over: bool = False
    closed: bool = False
    rows: list[tuple[Line, list[str]]] = field(default_factory=list)


@dataclass
class _Around:
    """What was said before a title: the command and what it exports, how many nodes were allocated, the heading, the
    hosts of ranks, and fields of all runs of a suite."""

    command: commands.Command = commands.NO_COMMAND
    nodes: int | None = None
    exported: dict[str, str] = field(default_factory=dict)
    heading: str = ""
    hosts: list[str] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)

    def hear(self, text: str) -> None:
        """A line that is no title and no row."""
        for suite in SUITES:
            self.said |= _said(suite.before, text)
        self.nodes = commands.allocated(text) or self.nodes
        self.exported |= commands.exported(text)
        run = commands.parsed(text, self.nodes, [*self.exported.values()])
        if bound := _BOUND.search(text):
            self.hosts.append(bound[1] or bound[2])
        elif run is not None:
            self.command, self.heading, self.hosts = run, "", []
        elif not _RULE.fullmatch(text) and not _NO_HEADING.match(text):
            self.heading = text[:200]

    def opens(self, suite: Suite, title: re.Match[str], line: Line) -> Section:
        """The section of a title, with what was said before it."""
        said: dict[str, Any] = {name: value for name, value in title.groupdict().items() if value}
        called = said.pop("test", "") or said.pop("other")
        said["on_gpus"] = "on_gpus" in said
        section = Section(line, called)
        if (test := suite.tests.get(" ".join(called.lower().split()))) is not None:
            told = _WINDOW.search(self.command.text)
            window = 0 if test.kind == "ping_pong" else int(told[1]) if told else DEFAULT_WINDOW
            near = f"its ranks were bound on {self.hosts[0]} alone" if len({*self.hosts}) == 1 else ""
            about: dict[str, Any] = {"command": self.command, "heading": self.heading, "window": window, "near": near}
            section.run = Measured(
                test, line.source, line=line.number, **about, **(self.said if suite.before else said)
            )
        self.hosts = []
        return section


def _said(facts: Mapping[re.Pattern[str], Fact], comment: str) -> dict[str, Any]:
    """What a comment says of a run."""
    found = [says(match) for pattern, says in facts.items() if (match := pattern.match(comment))]
    return {name: value for each in found for name, value in each.items()}


def read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    """The runs of all tables below a suite's title, and notes; none: there is no title."""
    sections = list(_sections(without_prefix(text, source, [suite.title for suite in SUITES])))
    unread = list(dict.fromkeys(section.called for section in sections if section.run is None))
    wanted = [section for section in sections if section.run is not None]
    if sections and not wanted:
        known = dict.fromkeys(test.name for suite in SUITES for test in suite.tests.values())
        told = f"test = {', '.join(map(shown, unread))} is not used"
        raise NotUsedError(told, valid=", ".join(known), source=f"{source}:{sections[0].line.number}")
    notes = [f"not used: {', '.join(unread)}, which says nothing of one message alone"] if unread else []
    runs = [run for section in wanted if (run := _run(section, notes)) is not None]
    if wanted and not runs:
        raise wanted[0].line.error("no rows follow this title", "rows of a size and a value")
    return runs, notes


def _sections(lines: Iterator[Line]) -> Iterator[Section]:
    """The sections of a file, each with its rows, in order."""
    suite: Suite | None = None
    section: Section | None = None
    around, carried = _Around(), ""
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
            suite, section = found[0], around.opens(*found, line)
        elif section is None or suite is None:
            around.hear(text)
        elif not text:
            section.over = bool(section.rows)
        elif _HEADER.match(text) and (text.startswith("#") or not section.columns):
            if section.rows:  # another table, whose title is missing
                yield section
                section = Section(line, "a table without a title")
            section.header, section.columns = line, _columns(suite, text)
        elif text.startswith("#"):
            around.hear(text)
            if section.run is not None and not section.rows:
                section.run = replace(section.run, **_said(suite.facts, text))
        elif section.run is not None and (cells := _row(section, line)):
            section.rows.append((line, cells))
        elif not _RULE.fullmatch(text):
            around.hear(text)
            section.over = bool(section.rows)
    if section is not None:
        yield section


def _columns(suite: Suite, text: str) -> list[str]:
    """What the columns of a header hold; empty: they are not the suite's."""
    found = [name.lastgroup or "" for name in suite.columns.finditer(text)]
    return found if found[:1] == ["size"] and not suite.columns.sub("", text).strip("# \t") else []


def _row(section: Section, line: Line) -> list[str]:
    """The cells of a row; empty: it is text, such as a list's "1. UCX", or a row of another table, without a title."""
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


def _run(section: Section, notes: list[str]) -> Measured | None:
    """A section's run; None: it has no rows."""
    if not section.rows or section.header is None or section.run is None:
        return None
    test, pairs = section.run.test, section.run.pairs
    if test.kind == "ping_pong" and pairs != 1:
        raise section.line.error(f"{pairs} pairs of {test.name}", "two processes")
    wanted = next((q for q in _COLUMNS[test.kind] if q in section.columns), None)
    if wanted is None:
        raise section.header.error(f"no column is the {_COLUMNS[test.kind][0]} of {test.name}", _OWN)
    values, failed = list[tuple[float, float]](), 0
    rows = [(line, dict(zip(section.columns, cells, strict=True))) for line, cells in section.rows]
    decimals, larger = len(rows[0][1][wanted].partition(".")[2]), -1
    for line, by in rows:
        size = whole(by["size"], "size", line)
        if size <= larger:
            raise line.error(f"size = {size} after a larger one: the rows of two runs", "one run's rows")
        larger = size
        # Suites print as many decimals in each row; a log may go on in the middle of a number.
        if len(by[wanted].partition(".")[2]) != decimals or (line.cut and len(rows) == 1):
            raise line.error(f"row {shown(line.text)} is cut off", "complete rows")
        value = number(by[wanted], wanted, line, zero=wanted != "time")
        if by.get("validation", "").lower().startswith("fail") or value == 0:
            failed += 1
        elif wanted == "rate" and size == 0:
            raise line.error("size = 0 has no bandwidth", "at least 1")
        else:
            value *= _SI[wanted] / (size if wanted == "rate" else 1)
            values.append((float(size), value if wanted == "time" or section.run.kind == "pair_rates" else 1 / value))
    told = f"{failed} rows of {test.name} were left out: not validated, or a rate that was rounded to 0"
    notes += [told] if failed else []
    return replace(section.run, values=tuple(values)) if values else None
