"""The command line: finds commands, turns errors into one line and an exit status."""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from pready.model.common.errors import PreadyError, did_you_mean, printable, shown
from pready.model.version import VERSION
from pready.show.terminal.plain_text import plainly

COMMANDS = {
    "calibrate": "Measure a machine with its own MPI and write a machine file.",
    "capture": "Record what an unmodified MPI program does.",
    "compare": "Workloads, machines, libraries and fields side by side.",
    "doctor": "Try an MPI library: early sends, known bugs, threads, binding.",
    "explain": "The equations and the steps of an exchange, with numbers.",
    "gain": "The closed form alone: η of Eq. 4 (corrected) of gillis2023.",
    "libraries": "List the MPI library profiles, or show one.",
    "machines": "List the machine profiles, or show one with all its values.",
    "predict": "Predict the time of every approach, with advice.",
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


class _ReaderGone(Exception):
    """Nobody reads the output any more: click would end with 1, which `pready prove` has another meaning for."""


@contextmanager
def _noticing_the_reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGone from error


class _Commands(click.Group):
    """The commands, imported when called."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _noticing_the_reader():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _noticing_the_reader():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with _one_blas_thread():
            command: click.Command = getattr(import_module(f"pready.commands.{cmd_name}"), cmd_name)
        return import_module("pready.commands.examples").attach(command, cmd_name)  # type: ignore[no-any-return]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            meant = f' (did you mean "predict {name}"?)' if name.endswith(".toml") else did_you_mean(name, COMMANDS)
            meant = f' (did you mean "--{name}"?)' if name in ("help", "version") else meant
            problem = f"{shown(name)} is no command{printable(meant)}"
            raise PreadyError(problem, valid=", ".join(sorted(COMMANDS)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="pready")
@click.pass_context
def cli(context: click.Context) -> None:
    """Is it worth porting MPI+threads code to partitioned communication, and how?"""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; bad input is one line on standard error and exit status 2."""
    _quick_start()
    with plainly():
        return _run(arguments)


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


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments), prog_name="pready", standalone_mode=False
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.Abort as stopped:
        return _interrupted(stopped.__cause__)
    except click.ClickException as error:
        asked = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        more = f" (see {asked} --help)" if asked else ""
        click.echo(
            f"pready: error: {' '.join(_said(error, sys.argv[1:] if arguments is None else arguments).split())}{more}",
            err=True,
        )
        return 2
    except PreadyError as error:
        click.echo(f"pready: error: {error}", err=True)
        return 2
    except KeyboardInterrupt as stopped:
        return _interrupted(stopped)
    except (_ReaderGone, BrokenPipeError):
        for stream in (sys.stdout, sys.stderr):  # the rest of the output goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 141


def _said(error: click.ClickException, arguments: Sequence[str]) -> str:
    """The problem, with the commands that have an unknown option, or an example of an option without its value."""
    if isinstance(error, click.NoSuchOption):
        having = [name for name, some in _examples() if any(error.option_name in line.split() for line in some)]
        if having:
            return f"No such option '{error.option_name}' here; it is one of pready {', pready '.join(having)}."
    said = error.format_message()
    if isinstance(error, click.BadOptionUsage):
        called = [some for name, some in _examples() if name.split() == list(arguments[: len(name.split())])]
        using = [line for some in reversed(called) for line in some if error.option_name in line.split()]
        return said.rstrip(".") + (f", as in: {using[0]}" if using else "")
    return re.sub("is not a valid integer( range)?", "is no integer", said)


def _examples() -> Iterable[tuple[str, Sequence[str]]]:
    """Examples by command, loaded for errors only."""
    examples: Mapping[str, Sequence[str]] = import_module("pready.commands.examples").EXAMPLES
    return examples.items()


def _interrupted(how: BaseException | None) -> int:
    """Say which results are kept; return the exit status of an interrupted program."""
    kept = " ".join(str(part) for part in how.args) if isinstance(how, KeyboardInterrupt) else ""
    click.echo(f"pready: interrupted; {kept or 'every file is complete or as it was'}", err=True)
    return 130


if __name__ == "__main__":
    sys.exit(main())
