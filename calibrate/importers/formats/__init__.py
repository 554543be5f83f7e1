"""The formats that are read, a file each; one registers itself when it is imported, and nobody lists it.

A `Suite` prints titles above tables, which `tables.py` reads; a `WholeFile` reads files of its own shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.importers.benchmarks import Measured, Test
from pready.calibrate.importers.command import Command
from pready.calibrate.importers.text import Line


@dataclass
class Section:
    """A table under its title, and what is said of its run. Without a test it is not read, `called` says what it is;
    `divide` messages share a row's size; it is over once other lines have followed its rows."""

    line: Line
    test: str
    called: str = ""
    version: str = ""
    pairs: int = 1
    window: int = DEFAULT_WINDOW
    threads: tuple[int, int] = (1, 2)
    divide: int = 1
    synchronisation: str = ""
    datatype: str = ""
    memory: str = ""
    waiting: str = ""
    command: Command | None = None
    header: Line | None = None
    over: bool = False
    rows: list[Line] = field(default_factory=list)


class Fact(NamedTuple):
    """What a comment says of its section: fields and their values; whether it begins another section after rows."""

    pattern: re.Pattern[str]
    says: Callable[[Section, re.Match[str]], dict[str, Any]]
    begins: bool = False


@dataclass(frozen=True)
class Suite:
    """Benchmarks whose titles and comments look so; tests by their titles."""

    tests: Mapping[str, Test]
    title: re.Pattern[str]
    opened: Callable[[re.Match[str], Line], Section]
    facts: Sequence[Fact]


@dataclass(frozen=True)
class WholeFile:
    """A file that is read as a whole, how it is recognised, and what it gives: runs and notes, or a text of tables."""

    recognised: Callable[[str], bool]
    read: Callable[[str, str], tuple[list[Measured], list[str]] | str]


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
