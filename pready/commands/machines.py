"""``pready machines``: the shipped machine profiles."""

from __future__ import annotations

import click

from pready.model.machine import machine as m
from pready.show.tables.machine import machine_view, machines_view
from pready.show.terminal.terminal import console


@click.command()
@click.argument("name", required=False)
def machines(name: str | None) -> None:
    """List the machine profiles, or show one (NAME or a TOML file) with every value and its provenance."""
    view = machines_view({n: m.load(n) for n in m.profiles()}) if name is None else machine_view(m.load(name))
    console().print(view)
