"""The terminal: standard output for results, standard error for what goes on meanwhile."""

from __future__ import annotations

import json

import click
from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.status import Status


def console(*, stderr: bool = False) -> Console:
    """Standard output, or error; wide when it is not a terminal, so that a pipe gets whole lines."""
    probe = Console(stderr=stderr)
    return probe if probe.is_terminal else Console(width=120, highlight=False, stderr=stderr)


def print_json(data: object) -> None:
    """One JSON object on standard output; NaN is an error of ours, not a value."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def progress(*columns: str | ProgressColumn) -> Progress:
    """Bars on standard error that vanish when they are done; none where that is no terminal."""
    terminal = Console(stderr=True)
    return Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal)


def status(said: str) -> Status:
    """A line on standard error while something runs."""
    return Console(stderr=True).status(said)
