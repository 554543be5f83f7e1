"""Options that several commands share, with their parsers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from pready.calibrate.measure.launcher import Launcher
from pready.files.shipped_examples import found
from pready.model.common.errors import PreadyError, shown
from pready.model.common.units import Unit, format_exact, fraction, parse
from pready.model.machine import DEFAULT
from pready.model.toml.reading import LARGEST_TOML
from pready.show.terminal.terminal import progress

if TYPE_CHECKING:  # the list of machines needs neither
    from pready.model.approach.interfaces import Approach
    from pready.model.machine.machine import Machine
    from pready.model.workload.workload import Workload

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
SHORTEST_BUDGET_S = 1.0
"""In less nothing is started."""


def parse_approach(text: str, workload: Workload) -> Approach:
    """The approach of ``--approach``; errors as of `approach_named`."""
    from pready.model.advice.approach_by_name import approach_named

    return approach_named(text, workload, "--approach")


def workload(*, required: bool = True, several: bool = False) -> Option:
    """The argument WORKLOAD: a TOML file, or ``-`` for standard input; text, for `read_workload`."""
    return click.argument("workload", nargs=-1 if several else 1, required=required)


def fields(several: bool = False) -> Option:
    """``--set``, repeatable: text, for `read` or `parse_axis`."""
    values = "Values of" if several else "Set"
    many = ": buffer=64KiB:4MiB:4x, arrivals.spread=1%,4%, machine=niagara,hpc3, library=mpipcl, seed=0:9:1, work=total"
    one = ': buffer=64KiB, compute.time="1 ms", grid=4x4x4, ranks_per_node=8'
    return click.option(
        "--set",
        "fields",
        multiple=True,
        metavar="FIELD=VALUES" if several else "FIELD=VALUE",
        help=f"{values} a field of the workload file, or of the machine file as machine.FIELD"
        f"{many if several else one}; repeatable{', all combinations' if several else ''}.",
    )


@overload
def read(workload: str, machine: str, given: Sequence[str]) -> tuple[Machine, Workload]: ...


@overload
def read(workload: str, machine: str | None, given: Sequence[str]) -> tuple[Machine | None, Workload]: ...


def read(workload: str, machine: str | None, given: Sequence[str]) -> tuple[Machine | None, Workload]:
    """The workload and the machine, if one is named, with the fields of ``--set``."""
    from pready.model.machine.machine import load
    from pready.whatif.fields import OPTIONS, changed, parse_axis

    on, what = None if machine is None else load(machine), read_workload(workload)
    if not given:
        return on, what
    axes = [parse_axis(text) for text in given]
    for axis in axes:
        if axis.field in OPTIONS:
            raise PreadyError(f"--set {axis.field} of a single prediction", valid=f"--{axis.field}")
        if len(axis.values) > 1:
            raise PreadyError(f"--set {axis.field} has {len(axis.values)} values", valid="one, or 'pready sweep'")
    try:
        return changed(on, what, {axis.field: axis.values[0] for axis in axes})
    except PreadyError as error:
        raise error.at(f"--set {' --set '.join(given)}") from None


def sets(given: Sequence[str], field: str) -> bool:
    """Does ``--set`` give this field?"""
    return any(text.partition("=")[0].strip() == field for text in given)


def read_workload(text: str) -> Workload:
    """The workload that an argument names; errors as of its `load`."""
    from pready.model.workload.workload import load, loads

    if text != "-":
        return load(found(text))
    if sys.stdin is None:
        raise PreadyError("standard input is closed", valid="a workload file, or one on standard input")
    data = sys.stdin.buffer.read(LARGEST_TOML + 1)
    if len(data) > LARGEST_TOML:
        raise PreadyError("standard input is larger than a workload", valid=f"at most {LARGEST_TOML >> 20} MiB")
    return loads(data)


def machine(help: str = "A profile ('pready machines') or a TOML file.") -> Option:
    """``--machine``, with the one default."""
    return click.option("--machine", default=DEFAULT, show_default=True, metavar="NAME|FILE", help=help)


def library(
    help: str = "MPI library profile ('pready libraries'), of one version as openmpi-persist@5.0.6.  "
    "[default: the machine's]",
) -> Option:
    """``--library``."""
    return click.option("--library", metavar="NAME[@VERSION]", help=help)


def seed(help: str = "Of the arrivals.", bits: int = 64) -> Option:
    """``--seed``, of `bits` bits."""
    return click.option("--seed", type=click.IntRange(0, 2**bits - 1), default=0, show_default=True, help=help)


def approach(default: str = "what 'predict' advises") -> Option:
    """``--approach`` as text: `parse_approach` needs the workload."""
    return click.option(
        "--approach", metavar="KEY[:T[:V]]", help=f"Interface, transport partitions, VCIs.  [default: {default}]"
    )


def launched(how: str) -> Option:
    """Where ranks are started, ``--launcher``, and with which compiler's MPI, ``--mpicc``."""
    mpicc = "MPI C compiler.  [default: MPICC, the one beside the launcher, PATH]"

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--mpicc", metavar="WORDS", help=mpicc)(command)
        return click.option("--launcher", metavar="WORDS", help=how)(command)

    return decorated


def launcher_of(words: str | None, example: str) -> Launcher:
    """The launcher of ``--launcher``; errors as of `Launcher.parse`, and if it is absent."""
    if words is None:
        raise PreadyError("--launcher is missing", valid=f'how ranks are started, such as --launcher "{example}"')
    return Launcher.parse(words)


def budget(default: str) -> Option:
    """``--budget``, in seconds."""

    def parsed(_context: click.Context, _option: click.Parameter, text: str) -> float:
        if re.fullmatch(r"\s*[0-9.]+\s*", text):
            raise PreadyError(f"--budget {shown(text)} has no unit", valid=f'a time, such as "{text.strip()} s"')
        seconds = parse(text, Unit.TIME, "--budget")
        if seconds < SHORTEST_BUDGET_S:
            raise PreadyError(f"--budget {shown(text)}", valid=f"a time of at least {SHORTEST_BUDGET_S:g} s")
        return seconds

    return click.option(
        "--budget",
        "budget_s",
        default=default,
        show_default=True,
        metavar="TIME",
        callback=parsed,
        help="Wall-clock time to measure.",
    )


def min_gain() -> Option:
    """``--min-gain``, as a share."""
    from pready.model.result.verdict import MIN_GAIN

    def parsed(_context: click.Context, option: click.Parameter, text: str) -> float:
        least = fraction(text, option.opts[0])
        if least >= 1:
            raise PreadyError(f"{option.opts[0]} = {shown(text)}", valid="0 % to less than 100 %")
        return least

    return click.option(
        "--min-gain",
        default=format_exact(MIN_GAIN, Unit.SHARE),
        show_default=True,
        metavar="SHARE",
        callback=parsed,
        help="Share of an iteration that a port has to save.",
    )


def picture(help: str) -> Option:
    """``--plot FILE``."""
    return click.option("--plot", "picture", type=click.Path(path_type=Path), metavar="FILE.svg|.png", help=help)


def as_json(help: str = "One JSON object on standard output.") -> Option:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def given(context: click.Context) -> list[str]:
    """The options of a command line, as they are spelt."""
    of = {p.name: p.opts[0] for p in context.command.params if isinstance(p, click.Option)}
    source = click.core.ParameterSource.COMMANDLINE
    return [said for name, said in of.items() if name and context.get_parameter_source(name) is source]


@contextmanager
def counted() -> Iterator[Callable[[str, int, int, float], None]]:
    """A bar for what is measured, called with its name, how many are done, of how many, and the seconds left."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with progress(*columns) as bar:
        task = bar.add_task("starting", total=None, left="")

        def told(what: str, done: int, total: int, left_s: float) -> None:
            bar.update(task, total=total, completed=done, description=what, left=f"about {left_s:.0f} s left")

        yield told


@contextmanager
def keeping(said: str) -> Iterator[None]:
    """Let the message after Ctrl-C say which results are kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(said) from None
