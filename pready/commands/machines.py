"""``pready machines``: the shipped machine profiles."""

from __future__ import annotations

import click

from pready.commands import options
from pready.model.machine import machine as m
from pready.show.tables.machine import machine_data, machine_view, machines_data, machines_view
from pready.show.terminal.terminal import console, print_json


@click.command()
@click.argument("name", required=False)
@options.as_json("The same as JSON: a list, or one object with every value.")
def machines(name: str | None, as_json: bool) -> None:
    """List the machine profiles, or show one (NAME or a TOML file) with every value and its provenance."""
    if name is None:
        every = {n: m.load(n) for n in m.profiles()}
        if as_json:
            print_json(machines_data(every))
        else:
            console().print(machines_view(every))
        return
    one = m.load(name)
    if as_json:
        print_json(machine_data(one))
    else:
        console().print(machine_view(one))
