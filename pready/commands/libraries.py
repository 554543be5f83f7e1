"""``pready libraries``: how MPI libraries implement partitioned communication."""

from __future__ import annotations

import click

from pready.commands import options
from pready.model.approach import libraries as l
from pready.show.tables.library import libraries_view, library_data, library_view
from pready.show.terminal.terminal import console, print_json


@click.command()
@click.argument("name", metavar="[NAME[@VERSION]]", required=False)
@options.as_json("The same as JSON: a list, or one object.")
def libraries(name: str | None, as_json: bool) -> None:
    """List the MPI library profiles of --library, or show one: what MPI_Pready sends there, and why. A NAME with a
    version shows the bugs and settings of that version alone."""
    every = list(l.LIBRARIES.values())
    one = None if name is None else l.library(name)
    if as_json:
        print_json([library_data(p) for p in every] if one is None else library_data(one))
    else:
        console().print(libraries_view(every) if one is None else library_view(one))
