"""``pready simulate``: a workload over many ranks, with the engine."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pready.model.errors import PreadyError, shown

if TYPE_CHECKING:
    from pready.model.approach import Approach
    from pready.model.engine import Simulation
    from pready.model.machine import Machine
    from pready.model.prediction import ApproachPrediction, Prediction
    from pready.model.workload import Workload

Rows = list[tuple["ApproachPrediction", "Simulation"]]
"""Bulk and the approach, simulated with the same arrivals; bulk alone if it was interrupted."""

MOST_ITERATIONS = 100
"""Default limit of simulated iterations; the workload's own number if that is smaller."""


def parse_ranks(text: str, option: str = "--ranks") -> tuple[int, ...]:
    """``8,8,8`` as a grid.

    Raises
    ------
    PreadyError
        Anything but one to three positive integers.
    """
    try:
        grid = tuple(int(word) for word in text.replace("x", ",").split(","))
    except ValueError:
        grid = ()
    if not 1 <= len(grid) <= 3 or min(grid, default=0) < 1:
        raise PreadyError(f"{option} = {shown(text)}", valid="X, X,Y or X,Y,Z, such as 8,8,8")
    return grid


def parse_approach(text: str, workload: Workload) -> Approach:
    """``many``, ``many:8`` or ``many:8:4``: interface, transport partitions (all), VCIs (1).

    Raises
    ------
    PreadyError
        An unknown interface, or numbers that are none.
    """
    from pready.model.approach import BY_KEY, Approach
    from pready.model.workload import check_transport_partitions

    key, *numbers = text.split(":")
    if key not in BY_KEY:
        raise PreadyError(
            f"--approach = {shown(text)}", valid=f"KEY[:TRANSPORTS[:VCIS]], KEY one of {', '.join(BY_KEY)}"
        )
    try:
        counts = [int(n) for n in numbers]
    except ValueError:
        counts = [0]
    if len(counts) > 2 or min(counts, default=1) < 1:
        raise PreadyError(
            f"--approach = {shown(text)}", valid="KEY:TRANSPORTS:VCIS with integers of at least 1, such as many:8:4"
        )
    interface = BY_KEY[key]
    transports = counts[0] if counts else (workload.n_partitions if interface.splits else 1)
    if interface.splits:
        check_transport_partitions(transports, workload.n_partitions)
    elif transports != 1:
        raise PreadyError(f"--approach = {shown(text)}", valid=f"{key} sends one message")
    return Approach(interface, transports, counts[1] if len(counts) > 1 else 1)


@click.command()
@click.argument("workload")
@click.option("--machine", default="meluxina", show_default=True, metavar="NAME|FILE", help="A profile or a TOML file.")
@click.option("--library", metavar="NAME", help="MPI library profile; the machine's own if absent.")
@click.option(
    "--approach", metavar="KEY[:T[:V]]", help="Interface, transport partitions, VCIs; what 'predict' advises if absent."
)
@click.option(
    "--ranks",
    metavar="X,Y,Z",
    help="Grid of ranks.  [default: the workload's, else 8,8,8; 8,8 for sweep3d, 2 for pt2pt]",
)
@click.option("--iterations", type=click.IntRange(1), help="Of the exchange.  [default: the workload's, at most 100]")
@click.option("--boundaries", type=click.Choice(["periodic", "open"]), help="Of halos.  [default: the workload's]")
@click.option("--blocks", type=click.IntRange(1), help="Of sweep3d, per octant (KBA).  [default: the workload's]")
@click.option("--edge", metavar="SIZE", help="Of halo3d26: bytes per edge.  [default: the workload's]")
@click.option("--corner", metavar="SIZE", help="Of halo3d26: bytes per corner.  [default: the workload's]")
@click.option(
    "--neighbours",
    "neighbour_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A line per rank: whom it sends to.  [default: the workload's]",
)
@click.option("--cores", type=click.IntRange(1, 4096), help="Worker threads.  [default: all]")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Of the arrivals.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="One line per iteration.")
@click.option(
    "--plot",
    "picture",
    type=click.Path(path_type=Path),
    metavar="FILE.svg|.png",
    help="Iteration times by rank: idle waves.",
)
@click.option(
    "--engine",
    type=click.Choice(["max-plus", "sst"]),
    default="max-plus",
    show_default=True,
    help="sst: see 'pready sst run'.",
)
@click.option("--topology", default="single", show_default=True, metavar="NAME", help="Of --engine sst.")
@click.option("--thread-grid", metavar="X,Y,Z", help="Threads in space: a face is sent by the threads that touch it.")
@click.option(
    "--export",
    type=(click.Choice(["goal"]), click.Path(path_type=Path)),
    metavar="goal FILE",
    help="Write LogGOPSim's GOAL text.",
)
def simulate(
    workload: str,
    machine: str,
    library: str | None,
    approach: str | None,
    ranks: str | None,
    iterations: int | None,
    boundaries: str | None,
    blocks: int | None,
    edge: str | None,
    corner: str | None,
    neighbour_file: Path | None,
    cores: int | None,
    seed: int,
    as_json: bool,
    as_csv: bool,
    picture: Path | None,
    engine: str,
    topology: str,
    thread_grid: str | None,
    export: tuple[str, Path] | None,
) -> None:
    """Simulate WORKLOAD over a grid of ranks, iteration after iteration, against bulk."""
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from pready import show
    from pready.model import machine as machines
    from pready.model import workload as workloads
    from pready.model.engine.compare import compare
    from pready.model.engine.layout import layout
    from pready.model.predict import effective_library, predict
    from pready.model.units import Unit, parse

    if as_json and as_csv:
        raise PreadyError("--json and --csv exclude each other", valid="one of them")
    if engine == "sst":
        _with_sst(workload, machine, topology, ranks, iterations, seed, approach, library, as_json, as_csv)
        return
    if picture is not None:
        from pready import plot

        plot.check(picture)
    on, what = machines.load(machine), workloads.load(workload)
    what = _overridden(
        what,
        grid=None if ranks is None else parse_ranks(ranks),
        boundaries=boundaries,
        blocks=blocks,
        edge=None if edge is None else parse(edge, Unit.SIZE, "--edge"),
        corner=None if corner is None else parse(corner, Unit.SIZE, "--corner"),
        neighbour_list=None if neighbour_file is None else str(neighbour_file.absolute()),
        thread_grid=None if thread_grid is None else parse_ranks(thread_grid, "--thread-grid"),
    )
    count = iterations or min(what.iterations, MOST_ITERATIONS)
    chosen = (
        parse_approach(approach, what)
        if approach is not None
        else advised(predict(on, what, library=library, seed=seed, draws=0))
    )
    options = {**layout(what).options, "seed": seed}
    if export is not None:
        _export(export[1], on, what, chosen, count, options)
    with Progress(console=(terminal := Console(stderr=True)), transient=True, disable=not terminal.is_terminal) as bar:
        tasks: dict[Approach, TaskID] = {}

        def told(a: Approach, share: float) -> None:
            if a not in tasks:
                tasks[a] = bar.add_task(a.name, total=1.0)
            bar.update(tasks[a], completed=share)

        rows = compare(
            on,
            what,
            [chosen],
            iterations=count,
            record=picture is not None,
            on_progress=told,
            cores=cores or os.cpu_count() or 1,
            **options,
        )
    if not rows:
        raise KeyboardInterrupt
    _, last = rows[-1]
    if picture is not None:
        plot.save(picture, plot.idle_waves(f"{what.name} on {on.name}, {last.approach.name}", last))
    if as_json:
        show.print_json(report(on, what, effective_library(on, library).name, rows))
    elif as_csv:
        click.echo(show.rows_csv(per_iteration(rows)), nl=False)
    else:
        show.console().print(show.simulation_view(what, on, rows))
    if last.interrupted:
        click.echo(f"pready: interrupted after {last.iterations} of {count} iterations", err=True)
        raise SystemExit(130)


def _with_sst(
    workload: str,
    machine: str,
    topology: str,
    ranks: str | None,
    iterations: int | None,
    seed: int,
    approach: str | None,
    library: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """The same as ``pready sst run`` with what both commands have."""
    from pready.sst.commands import run as sst_run

    click.get_current_context().invoke(
        sst_run,
        workload=workload,
        machine=machine,
        topology=topology,
        ranks=(ranks or "").replace("x", ","),
        iterations=iterations or 10,
        seed=seed,
        extra=(),
        parameters=None,
        names=() if approach is None else (approach,),
        library=library,
        keep=None,
        processes=1,
        sst_threads=1,
        as_json=as_json,
        as_csv=as_csv,
    )


def _overridden(workload: Workload, **given: object) -> Workload:
    """The workload with what the command line gives in place of the file's."""
    fields = {name: value for name, value in given.items() if value is not None}
    if "neighbour_list" in fields:
        fields["neighbours"] = None
    return workload.changed(**fields)


def _export(
    path: Path, machine: Machine, workload: Workload, approach: Approach, iterations: int, options: dict[str, Any]
) -> None:
    """GOAL text of the same run, and the flags that LogGOPSim wants with it."""
    from pready.model.engine import export_goal
    from pready.output import write_with

    flags = []

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="ascii") as stream:
            flags.append(export_goal(stream, machine, workload, approach, iterations=iterations, **options))

    write_with(path, write)
    click.echo(f"wrote {path}; LogGOPSim's flags for this machine: {flags[0]}", err=True)


def advised(prediction: Prediction) -> Approach:
    """The approach that a prediction advises."""
    from pready.model.approach import BY_KEY, Approach

    row = prediction.advised
    return Approach(BY_KEY[row.key], row.transport_partitions, row.vcis)


def per_iteration(rows: Rows) -> list[dict[str, object]]:
    """One row per completed iteration: times of bulk and the approach, and where the time went."""
    (_, bulk), (_, fine) = rows[0], rows[-1]
    return [
        {
            "iteration": i,
            "bulk_mean_s": float(bulk.mean_s[i]),
            "mean_s": float(fine.mean_s[i]),
            "shortest_s": float(fine.shortest_s[i]),
            "longest_s": float(fine.longest_s[i]),
            "first_end_s": float(fine.first_end_s[i]),
            "last_end_s": float(fine.last_end_s[i]),
            **{f"{cause}_s": float(times[i]) for cause, times in fine.causes_s.items()},
        }
        for i in range(min(bulk.iterations, fine.iterations))
    ]


def report(machine: Machine, workload: Workload, library: str, rows: Rows) -> dict[str, Any]:
    """The JSON object: a prediction's keys, with the simulation's numbers beside them."""
    from pready.model.version import VERSION

    def one(row: ApproachPrediction, s: Simulation) -> dict[str, Any]:
        return {
            **asdict(row),
            "end_s": s.time_s,
            "iteration_s": float(s.mean_s.mean()),
            "communication_s": float(s.communication_s.mean()),
            "causes_s": {cause: float(times.mean()) for cause, times in s.causes_s.items()},
            "simulated_messages": s.messages,
            "wall_s": s.wall_s,
            "messages_per_s": s.messages_per_s,
        }

    row, fine = rows[-1]
    runs = [s for _, s in rows]
    return {
        "version": VERSION,
        "engine": "max-plus",
        "seed": fine.seed,
        "machine": machine.name,
        "library": library,
        "workload": workload.model_dump(mode="json"),
        "ranks": list(fine.grid),
        "iterations": fine.iterations,
        "interrupted": fine.interrupted,
        "eta": row.eta,
        "speedup_percent": row.speedup_percent,
        "perceived_bandwidth_bytes_per_s": row.perceived_bandwidth_bytes_per_s,
        "availability": row.availability,
        "early_bird_percent": row.early_bird_percent,
        "messages": sum(s.messages for s in runs),
        "wall_s": sum(s.wall_s for s in runs),
        "cores": fine.cores,
        "approaches": [one(*r) for r in rows],
        "iterations_detail": per_iteration(rows),
    }
