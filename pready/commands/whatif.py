"""The options and the output that ``sweep`` and ``compare`` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from pready.commands import options
from pready.files import rows as files
from pready.files.rows import csv_text
from pready.files.writing import check_writable, write_text
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

Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def engine() -> Option:
    """``--engine``, without SST."""
    return click.option(
        "--engine",
        type=click.Choice(["timeline", "engine"]),
        help="timeline: one exchange; engine: many ranks.  [default: timeline for pt2pt, else engine]",
    )


def work() -> Option:
    """``--work``."""
    return click.option(
        "--work",
        type=click.Choice(["per-thread", "total"]),
        default="per-thread",
        show_default=True,
        help="If threads vary: compute.time stays the same per thread, or in total.",
    )


def cores() -> Option:
    """``--cores``."""
    return click.option("--cores", type=click.IntRange(1, 4096), help="Workers on this machine.  [default: all]")


def dask() -> Option:
    """``--dask``."""
    return click.option(
        "--dask",
        metavar="tcp://HOST:PORT|FILE",
        help="Compute on the workers of a Dask scheduler, by its address or scheduler file.",
    )


def output() -> Option:
    """``-o``."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE.csv|.parquet|.jsonl|-",
        help="Write rows (.jsonl: for Extra-P), with finished points beside the file; - is standard output.",
    )


def overwrite() -> Option:
    """``--overwrite``."""
    return click.option("--overwrite", is_flag=True, help="Replace FILE if it holds other rows.")


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
    to_file = output is not None and output != STANDARD_OUTPUT
    _one_way(output, as_json=as_json, as_csv=as_csv)
    if dask is not None and cores is not None:
        raise PreadyError("--dask and --cores: the cluster's workers are not of this machine", valid="one of them")
    if output is not None and to_file:
        files.check(output)
        if output.suffix.lower() == extrap.SUFFIX:
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
    kept = Kept(output) if output is not None and to_file else None
    keys = {p.key(shared) for p in points} if kept is not None else set()
    before = sum(kept.get(key) is not None for key in keys) if kept is not None else 0
    if output is not None and output.exists() and to_file and not overwrite and before < len(keys):
        raise PreadyError(
            f"is there already, and {len(keys) - before} of these {len(keys)} points are new",
            valid="another name, or --overwrite (finished points are not computed again)",
            source=str(output),
        )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    done = 0
    try:
        with from_command_line(dask) as executor, progress(*columns) as bar:
            task = bar.add_task("predicting", total=len(points))

            def told() -> None:
                nonlocal done
                done += 1
                bar.advance(task)

            where = {"cores": cores, "executor": executor, "separate": True}
            table = tabulate(points, workloads, axes, shared, work=work, kept=kept, on_point=told, **where)
            if libraries_beside:
                table = libraries.beside(table)
    except KeyboardInterrupt:
        if kept is None:
            said = f"{done} finished points of {len(points)} are lost; -o FILE would keep them"
        else:
            there = sum(kept.get(key) is not None for key in keys)
            said = f"{there} of {len(keys)} points are kept in {kept.path}; the same command resumes"
        click.echo(f"pready: interrupted, {said}", err=True)
        raise SystemExit(130) from None
    if picture is not None:
        picture_files.draw_table(picture, table, shared.min_gain, as_map=as_map)
    _show(table, output, as_json=as_json, as_csv=as_csv, overwrite=overwrite)
    if picture is not None:
        click.echo(f"wrote {picture}", err=True)
    if output is not None and to_file:
        again = f", {before} of them from earlier runs" if before else ""
        click.echo(f"wrote {output}: {len(points)} points{again}, seed {points[0].seed}", err=True)
    if as_json or as_csv or output is not None:
        for note in table.notes:
            click.echo(f"note {note}", err=True)


def _one_way(output: Path | None, *, as_json: bool, as_csv: bool) -> None:
    """Refuse two formats on standard output."""
    options.one_form(as_json, as_csv)
    if output == STANDARD_OUTPUT and as_json:
        raise PreadyError("-o - and --json both go to standard output", valid="one of them")


def _show(table: Table, output: Path | None, *, as_json: bool, as_csv: bool, overwrite: bool) -> None:
    if output is not None and output != STANDARD_OUTPUT:
        _write(output, table, overwrite=overwrite)
    if as_json:
        print_json({"varied": table.varied, "notes": table.notes, "rows": table.to_dicts()})
    elif as_csv or output == STANDARD_OUTPUT:
        click.echo(table_csv(table), nl=False)
    elif output is None:
        console().print(table_view(table))


def _write(output: Path, table: Table, *, overwrite: bool) -> None:
    """Write the rows, unless the file holds others."""
    rows, suffix = flat(table), output.suffix.lower()
    text = csv_text(rows) if suffix == ".csv" else extrap.json_lines(table) if suffix == extrap.SUFFIX else None
    if output.exists() and not overwrite:
        check_writable(output)
        if text is None or output.read_bytes() != text.encode():
            raise PreadyError(
                "is there already, with other rows", valid="another name, or --overwrite", source=str(output)
            )
    if text is None:
        files.write(output, rows)
    else:
        write_text(output, text)
