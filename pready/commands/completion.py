"""``pready completion``: completion of commands, options, machines, libraries and fields in a shell."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from pready.files.writing import make_folder, write_text

VARIABLE = "_PREADY_COMPLETE"
FILES = {
    "bash": "~/.local/share/bash-completion/completions/pready",
    "zsh": "~/.zfunc/_pready",
    "fish": "~/.config/fish/completions/pready.fish",
}
"""Where each shell looks by default."""
NEEDED = {
    "bash": " (with the package bash-completion)",
    "zsh": " (with this line in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit; compinit)",
    "fish": "",
}
_ZSH_PLAIN = """\
            if [[ "$descr" == "_" ]]; then
"""
_ZSH_VALUE = """\
            if [[ "$key" == *= ]]; then
                compadd -U -V unsorted -S '' "$key"
            elif [[ "$descr" == "_" ]]; then
"""
_BASH_PLAIN = """\
            COMPREPLY+=($value)
"""
_BASH_VALUE = """\
            COMPREPLY+=($value)
            [[ $value == *= ]] && compopt -o nospace
"""
_VALUES = {"bash": (_BASH_PLAIN, _BASH_VALUE), "zsh": (_ZSH_PLAIN, _ZSH_VALUE)}
"""Replacements in click's scripts: no blank after "buffer=". fish needs none."""


@click.command()
@click.argument("shell", type=click.Choice([*FILES]))
@click.option("--install", is_flag=True, help="Write it where SHELL looks for it.")
def completion(shell: str, install: bool) -> None:
    """Print or install completion of commands, options, machines, libraries and fields for SHELL."""
    made = get_completion_class(shell)
    assert made is not None
    root = click.get_current_context().find_root().command
    source = made(root, {}, "pready", VARIABLE).source()
    if shell in _VALUES:
        source = source.replace(*_VALUES[shell])
    if not install:
        click.echo(source, nl=False)
        return
    path = Path(FILES[shell]).expanduser()
    make_folder(path.parent, [path.name])
    write_text(path, source)
    click.echo(f"wrote {path}: a new {shell} completes{NEEDED[shell]}")
