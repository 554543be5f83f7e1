"""``pready workload``: a workload file from a captured run."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from pready.calibrate.capture.found import find
from pready.calibrate.capture.records import read_run
from pready.calibrate.capture.workload_file import Writer
from pready.commands import options
from pready.files.writing import check_writable, write_text, write_with
from pready.model.errors import PreadyError
from pready.model.version import VERSION
from pready.model.workload import load
from pready.show.terminal import console
from pready.show.workload import step_view


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="WORKLOAD.toml", help="The file to write.")
@click.option("--name", help="The workload's name; the output's stem if absent.")
@click.option(
    "--arrivals",
    type=click.Choice(["auto", "trace"]),
    default="auto",
    show_default=True,
    help="A named distribution where a test does not reject it, or the captured times in any case.",
)
@options.seed("Of the test of distributions.", bits=32)
def workload(run: Path, output: Path | None, name: str | None, arrivals: str, seed: int) -> None:
    """Find the step of a captured RUN: exchanges, pattern, sizes, threads and when they finish."""
    if output is not None:
        check_writable(output, (".toml",))
    captured = read_run(run)
    step = find(captured)
    console().print(step_view(step))
    if output is None:
        return
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
    write_text(output, writer.text(step, name or output.stem, comment))
    try:
        load(output)
    except PreadyError as error:
        raise PreadyError(
            f"was written, but is not valid: {error.problem}", valid=error.valid, source=str(output)
        ) from None
    for line in writer.said:
        click.echo(f"  {line}", err=True)
    files = ", ".join([str(output), *written])
    click.echo(f"wrote {files}; next: pready predict {shlex.quote(str(output))}", err=True)
