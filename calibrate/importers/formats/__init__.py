"""The formats that are read, a file each; one registers itself when it is imported, and nobody lists it.

A `Suite` prints titles above tables, which `tables.py` reads; a `WholeFile` reads files of its own shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from pready.calibrate.importers.benchmarks import DEFAULT_WINDOW, Measured
from pready.calibrate.importers.command import Command
from pready.calibrate.importers.text import Line


@dataclass
class Section:
    """A table under its title, and what is said of its run.

    Attributes
    ----------
    test
        One of `TESTS`; empty: it is not read, and `called` says what it is.
    divide
        How many messages share a row's size.
    """

    line: Line
    test: str
    called: str
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
    """Whether other lines have followed its rows."""
    rows: list[Line] = field(default_factory=list)


Fact = Callable[[Section, re.Match[str]], Section | None]
"""Keeps what a comment says of its section; a section that it returns follows that one."""


@dataclass(frozen=True)
class Suite:
    """Benchmarks whose titles and comments look so."""

    name: str
    title: re.Pattern[str]
    opened: Callable[[re.Match[str], Line], Section]
    facts: Sequence[tuple[re.Pattern[str], Fact]] = ()


@dataclass(frozen=True)
class WholeFile:
    """A file that is read as a whole: how it is recognised, and what it gives: runs and notes, or a text of tables."""

    name: str
    recognised: Callable[[str], bool]
    read: Callable[[str, str], tuple[list[Measured], list[str]] | str]


SUITES: list[Suite] = []
WHOLE_FILES: list[WholeFile] = []
F = TypeVar("F", Suite, WholeFile)


def register(made: F) -> F:
    """Have files read in this format."""
    (SUITES if isinstance(made, Suite) else WHOLE_FILES).append(made)  # type: ignore[arg-type]
    return made


def load() -> Iterator[str]:
    """The names of all formats, once each has registered itself."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    yield from [*(suite.name for suite in SUITES), *(each.name for each in WHOLE_FILES)]
