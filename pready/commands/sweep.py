"""``pready sweep``: predictions over a grid of workloads, into a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from pready import sweep as sweeps
from pready.commands import options
from pready.files import rows
from pready.model import machine as machines
from pready.model import workload as workloads
from pready.show.terminal import progress


@click.command()
@click.argument("workload")
@click.option(
    "--over",
    "axes",
    multiple=True,
    required=True,
    metavar="FIELD=VALUES",
    help="buffer=1KiB:64MiB:2x or threads=1,2,4; repeatable.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.csv|.parquet")
@options.machine()
@options.library()
@options.seed("Of arrivals and parameter draws.")
def sweep(workload: str, axes: Sequence[str], output: Path, machine: str, library: str | None, seed: int) -> None:
    """Predict WORKLOAD over a grid of fields; run again after an interruption, it resumes."""
    rows.check(output)
    on = machines.load(machine)
    points = sweeps.grid(workloads.load(workload), [sweeps.parse_axis(a) for a in axes])
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with progress(*columns) as bar:
        task = bar.add_task("predicting", total=len(points))
        computed, reused = sweeps.sweep(
            on, points, output, library=library, seed=seed, on_point=lambda: bar.advance(task)
        )
    again = f", {reused} from an earlier run" if reused else ""
    click.echo(f"wrote {output}: {computed + reused} points{again}, seed {seed}", err=True)
