"""Options that several commands share, with their parsers."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from pready.calibrate.measure.job_script import SCHEDULERS, Job, script, without_option
from pready.calibrate.measure.launcher import Launcher
from pready.files.writing import check_writable, write_text
from pready.model.common.errors import PreadyError, shown
from pready.model.common.units import Unit, format_exact, fraction
from pready.model.toml.reading import LARGEST_TOML
from pready.show.terminal.terminal import progress

if TYPE_CHECKING:  # the list of machines needs neither
    from pready.model.approach.interfaces import Approach
    from pready.model.workload.workload import Workload

DEFAULT_MACHINE = "meluxina"
ENGINES = ("timeline", "engine", "sst")
"""One exchange of a rank; many ranks, iteration after iteration; SST's packet-level networks."""

Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def parse_ranks(text: str, option: str = "--ranks") -> tuple[int, ...]:
    """``8,8,8`` or ``8x8x8`` as a grid: one to three positive integers."""
    try:
        grid = tuple(int(word) for word in text.replace("x", ",").split(","))
    except ValueError:
        grid = ()
    if not 1 <= len(grid) <= 3 or min(grid, default=0) < 1:
        raise PreadyError(f"{option} = {shown(text)}", valid="X, X,Y or X,Y,Z, such as 8,8,8")
    return grid


def parse_approach(text: str, workload: Workload) -> Approach:
    """The approach of ``--approach``; errors as of `approach_named`."""
    from pready.model.advice.approach_by_name import approach_named

    return approach_named(text, workload, "--approach")


def workload(*, required: bool = True, several: bool = False) -> Option:
    """The argument WORKLOAD: a TOML file, or ``-`` for standard input; text, for `read_workload`."""
    return click.argument("workload", nargs=-1 if several else 1, required=required)


def ranks_per_node() -> Option:
    """``--ranks-per-node`` of the machine that a prediction is for; None if it is not given."""
    return click.option(
        "--ranks-per-node",
        "per_node",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Ranks on each node there, N in a row, where a run was captured with others.  [default: the workload's]",
    )


def placed(what: Workload, per_node: int | None) -> Workload:
    """The workload with so many ranks on a node; None: as it says."""
    if per_node is None:
        return what
    return what.changed(ranks_per_node=None if per_node == 1 else per_node, node_grid=None)


def read_workload(text: str) -> Workload:
    """The workload that an argument names; errors as of its `load`."""
    from pready.model.workload.workload import load, loads

    if text != "-":
        return load(text)
    data = sys.stdin.buffer.read(LARGEST_TOML + 1)
    if len(data) > LARGEST_TOML:
        raise PreadyError("standard input is larger than a workload", valid=f"at most {LARGEST_TOML >> 20} MiB")
    return loads(data)


def machine(help: str = "A profile ('pready machines') or a TOML file.") -> Option:
    """``--machine``, with the one default."""
    return click.option("--machine", default=DEFAULT_MACHINE, show_default=True, metavar="NAME|FILE", help=help)


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
    """``--budget`` as text."""
    return click.option(
        "--budget", default=default, show_default=True, metavar="TIME", help="Wall-clock time to measure."
    )


def grid(name: str, help: str, metavar: str = "X,Y,Z") -> Option:
    """A grid such as ``--ranks``; None if it is not given."""

    def parsed(_: click.Context, option: click.Parameter, text: str | None) -> tuple[int, ...] | None:
        return None if text is None else parse_ranks(text, option.opts[0])

    return click.option(name, metavar=metavar, callback=parsed, help=help)


def share(_: click.Context, option: click.Parameter, text: str) -> float:
    """Callback of an option such as ``"5 %"`` or 0.05."""
    return fraction(text, option.opts[0])


def min_gain() -> Option:
    """``--min-gain``, as a share."""
    from pready.model.result.verdict import MIN_GAIN

    def parsed(context: click.Context, option: click.Parameter, text: str) -> float:
        least = share(context, option, text)
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


def as_csv(help: str = "One line per approach.") -> Option:
    """``--csv``."""
    return click.option("--csv", "as_csv", is_flag=True, help=help)


def one_form(as_json: bool, as_csv: bool) -> None:
    """Refuse ``--json`` and ``--csv`` together."""
    if as_json and as_csv:
        raise PreadyError("--json and --csv exclude each other", valid="one of them")


def refuse(engine: str, given: Mapping[str, object], instead: str) -> None:
    """Refuse the first option given (values by option, None if not), which `engine` lacks and `instead` has."""
    for option, value in given.items():
        if value is not None:
            raise PreadyError(f"{option} does not work with --engine {engine}", valid=f"{option} with {instead}")


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


def job() -> Option:
    """``--job``."""
    return click.option(
        "--job",
        type=(click.Choice([*SCHEDULERS]), click.Path(path_type=Path)),
        metavar="SCHEDULER FILE",
        help=f"Write a job script that runs this, and stop: {', '.join(SCHEDULERS)}.",
    )


def write_job(given: tuple[str, Path], needed: Job, launcher: str | None, *, pin: bool = True) -> None:
    """Write the job script of this command line, with the scheduler's own launcher if none is named."""
    scheduler, path = given
    words = without_option([w for w in sys.argv[1:] if w], "--job", 2)
    if launcher is None:
        words += ["--launcher", SCHEDULERS[scheduler].launcher(needed)]
    check_writable(path)
    write_text(path, script(scheduler, needed, [shutil.which("pready") or "pready", *words], pin=pin))
    submit = SCHEDULERS[scheduler].submit
    click.echo(
        f"wrote {path}: submit it with '{submit} {shlex.quote(str(path))}'; submitted again, it resumes", err=True
    )
