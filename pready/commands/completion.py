"""``pready completion``: what a shell needs to complete commands, options, machines, libraries and fields."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_PREADY_COMPLETE"
_ADDED = "COMPREPLY+=($value)"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for SHELL, to be put where the examples below put it; a new shell has it."""
    made = get_completion_class(shell)
    assert made is not None
    root = click.get_current_context().find_root().command
    source = made(root, {}, "pready", VARIABLE).source()
    if shell == "bash":  # behind "buffer=" comes a value, not a blank
        source = source.replace(_ADDED, f"{_ADDED}\n            [[ $value == *= ]] && compopt -o nospace")
    click.echo(source, nl=False)
