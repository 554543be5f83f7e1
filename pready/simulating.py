"""``pready simulate``: a workload over many ranks, with the engine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pready.model.errors import PreadyError, shown

if TYPE_CHECKING:
    from pready.model.approach import Approach
    from pready.model.engine import Simulation
    from pready.model.machine import Machine
    from pready.model.prediction import Prediction
    from pready.model.workload import Workload

DEFAULT_RANKS = {"pt2pt": (2, 1, 1), "sweep3d": (8, 8, 1), "neighbours": (2, 1, 1)}
DEFAULT_GRID = (8, 8, 8)
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


@dataclass(frozen=True)
class Pair:
    """The approach and bulk, simulated with the same arrivals."""

    bulk: Simulation
    fine: Simulation

    @property
    def eta(self) -> float:
        """Mean communication time of bulk over the approach's."""
        return float(self.bulk.communication_s.mean() / self.fine.communication_s.mean())

    @property
    def speedup_percent(self) -> float:
        """Of the whole iteration (marts2024 IV.A.2)."""
        return 100 * (1 - self.fine.time_s / self.bulk.time_s)


@click.command()
@click.argument("workload")
@click.option("--machine", default="meluxina", show_default=True, metavar="NAME|FILE", help="A profile or a TOML file.")
@click.option("--library", metavar="NAME", help="MPI library profile; the machine's own if absent.")
@click.option(
    "--approach", metavar="KEY[:T[:V]]", help="Interface, transport partitions, VCIs; what 'predict' advises if absent."
)
@click.option("--ranks", metavar="X,Y,Z", help="Grid of ranks.  [default: 8,8,8; 8,8 for sweep3d, 2 for pt2pt]")
@click.option("--iterations", type=click.IntRange(1), help="Of the exchange.  [default: the workload's, at most 100]")
@click.option("--boundaries", type=click.Choice(["periodic", "open"]), default="periodic", show_default=True)
@click.option("--blocks", type=click.IntRange(1), default=1, show_default=True, help="Of sweep3d, per octant (KBA).")
@click.option("--edge", metavar="SIZE", help="Of halo3d26: bytes per edge; the buffer if absent.")
@click.option("--corner", metavar="SIZE", help="Of halo3d26: bytes per corner; the buffer if absent.")
@click.option(
    "--neighbours",
    "neighbour_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A line per rank: whom it sends to.",
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
    boundaries: str,
    blocks: int,
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
    from rich.progress import Progress

    from pready import plot, show
    from pready.model import machine as machines
    from pready.model import workload as workloads
    from pready.model.approach import SINGLE, Approach
    from pready.model.engine import simulate as run
    from pready.model.predict import predict

    if as_json and as_csv:
        raise PreadyError("--json and --csv exclude each other", valid="one of them")
    if engine == "sst":
        _with_sst(workload, machine, topology, ranks, iterations, seed, approach, library, as_json, as_csv)
        return
    if picture is not None:
        plot.check(picture)
    on, what = machines.load(machine), workloads.load(workload)
    grid = parse_ranks(ranks) if ranks is not None else DEFAULT_RANKS.get(what.pattern, DEFAULT_GRID)
    count = iterations or min(what.iterations, MOST_ITERATIONS)
    prediction = predict(on, what, library=library, seed=seed)
    chosen = parse_approach(approach, what) if approach is not None else _advised(prediction)
    options: dict[str, Any] = {
        "grid": grid,
        "iterations": count,
        "seed": seed,
        "cores": cores or os.cpu_count() or 1,
        "periodic": boundaries == "periodic",
        "blocks": blocks,
        "sizes": _sizes(what, edge, corner),
        "neighbours": None if neighbour_file is None else _neighbours(neighbour_file),
    }
    if what.pattern == "sweep3d":
        del options["periodic"]
    if thread_grid is not None:
        options["thread_grid"] = parse_ranks(thread_grid, "--thread-grid")
    if export is not None:
        _export(export[1], on, what, chosen, options)
    with Progress(console=(terminal := Console(stderr=True)), transient=True, disable=not terminal.is_terminal) as bar:
        runs = []
        for a in (Approach(SINGLE), chosen):
            task = bar.add_task(a.name, total=1.0)
            record = picture is not None and a is chosen

            def told(share: float, task: Any = task) -> None:
                bar.update(task, completed=share)

            runs.append(run(on, what, a, record=record, on_progress=told, **options))
    pair = Pair(*runs)
    if pair.fine.iterations == 0 or pair.bulk.iterations == 0:
        raise KeyboardInterrupt
    if picture is not None:
        plot.idle_waves(picture, f"{what.name} on {on.name}, {chosen.name}", pair.fine)
    if as_json:
        show.print_json(report(on, what, prediction, chosen, pair))
    elif as_csv:
        click.echo(show.rows_csv(per_iteration(pair)), nl=False)
    else:
        show.console().print(show.simulation_view(what, on, chosen, pair))
    if pair.fine.interrupted or pair.bulk.interrupted:
        click.echo(f"pready: interrupted after {pair.fine.iterations} of {count} iterations", err=True)
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


def _export(path: Path, machine: Machine, workload: Workload, approach: Approach, options: dict[str, Any]) -> None:
    """GOAL text of the same run, and the flags that LogGOPSim wants with it."""
    from pready.model.engine import export_goal
    from pready.output import write_with

    kept = {name: options[name] for name in ("grid", "iterations", "seed", "periodic") if name in options}
    flags = []

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="ascii") as stream:
            flags.append(export_goal(stream, machine, workload, approach, **kept))

    write_with(path, write)
    click.echo(f"wrote {path}; LogGOPSim's flags for this machine: {flags[0]}", err=True)


def _advised(prediction: Prediction) -> Approach:
    from pready.model.approach import BY_KEY, Approach

    row = prediction.advised
    return Approach(BY_KEY[row.key], row.transport_partitions, row.vcis)


def _sizes(workload: Workload, edge: str | None, corner: str | None) -> tuple[float, float, float] | None:
    from pready.model.units import Unit, parse

    if edge is None and corner is None:
        return None
    buffer = workload.buffer
    each = [
        buffer if text is None else parse(text, Unit.SIZE, name)
        for text, name in ((edge, "--edge"), (corner, "--corner"))
    ]
    return buffer, each[0], each[1]


def _neighbours(path: Path) -> list[list[int]]:
    from pready.model.files import LARGEST_DATA, decoded, read_bytes

    out: list[list[int]] = []
    for number, line in enumerate(decoded(read_bytes(path, LARGEST_DATA), str(path)).splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue  # an empty line is a rank that sends to nobody
        try:
            out.append([int(word) for word in line.partition("#")[0].replace(",", " ").split()])
        except ValueError:
            raise PreadyError(
                f"line {number} is not a list of ranks", valid="integers, # for comments", source=str(path)
            ) from None
    return out


def per_iteration(pair: Pair) -> list[dict[str, object]]:
    """One row per completed iteration: times of bulk and the approach, and where the time went."""
    n = min(pair.bulk.iterations, pair.fine.iterations)
    return [
        {
            "iteration": i,
            "bulk_mean_s": float(pair.bulk.mean_s[i]),
            "mean_s": float(pair.fine.mean_s[i]),
            "shortest_s": float(pair.fine.shortest_s[i]),
            "longest_s": float(pair.fine.longest_s[i]),
            "first_end_s": float(pair.fine.first_end_s[i]),
            "last_end_s": float(pair.fine.last_end_s[i]),
            **{f"{cause}_s": float(times[i]) for cause, times in pair.fine.causes_s.items()},
        }
        for i in range(n)
    ]


def report(
    machine: Machine, workload: Workload, prediction: Prediction, approach: Approach, pair: Pair
) -> dict[str, Any]:
    """The JSON object: a prediction's keys, with the simulation's numbers beside them."""
    fine, bulk = pair.fine, pair.bulk

    def one(s: Simulation) -> dict[str, Any]:
        return {
            "approach": s.approach.name,
            "key": s.approach.interface.key,
            "transport_partitions": s.approach.transport_partitions,
            "vcis": s.approach.vcis,
            "time_s": s.time_s,
            "iteration_s": float(s.mean_s.mean()),
            "communication_s": float(s.communication_s.mean()),
            "causes_s": {cause: float(times.mean()) for cause, times in s.causes_s.items()},
            "messages": s.messages,
            "wall_s": s.wall_s,
            "messages_per_s": s.messages_per_s,
        }

    exchange = float((fine.spread_s + fine.to_join_s + fine.after_join_s).mean())
    return {
        "version": prediction.version,
        "engine": "max-plus",
        "seed": fine.seed,
        "machine": machine.name,
        "library": prediction.library,
        "workload": prediction.workload,
        "ranks": list(fine.grid),
        "iterations": fine.iterations,
        "interrupted": fine.interrupted or bulk.interrupted,
        "eta": pair.eta,
        "speedup_percent": pair.speedup_percent,
        "perceived_bandwidth_bytes_per_s": workload.buffer / float(fine.communication_s.mean()),
        "availability": 1 - float(fine.after_join_s.mean()) / float(bulk.after_join_s.mean()),
        "early_bird_percent": 100 * float((fine.spread_s + fine.to_join_s).mean()) / exchange,
        "messages": fine.messages + bulk.messages,
        "wall_s": fine.wall_s + bulk.wall_s,
        "cores": fine.cores,
        "approaches": [one(bulk), one(fine)],
        "iterations_detail": per_iteration(pair),
    }
