"""``pready sst``: simulations with SST, their configurations and their calibration."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pready.commands import options
from pready.exit_status import Status
from pready.files.writing import check_writable, make_folder
from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError, shown
from pready.model.machine import DEFAULT
from pready.model.machine import machine as machines
from pready.model.workload.workload import Workload
from pready.show.tables.prediction import prediction_view
from pready.show.tables.sst import residuals_view
from pready.show.terminal.terminal import console, print_json, status
from pready.sst import library as installed
from pready.sst.job import SIMULATED, Setup, setup, write_config
from pready.sst.library import MissingSST
from pready.sst.parameters import FILES, parameters
from pready.sst.ping_pong import ping_pong as residuals
from pready.sst.prediction import simulate
from pready.sst.run import How, stopped_in_order
from pready.sst.set_by_name import NETWORK, set_by_name
from pready.sst.topology import ROUTINGS, VALID

MOST_RANKS = 1_000_000
"""Far more than SST simulates in a day."""
BUILDING = "building the element library, once: it is kept"
DEFAULT_ITERATIONS = 10  # of a simulation in SST


@click.group(invoke_without_command=True)
@click.option(
    "--headers",
    type=click.Path(path_type=Path),
    envvar=installed.HEADERS,
    show_envvar=True,
    metavar="FOLDER",
    help="Sources of sst-elements, where the ones that SST was built of are gone: it installs no headers of Ember.",
)
@click.pass_context
def sst(context: click.Context, headers: Path | None) -> None:
    """Simulate with SST's packet-level networks: congestion included, parallel over MPI."""
    if headers is not None:
        os.environ[installed.HEADERS] = str(headers)
        installed.named_headers()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@contextmanager
def needs_sst() -> Iterator[None]:
    """A command that ends with one line and status 3 without SST, and that SIGTERM ends as Ctrl-C does."""
    try:
        with stopped_in_order():
            yield
    except MissingSST as error:
        click.echo(f"pready: error: {error}", err=True)
        click.get_current_context().exit(Status.NO_SST)


_OPTIONS = (
    options.workload(),
    options.machine(),
    options.fields(),
    click.option(
        "--topology",
        metavar="NAME",
        help=f"{VALID}; the first ROUTING unless said: {ROUTINGS}.  [default: the machine's [network], else single]",
    ),
    options.seed(),
)


def _what(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@sst.command()
@_what
@options.approach("many")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.py")
@needs_sst()
def config(
    workload: str,
    machine: str,
    fields: Sequence[str],
    topology: str | None,
    seed: int,
    approach: str | None,
    output: Path,
) -> None:
    """Write an SST configuration for WORKLOAD, with its arrivals beside it, to edit and keep."""
    check_writable(output, (".py",))
    made = _setup(workload, machine, fields, topology, seed)
    chosen = _approach(approach or "many", made.workload)
    record = write_config(made, chosen, output)
    beside = [f"{output.stem}.arrivals.npy", *([f"{output.stem}.edges"] if len(made.edges) else [])]
    click.echo(f"wrote {output} and {' and '.join(beside)}; a run writes {record.name}", err=True)


@sst.command()
@_what
@click.option(
    "--approach",
    "names",
    multiple=True,
    metavar="KEY[:T]",
    help="part:8 or many:32; repeatable.  [default: what the library offers]",
)
@options.library()
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Keep configurations and records there; runs that are there are not made again.",
)
@click.option("--processes", type=click.IntRange(1), default=1, show_default=True, help="mpirun -n.")
@options.as_json()
@needs_sst()
def run(
    workload: str,
    machine: str,
    fields: Sequence[str],
    topology: str | None,
    seed: int,
    names: Sequence[str],
    library: str | None,
    keep: Path | None,
    processes: int,
    as_json: bool,
) -> None:
    """Simulate WORKLOAD with SST, bulk and each approach, and print the prediction. The same with --topology single has
    the same draws and no congestion between switches.

    Ten iterations of the workload's grid (8 ranks, or a pair, if it has none) unless --set iterations says otherwise.
    """
    made = _setup(workload, machine, fields, topology, seed)
    chosen = [_approach(text, made.workload) for text in names]
    if keep is not None:
        make_folder(keep, (".lock",))
    installed.find()
    with status("SST") as said:
        how = How(processes, on_wait=said.wait)
        installed.build(lambda: said.update(BUILDING, long=True))

        def on_run(number: int, count: int, approach: Approach) -> None:
            of = approach.transport_partitions
            label = f"{approach.name}, {of} transport partition{'s' * (of != 1)}"
            where = f"{made.ranks} ranks on {made.topology.title}"
            said.update(f"SST run {number + 1} of {count}: {label}, {where}", long=True)

        prediction = simulate(made, mpi=library, approaches=chosen, folder=keep, how=how, on_run=on_run)
    if as_json:
        print_json(prediction.to_dict())
    else:
        console().print(prediction_view(prediction, every_row=True))
    counted = f"{made.iterations} iteration{'s' * (made.iterations != 1)}"
    click.echo(f"simulated {counted} after one without spread to warm up, seed {made.seed}", err=True)


@sst.command("ping-pong")
@click.argument("machine", default=DEFAULT)
@needs_sst()
def ping_pong(machine: str) -> None:
    """Show how well SST's own ping-pong takes the machine's times."""
    on = machines.load(machine)
    installed.find()
    with status("SST") as said:
        installed.build(lambda: said.update(BUILDING, long=True))
        said.update("SST ping-pong, 8 B to 16 MiB", long=True)
        found = residuals(on, How(on_wait=said.wait))
    console().print(residuals_view(found, on.name))


@sst.command()
@needs_sst()
def info() -> None:
    """Show the installed SST and the motifs' arguments; build the motifs' library and register it with SST."""
    found = installed.find()
    click.echo(f"{found.version}: {found.sst}")
    folder = installed.build()
    click.echo(f"element library: {folder / 'libpready.so'}")
    if installed.registered(found) == str(folder):
        click.echo("registered with SST: 'sst FILE.py' finds it")
    else:
        click.echo(f"not registered with SST, whose files cannot be written: sst --add-lib-path={folder} FILE.py")
    click.echo("--set, beside fields of the workload and the machine")
    for name, meaning in NETWORK.items():
        click.echo(f"  {name:18} {meaning}")
    for motif in FILES:
        click.echo(f"pready.{motif}")
        for p in parameters(motif).values():
            click.echo(f"  {p.name:18} {p.default or '(none)':8} {p.meaning}")


def _setup(workload: str, machine: str, fields: Sequence[str], network: str | None, seed: int) -> Setup:
    """A run of the workload; ten iterations unless ``--set`` says how many."""
    fields, of_network = set_by_name(fields)
    on, what = options.read(workload, machine, fields)
    if (ranks := math.prod(what.grid or ())) > MOST_RANKS:
        raise PreadyError(f"grid = {shown(what.grid)} has {ranks} ranks", valid=f"at most {MOST_RANKS} for SST")
    iterations = what.iterations if options.sets(fields, "iterations") else DEFAULT_ITERATIONS
    network = network or ("single" if on.network is None else on.network.sst_name)
    return setup(on, what, network, (), iterations=iterations, seed=seed, **of_network)


def _approach(text: str, workload: Workload) -> Approach:
    """Parse an approach; refuse one without a motif."""
    found = options.parse_approach(text, workload)
    if found.interface not in SIMULATED:
        valid = f"{', '.join(i.key for i in SIMULATED)}; others with 'pready simulate'"
        raise PreadyError(f"--approach = {shown(text)} is not simulated by SST", valid=valid)
    if found.vcis != 1:
        raise PreadyError(f"--approach = {shown(text)}: SST simulates one VCI", valid="KEY or KEY:TRANSPORTS")
    return found
