"""What ``sweep`` and ``compare`` share: options, computing and output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from pready.commands import options
from pready.files.writing import check_new, write_text
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.show.figures import files as picture_files
from pready.show.tables.whatif import table_csv, table_view
from pready.show.terminal.terminal import console, print_json, progress
from pready.whatif.compute import tabulate
from pready.whatif.fields import Axis, parse_axis
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Work, product, sizes_wanted

STANDARD_OUTPUT = Path("-")

_OPTIONS = (
    options.machine(),
    options.library(),
    options.fields(several=True),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE.csv|-",
        help="Write rows, with finished points beside the file; - is standard output.",
    ),
    click.option("--all", "every", is_flag=True, help="A row for every approach, not only for the best."),
    options.min_gain(),
    options.as_json(),
    options.picture("Draw what is saved over the field with the most values."),
)


def shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of both."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def run(
    texts: Sequence[str],
    *,
    machine: str,
    library: str | None,
    fields: Sequence[str],
    output: Path | None,
    every: bool,
    min_gain: float,
    as_json: bool,
    picture: Path | None,
) -> None:
    """Predict each workload at all combinations of the fields' values; show or write their table.

    Unless buffers vary, with those for which the best way pays.
    """
    axes, work = _work([parse_axis(text) for text in fields])
    workloads = [options.read_workload(text) for text in texts]
    points = product(load(machine), workloads, axes, library=library, work=work)
    how = Options(min_gain=min_gain, every=every, sizes=sizes_wanted(axes))
    if output == STANDARD_OUTPUT and as_json:
        raise PreadyError("-o - and --json both go to standard output", valid="one of them")
    file = None if output == STANDARD_OUTPUT else output
    if picture is not None:
        picture_files.check(picture)
    kept = None if file is None else Kept(file, (".csv",))
    keys = {p.key(how) for p in points}
    before = 0 if kept is None else kept.count(keys)
    if file is not None and before < len(keys):
        check_new(file)  # else its rows are compared
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = progress(*columns)
    task = bar.add_task("predicting", total=len(points))
    try:
        with bar:
            where: dict[str, Any] = {"separate": True, "on_point": lambda: bar.advance(task)}
            table = tabulate(points, workloads, axes, how, work=work, kept=kept, **where)
    except KeyboardInterrupt:
        said = f"{bar.tasks[0].completed:.0f} finished points of {len(points)} are lost; -o FILE would keep them"
        if kept is not None:
            said = f"{kept.count(keys)} of {len(keys)} points are kept in {kept.path}; the same command resumes"
        raise KeyboardInterrupt(said) from None
    if picture is not None:
        picture_files.draw_table(picture, table, min_gain)
    if file is not None:
        write_text(file, table_csv(table))
    if as_json:
        print_json({"varied": table.varied, "notes": table.notes, "rows": table.to_dicts()})
    elif output == STANDARD_OUTPUT:
        click.echo(table_csv(table), nl=False)
    elif output is None:
        console().print(table_view(table))
    if picture is not None:
        click.echo(f"wrote {picture}", err=True)
    if file is not None:
        again = f", {before} of them from earlier runs" if before else ""
        click.echo(f"wrote {file}: {len(points)} points{again}, seed {points[0].seed}", err=True)
    if kept is not None and kept.damaged:
        click.echo(
            f"note: {kept.damaged} lines of {kept.path} were damaged: what they held was computed again", err=True
        )
    if as_json or output is not None:
        for note in table.notes:
            click.echo(f"note {note}", err=True)


def _work(given: Sequence[Axis]) -> tuple[list[Axis], Work]:
    """The fields that vary, and what ``--set work=total`` says of threads that do."""
    said = [axis for axis in given if axis.field == "work"]
    values = [value for axis in said for value in axis.values] or ["per-thread"]
    if len(values) > 1 or values[0] not in get_args(Work):
        raise PreadyError(f"--set work={', '.join(map(str, values))}", valid=f"one of {', '.join(get_args(Work))}")
    return [axis for axis in given if axis not in said], cast(Work, values[0])
