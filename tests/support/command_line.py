"""The command line in this process: what a command prints, and how it refuses bad input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pready.cli import main


def out(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Standard output of a command that succeeds."""
    capsys.readouterr()
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return captured.out


def data(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    """What a command prints with ``--json``."""
    return json.loads(out(capsys, *arguments, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line of a command that refuses its input and prints nothing else."""
    capsys.readouterr()
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    assert captured.err.startswith("pready: error: ")
    assert captured.err.count("\n") == 1
    return captured.err
