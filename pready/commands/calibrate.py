"""``pready calibrate``: the command around `pready.calibrate.machine.calibration`."""

from __future__ import annotations

import shlex
import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import get_args

import click

from pready.calibrate.fit import ThinDataError
from pready.calibrate.importers.own_csv import EXAMPLE
from pready.calibrate.importers.to_machine import from_files
from pready.calibrate.machine import intra as within_node
from pready.calibrate.machine.calibration import Calibration, provenance, run_measurements
from pready.calibrate.machine.calibration import calibrate as fit_file
from pready.calibrate.machine.merge import base, merged
from pready.calibrate.machine.values import shared_adapter
from pready.calibrate.measure.catalogue import MEASUREMENTS
from pready.calibrate.measure.compile import build, find_mpicc
from pready.calibrate.measure.raw_file import is_record
from pready.calibrate.measure.schedule import GROUPS
from pready.calibrate.measure.session import Outcome
from pready.commands import options
from pready.commands.doctor import tried_first
from pready.files.writing import check_new, check_writable, replacing, write_text
from pready.model.common.errors import PreadyError
from pready.model.machine import machine as machines
from pready.model.machine.machine import Fabric
from pready.model.machine.writing import document, dumps
from pready.show.tables.machine import machine_view
from pready.show.terminal.terminal import console, status

DEFAULT_THREADS = 8  # of a measured team
MEASUREMENTS_HELP = f"Comma-separated, of {', '.join((*MEASUREMENTS, *GROUPS))}.  [default: all]"


@click.group(invoke_without_command=True)
@options.launched('How two ranks are started: "srun -N 2 -n 2 -c 8", "mpiexec -n 2 --hosts a,b".')
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="MACHINE.toml", help="The machine file to write."
)
@click.option(
    "--raw",
    type=click.Path(path_type=Path),
    metavar="FILE.jsonl",
    help="File of raw results; without --launcher they are fitted again.  [default: beside the output]",
)
@options.budget("4 min")
@click.option(
    "--threads", type=click.IntRange(2, 256), default=DEFAULT_THREADS, show_default=True, help="Most threads per rank."
)
@click.option("--measure", "only", metavar="NAMES", help=MEASUREMENTS_HELP)
@click.option("--intra", is_flag=True, help="Two ranks on one node: add the intra-node path to the machine file of -o.")
@click.option(
    "--ranks-per-node",
    "per_node",
    type=click.IntRange(2, 1024),
    metavar="K",
    help="Up to K ranks on each of two nodes: what they share of the adapter, as [adapter] of the file of -o.",
)
@options.seed("Of payloads and intervals.", bits=32)
@click.pass_context
def calibrate(
    context: click.Context,
    launcher: str | None,
    mpicc: str | None,
    output: Path | None,
    raw: Path | None,
    budget_s: float,
    threads: int,
    only: str | None,
    intra: bool,
    per_node: int | None,
    seed: int,
) -> None:
    """Measure a machine with its own MPI and write a machine file. After an interruption, the same command resumes."""
    if context.invoked_subcommand is not None:
        return
    if output is None:
        raise PreadyError("-o is missing", valid="a machine file to write, such as -o machine.toml")
    check_writable(output, (".toml",))
    unfit = {"--intra": intra, "--measure": only} if per_node is not None else {}
    for option in (option for option, given in unfit.items() if given):
        raise PreadyError(f"{option} with --ranks-per-node", valid="one of them")
    adds = False
    if intra or per_node is not None:
        text = base(output, "--intra" if intra else "--ranks-per-node")
        adds = ("intra" if intra else "adapter") not in tomllib.loads(text)
    if not adds and launcher is not None:
        check_new(output)
    if per_node is not None:
        key = None
        raw = raw or output.with_suffix(".ranks.jsonl")
        if launcher is not None or not raw.exists():
            key = _served(launcher, mpicc, raw, per_node, budget_s, seed)
        _write_adapter(output, text, raw, key, adds=adds)
        return
    raw = raw or output.with_suffix(".intra.jsonl" if intra else ".jsonl")
    chosen = None if only is None else [w.strip() for w in only.split(",")]
    if intra:
        chosen = chosen or list(within_node.MEASUREMENTS)
    if launcher is not None or not raw.exists():
        _measure(launcher, mpicc, raw, budget_s, threads, chosen, seed)
    _write_machine(raw, output, seed, intra=intra, adds=adds)


def _served(launcher: str | None, mpicc: str | None, raw: Path, per_node: int, budget_s: float, seed: int) -> str:
    """Measure, and return the key of the environment."""
    ranks = options.launcher_of(launcher, f"srun -N 2 -n {2 * per_node} -m block")
    built = build(find_mpicc(mpicc, ranks.prefix))
    with options.keeping(_kept(raw)), status("measuring"):
        outcome = shared_adapter.run(ranks, built, raw, per_node, budget_s, seed)
    _say_measured(outcome, raw)
    return outcome.environment


def _write_adapter(output: Path, text: str, raw: Path, key: str | None, *, adds: bool) -> None:
    found = shared_adapter.adapter(raw, key)
    if found is None:
        raise PreadyError("no ranks that share a node were measured", valid="a larger --budget", source=str(raw))
    machine = machines.load(str(output)).model_copy(update={"adapter": found})
    done = merged(text, str(output), {"adapter": document(machine)["adapter"]})
    _write(output, done.text, adds=adds)
    for line in (*shared_adapter.lines(found), *done.told):
        click.echo(f"  {line}", err=True)
    click.echo(f"wrote {output}: [adapter]", err=True)


def _measure(
    launcher: str | None, mpicc: str | None, raw: Path, budget_s: float, threads: int, only: list[str] | None, seed: int
) -> None:
    ranks = options.launcher_of(launcher, "srun -N 2 -n 2 -c 8")
    built = build(find_mpicc(mpicc, ranks.prefix))
    tried_first(ranks, built)
    with options.counted() as told, options.keeping(_kept(raw)):
        outcome = run_measurements(
            ranks,
            built,
            raw,
            threads=threads,
            budget_s=budget_s,
            only=only,
            seed=seed,
            on_point=lambda p: told(p.point.measurement, p.done, p.total, p.left_s),
        )
    _say_measured(outcome, raw)


def _kept(raw: Path) -> str:
    return f"measurements are kept in {raw}; the same command resumes"


def _say_measured(outcome: Outcome, raw: Path) -> None:
    rest = f", {outcome.left} left for the next run" if outcome.left else ""
    click.echo(f"measured {outcome.measured} points into {raw}, {outcome.failed} failed{rest}", err=True)
    for point, reason in outcome.failures.items():
        click.echo(f"  failed: {point}: {reason.splitlines()[0] if reason else 'no reason'}", err=True)


def _write_machine(raw: Path, output: Path, seed: int, *, intra: bool, adds: bool) -> None:
    try:
        with status("fitting"):
            done = fit_file(raw, name=output.stem, seed=seed)
    except ThinDataError as thin:
        raise PreadyError(thin.problem, valid=f"{thin.valid}: the same command measures on", source=str(raw)) from None
    if intra:
        text, told = within_node.added(output, done, raw)
    else:
        text, told = dumps(done.described.machine, provenance(raw, done, seed)), ()
    _write(output, text, adds=adds)
    for line in (*(f"note: {note}" for note in done.described.notes), *told):
        click.echo(f"  {line}", err=True)
    if not intra:
        _warn(done)
    click.echo(_written(output, seed), err=True)


def _write(output: Path, text: str, *, adds: bool) -> None:
    """Write a machine file; what is added to the file that is there keeps all else in it."""
    with replacing() if adds else nullcontext():
        write_text(output, text)


def _warn(done: Calibration) -> None:
    """Missing measurements and warnings, as the last lines."""
    click.echo(f"  {shared_adapter.UNMEASURED}", err=True)
    click.echo(f"round trip: {done.round_trip.line}", err=True)
    for what in done.lacking:
        click.echo(f"  lacks: {what}", err=True)
    if done.lacking:
        click.echo("warning: the plan was not measured to its end; the same command with --overwrite resumes", err=True)
    for warning in done.warnings:
        click.echo(f"warning: {warning}", err=True)


@calibrate.command(name="import")
@click.argument("files", type=click.Path(path_type=Path), metavar="FILE|FOLDER...", nargs=-1)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="MACHINE.toml", help="The file to write.")
@options.library("MPI library of the results ('pready libraries').")
@click.option("--fabric", type=click.Choice(get_args(Fabric)), help="Network that the results were measured on.")
@click.option(
    "--take",
    multiple=True,
    metavar="TEXT",
    help="Only runs whose file, heading, command or test contains it, or FILE:LINE; repeatable.",
)
@click.option("--example", is_flag=True, help="Print the CSV that is read, with its columns, and end.")
@click.option(
    "--intra",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE|FOLDER",
    help="Results of two ranks on one node: the path within a node.",
)
@options.seed("Of intervals.", bits=32)
def import_(
    files: tuple[Path, ...],
    output: Path | None,
    library: str | None,
    fabric: Fabric | None,
    take: tuple[str, ...],
    example: bool,
    intra: tuple[Path, ...],
    seed: int,
) -> None:
    """Make a machine file from results of OSU, IMB or Netgauge LogGP between two nodes.

    Read are files with these suites' own titles, also in a job's log, the CSV that --example shows, and, by itself, a
    record of 'pready calibrate'. Of a folder, and those in it, all files that can be used are; the others are named
    with the reason. Runs that disagree are refused: --take says which.
    """
    if example:
        click.echo(EXAMPLE, nl=False)
        return
    if output is None:
        raise PreadyError("-o is missing", valid="a machine file to write, such as -o machine.toml")
    check_writable(output, (".toml",))
    if not files:
        raise PreadyError("no file is named", valid="results between two nodes, such as osu_latency's output")
    if any(is_record(path) for path in files):
        beside = {"another file": files[1:], "--intra": intra, "--library": library, "--fabric": fabric, "--take": take}
        for what in (what for what, given in beside.items() if given):
            raise PreadyError(f"{what} beside a record of 'pready calibrate'", valid="the record alone")
        _write_machine(files[0], output, seed, intra=False, adds=False)
        return
    try:
        with status("fitting"):
            made = from_files(
                files, name=output.stem, seed=seed, library=library, fabric=fabric, intra=intra, take=take
            )
    except ThinDataError as thin:
        valid = f"{thin.valid}, such as the default sizes of osu_latency"
        raise PreadyError(thin.problem, valid=valid, source=", ".join(map(str, files))) from None
    write_text(output, made.text)
    for line in (*(f"  note: {note}" for note in made.notes), *made.summary, _written(output, seed)):
        click.echo(line, err=True)


def _written(output: Path, seed: int) -> str:
    how = f"pready predict WORKLOAD.toml --machine {shlex.quote(str(output))}"
    return f"wrote {output} (seed {seed}); use it with: {how}"


@calibrate.command()
@click.argument("raw", type=click.Path(path_type=Path))
def report(raw: Path) -> None:
    """List the values fitted to RAW, with intervals."""
    found = shared_adapter.adapter(raw)
    if found is not None:
        click.echo("\n".join(shared_adapter.lines(found)))
        return
    with status("fitting"):
        done = fit_file(raw, name=raw.stem)
    console().print(machine_view(done.described.machine))
    for note in done.described.notes:
        click.echo(f"note: {note}")
    _warn(done)
