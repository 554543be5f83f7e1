"""``pready validate``: the model against real machines, papers, real MPI and SST, with a report."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import click
import numpy
import scipy
from platformdirs import user_cache_path
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from pready.calibrate.measure import compile
from pready.calibrate.rig import two_ranks
from pready.calibrate.rig.namespaces import RigUnavailable
from pready.commands import options
from pready.files.extra import need
from pready.files.writing import make_folder, write_text
from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, parse
from pready.model.machine import machine as machines
from pready.model.version import VERSION
from pready.show.tables.validation import report_data, report_view
from pready.show.terminal.terminal import LINE_EVERY_S, console, print_json, progress
from pready.sst.library import MissingSST
from pready.validate import fabrics, papers, sst
from pready.validate.conclusion import NothingMeasured
from pready.validate.live import design
from pready.validate.live import session as live
from pready.validate.prove import many
from pready.validate.report.page import html
from pready.validate.result import ClaimResult, Comparison, Report
from pready.validate.site import Site, Told

PARTS = ("fabrics", "papers", "live", "sst")
PAGE, DATA = "index.html", "report.json"
DEFAULT_BUDGET = "20 min"
DEFAULT_RIG = "100Mbit"
"""What two cores drive steadily."""
BOTH_WAYS = 0.25
"""Share of the budget for exchanges in which both ranks send."""
HOMES = ("PREADY_MPICH_PREFIX", "PREADY_OPENMPI_PREFIX")
"""Environment variables with prefixes of MPI libraries, in place of --mpi."""


@dataclass(frozen=True)
class Wanted:
    """The options of the command line."""

    seed: int
    rig: str | None
    launcher: str | None
    prefixes: tuple[Path, ...]
    budget: str
    raw: Path | None
    machine: str
    nodes: int | None = None

    @property
    def names_a_cluster(self) -> bool:
        """Whether the user asks for a live comparison, so that skipping it is an error."""
        return bool(self.rig or self.launcher or self.prefixes)


@dataclass
class Found:
    """Results so far; an interruption keeps them."""

    claims: list[ClaimResult] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    interrupted: bool = False


class Skipped(Exception):
    """A part cannot run here; the message says why."""


@click.command()
@click.argument("what", type=click.Choice([*PARTS, "all"]), default="all")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help=f"Write {PAGE} and {DATA} there."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object: version, seed, about, claims, comparisons.")
@click.option(
    "--rig",
    metavar="BANDWIDTH",
    help=f"For live: two emulated nodes on this machine.  [default for all: {DEFAULT_RIG}]",
)
@options.nodes()
@click.option("--launcher", metavar="WORDS", help='For live, instead: your own nodes, such as "srun -N 2 -n 2 -c 8".')
@click.option(
    "--mpi",
    "prefixes",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="PREFIX",
    help="For live: the MPI's prefix, with bin/mpiexec; repeat it for a second MPI library.",
)
@click.option(
    "--budget", default=DEFAULT_BUDGET, show_default=True, metavar="TIME", help="For live: wall-clock time per library."
)
@click.option(
    "--raw",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="For live and sst: folder of raw records; the same command resumes from them.  [default: FOLDER/raw of -o; "
    "for sst else the user's cache]",
)
@options.machine("For sst: the machine to simulate.")
@options.seed("Of all random numbers.", bits=32)
@click.pass_context
def validate(
    context: click.Context,
    what: str,
    output: Path | None,
    as_json: bool,
    rig: str | None,
    nodes: int | None,
    launcher: str | None,
    prefixes: tuple[Path, ...],
    budget: str,
    raw: Path | None,
    machine: str,
    seed: int,
) -> None:
    """Compare predictions with published measurements on real machines (fabrics), with papers, with real MPI (live)
    and with SST; 'all' runs all that is possible here.

    Exit status: 0 if every check keeps its limit, every negative control is rejected and every claim is ok or known to
    be off (the report says why); 1 otherwise; 2 for bad input, or if a part failed; 130 if interrupted. The report is
    written in all cases, with the results so far.
    """
    if rig is not None and launcher is not None:
        raise PreadyError("both --launcher and --rig given", valid="one of them")
    if output is not None:
        need("matplotlib", f"{PAGE} with its pictures")
        make_folder(output, (PAGE, DATA))
        raw = raw or output / "raw"
    two_ranks.check_nodes(nodes, rig)
    wanted = Wanted(seed, rig, launcher, prefixes, budget, raw, machine, nodes)
    found = _run(what, wanted)
    report = _report(found, seed)
    data = report_data(report)
    if output is not None:
        write_text(output / PAGE, html(report, report.about["command"]))
        write_text(output / DATA, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    if as_json:
        print_json(data)
    else:
        console().print(report_view(report))
    for part, why in found.skipped.items():
        click.echo(f"skipped {part}: {why}", err=True)
    if output is not None:
        click.echo(f"wrote {output / PAGE} and {output / DATA}", err=True)
    for error in found.errors:
        click.echo(f"pready: error: {error}", err=True)
    if found.interrupted:
        click.echo("pready: interrupted; the report holds the results so far", err=True)
        context.exit(130)
    context.exit(2 if found.errors else 0 if _as_expected(report) else 1)


def _run(what: str, wanted: Wanted) -> Found:
    """Run all parts that can run here; an error in one keeps the results of the others."""
    parts: dict[str, Callable[[Wanted, Found], None]] = {
        "fabrics": partial(_claims, "fabrics"),
        "papers": partial(_claims, "papers"),
        "live": _live,
        "sst": _sst,
    }
    found = Found()
    try:
        for name in PARTS if what == "all" else (what,):
            try:
                parts[name](wanted, found)
            except Skipped as reason:
                if what != "all" or (name == "live" and wanted.names_a_cluster):
                    found.errors.append(f"validate {name}: {reason}")
                else:
                    found.skipped[name] = str(reason)
            except PreadyError as error:
                found.errors.append(str(error))
    except KeyboardInterrupt:
        found.interrupted = True
        return found
    if found.errors and not found.claims and not found.comparisons:
        raise PreadyError("; ".join(found.errors))
    return found


@contextmanager
def _progress(description: str, *, at_once: bool = False) -> Iterator[Callable[[float, float | None, str], None]]:
    """A progress bar on standard error; yields its update: completed, total, and what runs now.

    Where there is no terminal, a line now and then; `at_once`: the first as soon as there is something to say.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    last = monotonic() - (2 * LINE_EVERY_S if at_once else 0)
    with progress(*columns) as bar:
        task = bar.add_task(description, total=None)

        def told(completed: float, of: float | None, now: str) -> None:
            nonlocal last
            bar.update(task, completed=completed, total=of, description=f"{description} {now}")
            if bar.disable and monotonic() - last > LINE_EVERY_S:  # no terminal: a job's log
                last = monotonic()
                click.echo(f"{description} {now}, {completed:.0f} of {'?' if of is None else f'{of:.0f}'}", err=True)

        yield told


def _claims(part: str, wanted: Wanted, found: Found) -> None:
    """Keep each claim as it comes, under a progress bar."""
    with _progress(part) as told:

        def on_claim(claim: ClaimResult) -> None:
            found.claims.append(claim)
            told(len(found.claims), None, claim.source)

        (fabrics if part == "fabrics" else papers).validate(wanted.seed, on_claim=on_claim)


def _live(wanted: Wanted, found: Found) -> None:
    budget_s = parse(wanted.budget, Unit.TIME, "--budget")
    if wanted.raw is None:
        raise Skipped("needs a folder for its raw records: -o FOLDER or --raw FOLDER")
    try:
        for home in _homes(wanted):
            _live_with(home, wanted, wanted.raw, budget_s, found)
    except RigUnavailable as missing:
        raise Skipped(missing.reason) from None


def _homes(wanted: Wanted) -> list[Path | None]:
    """Prefixes of the MPI libraries to compare; None for the launcher's own."""
    if wanted.prefixes:
        return list(wanted.prefixes)
    if wanted.launcher is not None:
        return [None]
    named = [Path(p) for name in HOMES if (p := os.environ.get(name))]
    try:
        return [*named] or [two_ranks.mpi_home(None)]
    except PreadyError as error:
        raise Skipped(str(error)) from None


def _live_with(home: Path | None, wanted: Wanted, folder: Path, budget_s: float, found: Found) -> None:
    rig, nodes = None if wanted.launcher is not None else wanted.rig or DEFAULT_RIG, wanted.nodes or 2
    folder.mkdir(parents=True, exist_ok=True)
    # The rig's nodes share this machine's cores.
    enough = rig is None or (os.cpu_count() or 1) >= 2 * max(design.THREADS)
    crowded = not enough or nodes > 2
    on_nodes = {} if rig is None else {"nodes": nodes, "ranks": nodes}
    with two_ranks.two_ranks(wanted.launcher, rig, home, crowded=crowded, **on_nodes) as (ranks, where):
        taken = {c.about["library"] for c in found.comparisons if "library" in c.about}
        site = Site(_library(where, taken), ranks, compile.built_for(where), receive_threads=0 if enough else 1)
        with _progress(f"live, {site.library}{f', {nodes} nodes' if nodes > 2 else ''}") as told:

            def on_progress(now: Told) -> None:
                told(now.done, now.total, f"{now.stage}, about {now.left_s:.0f} s left")

            def conclude(budget_s: float) -> None:
                options: dict[str, Any] = {"seed": wanted.seed, "on_progress": on_progress}
                if nodes > 2:
                    raw = folder / f"nodes-{nodes}-{site.library}.jsonl"
                    done = many.validate(site, raw, nodes=nodes, budget_s=budget_s, **options)
                    found.comparisons.append(_with_machine(done, site.library, raw))
                    return
                raw = folder / f"live-{site.library}.jsonl"
                done = live.validate(site, folder, budget_s=budget_s * (1 - BOTH_WAYS), **options)
                found.comparisons.append(_with_machine(done, site.library, raw))
                try:
                    found.comparisons.append(many.both_ways(site, raw, budget_s=budget_s * BOTH_WAYS, **options))
                except NothingMeasured as error:
                    found.skipped[f"{site.library}, both ways"] = str(error)

            try:
                conclude(budget_s)
            except KeyboardInterrupt:
                with suppress(PreadyError):
                    conclude(0.0)  # no more measuring: compare what the folder holds
                raise


def _library(home: Path | None, taken: set[str]) -> str:
    """A short name for files and tables; further builds of a library are numbered."""
    known = home is not None and (home / "bin" / "mpiexec").exists()
    name = "mpi" if home is None or not known else "openmpi" if two_ranks.is_open_mpi(home) else "mpich"
    return next(n for n in (name, *(f"{name}-{i}" for i in range(2, 100))) if n not in taken)


def _with_machine(comparison: Comparison, library: str, raw: Path) -> Comparison:
    """The comparison with the text of the calibrated machine's file."""
    file = raw.with_suffix(".toml")
    about = {"library": library, **comparison.about, f"machine file {file.name}": file.read_text(encoding="utf-8")}
    return replace(comparison, about=about)


def _sst(wanted: Wanted, found: Found) -> None:
    # A run is kept by all that decides it, so that one folder serves every machine and seed.
    folder = (wanted.raw or user_cache_path("pready") / "validate") / "sst"
    machine = machines.load(wanted.machine)
    with _progress("SST", at_once=True) as told:
        try:
            found.comparisons.append(sst.validate(machine, folder, seed=wanted.seed, on_progress=told))
        except MissingSST as missing:
            raise Skipped(str(missing)) from None


def _report(found: Found, seed: int) -> Report:
    about = {
        "command": shlex.join(["pready", *sys.argv[1:]]),
        "Python": platform.python_version(),
        "NumPy, SciPy": f"{numpy.__version__}, {scipy.__version__}",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        **{f"skipped: {part}": why for part, why in found.skipped.items()},
        **{f"error {number}": error for number, error in enumerate(found.errors, 1)},
    }
    if found.interrupted:
        about["interrupted"] = "this report is not complete"
    return Report(VERSION, seed, about, tuple(found.claims), tuple(found.comparisons))


def _as_expected(report: Report) -> bool:
    checks = (check.ok for comparison in report.comparisons for check in comparison.checks)
    controls = (control.rejected for comparison in report.comparisons for control in comparison.controls)
    claims = (claim.status != "off" or claim.known_off for claim in report.claims)
    return all(checks) and all(controls) and all(claims)
