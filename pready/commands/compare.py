"""``pready compare``: workloads, machines, libraries and values of fields side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from pready.commands import options, whatif
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.whatif.fields import Axis, parse_axis
from pready.whatif.points import Options, Work
from pready.whatif.sweep import product


@click.command()
@options.workload(several=True)
@click.option(
    "--machine",
    "machine",
    multiple=True,
    default=(options.DEFAULT_MACHINE,),
    show_default=True,
    metavar="NAME|FILE",
    help="A profile ('pready machines') or a TOML file; repeatable.",
)
@click.option(
    "--library", multiple=True, metavar="NAME", help="MPI library profile; repeatable.  [default: the machine's]"
)
@click.option(
    "--set",
    "axes",
    multiple=True,
    metavar="FIELD=VALUES",
    help="A dotted field and its values, such as buffer=64KiB,1MiB; repeatable.",
)
@whatif.output
@whatif.overwrite
@options.seed("Of arrivals and parameter draws.")
@whatif.engine
@whatif.work
@options.min_gain()
@whatif.cores
@whatif.dask
@options.as_json()
@options.as_csv("One line per combination.")
@options.picture("Draw the saving of each combination.")
def compare(
    workload: Sequence[str],
    machine: Sequence[str],
    library: Sequence[str],
    axes: Sequence[str],
    seed: int,
    engine: Any,
    min_gain: float,
    work: Work,
    **how: Any,
) -> None:
    """Predict each WORKLOAD (a TOML file) on each machine, with each library and each value of the fields.

    A row per combination: best approach, η, change of iteration time, verdict, and the buffers worth porting.
    With several libraries a note for each after the first names the approaches whose time it changes.
    """
    given = (("machine", tuple(dict.fromkeys(machine))), ("library", tuple(dict.fromkeys(library))))
    over = [Axis(name, values) for name, values in given if len(values) > 1]
    over += [parse_axis(a, "--set") for a in axes]
    base = [options.read_workload(w) for w in workload]
    on: Machine = machines.load(machine[0])
    points = product(on, base, over, library=library[0] if library else None, seed=seed, work=work)
    several = any(axis.field == "library" for axis in over)
    shared = Options(engine=engine, min_gain=min_gain, sizes=True, every=several)
    whatif.run(points, base, over, shared, work=work, libraries_beside=several, **how)
