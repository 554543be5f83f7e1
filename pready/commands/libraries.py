"""``pready libraries``: how MPI libraries implement partitioned communication."""

from __future__ import annotations

import click

from pready.model.approach import libraries as l
from pready.show.tables.library import libraries_view, library_view
from pready.show.terminal.terminal import console


@click.command()
@click.argument("name", metavar="[NAME[@VERSION]]", required=False)
def libraries(name: str | None) -> None:
    """List the MPI library profiles of --library, or show one: what MPI_Pready sends there, and why. A NAME with a
    version shows the bugs and settings of that version alone."""
    every = list(l.LIBRARIES.values())
    console().print(libraries_view(every) if name is None else library_view(l.library(name)))
