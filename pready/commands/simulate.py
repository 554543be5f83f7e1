"""``pready simulate``: a workload over many ranks, with the engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.progress import TaskID

from pready.api import MOST_ITERATIONS
from pready.commands import options
from pready.files.writing import check_new
from pready.model.advice.predict import advised, as_sent_by, with_library
from pready.model.approach.interfaces import Approach
from pready.model.common.parallel import all_cores
from pready.model.engine.simulate import compare
from pready.show.figures import files as picture_files
from pready.show.tables.simulation import simulated_table, simulation_view, step_report
from pready.show.terminal.terminal import console, print_json, progress, status


@click.command()
@options.workload()
@options.machine()
@options.library()
@options.fields()
@options.approach()
@options.seed()
@options.as_json()
@options.picture("Iteration times by rank: idle waves.")
def simulate(
    workload: str,
    machine: str,
    library: str | None,
    fields: Sequence[str],
    approach: str | None,
    seed: int,
    as_json: bool,
    picture: Path | None,
) -> None:
    """Simulate every rank of WORKLOAD (a TOML file), iteration after iteration, beside bulk.

    All ranks of its grid (8x8x8 if it has none; 8x8 for a sweep, a pair for pt2pt), and its iterations, at most 100
    unless --set iterations says otherwise.
    """
    if picture is not None:
        picture_files.check(picture)
        check_new(picture)
    on, what = options.read(workload, machine, fields)
    on, profile = with_library(on, library)
    what = as_sent_by(what, profile)
    every = options.sets(fields, "iterations")
    count = what.iterations if every else min(what.iterations, MOST_ITERATIONS)
    if approach is not None:
        chosen = [options.parse_approach(approach, part) for part in what.parts]
    else:
        with status("predicting, for the approach"):
            chosen = advised(on, what, library=library, seed=seed)
    with progress() as bar:
        tasks: dict[Approach, TaskID] = {}

        def told(a: Approach, share: float) -> None:
            if a not in tasks:
                tasks[a] = bar.add_task(a.name, total=1.0)
            bar.update(tasks[a], completed=share)

        rows, by_exchange = compare(
            on,
            what,
            chosen,
            iterations=count,
            record=picture is not None,
            on_progress=told,
            cores=all_cores(),
            seed=seed,
        )
    if not rows:
        raise KeyboardInterrupt(f"no approach has completed one of {count} iterations; the same command starts again")
    _, last = rows[-1]
    ways = 1 if chosen == [part.baseline for part in what.parts] else 2
    stopped = last.interrupted or len(rows) < ways
    if picture is not None and len(rows) == ways:
        picture_files.draw_idle_waves(picture, f"{what.name} on {on.name}, {last.approach.name}", last)
    if as_json:
        print_json(step_report(on, what, profile.name, rows, by_exchange, interrupted=stopped))
    else:
        console().print(simulation_view(what, on, rows, interrupted=stopped))
        for part, some in zip(what.parts, by_exchange, strict=False):
            console().print("", simulated_table(part, on, some))
    if stopped:
        done = ", ".join(f"{s.iterations} of {count} of {s.approach.name}" for _, s in rows)
        raise KeyboardInterrupt(f"iterations simulated: {done}; the same command starts again")
