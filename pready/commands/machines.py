"""``pready machines``: the profiles."""

from __future__ import annotations

import click

from pready.model import machine as m
from pready.show.machine import machine_view, machines_view
from pready.show.terminal import console


@click.command()
@click.argument("name", required=False)
def machines(name: str | None) -> None:
    """List the machine profiles, or show one with the provenance of every value."""
    if name is None:
        console().print(machines_view([m.load(n) for n in m.profiles()]))
    else:
        console().print(machine_view(m.load(name)))
