"""The command line: finds commands, turns errors into one line and an exit status."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any

import click

from pready.exit_status import Status
from pready.files.writing import UnwrittenError, replacing
from pready.model.common.errors import PreadyError, did_you_mean, printable, shown
from pready.model.version import VERSION
from pready.show.terminal.streams import ReaderGone, give_up, streams

OVERWRITE = "--overwrite"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""Errors of a system that cannot take what is written."""

COMMANDS = {
    "calibrate": "Measure a machine with its own MPI and write a machine file.",
    "capture": "Record what an unmodified MPI program does.",
    "compare": "Workloads, machines, libraries and fields side by side.",
    "doctor": "Try an MPI library: early sends, known bugs, threads, binding.",
    "examples": "List the example workloads.",
    "explain": "The equations and the steps of an exchange, with numbers.",
    "gain": "The closed form alone: η of Eq. 4 (corrected) of gillis2023.",
    "libraries": "List the MPI library profiles, or show one.",
    "machines": "List the machine profiles, or show one with all its values.",
    "predict": "Predict what partitioned communication saves, and the best way.",
    "prove": "Run a workload's exchange with real MPI beside the prediction.",
    "simulate": "Simulate a workload over a grid of ranks, beside bulk.",
    "sst": "Simulate with SST's packet-level networks.",
    "sweep": "Predict over any fields of a workload, machines and libraries.",
    "validate": "Compare predictions with the papers, real machines and SST.",
    "workload": "Make a workload file of a captured run.",
}
"""The list of commands, with a line for each.

A command is the function of that name in the module of that name in `pready.commands`. It is imported when called:
the list needs neither NumPy nor pydantic.
"""


class _Stopped(Exception):
    """A command was interrupted: click would begin a line of its own."""


class _Commands(click.Group):
    """The commands, imported when called."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as how:
            raise _Stopped(*how.args) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with _one_blas_thread():
            command: click.Command = getattr(import_module(f"pready.commands.{cmd_name}"), cmd_name)
        return import_module("pready.commands.command_lines").attach(command, cmd_name)  # type: ignore[no-any-return]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            meant = f' (did you mean "predict {name}"?)' if name.endswith(".toml") else did_you_mean(name, COMMANDS)
            meant = f' (did you mean "--{name}"?)' if name in ("help", "version") else meant
            problem = f"{shown(name)} is no command{printable(meant)}"
            raise PreadyError(problem, valid=", ".join(sorted(COMMANDS)))
        found, command, rest = super().resolve_command(ctx, args)
        if command is not None and not command.context_settings.get("ignore_unknown_options"):  # another program's
            ctx.params["overwrite"] = ctx.params.get("overwrite", False) or OVERWRITE in rest
            rest = [word for word in rest if word != OVERWRITE]
        return found, command, rest

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.indentation():  # without a blank line before: the list fits a screen
            formatter.write_text(self.help or "")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(OVERWRITE, is_flag=True, help="Replace files that are there, of any command.")
@click.version_option(VERSION, prog_name="pready", hidden=True)  # the list fits a screen
@click.pass_context
def cli(context: click.Context, overwrite: bool) -> None:
    """Is it worth porting MPI+threads code to partitioned communication, and how?"""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    if overwrite:
        context.with_resource(replacing())


COMPLETION = "_PREADY_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; whatever goes wrong is one line on standard error and a `Status`."""
    _quick_start()
    try:
        # A shell's completion is bytes, which Click writes to the stream itself.
        with nullcontext() if COMPLETION in os.environ else streams(), _signals() as by:
            status = _run(arguments, by)
            sys.stdout.flush()
            sys.stderr.flush()
            return status
    except UnwrittenError as error:
        with suppress(OSError, AttributeError):  # standard error may be closed or full, too
            print(f"pready: error: {error}", file=sys.stderr, flush=True)
        give_up()
        return Status.UNWRITTEN
    except ReaderGone:
        give_up()
        return Status.READER_GONE


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Take SIGTERM, which batch systems send, as Ctrl-C; yields the signals that came."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        yield came
        return

    def stop(number: int, _: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


def _quick_start() -> None:
    """Skip garbage collection and plug-ins that this program does not need."""
    gc.set_threshold(100_000)  # module definitions are no garbage
    atexit.register(gc.freeze)  # at exit the system takes all memory back
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # else it searches every installed package


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Import NumPy with one BLAS thread, else OpenBLAS starts a spinning thread per core that no command needs.

    The variable does not reach the programs that a command runs.
    """
    variable = "OPENBLAS_NUM_THREADS"
    own = variable in os.environ
    os.environ.setdefault(variable, "1")
    try:
        yield
    finally:
        if not own:
            del os.environ[variable]


def _run(arguments: Sequence[str] | None, by: Sequence[int]) -> int:
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments), prog_name="pready", standalone_mode=False
        )
        return result if isinstance(result, int) else Status.DONE
    except click.ClickException as error:
        asked = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        more = f" (see {asked} --help)" if asked else ""
        click.echo(f"pready: error: {' '.join(_said(error).split())}{more}", err=True)
        return Status.WRONG_INPUT
    except UnwrittenError:
        raise
    except PreadyError as error:
        click.echo(f"pready: error: {error}", err=True)
        return Status.WRONG_INPUT
    except (_Stopped, KeyboardInterrupt, click.exceptions.Abort) as how:
        return _interrupted(how, by)
    except OSError as error:
        if unwritable := import_module("pready.files.cache").unwritable_cache(error):
            raise unwritable from None
        if error.errno not in FULL:
            raise
        raise UnwrittenError(f"cannot be written: {error.strerror}", source=str(error.filename or "a file")) from None


def _said(error: click.ClickException) -> str:
    """The problem, with the commands that have an unknown option."""
    if isinstance(error, click.NoSuchOption):
        examples: Mapping[str, Sequence[str]] = import_module("pready.commands.command_lines").EXAMPLES
        having = [name for name, some in examples.items() if any(error.option_name in line.split() for line in some)]
        if having:
            return f"No such option '{error.option_name}' here; it is one of pready {', pready '.join(having)}."
    return re.sub("is not a valid integer( range)?", "is no integer", error.format_message())


def _interrupted(how: BaseException, by: Sequence[int]) -> Status:
    """Say which results are kept and how to go on; return the exit status of an interrupted program."""
    # Python ends by SIGINT if the last source that it ran from a text was interrupted, such as a dataclass's methods.
    exec("")
    kept = " ".join(map(str, how.args)) or "every file is complete or as it was; the same command starts again"
    click.echo(f"pready: {'terminated' if by else 'interrupted'}; {kept}", err=True)
    return Status.TERMINATED if by else Status.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
