"""The command line in this process: what a command prints, and how it refuses bad input."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest

from pready.cli import COMMANDS, cli, main


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


def refused(capsys: pytest.CaptureFixture[str], *arguments: object, said: str = "") -> str:
    """The one line of a command that refuses its input; on standard output it says this, or nothing."""
    capsys.readouterr()
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    assert status == 2
    assert said in captured.out if said else not captured.out
    assert captured.err.startswith("pready: error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def every_command() -> dict[str, click.Command]:
    """All commands by their words: ``sst run``."""

    def inside(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield path, command
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                yield from inside(f"{path} {name}", inner)

    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        found |= inside(name, command)
    return found


def parsed(line: str) -> None:
    """Options of a shell's line exist and take these values; other tests run the commands."""
    words = shlex.split(line, comments=True)
    assert words[0] == "pready"
    words = words[: next((i for i, w in enumerate(words) if w in (">", "<", "|")), len(words))]
    context = click.Context(cli)
    _, found, rest = cli.resolve_command(context, words[1:])
    assert found is not None
    command = found
    while isinstance(command, click.Group) and rest and command.get_command(context, rest[0]) is not None:
        inner = command.get_command(context, rest[0])
        assert inner is not None
        command, rest = inner, rest[1:]
    command.make_context(" ".join(words), rest, parent=context)
