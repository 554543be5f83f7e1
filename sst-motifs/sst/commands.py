"""``pready sst``: the command line of this folder; parses, calls, prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pready.model.errors import PreadyError, shown

if TYPE_CHECKING:
    from pready.model.approach import Approach
    from pready.sst.calibrate import Fit
    from pready.sst.firefly import Firefly
    from pready.sst.simulate import Setup

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
    help="What 'pready sst calibrate -o' wrote; without it, Firefly's formula.",
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
        help="single, torus[:XxYxZ], fattree[:TAPER], dragonfly.",
    ),
    click.option("--ranks", default="", metavar="N|X,Y,Z", help="Their number or grid.  [default: 2 or 8]"),
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
    from pready.sst.run import How
    from pready.sst.simulate import simulate

    installed.find()
    made = _setup(workload, machine, topology, ranks, iterations, seed, extra, parameters)
    chosen = [_named(name, made.workload.n_partitions) for name in names]
    how = How(processes, sst_threads)
    with Console(stderr=True).status("building the element library") as status:
        installed.build()

        def on_run(number: int, count: int, approach: Approach) -> None:
            label = f"{approach.name}, {approach.transport_partitions} transport partitions"
            status.update(f"SST run {number + 1} of {count}: {label}, {made.ranks} ranks on {made.topology.title}")

        prediction = simulate(made, library=library, approaches=chosen, folder=keep, how=how, on_run=on_run)
    if as_json:
        click.echo(json.dumps(prediction.to_dict(), indent=2, ensure_ascii=False, allow_nan=False))
    elif as_csv:
        click.echo(show.prediction_csv(prediction), nl=False)
    else:
        show.console().print(show.prediction_view(prediction, every_row=True))


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
    from pready.sst import library
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
    data = {"machine": on.name, "path": path, "cache": cache, "firefly": fit.firefly.to_dict()}
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
    from pready.sst.simulate import setup

    return setup(
        machines.load(machine),
        workloads.load(workload),
        network,
        _numbers(ranks),
        iterations=iterations,
        seed=seed,
        extra=dict(_pair(text) for text in extra),
        firefly=None if parameters is None else read_parameters(parameters),
    )


def read_parameters(path: Path) -> Firefly:
    """Parameters that ``pready sst calibrate -o`` wrote.

    Raises
    ------
    PreadyError
        Not such a file.
    """
    from pready.model.files import LARGEST_TOML, decoded, read_bytes
    from pready.sst.firefly import Firefly

    try:
        data = json.loads(decoded(read_bytes(path, LARGEST_TOML), str(path)))
    except (json.JSONDecodeError, RecursionError) as error:
        raise PreadyError(
            f"is not JSON: {error}", valid="what `pready sst calibrate -o` wrote", source=str(path)
        ) from None
    if not isinstance(data, dict) or not isinstance(data.get("firefly"), dict):
        raise PreadyError("has no parameters", valid="what `pready sst calibrate -o` wrote", source=str(path))
    return Firefly.from_dict(data["firefly"])


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
