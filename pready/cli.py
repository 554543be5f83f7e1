"""The command line: parses, calls the model, prints. Nothing else knows about it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import click

from pready.model.errors import PreadyError
from pready.model.version import VERSION

# Heavy modules (NumPy, pydantic, SymPy, Matplotlib) are imported by the command that needs them.

DEFAULT_MACHINE = "meluxina"
PICTURES = ("size", "map", "exchange")
PICTURES_HELP = "η over size; η over transport partitions and size; one exchange, bulk above."


class _Commands(click.Group):
    """Command groups of other modules, imported when they are called or listed."""

    elsewhere: ClassVar = {
        "calibrate": "pready.calibrating:calibrate",
        "explain": "pready.explaining:explain",
        "simulate": "pready.simulating:simulate",
        "sst": "pready.sst.commands:sst",
        "validate": "pready.validating:validate",
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self.elsewhere])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.elsewhere:
            return super().get_command(ctx, cmd_name)
        module, _, name = self.elsewhere[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="pready")
def cli() -> None:
    """Is it worth porting MPI+threads communication to MPI 4.0 partitioned communication, and how?"""


def _machine_option(function: Any) -> Any:
    return click.option(
        "--machine",
        default=DEFAULT_MACHINE,
        show_default=True,
        metavar="NAME|FILE",
        help="A profile ('pready machines') or a TOML file.",
    )(function)


def _library_option(function: Any) -> Any:
    return click.option("--library", metavar="NAME", help="MPI library profile; the machine's own if absent.")(function)


def _seed_option(function: Any) -> Any:
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**64 - 1),
        default=0,
        show_default=True,
        help="Of arrivals and parameter draws.",
    )(function)


@cli.command()
@click.argument("workload")
@_machine_option
@_library_option
@_seed_option
@click.option(
    "--engine",
    type=click.Choice(["timeline", "engine"]),
    help="One exchange of two ranks, or many ranks.  [default: timeline for pt2pt, else engine]",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--csv", "as_csv", is_flag=True, help="One line per approach.")
@click.option(
    "--all",
    "every_row",
    is_flag=True,
    help="Every transport partition count and VCI count, not only the best.",
)
@click.option(
    "--plot",
    "picture",
    type=click.Path(path_type=Path),
    metavar="FILE.svg|.png",
    help="Draw the prediction.",
)
@click.option(
    "--picture", "kind", type=click.Choice(PICTURES), default=PICTURES[0], show_default=True, help=PICTURES_HELP
)
def predict(
    workload: str,
    machine: str,
    library: str | None,
    seed: int,
    engine: Any,
    as_json: bool,
    as_csv: bool,
    every_row: bool,
    picture: Path | None,
    kind: str,
) -> None:
    """Predict what every way of sending the buffer of WORKLOAD (a TOML file) costs, with advice."""
    if as_json and as_csv:
        raise PreadyError("--json and --csv exclude each other", valid="one of them")
    from pready.model import machine as machines
    from pready.model import workload as workloads
    from pready.model.predict import predict as predict_

    if picture is not None:
        from pready import plot

        plot.check(picture)
    on, what = machines.load(machine), workloads.load(workload)
    prediction = predict_(on, what, library=library, seed=seed, engine=engine)
    if picture is not None:
        from pready.pictures import draw

        draw(kind, picture, on, what, prediction)
    from pready import show

    if as_json:
        show.print_json(prediction.to_dict())
    elif as_csv:
        click.echo(show.prediction_csv(prediction), nl=False)
    else:
        show.console().print(show.prediction_view(prediction, every_row=every_row))
        if picture is not None:
            click.echo(f"wrote {picture}", err=True)


@cli.command()
@click.option("--threads", type=click.IntRange(1), required=True, help="N.")
@click.option(
    "--theta",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="User partitions per thread.",
)
@click.option("--bandwidth", required=True, metavar="RATE", help='β, such as "25 GB/s".')
@click.option("--gamma", metavar="RATE", help='Delay rate γ, such as "100 us/MB".')
@click.option(
    "--ai",
    type=float,
    metavar="X",
    help="Arithmetic intensity, flop/B (Appendix A, in place of --gamma).",
)
@click.option("--ci", type=float, metavar="X", help="Communication intensity: bytes sent per byte of memory.")
@click.option("--frequency", metavar="FREQ", help='Clock, such as "3.5 GHz".')
@click.option(
    "--epsilon",
    type=float,
    default=0.0,
    show_default=True,
    help="Noise of the system, 0.04 for 4 %.",
)
@click.option("--delta", type=float, default=0.0, show_default=True, help="Imbalance of the algorithm.")
@click.option("--flops-per-cycle", type=float, help="The bare 8 of Eq. 6.  [default: 8]")
@click.option("--explain", is_flag=True, help="Show the algebra with the numbers put in.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object: eta, gamma_us_per_mb, n_partitions, regime.",
)
def gain(
    threads: int,
    theta: int,
    bandwidth: str,
    gamma: str | None,
    ai: float | None,
    ci: float | None,
    frequency: str | None,
    epsilon: float,
    delta: float,
    flops_per_cycle: float | None,
    explain: bool,
    as_json: bool,
) -> None:
    """The closed form alone: η of Eq. 4 (corrected) of gillis2023."""
    from pready.model import gain as g
    from pready.model.closed_form import FLOPS_PER_CYCLE, closed_form
    from pready.model.units import Unit, parse

    beta = parse(bandwidth, Unit.BANDWIDTH, "--bandwidth")
    if beta <= 0:
        raise PreadyError(f"--bandwidth = {bandwidth!r}", valid="greater than 0")
    steps: list[str] = []
    if gamma is not None:
        if ai is not None or ci is not None or frequency is not None:
            raise PreadyError(
                "--gamma comes with --ai, --ci or --frequency",
                valid="--gamma alone, or the other three",
            )
        rate = parse(gamma, Unit.TIME_PER_BYTE, "--gamma")
        if rate < 0:
            raise PreadyError(f"--gamma = {gamma!r}", valid="at least 0")
    else:
        if ai is None or ci is None or frequency is None:
            missing = [n for n, v in (("--ai", ai), ("--ci", ci), ("--frequency", frequency)) if v is None]
            raise PreadyError(
                f"{', '.join(missing)} missing",
                valid="--gamma, or all of --ai, --ci and --frequency",
            )
        clock = parse(frequency, Unit.FREQUENCY, "--frequency")
        per_cycle = FLOPS_PER_CYCLE if flops_per_cycle is None else flops_per_cycle
        mu = float(g.computation_rate(ai, ci, clock, per_cycle))
        rate = float(g.delay_rate(mu, theta, epsilon, delta))
        steps = [
            f"Eq. 6  {g.computation_rate.substituted(ai, ci, clock, per_cycle)} s/B",
            f"Eq. 9  {g.delay_rate.substituted(mu, theta, epsilon, delta)} s/B",
        ]
    form = closed_form(threads, theta, rate, beta)
    if as_json:
        from pready import show

        data = {
            "eta": form.eta,
            "gamma_us_per_mb": form.gamma_us_per_mb,
            "n_partitions": form.n_partitions,
            "regime": form.regime,
        }
        show.print_json(data)
        return
    if explain:
        steps.append(f"Eq. 4  {g.large_message_gain.substituted(threads, theta, rate, beta)}")
        steps.append(f"       (departure: {g.large_message_gain.departure})")
        click.echo("\n".join(steps))
    click.echo(
        f"eta = {form.eta:.6f}  gamma = {form.gamma_us_per_mb:.6f} us/MB  "
        f"N_part = {form.n_partitions}  regime: {form.regime}"
    )


@cli.command()
@click.argument("workload")
@click.option(
    "--over",
    "axes",
    multiple=True,
    required=True,
    metavar="FIELD=VALUES",
    help="buffer=1KiB:64MiB:2x or threads=1,2,4; repeatable.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.csv|.parquet")
@_machine_option
@_library_option
@_seed_option
def sweep(workload: str, axes: Sequence[str], output: Path, machine: str, library: str | None, seed: int) -> None:
    """Predict WORKLOAD over a grid of fields; run again after an interruption, it resumes."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    from pready import sweep as s
    from pready.model import machine as machines
    from pready.model import workload as workloads
    from pready.output import check_writable

    check_writable(output, s.SUFFIXES)
    on = machines.load(machine)
    points = s.grid(workloads.load(workload), [s.parse_axis(a) for a in axes])
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=(terminal := Console(stderr=True)), transient=True, disable=not terminal.is_terminal
    ) as progress:
        task = progress.add_task("predicting", total=len(points))
        computed, reused = s.sweep(
            on, points, output, library=library, seed=seed, on_point=lambda: progress.advance(task)
        )
    again = f", {reused} from an earlier run" if reused else ""
    click.echo(f"wrote {output}: {computed + reused} points{again}, seed {seed}", err=True)


@cli.command()
@click.argument("name", required=False)
def machines(name: str | None) -> None:
    """List the machine profiles, or show one with the provenance of every value."""
    from pready import show
    from pready.model import machine as m

    if name is None:
        show.console().print(show.machines_view([m.load(n) for n in m.profiles()]))
    else:
        show.console().print(show.machine_view(m.load(name)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; bad input is one line on standard error and exit status 2."""
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="pready",
            standalone_mode=False,
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.Abort:
        click.echo("pready: interrupted", err=True)
        return 130
    except click.ClickException as error:
        click.echo(f"pready: error: {' '.join(error.format_message().split())}", err=True)
        return 2
    except PreadyError as error:
        click.echo(f"pready: error: {error}", err=True)
        return 2
    except KeyboardInterrupt:
        click.echo("pready: interrupted", err=True)
        return 130
    except BrokenPipeError:  # the reader of a pipe went away
        sys.stderr.close()
        return 141


if __name__ == "__main__":
    sys.exit(main())
