"""The formats that are read, a file each; one registers itself when it is imported, and nobody lists it.

A `Suite` prints titles above tables, which `sections.py` reads; a `WholeFile` reads files of its own shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, NamedTuple

from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.importers.command import Command
from pready.calibrate.importers.measured import Measured, Test
from pready.calibrate.importers.text import Line

Quantity = Literal["size", "time", "median", "rate", "messages", "validation", "other"]
"""What a column holds: bytes, us, us, MB/s of 10^6 bytes, messages/s, whether the payload was right."""


@dataclass
class Section:
    """A table under its title, and what is said of its run. Without a test it is not read, `called` says what it is;
    `divide` messages share a row's size. It is over once other lines have followed its rows, and closed once another
    table has."""

    line: Line
    test: Test | None
    called: str = ""
    version: str = ""
    pairs: int = 1
    window: int = DEFAULT_WINDOW
    threads: tuple[int, int] = (1, 2)
    divide: int = 1
    synchronisation: str = ""
    datatype: str = ""
    memory: str = ""
    near: str = ""
    command: Command | None = None
    heading: str = ""
    columns: Sequence[Quantity] = ()
    header: Line | None = None
    over: bool = False
    closed: bool = False
    rows: list[tuple[Line, list[str]]] = field(default_factory=list)


class Fact(NamedTuple):
    """What a comment says of its section: fields and their values; whether it begins another section after rows."""

    pattern: re.Pattern[str]
    says: Callable[[Section, re.Match[str]], dict[str, Any]]
    begins: bool = False


class Suite(NamedTuple):
    """Tests by their titles; how titles, columns (groups called by their quantities) and comments look; and the comment
    with which a run of several titles begins: what follows it is said of all of them."""

    tests: Mapping[str, Test]
    title: re.Pattern[str]
    columns: re.Pattern[str]
    opened: Callable[[re.Match[str], Line], Section]
    facts: Sequence[Fact]
    banner: re.Pattern[str] | None = None


class WholeFile(NamedTuple):
    """A file that is read as a whole: how its text is recognised, and its runs and notes, of a text and its source."""

    recognised: Callable[[str], bool]
    read: Callable[[str, str], tuple[list[Measured], list[str]]]


SUITES: list[Suite] = []
TESTS: dict[str, Test] = {}
WHOLE_FILES: list[WholeFile] = []


def register(suite: Suite) -> None:
    SUITES.append(suite)
    TESTS.update({test.name: test for test in suite.tests.values()})


def load() -> None:
    """Have each format register itself."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
