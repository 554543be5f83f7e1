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
from pready.calibrate.capture.trace import trace as trace_of
from pready.calibrate.capture.workload_file import Writer
from pready.calibrate.workload_formats import format_of
from pready.calibrate.workload_formats.caliper import read_caliper
from pready.calibrate.workload_formats.from_otf2 import read_otf2, step_of_trace
from pready.calibrate.workload_formats.from_profiles import text_from_caliper, text_from_mpip
from pready.calibrate.workload_formats.mpip import import_mpip
from pready.commands import options
from pready.files.extra import need
from pready.files.writing import Write, check_writable, texts, write_all, write_text
from pready.model.common.errors import PreadyError, did_you_mean, shown
from pready.model.machine import machine as machines
from pready.model.result.verdict import MIN_GAIN
from pready.model.version import VERSION
from pready.model.workload.workload import load
from pready.show.pages.capture_page import html
from pready.show.tables.ported import ported_view
from pready.show.tables.workload import step_view
from pready.show.terminal.terminal import console, status
from pready.validate.ported import compare as compare_runs
from pready.validate.ported import promised
from pready.whatif.fields import parse_axis

MODELS = {"trace": "the captured times", "kde": "the density of captured times", "none": "none"}
"""Models of arrivals in words, where their name alone says too little."""
PATTERNS = ("pt2pt", "halo3d", "halo3d26")


GIVEN = {
    "threads": "threads",
    "pattern": "pattern",
    "iterations": "iterations",
    "arrivals.spread": "spread",
    "compute.time": "compute",
    "arrivals.model": "arrivals",
}
"""Fields of ``--set`` that a record may lack, and the arguments that they are."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="WORKLOAD.toml", help="The file to write.")
@click.option(
    "--set",
    "fields",
    multiple=True,
    metavar="FIELD=VALUE",
    help=f"What RUN does not say, of {', '.join(GIVEN)} (trace: the captured times, not a distribution); repeatable.",
)
@click.option("--trace", type=click.Path(path_type=Path), metavar="FILE.json", help="A trace of the run, for Perfetto.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html", help="A page with pictures of the run.")
@click.option(
    "--compare",
    type=(click.Path(path_type=Path), click.Path(path_type=Path)),
    metavar="BEFORE AFTER",
    help="Captured runs before and after a port, instead of RUN: did it bring what was promised?",
)
@click.option("--machine", metavar="NAME|FILE", help="Of --compare: where both ran, to predict the port.")
@options.library("Of --compare: the second run's.  [default: the machine's]")
@options.approach("partitioned sends")
@options.seed("Of the test of distributions.", bits=32)
def workload(
    run: Path | None,
    output: Path | None,
    fields: Sequence[str],
    trace: Path | None,
    report: Path | None,
    compare: tuple[Path, Path] | None,
    machine: str | None,
    library: str | None,
    approach: str | None,
    seed: int,
) -> None:
    """Find the step of RUN: exchanges, pattern, sizes, threads and when they finish.

    RUN is the folder of a captured run, an OTF2 trace (traces.otf2 of Score-P), a report of mpiP, or Caliper's
    comm.stats as JSON.
    """
    if compare is not None:
        if run is not None or output is not None:
            raise PreadyError("--compare beside a RUN or -o", valid="the two folders alone")
        _compare(compare, machine, library, approach, seed)
        return
    for option, text in {"--machine": machine, "--library": library, "--approach": approach}.items():
        if text is not None:
            raise PreadyError(f"{option} without --compare", valid=f"{option} of 'pready predict', with the file")
    if output is not None:
        check_writable(output, (".toml",))
    if run is None:
        raise PreadyError("nothing to read", valid="RUN: a captured run, an OTF2 trace, a report of mpiP or Caliper")
    given = _given(fields)
    kind = None if run.is_dir() else format_of(run)
    captured_here = kind is None
    if kind not in (None, "OTF2"):
        if output is None:
            raise PreadyError("-o is missing", valid="a workload file to write, such as -o app.toml")
        _of_profile(kind, run, output, given)
        return
    found = ("arrivals", "threads", "spread") if captured_here else ("threads", "iterations", "spread", "arrivals")
    for name in (n for n in GIVEN.values() if n in given and n not in found):
        field = next(f for f, n in GIVEN.items() if n == name)
        raise PreadyError(f"--set {field} of {run}", valid=f"no {field}: it is found from what was recorded")
    threads, iterations, spread = given.get("threads"), given.get("iterations"), given.get("spread")
    if trace is not None:
        check_writable(trace, (".json",))
    if report is not None:
        check_writable(report, (".html",))
        need("matplotlib", "a report")
    if captured_here:
        captured = read_run(run)
    else:
        with status("reading the trace"):
            captured, said = read_otf2(run)
        _echo_notes(said)
    if trace is not None:
        text, left_out = trace_of(captured)
        write_text(trace, text)
        more = f" ({left_out} events left out)" if left_out else ""
        click.echo(f"wrote {trace}{more}: open it in https://ui.perfetto.dev", err=True)
    step: Step | None = None
    problem: PreadyError | None = None
    try:
        step = find(captured) if captured_here else step_of_trace(captured, threads, iterations, spread)
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
    if captured_here and threads is not None:
        step = with_threads(step, threads)
    console().print(step_view(step))
    if output is not None:
        lead = captured.ranks[0]
        of = f"of a run of\n  {lead.command}\nwith {(lead.library.splitlines() or ['an unknown library'])[0]}"
        _write(output, of, step, given.get("arrivals", "auto"), seed, spread)


def _given(fields: Sequence[str]) -> dict[str, Any]:
    """Arguments by name, from ``--set``."""
    given: dict[str, Any] = {}
    for axis in map(parse_axis, fields):
        value = axis.values[0]
        if axis.field not in GIVEN:
            said = f"--set {axis.field}{did_you_mean(axis.field, GIVEN)}"
            raise PreadyError(said, valid=f"{', '.join(GIVEN)}, or any field in the file that is written")
        valid = {"pattern": PATTERNS, "arrivals.model": ("trace",)}.get(axis.field)
        if valid is not None and value not in valid:
            raise PreadyError(f"{axis.field} = {shown(value)}", valid=" or ".join(valid))
        if axis.field in ("threads", "iterations") and (not isinstance(value, int) or value < 1):
            raise PreadyError(f"{axis.field} = {shown(value)}", valid="an integer of at least 1")
        given[GIVEN[axis.field]] = value if isinstance(value, int) else str(value)
    return given


def _of_profile(kind: str | None, run: Path, output: Path, given: dict[str, Any]) -> None:
    """The workload of another profiler's report, which has no times of threads."""
    named = {name: given.get(name) for name in ("threads", "pattern", "iterations", "spread", "compute")}
    if unused := [field for field, name in GIVEN.items() if name in given.keys() - named.keys()]:
        valid = "fields that a report without times of threads leaves open"
        raise PreadyError(f"--set {unused[0]} is of captures", valid=valid, source=str(run))
    if kind == "Caliper":
        text = text_from_caliper(read_caliper(run), output.stem, source=str(run), **named)
    else:
        text = text_from_mpip(import_mpip(run), output.stem, source=str(run), **named)
    _checked(output, text)
    click.echo(f"wrote {output}; next: pready predict {shlex.quote(str(output))}", err=True)


def _compare(
    runs: tuple[Path, Path], machine: str | None, library: str | None, approach: str | None, seed: int
) -> None:
    """Did a port bring what was promised?"""
    if machine is None and (library is not None or approach is not None):
        raise PreadyError("--library or --approach without --machine", valid="--machine, where both ran")
    before, after = (find(read_run(folder)) for folder in runs)
    promises = None
    if machine is not None:
        with status("predicting"):
            promises = promised(before, after, machines.load(machine), approach, library, seed)
    console().print(ported_view(compare_runs(before, after, promises), MIN_GAIN))


def _echo_notes(notes: Iterable[str]) -> None:
    for line in notes:
        click.echo(f"note: {line}", err=True)


def _write(output: Path, of: str, step: Step, arrivals: str, seed: int, spread: str | None) -> None:
    folder = output.parent

    def beside(file: str, content: bytes) -> None:
        written[folder / file] = lambda path: path.write_bytes(content)

    written: dict[Path, Write] = {}
    writer = Writer(output.stem, beside, arrivals, seed, spread)
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
