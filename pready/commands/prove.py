"""``pready prove``: a workload's exchange, predicted and measured side by side."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from pready.calibrate.measure.compile import build, find_mpicc
from pready.commands import options
from pready.commands.doctor import tried_first
from pready.exit_status import Status
from pready.files.writing import check_new, make_folder, texts, write_all
from pready.model.advice.predict import chosen_ways, effective_library, predict
from pready.model.approach.interfaces import Approach
from pready.model.approach.libraries import library as library_by_name
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.version import VERSION
from pready.model.workload.supported_by import refuse_broadcast
from pready.model.workload.workload import Workload
from pready.show.tables.proof import html, proof_view
from pready.show.tables.proof_metrics import metric_lines
from pready.show.terminal.terminal import console
from pready.validate.prove.as_performed import as_performed
from pready.validate.prove.design import FEWEST_ROUNDS, ROUNDS
from pready.validate.prove.session import Asked, performable, ranks_of
from pready.validate.prove.session import prove as proved
from pready.validate.prove.site import Site
from pready.validate.prove.source import LANGUAGES, program

Ways = tuple[Approach, ...]
"""An approach for each exchange of a workload."""
PAGE, DATA, RAW = "index.html", "report.json", "raw"


@click.command()
@click.argument("workload")
@click.option(
    "--machine", metavar="NAME|FILE", help="A profile or a TOML file.  [default: calibrated first, within the budget]"
)
@options.library()
@options.fields()
@options.launched('How all ranks are started, such as "srun -N 8 -n 96 -c 8".')
@click.option(
    "--approach",
    "named",
    multiple=True,
    metavar="KEY[:T[:V]]",
    help="Measured beside bulk, for every exchange; repeatable.  [default: the best three]",
)
@options.budget("3 min")
@click.option("--rounds", type=int, default=ROUNDS, show_default=True, help="How often each way is measured.")
@options.seed("Of arrivals, the order of measuring, payloads and intervals.", bits=32)
@click.option("--metrics", is_flag=True, help="Print one line per figure, 'pready NAME = VALUE UNIT', for other tools.")
@click.option(
    "--source",
    type=(click.Choice([*LANGUAGES]), click.Path(path_type=Path)),
    metavar=f"{'|'.join(LANGUAGES)} FOLDER",
    help="Measure nothing: write the exchange as a small program, bulk and ported side by side.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help=f"Write {PAGE}, {DATA} and raw records there; the same command resumes from them.",
)
@click.pass_context
def prove(
    context: click.Context,
    workload: str,
    machine: str | None,
    library: str | None,
    fields: Sequence[str],
    launcher: str | None,
    mpicc: str | None,
    named: tuple[str, ...],
    budget_s: float,
    rounds: int,
    seed: int,
    metrics: bool,
    source: tuple[str, Path] | None,
    output: Path | None,
) -> None:
    """Run WORKLOAD's exchange with real MPI, bulk and the best approaches, and compare with the prediction.

    Exit status: 0 if it was measured, 1 if the measurement clearly contradicts the prediction, 2 for bad input or if
    nothing could be measured, 4 if the output could not be written.
    """
    on, what = options.read(workload, machine, fields)
    refuse_broadcast(what, "pready prove")
    approaches = [tuple(options.parse_approach(text, part) for part in what.parts) for text in named]
    if source is not None:
        _write_source(source[1], what, on, library, approaches, seed, source[0])
        return
    if output is None:
        raise PreadyError("-o is missing", valid="a folder for the report and its raw records, such as -o proof/")
    if rounds < FEWEST_ROUNDS:
        raise PreadyError(f"--rounds {rounds}", valid=f"at least {FEWEST_ROUNDS}")
    performable(what, on, approaches, seed)
    started = options.launcher_of(launcher, f"mpiexec -n {ranks_of(what)}")
    make_folder(output, (PAGE, DATA), check_new)
    built = build(find_mpicc(mpicc, started.prefix))
    tried_first(started, built)
    kept = f"raw records are kept in {output / RAW}; the same command resumes"
    with options.counted() as told, options.keeping(kept):
        done = proved(
            what,
            on,
            Asked(
                site=Site("here", started, built),
                folder=output / RAW,
                budget_s=budget_s,
                seed=seed,
                library=library,
                approaches=approaches,
                rounds=rounds,
                on_progress=lambda now: told(now.stage, now.done, now.total, now.left_s),
            ),
            lambda note: click.echo(f"note: {note}", err=True),
        )
    about = {**_about(), **done.about}
    data = {"version": VERSION, "seed": seed, "about": about, **done.to_dict()}
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_all({output / PAGE: texts(html(done, about)), output / DATA: texts(text)})
    if metrics:
        click.echo("\n".join(metric_lines(done)))
    else:
        console().print(proof_view(done))
    click.echo(f"wrote {output / PAGE} and {output / DATA} (seed {seed})", err=True)
    context.exit(Status.CONTRADICTED if done.judged.contradicted else Status.DONE)


def _write_source(
    folder: Path,
    workload: Workload,
    on: Machine | None,
    library: str | None,
    named: list[Ways],
    seed: int,
    language: str,
) -> None:
    """The program of the named approach, or of the advised one."""
    if len(named) > 1 or (not named and on is None):
        given = "several --approach" if named else "--source without --approach"
        raise PreadyError(given, valid="one, such as --approach many:8, or a --machine for its advice")
    profile = effective_library(on, library) if on is not None else library_by_name(library or "emulated")
    if named:
        chosen = named[0]
    else:
        assert on is not None
        made = predict(on, workload, library=library, seed=seed, draws=0)
        chosen = tuple(chosen_ways(workload, made.exchanges)) if made.exchanges else (made.advised.approach,)
    if len({a.interface for a in chosen}) > 1:
        advised = "; ".join(f"{part.name}: {a.name}" for part, a in zip(workload.parts, chosen, strict=True))
        raise PreadyError(f"--source of several interfaces ({advised})", valid="one, such as --approach many:8")
    files = program(as_performed(workload)[0], chosen, profile, seed, language)
    make_folder(folder, tuple(files))
    write_all({folder / name: texts(text) for name, text in files.items()})
    sent = ", ".join(dict.fromkeys(f"{a.name} in {a.messages} message{'s' * (a.messages > 1)}" for a in chosen))
    build = "" if language == "python" else f": make -C {shlex.quote(str(folder))}"
    click.echo(f"wrote {', '.join(str(folder / name) for name in files)} ({sent}){build}", err=True)


def _about() -> dict[str, str]:
    return {
        "command": shlex.join(["pready", *sys.argv[1:]]),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
    }
