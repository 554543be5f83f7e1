"""``pready capture``: the command around `pready.calibrate.capture`."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pready.calibrate.capture.build import build_library
from pready.calibrate.capture.environment import check_new, exports, variables
from pready.calibrate.capture.files import NO_ROOM, SUFFIX, read_run
from pready.calibrate.capture.run_summary import summarise
from pready.calibrate.measure.compile import find_mpicc
from pready.exit_status import Status
from pready.files.writing import make_folder
from pready.model.common.errors import PreadyError, printable, shown
from pready.model.common.units import Unit, parse
from pready.show.tables.capture import summary_view
from pready.show.terminal.terminal import console

DEFAULT_LIMIT = "256 MiB"
NOTHING = "nothing was captured: "
CAUSES = (
    "no process called MPI_Init or opened a parallel region, the program is linked statically, "
    "its MPI is not the compiler's (--mpicc), or the nodes do not share the folder"
)
LARGEST_PROGRAM = 64 * 2**20
"""Bytes of a program or script that is searched for what it sets."""


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="A new folder for the run.")
@click.option("--env", "only_environment", is_flag=True, help="Print the exports for a job script, and stop.")
@click.option("--mpicc", metavar="WORDS", help="MPI C compiler.  [default: MPICC, the one beside the launcher, PATH]")
@click.option("--limit", default=DEFAULT_LIMIT, show_default=True, metavar="SIZE", help="Most data per process.")
def capture(
    command: tuple[str, ...], output: Path | None, only_environment: bool, mpicc: str | None, limit: str
) -> int:
    """Record what an unmodified MPI program does: threads, regions, messages.

    Put the whole command after --, such as: pready capture -o run/ -- mpiexec -n 4 ./app. The program's output and
    exit status are passed on.
    """
    if output is None:
        raise PreadyError("-o is missing", valid="a new folder, such as -o run/")
    limit_mib = int(parse(limit, Unit.SIZE, "--limit")) >> 20
    if limit_mib < 1:
        raise PreadyError(f"--limit {shown(limit)}", valid="a size of at least 1 MiB")
    if not command and not only_environment:
        raise PreadyError("no command", valid="pready capture -o run/ -- mpiexec -n 4 ./app, or --env")
    if command and shutil.which(command[0]) is None:
        raise PreadyError(f"no command '{command[0]}' here", valid="an executable, such as mpiexec")
    check_new(output)
    library = build_library(find_mpicc(mpicc, command))
    make_folder(output, ())
    settings = variables(library, output, limit_mib, command, os.environ)
    if only_environment:
        click.echo(exports(settings), nl=False)
        return 0
    code = _run(command, {**os.environ, **settings})
    if without := len([*output.glob(f"*{SUFFIX}{NO_ROOM}")]):
        said = f"{without} processes had no room for their records in {output}: the disk is full, or 'ulimit -f' is low"
        click.echo(f"pready: {said}", err=True)
        code = code or Status.UNWRITTEN
    if any(output.glob(f"*{SUFFIX}")):
        _summary(output)
    elif not without:
        click.echo(f"pready: {NOTHING}{_preloads(command) or CAUSES}", err=True)
    return code


def _summary(output: Path) -> None:
    try:
        found = summarise(read_run(output))
    except PreadyError as error:  # the status stays the program's
        click.echo(f"pready: {error}", err=True)
        return
    console(stderr=True).print(summary_view(found))
    # not through the terminal's: it would wrap a command
    click.echo(f"captured into {output}\nnext: pready workload {shlex.quote(str(output))} -o app.toml", err=True)


def _preloads(command: tuple[str, ...]) -> str:
    """Which word of the command sets LD_PRELOAD itself, or names a program or script that does; empty: none."""
    variable = "LD_PRELOAD"
    for word in command:
        path = Path(shutil.which(word) or word)
        try:
            named = path.is_file() and path.stat().st_size <= LARGEST_PROGRAM and variable.encode() in path.read_bytes()
        except OSError:
            named = False
        if named or variable in word:
            return f"'{printable(word)}' sets {variable}, which has to keep what is in it (':${variable}' behind)"
    return ""


@contextmanager
def _passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """SIGTERM, which a batch system sends to this process alone, is the command's: what it captured is still said."""
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(command: tuple[str, ...], environment: dict[str, str]) -> int:
    """Run the command; return its exit status as a shell does."""
    with subprocess.Popen(command, env=environment) as process, _passed_on(process):
        while True:
            try:
                code = process.wait()
                return code if code >= 0 else 128 - code
            except KeyboardInterrupt:
                pass  # the command received the same signal
