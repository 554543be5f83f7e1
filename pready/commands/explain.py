"""``pready explain``: the equations, alone or with a user's numbers."""

from __future__ import annotations

from typing import Literal

import click

from pready.commands import options
from pready.model.advice.explanation import explain as explained
from pready.model.common.errors import PreadyError
from pready.model.machine import machine as machines
from pready.show.tables.explanation import equations_latex, equations_view, latex, view
from pready.show.terminal.terminal import console, status


@click.command()
@options.workload(required=False)
@click.option("--machine", metavar="NAME|FILE", help=f"A profile or a TOML file.  [default: {options.DEFAULT_MACHINE}]")
@options.library()
@options.approach()
@options.seed()
@click.option(
    "--engine",
    type=click.Choice(["timeline", "engine"]),
    help="timeline shows every term of a single exchange.  [default: predict's]",
)
@click.option("--latex", "as_latex", is_flag=True, help="LaTeX source instead of plain text.")
def explain(
    workload: str | None,
    machine: str | None,
    library: str | None,
    approach: str | None,
    seed: int,
    engine: Literal["timeline", "engine"] | None,
    as_latex: bool,
) -> None:
    """The equations and the steps of an exchange with WORKLOAD's numbers, and all departures from the papers.

    Without WORKLOAD: the equations alone.
    """
    if workload is None:
        given = {"--machine": machine, "--library": library, "--approach": approach, "--engine": engine}
        if any(given.values()):
            named = ", ".join(name for name, value in given.items() if value)
            raise PreadyError(f"{named} without a workload", valid="a workload file")
        if as_latex:
            click.echo(equations_latex())
        else:
            console().print(equations_view())
        return
    on, what = machines.load(machine or options.DEFAULT_MACHINE), options.read_workload(workload)
    chosen = None if approach is None else options.parse_approach(approach, what)
    with status("predicting"):
        explanation = explained(on, what, chosen, library=library, seed=seed, engine=engine)
    if as_latex:
        click.echo(latex(explanation))
    else:
        console().print(view(explanation))
