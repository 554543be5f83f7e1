"""``pready sst``: the command line of this folder; parses, calls, prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pready.model.errors import PreadyError, shown

if TYPE_CHECKING:
    from pready.model.approach import Approach
    from pready.sst.beside import Beside
    from pready.sst.calibrate import Fit
    from pready.sst.run import How
    from pready.sst.simulate import Setup
    from pready.sst.topology import Topology

MISSING = 3
"""Exit status where SST, or a part of it, is not installed."""
DEFAULT_MACHINE = "meluxina"


@click.group()
def sst() -> None:
    """Simulate with SST's packet-level networks: congestion included, parallel over MPI."""


def needs_sst(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command that ends with one line and status 3 where there is no SST."""

    @wraps(function)
    def wrapped(*args: Any, **options: Any) -> Any:
        from pready.sst.library import MissingSST

        try:
            return function(*args, **options)
        except MissingSST as error:
            click.echo(f"pready: error: {error}", err=True)
            click.get_current_context().exit(MISSING)

    return wrapped


def _together(*decorators: Callable[..., Any]) -> Callable[..., Any]:
    def apply(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


_machine = click.option(
    "--machine", default=DEFAULT_MACHINE, show_default=True, metavar="NAME|FILE", help="A profile or a TOML file."
)
_parameters = click.option(
    "--parameters",
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="What 'pready sst calibrate -o' wrote.  [default: calibrated once per machine, and kept]",
)
_processes = click.option("--processes", type=click.IntRange(1), default=1, show_default=True, help="mpirun -n.")
_threads = click.option(
    "--sst-threads", type=click.IntRange(1), default=1, show_default=True, help="Threads of each process (sst -n)."
)
_what = _together(
    click.argument("workload"),
    _machine,
    click.option(
        "--topology",
        default="single",
        show_default=True,
        metavar="NAME",
        help="single, torus[:XxYxZ], fattree[:TAPER[:HOSTS]], dragonfly.",
    ),
    click.option(
        "--ranks", default="", metavar="N|X,Y,Z", help="Their number or grid.  [default: the workload's, else 2 or 8]"
    ),
    click.option("--iterations", type=click.IntRange(1), default=10, show_default=True),
    click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Of the arrivals."),
    click.option(
        "--set",
        "extra",
        multiple=True,
        metavar="NAME=VALUE",
        help="A further parameter of the motif ('pready sst info'); repeatable.",
    ),
    _parameters,
)


@sst.command()
@_what
@click.option("--approach", default="many", show_default=True, metavar="NAME", help="single, part or many.")
@click.option("--transport", type=click.IntRange(1), help="Transport partitions.  [default: all user partitions]")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.py")
def config(
    workload: str,
    machine: str,
    topology: str,
    ranks: str,
    iterations: int,
    seed: int,
    extra: Sequence[str],
    parameters: Path | None,
    approach: str,
    transport: int | None,
    output: Path,
) -> None:
    """Write an SST configuration for WORKLOAD, with its arrivals beside it, to edit and keep."""
    from pready.output import check_writable
    from pready.sst import library
    from pready.sst.simulate import write_config

    check_writable(output, (".py",))
    made = _setup(workload, machine, topology, ranks, iterations, seed, extra, parameters)
    chosen = _approach(approach, transport or made.workload.n_partitions, made.workload.n_partitions)
    folder = library.build() if library.available() else None
    if folder is not None:
        made = _calibrated(made)
    elif parameters is None:
        click.echo("no SST here to calibrate with: the parameters are Firefly's formula", err=True)
    record = write_config(made, chosen, output, folder)
    click.echo(f"wrote {output} and {output.with_suffix('.arrivals.npy').name}; a run writes {record.name}", err=True)


@sst.command()
@_what
@click.option(
    "--approach",
    "names",
    multiple=True,
    metavar="NAME[:TRANSPORT]",
    help="part:8 or many:32; repeatable.  [default: what the library offers]",
)
@click.option("--library", metavar="NAME", help="MPI library profile; the machine's own if absent.")
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="FOLDER", help="Keep configurations and records there."
)
@_processes
@_threads
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--csv", "as_csv", is_flag=True, help="One line per approach.")
@needs_sst
def run(
    workload: str,
    machine: str,
    topology: str,
    ranks: str,
    iterations: int,
    seed: int,
    extra: Sequence[str],
    parameters: Path | None,
    names: Sequence[str],
    library: str | None,
    keep: Path | None,
    processes: int,
    sst_threads: int,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Simulate WORKLOAD with SST, bulk and each approach, and print the prediction."""
    if as_json and as_csv:
        raise PreadyError("--json and --csv exclude each other", valid="one of them")
    from rich.console import Console

    from pready import show
    from pready.sst import library as installed
    from pready.sst.beside import simulate_beside
    from pready.sst.run import How

    installed.find()
    made = _setup(workload, machine, topology, ranks, iterations, seed, extra, parameters)
    chosen = [_named(name, made.workload.n_partitions) for name in names]
    how = How(processes, sst_threads)
    with Console(stderr=True).status("building the element library") as status:
        installed.build()
        made = _calibrated(made, how)

        def on_run(number: int, count: int, approach: Approach, network: Topology) -> None:
            label = f"{approach.name}, {approach.transport_partitions} transport partitions"
            status.update(f"SST run {number + 1} of {count}: {label}, {made.ranks} ranks on {network.title}")

        prediction, rows = simulate_beside(
            made, library=library, approaches=chosen, folder=keep, how=how, on_run=on_run
        )
    if as_json:
        data = prediction.to_dict() | {"congestion": [asdict(r) | {"taken": r.taken} for r in rows]}
        click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
    elif as_csv:
        click.echo(show.prediction_csv(prediction), nl=False)
    else:
        show.console().print(show.prediction_view(prediction, every_row=True))
        if rows:
            show.console().print(beside_view(rows, made.topology.title))


@sst.command()
@_machine
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.json", help="Write the parameters there."
)
@click.option("--path", type=click.Choice(["inter", "intra"]), default="inter", show_default=True)
@click.option("--cache", type=click.Choice(["hot", "cold"]), default="hot", show_default=True, help="Copy bandwidth.")
@_processes
@_threads
@click.option("--json", "as_json", is_flag=True, help="Residuals and parameters as one JSON object.")
@needs_sst
def calibrate(
    machine: str, output: Path | None, path: str, cache: str, processes: int, sst_threads: int, as_json: bool
) -> None:
    """Fit Firefly's and merlin's parameters until SST's ping-pong takes the machine's times."""
    from rich.console import Console

    from pready import show
    from pready.model import machine as machines
    from pready.output import check_writable, write_text
    from pready.sst import fitted, library
    from pready.sst.run import How
    from pready.sst.simulate import calibrate as calibrate_

    if output is not None:
        check_writable(output, (".json",))
    on = machines.load(machine)
    library.find()
    with Console(stderr=True).status("building the element library") as status:
        library.build()
        status.update("SST ping-pong, 8 B to 16 MiB")
        fit = calibrate_(on, path, cache, How(processes, sst_threads))
    data = fitted.as_data(fit, on.name, path, cache)
    if output is not None:
        write_text(output, json.dumps(data, indent=2) + "\n")
    if as_json:
        rows = [
            {"size": r.size, "machine_s": r.machine, "sst_s": r.simulated, "residual": r.relative}
            for r in fit.residuals
        ]
        click.echo(json.dumps(data | {"residuals": rows}, indent=2))
    else:
        show.console().print(residuals_view(fit, on.name))
        if output is not None:
            click.echo(f"wrote {output}", err=True)


@sst.command()
@needs_sst
def info() -> None:
    """What SST is here, and what the motifs take."""
    from pready.sst import library
    from pready.sst.parameters import GROUPS, parameters

    found = library.find()
    click.echo(f"{found.version}: {found.sst}")
    click.echo(f"element library: {library.build() / 'libpready.so'}")
    for motif in GROUPS:
        click.echo(f"pready.{motif}")
        for p in parameters(motif).values():
            click.echo(f"  {p.name:14} {p.default or '(none)':12} {p.meaning}")


def residuals_view(fit: Fit, machine: str) -> Any:
    """The comparison as a table."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from pready.model.units import format_size, format_time

    table = Table(title=f"ping-pong: SST against {machine}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("size", "machine", "SST", "residual", ""):
        table.add_column(name, justify="right")
    for r in fit.residuals:
        note = "near a threshold" if r.near_threshold else ""
        table.add_row(format_size(r.size), format_time(r.machine), format_time(r.simulated), f"{r.relative:+.1%}", note)
    worst = max((abs(r.relative) for r in fit.residuals), default=0.0)
    said = f"largest residual {worst:.1%}, away from thresholds {fit.worst:.1%}; {fit.rounds} rounds"
    return Group(table, Text(said, style="dim"))


def beside_view(rows: Sequence[Beside], network: str) -> Any:
    """What congestion takes, as a table."""
    from rich import box
    from rich.table import Table

    from pready.model.units import format_time

    table = Table(
        title=f"congestion on {network}, beside one router", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for name in ("approach", "transport", "time, one router", "time here", "η, one router", "η here", "gain taken"):
        table.add_column(name, justify="left" if name == "approach" else "right")
    for r in rows:
        taken = "" if r.taken is None else f"{r.taken:.0%}"
        times = (format_time(r.time_alone_s), format_time(r.time_s))
        table.add_row(r.name, str(r.transport_partitions), *times, f"{r.eta_alone:.2f}", f"{r.eta:.2f}", taken)
    return table


def _setup(
    workload: str,
    machine: str,
    network: str,
    ranks: str,
    iterations: int,
    seed: int,
    extra: Sequence[str],
    parameters: Path | None,
) -> Setup:
    from pready.model import machine as machines
    from pready.model import workload as workloads
    from pready.sst import fitted
    from pready.sst.simulate import setup

    return setup(
        machines.load(machine),
        workloads.load(workload),
        network,
        _numbers(ranks),
        iterations=iterations,
        seed=seed,
        extra=dict(_pair(text) for text in extra),
        firefly=None if parameters is None else fitted.read(parameters),
    )


def _calibrated(made: Setup, how: How | None = None) -> Setup:
    """The setup with parameters fitted to its machine, unless it has some; says so before it fits."""
    from pready.sst.fitted import fitted

    if made.firefly is not None:
        return made

    def on_fit() -> None:
        click.echo(f"calibrating SST to {made.machine.name}, once: the parameters are kept", err=True)

    w = made.workload
    return replace(made, firefly=fitted(made.machine, w.path, w.cache, how, on_fit))


def _pair(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise PreadyError(f"--set {shown(text)}", valid="NAME=VALUE")
    return name, value


def _numbers(text: str) -> tuple[int, ...]:
    if not text:
        return ()
    parts = text.split(",")
    if not all(p.isdigit() and 0 < int(p) <= 1_000_000 for p in parts):
        raise PreadyError(f"--ranks {shown(text)}", valid="a number of at least 2, or a grid such as 4,4,4")
    return tuple(map(int, parts))


def _named(text: str, partitions: int) -> Approach:
    name, colon, count = text.partition(":")
    if colon and not count.isdigit():
        raise PreadyError(f"--approach {shown(text)}", valid="NAME or NAME:TRANSPORT, such as many:8")
    return _approach(name, int(count) if colon else partitions, partitions)


def _approach(name: str, transport: int, partitions: int) -> Approach:
    from pready.model.approach import MANY, PART, SINGLE, Approach
    from pready.model.workload import check_transport_partitions

    known = {i.key: i for i in (SINGLE, PART, MANY)}
    if name not in known:
        raise PreadyError(f"approach = {shown(name)}", valid=", ".join(known))
    if name == SINGLE.key:
        return Approach(SINGLE)
    check_transport_partitions(transport, partitions)
    return Approach(known[name], transport)
