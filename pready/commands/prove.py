"""``pready prove``: a workload's own exchange, predicted and measured side by side."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from pready.calibrate.build import built_for
from pready.calibrate.launch import Launcher
from pready.calibrate.rig import Rig
from pready.calibrate.two_ranks import check_nodes, is_open_mpi, mpi_home
from pready.commands import options
from pready.files.extra import need
from pready.files.writing import check_writable, write_text
from pready.model import machine as machines
from pready.model import workload as workloads
from pready.model.errors import PreadyError
from pready.model.interfaces import Approach
from pready.model.libraries import EMULATED
from pready.model.libraries import library as library_by_name
from pready.model.machine import Machine
from pready.model.predict import effective_library, predict
from pready.model.prediction import ApproachPrediction, Prediction
from pready.model.units import Unit, parse
from pready.model.version import VERSION
from pready.model.workload import Workload
from pready.show.proof import proof_view
from pready.show.terminal import console, print_json, progress
from pready.show.validation import report_data
from pready.validate.prove import Prover, Told
from pready.validate.prove import prove as proved
from pready.validate.prove.as_performed import as_performed
from pready.validate.prove.placement import nodes_of
from pready.validate.prove.session import ranks_of
from pready.validate.prove.source import PORTABLE, program
from pready.validate.report.page import html
from pready.validate.result import Report

Ways = tuple[Approach, ...]
"""Of the exchanges of a workload."""
PAGE, DATA, RAW = "index.html", "report.json", "raw"
DEFAULT_BUDGET = "3 min"


@click.command()
@click.argument("workload")
@click.option(
    "--machine",
    metavar="NAME|FILE",
    help="A profile or a machine file.  [default: calibrated first, within the budget]",
)
@options.library()
@click.option("--launcher", metavar="WORDS", help='How all ranks are started, such as "srun -N 8 -n 96 -c 8".')
@click.option("--rig", metavar="BANDWIDTH", help="Instead: nodes on this machine, such as 200Mbit (needs root).")
@options.nodes()
@click.option(
    "--mpi", "prefix", type=click.Path(path_type=Path), metavar="PREFIX", help="Where bin/mpiexec and bin/mpicc lie."
)
@click.option("--mpicc", metavar="WORDS", help="MPI C compiler; MPICC, PATH and PREFIX/bin are searched if absent.")
@click.option(
    "--approach",
    "named",
    multiple=True,
    metavar="KEY[:T[:V]]",
    help="Beside bulk, for every exchange; repeat it for several.  [default: what is advised, and the two next]",
)
@options.grid("--ranks", "Grid of ranks.  [default: the workload's]")
@click.option("--budget", default=DEFAULT_BUDGET, show_default=True, metavar="TIME", help="Wall-clock time to measure.")
@options.seed("Of arrivals, the order of measuring, payloads and intervals.", bits=32)
@options.min_gain()
@options.as_json()
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Measure nothing: write the exchange there as a small C program, bulk and ported side by side.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help=f"Write {PAGE} and {DATA} there, and keep raw records; run again, it goes on from them.",
)
@click.pass_context
def prove(
    context: click.Context,
    workload: str,
    machine: str | None,
    library: str | None,
    launcher: str | None,
    rig: str | None,
    nodes: int | None,
    prefix: Path | None,
    mpicc: str | None,
    named: tuple[str, ...],
    ranks: tuple[int, ...] | None,
    budget: str,
    seed: int,
    min_gain: float,
    as_json: bool,
    source: Path | None,
    output: Path | None,
) -> None:
    """Perform WORKLOAD's exchange with real MPI, bulk and the advised approaches, and hold the prediction against it.

    Exit status: 0 if the verdict was kept, 1 if it was not, 2 for bad input or if nothing could be measured.
    """
    what = workloads.load(workload)
    what = what if ranks is None else what.changed(grid=ranks)
    on = None if machine is None else machines.load(machine)
    approaches = [tuple(options.parse_approach(text, part) for part in what.parts) for text in named]
    if source is not None:
        _write_source(source, what, on, library, approaches, seed)
        return
    if output is None:
        raise PreadyError("-o is missing", valid="a folder for the report and its raw records, such as -o proof/")
    need("matplotlib", f"{PAGE} with its pictures")
    budget_s = parse(budget, Unit.TIME, "--budget")
    _make_folder(output)
    with _launched(what, launcher, rig, nodes, prefix) as (started, home), _told() as told:
        done = proved(
            what,
            on,
            Prover(started, built_for(home, mpicc), placed=rig is not None),
            output / RAW,
            budget_s=budget_s,
            seed=seed,
            library=library,
            approaches=approaches,
            min_gain=min_gain,
            on_progress=told,
        )
    report = Report(VERSION, seed, _about(), comparisons=(done.comparison,))
    write_text(output / PAGE, html(report, report.about["command"]))
    data = report_data(report)
    write_text(output / DATA, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    if as_json:
        said = {"predicted": done.predicted, "measured": done.measured, "kept": done.kept, "regret": done.regret}
        print_json({**said, "failures": dict(done.failures), **data})
    else:
        console().print(proof_view(done))
    click.echo(f"wrote {output / PAGE} and {output / DATA} (seed {seed})", err=True)
    context.exit(0 if done.kept else 1)


def _write_source(
    folder: Path, workload: Workload, on: Machine | None, library: str | None, named: list[Ways], seed: int
) -> None:
    """The program of one approach: the one that is named, or the best of those that a program is written for."""
    if len(named) > 1 or (not named and on is None):
        given = "several --approach" if named else "--source without --approach"
        raise PreadyError(given, valid="one, such as --approach many:8, or a --machine whose advice is taken")
    profile = effective_library(on, library) if on is not None else library_by_name(library or EMULATED.name)
    if named:
        chosen = named[0]
    else:
        assert on is not None
        chosen = _best_of_portable(predict(on, workload, library=library, seed=seed, draws=0))
    files = program(as_performed(workload)[0], chosen, profile, seed)
    _make_folder(folder, tuple(files))
    for name, text in files.items():
        write_text(folder / name, text)
    click.echo(f"wrote {', '.join(str(folder / name) for name in files)}: make -C {shlex.quote(str(folder))}", err=True)


def _best_of_portable(prediction: Prediction) -> Ways:
    """One interface for all exchanges, each in its best number of messages."""
    each = prediction.exchanges or (prediction,)
    found: list[list[ApproachPrediction]] = []
    for interface in PORTABLE:
        rows = [[r for r in e.approaches if r.approach.interface is interface and r.available] for e in each]
        if all(rows):
            found.append([max(some, key=lambda r: r.eta) for some in rows])
    best = min(found, key=lambda rows: sum(r.time_s for r in rows))
    return tuple(r.approach for r in best)


@contextmanager
def _launched(
    workload: Workload, launcher: str | None, rig: str | None, nodes: int | None, prefix: Path | None
) -> Iterator[tuple[Launcher, Path | None]]:
    """What starts all ranks, and the MPI's home if it is known."""
    if (launcher is None) == (rig is None):
        given = "both --launcher and --rig" if launcher else "neither --launcher nor --rig"
        raise PreadyError(
            f"{given} given", valid='one of them, such as --launcher "srun -N 8 -n 96 -c 8" or --rig 200Mbit'
        )
    check_nodes(nodes, rig)
    if launcher is not None:
        yield Launcher.parse(launcher), prefix
        return
    count, each = ranks_of(workload), workload.ranks_of_a_node or 1
    if nodes not in (None, count // each):
        raise PreadyError(
            f"--nodes {nodes} for a workload of {count} ranks, {each} of a node", valid=f"{count // each}; or --ranks"
        )
    places = nodes_of(workload) or range(count)
    if [*places] != [rank // each for rank in range(count)]:
        raise PreadyError("node_grid on the rig, which fills its nodes rank by rank", valid="ranks_per_node alone")
    home = mpi_home(prefix)
    with Rig(str(rig), count // each) as made:
        if is_open_mpi(home):
            yield made.openmpi(home, crowded=count > 2, per_node=each), home
        else:
            yield made.mpich(home, per_node=each), home


@contextmanager
def _told() -> Iterator[Callable[[Told], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with progress(*columns) as bar:
        task = bar.add_task("starting", total=None, left="")

        def told(now: Told) -> None:
            left = f"about {now.left_s:.0f} s left"
            bar.update(task, total=now.total, completed=now.done, description=now.stage, left=left)

        yield told


def _about() -> dict[str, str]:
    return {
        "command": shlex.join(["pready", *sys.argv[1:]]),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
    }


def _make_folder(folder: Path, files: tuple[str, ...] = (PAGE, DATA)) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PreadyError(f"cannot be made: {reason}", valid="a folder", source=str(folder)) from None
    for name in files:
        check_writable(folder / name)
