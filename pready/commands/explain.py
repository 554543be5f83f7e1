"""``pready explain``: the equations, alone or with a user's numbers."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pready.commands import options
from pready.model.advice.explanation import explain as explained
from pready.model.common.errors import PreadyError
from pready.show.tables.explanation import equations_view, view
from pready.show.terminal.terminal import console, status


@click.command()
@options.workload(required=False)
@options.machine()
@options.library()
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
        explanation = explained(on, what, chosen, library=library, seed=seed)
    console().print(view(explanation))
