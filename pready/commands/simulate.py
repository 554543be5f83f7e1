"""``pready simulate``: a workload over many ranks, with the engine or with SST."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.progress import TaskID

from pready.api import MOST_ITERATIONS
from pready.commands import options
from pready.commands.sst import DEFAULT_ITERATIONS, run_and_show
from pready.files.rows import csv_text
from pready.files.simulation_trace import trace
from pready.files.writing import check_writable, write_text
from pready.model.advice.predict import predict, with_library
from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError
from pready.model.common.parallel import all_cores
from pready.model.engine.rows import warm_up
from pready.model.engine.whole_step import compare_step, plans
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload
from pready.show.figures import files as picture_files
from pready.show.tables.simulation import per_iteration, simulation_view, step_report
from pready.show.terminal.terminal import console, print_json, progress, status


@click.command()
@options.workload()
@options.machine()
@options.library()
@options.approach("what 'predict' advises; for sst, the library's")
@options.ranks_per_node()
@options.grid(
    "--ranks", "Grid of ranks.  [default: the workload's, else 8,8,8; 8,8 for sweep3d, 2 for pt2pt; 8 for sst]"
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    help=f"Iterations to simulate.  [default: the workload's, at most {MOST_ITERATIONS}; {DEFAULT_ITERATIONS} for sst]",
)
@click.option(
    "--boundaries", type=click.Choice(["periodic", "open"]), help="Boundaries of halos.  [default: the workload's]"
)
@click.option("--blocks", type=click.IntRange(1), help="Blocks per octant of sweep3d (KBA).  [default: the workload's]")
@click.option("--edge", metavar="SIZE", help="Bytes per edge of halo3d26.  [default: the workload's]")
@click.option("--corner", metavar="SIZE", help="Bytes per corner of halo3d26.  [default: the workload's]")
@click.option(
    "--neighbours",
    "neighbour_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Neighbour lists, a line per rank; not for sst.  [default: the workload's]",
)
@click.option("--cores", type=click.IntRange(1, 4096), help="Worker threads; not for sst.  [default: all]")
@options.seed()
@options.as_json("One JSON object.")
@options.as_csv("One line per iteration; for sst, per approach.")
@options.picture("Iteration times by rank: idle waves; not for sst.")
@click.option(
    "--engine",
    type=click.Choice(options.ENGINES),
    default="engine",
    show_default=True,
    help="sst: as 'pready sst run'; timeline: use 'pready predict'.",
)
@click.option("--topology", metavar="NAME", help="Network of --engine sst.  [default: as of 'pready sst run']")
@options.grid("--thread-grid", "Grid of threads: a face is sent by the threads at it; not for sst.")
@click.option(
    "--trace",
    "trace_file",
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="Write a trace for Perfetto; not for sst.",
)
def simulate(
    workload: str,
    machine: str,
    library: str | None,
    approach: str | None,
    per_node: int | None,
    ranks: tuple[int, ...] | None,
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
    topology: str | None,
    thread_grid: tuple[int, ...] | None,
    trace_file: Path | None,
) -> None:
    """Simulate WORKLOAD over a grid of ranks, iteration after iteration, beside bulk."""
    options.one_form(as_json, as_csv)
    if engine == "timeline":
        raise PreadyError(
            "--engine timeline is one exchange, not a simulation",
            valid="'pready predict --engine timeline', or --engine engine or sst here",
        )
    if engine == "sst":
        of_files = {"--neighbours": neighbour_file, "--plot": picture, "--trace": trace_file}
        of_the_engine = of_files | {"--cores": cores, "--thread-grid": thread_grid}
        options.refuse(engine, of_the_engine, "--engine engine")
    else:
        options.refuse(engine, {"--topology": topology}, "--engine sst")
    if picture is not None:
        picture_files.check(picture)
    if trace_file is not None:
        check_writable(trace_file, (".json",))
    on, what = machines.load(machine), options.placed(options.read_workload(workload), per_node)
    fields = {"boundaries": boundaries, "blocks": blocks, "edge": edge, "corner": corner, "thread_grid": thread_grid}
    fields["grid"] = ranks if engine == "engine" else None
    changes: dict[str, object] = {name: value for name, value in fields.items() if value is not None}
    if neighbour_file is not None:
        changes |= {"neighbour_list": str(neighbour_file.absolute()), "neighbours": None}
    what = what.changed(**changes)
    if engine == "sst":
        run_and_show(
            on,
            what,
            topology=topology,
            ranks=ranks,
            iterations=iterations or DEFAULT_ITERATIONS,
            seed=seed,
            approaches=() if approach is None else (approach,),
            library=library,
            as_json=as_json,
            as_csv=as_csv,
        )
        return
    on, profile = with_library(on, library)
    count, cores = iterations or min(what.iterations, MOST_ITERATIONS), cores or all_cores()
    if approach is not None:
        chosen = [options.parse_approach(approach, part) for part in what.parts]
    else:
        with status("predicting, for the approach"):
            chosen = _advised(on, what, library, seed)
    if trace_file is not None:
        _write_trace(trace_file, on, what, chosen, count, seed, cores)
    with progress() as bar:
        tasks: dict[Approach, TaskID] = {}

        def told(a: Approach, share: float) -> None:
            if a not in tasks:
                tasks[a] = bar.add_task(a.name, total=1.0)
            bar.update(tasks[a], completed=share)

        rows, by_exchange = compare_step(
            on, what, chosen, iterations=count, record=picture is not None, on_progress=told, cores=cores, seed=seed
        )
    if not rows:
        raise KeyboardInterrupt
    _, last = rows[-1]
    if picture is not None:
        picture_files.draw_idle_waves(picture, f"{what.name} on {on.name}, {last.approach.name}", last)
    if as_json:
        print_json(step_report(on, what, profile.name, rows, by_exchange))
    elif as_csv:
        click.echo(csv_text(per_iteration(rows)), nl=False)
    else:
        for part, some in zip(what.parts, by_exchange, strict=False):
            console().print(simulation_view(part, on, some))
        console().print(simulation_view(what, on, rows))
    if last.interrupted:
        click.echo(f"pready: interrupted after {last.iterations} of {count} iterations", err=True)
        raise SystemExit(130)


def _advised(machine: Machine, workload: Workload, library: str | None, seed: int) -> list[Approach]:
    """The advised approach of each exchange."""
    made = predict(machine, workload, library=library, seed=seed)
    return [of.advised.approach for of in made.exchanges or (made,)]


def _write_trace(
    path: Path,
    machine: Machine,
    workload: Workload,
    approaches: Sequence[Approach],
    iterations: int,
    seed: int,
    cores: int,
) -> None:
    """Write the counted iterations as a trace."""
    supported_by.check(workload, "engine")
    supported_by.refuse_broadcast(workload, "--trace")
    step = plans(machine, workload, approaches, seed)
    with status("simulating, for the trace"):
        text, left_out = trace(step, warm_up(workload, iterations, step[0].steps), iterations, cores)
    write_text(path, text)
    more = f" (left out: {left_out})" if left_out else ""
    click.echo(f"wrote {path}: {approaches[0].name}{more}; open it in https://ui.perfetto.dev", err=True)
