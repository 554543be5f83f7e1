"""``pready workload``: a workload file from a captured run, or from another tool's record."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import click

from pready.calibrate.capture.files import read_run
from pready.calibrate.capture.step import Step, find, with_threads
from pready.calibrate.capture.workload_file import Writer
from pready.calibrate.otf2.run_of_trace import read_otf2
from pready.calibrate.other_tools import tool_of
from pready.commands import options
from pready.files.writing import Write, check_writable, texts, write_all
from pready.model.common.errors import PreadyError, did_you_mean, shown
from pready.model.version import VERSION
from pready.model.workload.workload import load
from pready.show.tables.capture import no_step_view
from pready.show.tables.workload import step_view
from pready.show.terminal.terminal import console, status
from pready.whatif.fields import parse_axis

MODELS = {"trace": "the captured times", "kde": "the density of captured times", "none": "none"}
"""Models of arrivals in words, where their name alone says too little."""
GIVEN = ("threads", "arrivals.model")
"""Fields of ``--set``."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="WORKLOAD.toml", help="The file to write.")
@click.option(
    "--set",
    "fields",
    multiple=True,
    metavar="FIELD=VALUE",
    help="threads=N of a run with one thread; arrivals.model=trace, not a distribution; repeatable.",
)
@options.seed("Of the test of distributions.", bits=32)
def workload(run: Path | None, output: Path | None, fields: Sequence[str], seed: int) -> None:
    """Find the step of RUN: exchanges, pattern, sizes, threads and when they finish.

    RUN is the folder of a captured run, or an OTF2 trace (traces.otf2 of Score-P).
    """
    if output is not None:
        check_writable(output, (".toml",))
    if run is None:
        raise PreadyError("nothing to read", valid="RUN: a captured run, or an OTF2 trace")
    given = _given(fields)
    if not run.is_file() and run.suffix != ".otf2" and tool_of(run) is None:
        captured = read_run(run)
    else:
        with status("reading the trace"):
            captured, said = read_otf2(run)
        _echo_notes(said)
    try:
        step = find(captured)
    except PreadyError:
        if captured.ranks:
            console().print(no_step_view(captured))
        raise
    if "threads" in given:
        step = with_threads(step, given["threads"])
    console().print(step_view(step))
    if output is not None:
        lead = captured.ranks[0]
        of = f"of a run of\n  {lead.command}\nwith {(lead.library.splitlines() or ['an unknown library'])[0]}"
        _write(output, of, step, given.get("arrivals.model", "auto"), seed)


def _given(fields: Sequence[str]) -> dict[str, Any]:
    """Arguments by name, from ``--set``."""
    given: dict[str, Any] = {}
    for axis in map(parse_axis, fields):
        value = axis.values[0]
        if axis.field not in GIVEN:
            said = f"--set {axis.field}{did_you_mean(axis.field, GIVEN)}"
            raise PreadyError(said, valid=f"{', '.join(GIVEN)}, or any field in the file that is written")
        if axis.field == "arrivals.model" and value != "trace":
            raise PreadyError(f"{axis.field} = {shown(value)}", valid="trace")
        if axis.field == "threads" and (not isinstance(value, int) or value < 1):
            raise PreadyError(f"{axis.field} = {shown(value)}", valid="an integer of at least 1")
        given[axis.field] = value
    return given


def _echo_notes(notes: Iterable[str]) -> None:
    for line in notes:
        click.echo(f"note: {line}", err=True)


def _write(output: Path, of: str, step: Step, arrivals: str, seed: int) -> None:
    folder = output.parent

    def beside(file: str, content: bytes) -> None:
        written[folder / file] = lambda path: path.write_bytes(content)

    written: dict[Path, Write] = {}
    writer = Writer(output.stem, beside, arrivals, seed)
    comment = f"By pready {VERSION} workload, seed {seed}, {of}"
    comment += "".join(f"\nnote: {note}" for note in step.notes)
    text = writer.text(step, output.stem, comment)
    _checked(output, text, written)
    _echo_notes(writer.said)
    models = ", ".join(f"{MODELS.get(m, m)} ({n})" if len(writer.models) > 1 else MODELS.get(m, m)
                       for m, n in writer.models.most_common())  # fmt: skip
    files = f" and {len(written)} file{'s' * (len(written) > 1)} beside it" if written else ""
    click.echo(f"wrote {output}{files}; arrivals: {models}\nnext: pready predict {shlex.quote(str(output))}", err=True)


def _checked(output: Path, text: str, beside: Mapping[Path, Write] = MappingProxyType({})) -> None:
    """Write a workload file and what it names, once they are found to load."""
    files = {**beside, output: texts(text)}
    with TemporaryDirectory() as folder:
        for path, write in files.items():
            write(Path(folder) / path.name)
        try:
            load(Path(folder) / output.name)
        except PreadyError as error:
            raise error.at(str(output)) from None
    write_all(files)
