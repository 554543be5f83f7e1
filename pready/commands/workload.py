"""``pready workload``: a workload file from a captured run, or from another tool's record."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from pready.calibrate.capture.files import read_run
from pready.calibrate.capture.step import Step, find
from pready.calibrate.capture.trace import trace as trace_of
from pready.calibrate.capture.workload_file import Writer
from pready.calibrate.workload_formats import refuse_known
from pready.calibrate.workload_formats.caliper import read_caliper
from pready.calibrate.workload_formats.from_otf2 import read_otf2, step_of_trace
from pready.calibrate.workload_formats.from_profiles import text_from_caliper, text_from_mpip
from pready.calibrate.workload_formats.mpip import import_mpip
from pready.commands import options
from pready.files.extra import need
from pready.files.writing import check_writable, write_text, write_with
from pready.model.common.errors import PreadyError
from pready.model.machine import machine as machines
from pready.model.version import VERSION
from pready.model.workload.exchange import Pattern
from pready.model.workload.workload import load
from pready.show.pages.capture_page import html
from pready.show.tables.ported import ported_view
from pready.show.tables.workload import step_view
from pready.show.terminal.terminal import console, status
from pready.validate.ported import compare as compare_runs
from pready.validate.ported import promised

MODELS = {"trace": "the captured times", "kde": "the density of captured times", "none": "none"}
"""Models of arrivals in words, where their name alone says too little."""
PATTERNS = ("pt2pt", "halo3d", "halo3d26")


@click.command()
@click.argument("run", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="WORKLOAD.toml", help="The file to write.")
@click.option("--name", help="The workload's name; the output's stem if absent.")
@click.option(
    "--arrivals",
    type=click.Choice(["auto", "trace"]),
    default="auto",
    show_default=True,
    help="auto: a named distribution unless a test rejects it; trace: the captured times.",
)
@click.option("--trace", type=click.Path(path_type=Path), metavar="FILE.json", help="A trace of the run, for Perfetto.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html", help="A page with pictures of the run.")
@click.option("--from-mpip", type=click.Path(path_type=Path), metavar="FILE", help="An mpiP report instead of RUN.")
@click.option(
    "--from-otf2", type=click.Path(path_type=Path), metavar="FILE", help="An OTF2 trace (Score-P) instead of RUN."
)
@click.option(
    "--from-caliper", type=click.Path(path_type=Path), metavar="FILE.json", help="Caliper's comm.stats instead of RUN."
)
@click.option("--threads", type=click.IntRange(1), help="Threads per rank, if not in the input.")
@click.option("--pattern", type=click.Choice(PATTERNS), help="Of --from-mpip and --from-caliper: that of messages.")
@click.option("--iterations", type=click.IntRange(1), help="Steps of the run, if not in the input.")
@click.option("--spread", metavar="SHARE", help="Relative standard deviation of a thread's time, if not in the input.")
@click.option("--compute", metavar="TIME", help="Of --from-caliper: what a thread computes in a step, such as '2 ms'.")
@click.option(
    "--compare",
    type=(click.Path(path_type=Path), click.Path(path_type=Path)),
    metavar="BEFORE AFTER",
    help="Captured runs before and after a port, instead of RUN: did it bring what was promised?",
)
@click.option("--machine", metavar="NAME|FILE", help="Of --compare: where both ran, to predict the port.")
@options.library("Of --compare: the second run's.  [default: the machine's]")
@options.approach("partitioned sends")
@options.min_gain()
@options.seed("Of the test of distributions.", bits=32)
def workload(
    run: Path | None,
    output: Path | None,
    name: str | None,
    arrivals: str,
    trace: Path | None,
    report: Path | None,
    from_mpip: Path | None,
    from_otf2: Path | None,
    from_caliper: Path | None,
    threads: int | None,
    pattern: Pattern | None,
    iterations: int | None,
    spread: str | None,
    compute: str | None,
    compare: tuple[Path, Path] | None,
    machine: str | None,
    library: str | None,
    approach: str | None,
    min_gain: float,
    seed: int,
) -> None:
    """Find the step of a captured RUN: exchanges, pattern, sizes, threads and when they finish."""
    if compare is not None:
        if run is not None or output is not None:
            raise PreadyError("--compare beside a RUN or -o", valid="the two folders alone")
        _compare(compare, machine, library, approach, min_gain, seed)
        return
    for option, text in {"--machine": machine, "--library": library, "--approach": approach}.items():
        if text is not None:
            raise PreadyError(f"{option} without --compare", valid=f"{option} of 'pready predict', with the file")
    if output is not None:
        check_writable(output, (".toml",))
    if [run, from_mpip, from_otf2, from_caliper].count(None) != 3:
        raise PreadyError(
            "nothing to read, or more than one thing",
            valid="one of RUN (a captured run), --from-mpip, --from-caliper and --from-otf2",
        )
    if pattern is not None and from_mpip is None and from_caliper is None:
        raise PreadyError(
            "--pattern without --from-mpip or --from-caliper", valid="no --pattern: it is found from the messages"
        )
    if compute is not None and from_caliper is None:
        raise PreadyError("--compute without --from-caliper", valid="no --compute: it is in the input")
    for option, value in {"--threads": threads, "--iterations": iterations, "--spread": spread}.items():
        if value is not None and run is not None:
            raise PreadyError(f"{option} of a captured run", valid=f"no {option}: it is found from the run")
    if run is not None and run.is_file():
        refuse_known(run)
    if run is None and from_otf2 is None and output is None:
        raise PreadyError("-o is missing", valid="a workload file to write, such as -o app.toml")
    if output is not None and (from_mpip is not None or from_caliper is not None):
        given: dict[str, Any] = {"threads": threads, "pattern": pattern, "iterations": iterations, "spread": spread}
        called = name or output.stem
        if from_mpip is not None:
            text = text_from_mpip(import_mpip(from_mpip), called, source=str(from_mpip), **given)
        else:
            assert from_caliper is not None
            regions = read_caliper(from_caliper)
            text = text_from_caliper(regions, called, compute=compute, source=str(from_caliper), **given)
        _checked(output, text)
        click.echo(f"wrote {output}; next: pready predict {shlex.quote(str(output))}", err=True)
        return
    if trace is not None:
        check_writable(trace, (".json",))
    if report is not None:
        check_writable(report, (".html",))
        need("matplotlib", "a report")
    if run is not None:
        captured = read_run(run)
    else:
        assert from_otf2 is not None
        with status("reading the trace"):
            captured, said = read_otf2(from_otf2)
        _echo_notes(said)
    if trace is not None:
        text, left_out = trace_of(captured)
        write_text(trace, text)
        more = f" ({left_out} events left out)" if left_out else ""
        click.echo(f"wrote {trace}{more}: open it in https://ui.perfetto.dev", err=True)
    step: Step | None = None
    problem: PreadyError | None = None
    try:
        step = find(captured) if run else step_of_trace(captured, threads, iterations, spread)
    except PreadyError as error:
        problem = error
    if report is not None:
        write_text(
            report, html(captured, step, "" if problem is None else str(problem), f"Captured: {captured.folder}")
        )
        click.echo(f"wrote {report}", err=True)
    if problem is not None:
        raise problem
    assert step is not None
    console().print(step_view(step))
    if output is not None:
        lead = captured.ranks[0]
        of = f"of a run of\n  {lead.command}\nwith {(lead.library.splitlines() or ['an unknown library'])[0]}"
        _write(output, of, step, name, arrivals, seed, spread)


def _compare(
    runs: tuple[Path, Path], machine: str | None, library: str | None, approach: str | None, min_gain: float, seed: int
) -> None:
    """Did a port bring what was promised?"""
    if machine is None and (library is not None or approach is not None):
        raise PreadyError("--library or --approach without --machine", valid="--machine, where both ran")
    before, after = (find(read_run(folder)) for folder in runs)
    promises = None
    if machine is not None:
        with status("predicting"):
            promises = promised(before, after, machines.load(machine), approach, library, seed)
    console().print(ported_view(compare_runs(before, after, promises), min_gain))


def _echo_notes(notes: Iterable[str]) -> None:
    for line in notes:
        click.echo(f"note: {line}", err=True)


def _write(output: Path, of: str, step: Step, name: str | None, arrivals: str, seed: int, spread: str | None) -> None:
    folder = output.parent

    def beside(file: str, content: bytes) -> None:
        write_with(folder / file, lambda path: path.write_bytes(content))
        written.append(file)

    written: list[str] = []
    writer = Writer(output.stem, beside, arrivals, seed, spread)
    comment = f"By pready {VERSION} workload, seed {seed}, {of}"
    comment += "".join(f"\nnote: {note}" for note in step.notes)
    _checked(output, writer.text(step, name or output.stem, comment))
    _echo_notes(writer.said)
    models = ", ".join(f"{MODELS.get(m, m)} ({n})" if len(writer.models) > 1 else MODELS.get(m, m)
                       for m, n in writer.models.most_common())  # fmt: skip
    files = f" and {len(written)} file{'s' * (len(written) > 1)} beside it" if written else ""
    click.echo(f"wrote {output}{files}; arrivals: {models}\nnext: pready predict {shlex.quote(str(output))}", err=True)


def _checked(output: Path, text: str) -> None:
    """Write a workload file, and check that it loads."""
    write_text(output, text)
    try:
        load(output)
    except PreadyError as error:
        problem = f"was written, but is not valid: {error.problem}"
        raise PreadyError(problem, valid=error.valid, source=str(output)) from None
