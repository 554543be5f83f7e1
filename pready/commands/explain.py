"""``pready explain``: the equations, alone or with a user's numbers."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pready.commands import options
from pready.model.advice.explanation import explain as explained
from pready.model.advice.library_changes import library_changes
from pready.model.common.errors import PreadyError
from pready.show.tables.explanation import changes_view, equations_view, view
from pready.show.terminal.terminal import console, status


@click.command()
@options.workload(required=False)
@options.machine()
@click.option(
    "--library",
    is_flag=False,
    flag_value="",
    metavar="[NAME[@VERSION]]",
    help="What this MPI library would have to change ('pready libraries'); without a name, the machine's.",
)
@options.fields()
@options.approach()
@options.seed()
@click.pass_context
def explain(
    context: click.Context,
    workload: str | None,
    machine: str,
    library: str | None,
    fields: Sequence[str],
    approach: str | None,
    seed: int,
) -> None:
    """The equations and the steps of an exchange with WORKLOAD's numbers, and all departures from the papers.

    Without WORKLOAD: the equations alone.
    """
    if workload is None:
        if given := options.given(context):
            raise PreadyError(f"{', '.join(given)} without a workload", valid="a workload file")
        console().print(equations_view())
        return
    on, what = options.read(workload, machine, fields)
    chosen = None if approach is None else options.parse_approach(approach, what)
    with status("predicting"):
        explanation = explained(on, what, chosen, library=library or None, seed=seed)
        changes = None if library is None else library_changes(on, what, library or None, seed)
    console().print(view(explanation))
    if changes is not None:
        console().print(changes_view(changes))
