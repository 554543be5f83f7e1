"""``pready sweep``: predictions over any fields of a workload, machines and libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from pready.commands import options, whatif
from pready.model.machine import machine as machines
from pready.whatif.fields import parse_axis
from pready.whatif.points import Options, Work
from pready.whatif.sweep import product


@click.command()
@options.workload()
@click.option(
    "--set",
    "--over",
    "axes",
    multiple=True,
    required=True,
    metavar="FIELD=VALUES",
    help="A dotted field and its values: buffer=1KiB:64MiB:2x, arrivals.spread=1%,4%, "
    "machine=niagara,hpc3, library=mpipcl,emulated, machine.contexts=1,8, seed=0:9:1; repeatable, all combinations.",
)
@whatif.output
@whatif.overwrite
@options.machine()
@options.library()
@options.seed("Of arrivals and parameter draws.")
@whatif.engine
@whatif.work
@click.option("--all", "every", is_flag=True, help="A row for every approach, not only for the best.")
@options.min_gain()
@whatif.cores
@whatif.dask
@options.as_json()
@options.as_csv("One line per point, or with --all per approach.")
@options.picture("Draw η and the saving over the field with the most values, with --all a line for each interface.")
@click.option("--map", "as_map", is_flag=True, help="Draw the verdict over two fields instead.")
def sweep(
    workload: str,
    axes: Sequence[str],
    machine: str,
    library: str | None,
    seed: int,
    engine: Any,
    every: bool,
    min_gain: float,
    work: Work,
    **how: Any,
) -> None:
    """Predict WORKLOAD (a TOML file) over all combinations of some fields' values.

    A row per point, with the best approach and the verdict. With -o, finished points are kept beside the file: an
    interrupted sweep resumes, and a larger one computes its new points only.
    """
    over = [parse_axis(a) for a in axes]
    base = [options.read_workload(workload)]
    points = product(machines.load(machine), base, over, library=library, seed=seed, work=work)
    shared = Options(engine=engine, min_gain=min_gain, every=every)
    whatif.run(points, base, over, shared, work=work, **how)
