"""The options and the output that ``sweep`` and ``compare`` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from pready.commands import options
from pready.files import rows as files
from pready.files.rows import csv_text
from pready.files.writing import write_text
from pready.model.common.errors import PreadyError
from pready.model.workload.workload import Workload
from pready.show.figures import files as picture_files
from pready.show.tables.whatif import flat, table_csv, table_view
from pready.show.terminal.terminal import console, print_json, progress
from pready.whatif import extrap, libraries
from pready.whatif.executors import from_command_line
from pready.whatif.fields import Axis
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Point, Work
from pready.whatif.sweep import tabulate
from pready.whatif.table import Table

STANDARD_OUTPUT = Path("-")

engine = click.option(
    "--engine",
    type=click.Choice(["timeline", "engine"]),
    help="timeline: one exchange; engine: many ranks.  [default: timeline for pt2pt, else engine]",
)
work = click.option(
    "--work",
    type=click.Choice(["per-thread", "total"]),
    default="per-thread",
    show_default=True,
    help="If threads vary: compute.time stays the same per thread, or in total.",
)
cores = click.option("--cores", type=click.IntRange(1, 4096), help="Workers on this machine.  [default: all]")
dask = click.option(
    "--dask",
    metavar="tcp://HOST:PORT|FILE",
    help="Compute on the workers of a Dask scheduler, by its address or scheduler file.",
)
output = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE.csv|.parquet|.jsonl|-",
    help="Write rows (.jsonl: for Extra-P), with finished points beside the file; - is standard output.",
)
overwrite = click.option("--overwrite", is_flag=True, help="Replace FILE if it holds other rows.")


def run(
    points: Sequence[Point],
    workloads: Sequence[Workload],
    axes: Sequence[Axis],
    shared: Options,
    *,
    work: Work,
    cores: int | None,
    dask: str | None,
    output: Path | None,
    overwrite: bool,
    picture: Path | None,
    as_json: bool,
    as_csv: bool,
    as_map: bool = False,
    libraries_beside: bool = False,
) -> None:
    """Compute the points; show or write their table; `libraries_beside`: what each library changes as notes."""
    options.one_form(as_json, as_csv)
    if output == STANDARD_OUTPUT and as_json:
        raise PreadyError("-o - and --json both go to standard output", valid="one of them")
    if dask is not None and cores is not None:
        raise PreadyError("--dask and --cores: the cluster's workers are not of this machine", valid="one of them")
    file = None if output == STANDARD_OUTPUT else output
    if file is not None:
        files.check(file)
        if file.suffix.lower() == extrap.SUFFIX:
            extrap.split_fields({a.field: list(a.values) for a in axes})
    if picture is not None:
        picture_files.check(picture)
    elif as_map:
        raise PreadyError("--map without --plot", valid="--plot map.svg --map")
    if as_map and len(axes) != 2:
        raise PreadyError(
            f"--map over {len(axes)} field{'' if len(axes) == 1 else 's'}",
            valid="two fields: --over buffer=64KiB:64MiB:4x --over threads=2,4,8,16",
        )
    kept = None if file is None else Kept(file)
    keys = set() if kept is None else {p.key(shared) for p in points}
    before = 0 if kept is None else kept.count(keys)
    if file is not None and file.exists() and not overwrite and before < len(keys):
        raise PreadyError(
            f"is there already, and {len(keys) - before} of these {len(keys)} points are new",
            valid="another name, or --overwrite (finished points are not computed again)",
            source=str(file),
        )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = progress(*columns)
    task = bar.add_task("predicting", total=len(points))
    try:
        with from_command_line(dask) as executor, bar:
            where = {"cores": cores, "executor": executor, "separate": True, "on_point": lambda: bar.advance(task)}
            table = tabulate(points, workloads, axes, shared, work=work, kept=kept, **where)
    except KeyboardInterrupt:
        said = f"{bar.tasks[0].completed:.0f} finished points of {len(points)} are lost; -o FILE would keep them"
        if kept is not None:
            said = f"{kept.count(keys)} of {len(keys)} points are kept in {kept.path}; the same command resumes"
        click.echo(f"pready: interrupted, {said}", err=True)
        raise SystemExit(130) from None
    if libraries_beside:
        table = libraries.beside(table)
    if picture is not None:
        picture_files.draw_table(picture, table, shared.min_gain, as_map=as_map)
    if file is not None:
        _write(file, table, overwrite=overwrite)
    if as_json:
        print_json({"varied": table.varied, "notes": table.notes, "rows": table.to_dicts()})
    elif as_csv or output == STANDARD_OUTPUT:
        click.echo(table_csv(table), nl=False)
    elif output is None:
        console().print(table_view(table))
    if picture is not None:
        click.echo(f"wrote {picture}", err=True)
    if file is not None:
        again = f", {before} of them from earlier runs" if before else ""
        click.echo(f"wrote {file}: {len(points)} points{again}, seed {points[0].seed}", err=True)
    if as_json or as_csv or output is not None:
        for note in table.notes:
            click.echo(f"note {note}", err=True)


def _write(output: Path, table: Table, *, overwrite: bool) -> None:
    """Write the rows, unless the file holds others."""
    rows, suffix = flat(table), output.suffix.lower()
    text = csv_text(rows) if suffix == ".csv" else extrap.json_lines(table) if suffix == extrap.SUFFIX else None
    if output.exists() and not overwrite and (text is None or output.read_bytes() != text.encode()):
        raise PreadyError("is there already, with other rows", valid="another name, or --overwrite", source=str(output))
    if text is None:
        files.write(output, rows)
    else:
        write_text(output, text)
