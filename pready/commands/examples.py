"""``pready examples``: the example workloads that come with it."""

from __future__ import annotations

import click

from pready.files.shipped_examples import FOLDER, about, shipped


@click.command()
def examples() -> None:
    """List the example workloads: each command takes them as examples/NAME.toml, from every folder."""
    for path in shipped():
        click.echo(f"examples/{path.name}")
        click.echo(click.wrap_text(about(path), initial_indent="    ", subsequent_indent="    "))
    click.echo(f"in {FOLDER.resolve()}")
