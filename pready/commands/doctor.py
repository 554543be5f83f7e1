"""``pready doctor``: what a launcher and its MPI library do with partitioned communication."""

from __future__ import annotations

from dataclasses import asdict

import click

from pready.calibrate.doctor.diagnosis import diagnose, quick
from pready.calibrate.measure.compile import Built, build, find_mpicc
from pready.calibrate.measure.launcher import Launcher
from pready.commands import options
from pready.show.tables.doctor import diagnosis_view
from pready.show.terminal.terminal import console, print_json, status


@click.command()
@click.option(
    "--launcher",
    required=True,
    metavar="WORDS",
    help='How two ranks or more are started: "srun -N 2 -n 2 -c 8", "mpiexec -n 2".',
)
@click.option("--mpicc", metavar="WORDS", help="MPI C compiler.  [default: MPICC, the one beside the launcher, PATH]")
@options.as_json("The findings as JSON.")
def doctor(launcher: str, mpicc: str | None, as_json: bool) -> None:
    """Try an MPI library in less than a minute: early sends, known bugs, thread level, binding.

    It may crash or hang without harm. The exit status is 0 whatever is found.
    """
    ranks = Launcher.parse(launcher)
    with status("trying the MPI library"):
        found = diagnose(ranks, build(find_mpicc(mpicc, ranks.prefix)))
    if as_json:
        print_json(asdict(found))
    else:
        console().print(diagnosis_view(found))


def tried_first(ranks: Launcher, built: Built) -> None:
    """Before measuring: refuse a launcher that cannot measure, and say what will disturb; errors as of `quick`."""
    with status("trying the MPI library"):
        found = quick(ranks, built)
    for f in found:
        if f.grade != "good":
            click.echo(f"note: {f.name}: {f.says}; {f.do}" if f.do else f"note: {f.name}: {f.says}", err=True)
