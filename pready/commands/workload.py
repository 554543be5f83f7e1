"""``pready workload``: a workload file from a captured run."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from pready.calibrate.capture.found import Step, find
from pready.calibrate.capture.from_mpip import text_from_mpip
from pready.calibrate.capture.records import Run, read_run
from pready.calibrate.capture.trace import trace as trace_of
from pready.calibrate.capture.workload_file import Writer
from pready.calibrate.importers.mpip import import_mpip
from pready.commands import options
from pready.files.extra import need
from pready.files.writing import check_writable, write_text, write_with
from pready.model.errors import PreadyError
from pready.model.version import VERSION
from pready.model.workload import Pattern, load
from pready.show.capture_page import html
from pready.show.terminal import console
from pready.show.workload import step_view

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
    help="A named distribution where a test does not reject it, or the captured times in any case.",
)
@click.option("--trace", type=click.Path(path_type=Path), metavar="FILE.json", help="Of the run, for Perfetto.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html", help="A page with pictures of the run.")
@click.option("--from-mpip", type=click.Path(path_type=Path), metavar="FILE", help="An mpiP report in place of RUN.")
@click.option("--threads", type=click.IntRange(1), help="With --from-mpip: of a rank.")
@click.option("--pattern", type=click.Choice(PATTERNS), help="With --from-mpip: whom the ranks send to.")
@click.option("--iterations", type=click.IntRange(1), help="With --from-mpip: steps of the run.")
@click.option("--spread", metavar="SHARE", help="With --from-mpip: relative standard deviation of a thread's time.")
@options.seed("Of the test of distributions.", bits=32)
def workload(
    run: Path | None,
    output: Path | None,
    name: str | None,
    arrivals: str,
    trace: Path | None,
    report: Path | None,
    from_mpip: Path | None,
    threads: int | None,
    pattern: Pattern | None,
    iterations: int | None,
    spread: str | None,
    seed: int,
) -> None:
    """Find the step of a captured RUN: exchanges, pattern, sizes, threads and when they finish."""
    if output is not None:
        check_writable(output, (".toml",))
    if (run is None) == (from_mpip is None):
        raise PreadyError("RUN or --from-mpip", valid="one of them: a captured run, or an mpiP report")
    if from_mpip is not None:
        if output is None:
            raise PreadyError("-o is missing", valid="a workload file to write, such as -o app.toml")
        text = text_from_mpip(
            import_mpip(from_mpip),
            name or output.stem,
            threads=threads,
            pattern=pattern,
            iterations=iterations,
            spread=spread,
            source=str(from_mpip),
        )
        _checked(output, text)
        click.echo(f"wrote {output}; next: pready predict {shlex.quote(str(output))}", err=True)
        return
    assert run is not None
    if trace is not None:
        check_writable(trace, (".json",))
    if report is not None:
        check_writable(report, (".html",))
        need("matplotlib", "a report")
    captured = read_run(run)
    if trace is not None:
        text, left_out = trace_of(captured)
        write_text(trace, text)
        more = f" ({left_out} events left out)" if left_out else ""
        click.echo(f"wrote {trace}{more}: open it in https://ui.perfetto.dev", err=True)
    step, problem = _found(captured)
    if report is not None:
        write_text(report, html(captured, step, "" if problem is None else str(problem), f"Captured: {run}"))
        click.echo(f"wrote {report}", err=True)
    if problem is not None:
        raise problem
    assert step is not None
    console().print(step_view(step))
    if output is not None:
        _write(output, captured, step, name, arrivals, seed)


def _found(run: Run) -> tuple[Step | None, PreadyError | None]:
    try:
        return find(run), None
    except PreadyError as error:
        return None, error


def _write(output: Path, captured: Run, step: Step, name: str | None, arrivals: str, seed: int) -> None:
    folder = output.parent

    def beside(file: str, content: bytes) -> None:
        write_with(folder / file, lambda path: path.write_bytes(content))
        written.append(file)

    written: list[str] = []
    writer = Writer(output.stem, beside, arrivals, seed)
    lead = captured.ranks[0]
    comment = (
        f"By pready {VERSION} workload, seed {seed}, of a run of\n  {lead.command}\nwith {lead.library.splitlines()[0]}"
    )
    _checked(output, writer.text(step, name or output.stem, comment))
    for line in writer.said:
        click.echo(f"  {line}", err=True)
    files = ", ".join([str(output), *written])
    click.echo(f"wrote {files}; next: pready predict {shlex.quote(str(output))}", err=True)


def _checked(output: Path, text: str) -> None:
    """Write a workload file that is one."""
    write_text(output, text)
    try:
        load(output)
    except PreadyError as error:
        problem = f"was written, but is not valid: {error.problem}"
        raise PreadyError(problem, valid=error.valid, source=str(output)) from None
