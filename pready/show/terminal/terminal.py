"""The terminal: results on standard output, progress on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from io import StringIO
from time import monotonic
from typing import Any

import click
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn

LINE_EVERY_S = 30.0
"""How often a line says that work goes on, where standard error is no terminal."""
PIPE_WIDTH = 120
"""Columns of output into a pipe, unless COLUMNS is set."""
NARROWEST = 20

_BLANKS = re.compile(r"[ ]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


class _Output(Console):
    """Writes no trailing blanks."""

    def print(self, *objects: Any, **options: Any) -> None:
        with self.capture() as captured:
            super().print(*objects, **options)
        self.file.write(_BLANKS.sub(r"\1", captured.get()))
        self.file.flush()


def console(*, stderr: bool = False) -> Console:
    """Standard output or error, as wide as the terminal; in a pipe, COLUMNS or `PIPE_WIDTH` wide."""
    probe = Console(stderr=stderr)
    if probe.is_terminal:
        return _Output(highlight=False, emoji=False, stderr=stderr)
    said = os.environ.get("COLUMNS", "")
    width = int(said) if said.isdecimal() and int(said) >= NARROWEST else PIPE_WIDTH
    return _Output(width=width, highlight=False, emoji=False, stderr=stderr)


def as_text(shown: RenderableType, width: int) -> str:
    """What a terminal without colours shows."""
    stream = StringIO()
    Console(file=stream, width=width, color_system=None, highlight=False).print(shown)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def print_json(data: object) -> None:
    """One JSON object on standard output; NaN raises, as it is a defect."""
    every_letter = (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(data, indent=2, ensure_ascii=not every_letter, allow_nan=False))


def progress(*columns: str | ProgressColumn) -> Progress:
    """Progress bars on standard error that vanish at the end; none if that is no terminal."""
    terminal = Console(stderr=True)
    return Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal)


class Busy:
    """A progress bar without a total, on standard error, for work that may take seconds."""

    def __init__(self, said: str) -> None:
        self._progress = progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._task = self._progress.add_task(said, total=None)
        self._said, self._last = said, monotonic()

    def update(self, said: str, *, long: bool = False) -> None:
        """Say what runs now; if it takes long, by a line where there is no terminal."""
        self._progress.update(self._task, description=said)
        self._said, self._last = said, monotonic()
        if long and self._progress.disable:
            click.echo(said, err=True)

    def wait(self, seconds: float, so_far: str = "") -> None:
        """Say that the same has taken so long and how far it is, by a line now and then where there is no terminal."""
        said = f"{self._said}, {so_far}" if so_far else self._said
        self._progress.update(self._task, description=said)
        if self._progress.disable and monotonic() - self._last > LINE_EVERY_S:
            self._last = monotonic()
            click.echo(f"{said}: {seconds:.0f} s", err=True)

    def __enter__(self) -> Busy:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def status(said: str) -> Busy:
    """A progress bar without a total."""
    return Busy(said)
