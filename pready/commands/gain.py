"""``pready gain``: the closed form alone."""

from __future__ import annotations

import click

from pready.commands import options
from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, parse
from pready.model.equations import gain as g
from pready.model.equations.closed_form import FLOPS_PER_CYCLE, closed_form
from pready.show.terminal.terminal import print_json


@click.command()
@click.option("--threads", type=click.IntRange(1), required=True, help="N.")
@click.option("--theta", type=click.IntRange(1), default=1, show_default=True, help="User partitions per thread.")
@click.option("--bandwidth", required=True, metavar="RATE", help='β, such as "25 GB/s".')
@click.option("--gamma", metavar="RATE", help='Delay rate γ, such as "100 us/MB".')
@click.option("--ai", type=float, metavar="X", help="Arithmetic intensity, flop/B (Appendix A, in place of --gamma).")
@click.option("--ci", type=float, metavar="X", help="Communication intensity: bytes sent per byte of memory traffic.")
@click.option("--frequency", metavar="FREQ", help='Clock, such as "3.5 GHz".')
@click.option(
    "--epsilon",
    default="0 %",
    show_default=True,
    metavar="SHARE",
    callback=options.share,
    help='System noise ε of Eq. 9, "4 %" or 0.04.',
)
@click.option(
    "--delta",
    default="0 %",
    show_default=True,
    metavar="SHARE",
    callback=options.share,
    help="Algorithmic imbalance δ of Eq. 9.",
)
@click.option("--flops-per-cycle", type=float, help="Flops per cycle of Eq. 6.  [default: 8]")
@click.option("--explain", is_flag=True, help="Show the equations with these numbers.")
@options.as_json("One JSON object: eta, gamma_us_per_mb, n_partitions, regime.")
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
    beta = parse(bandwidth, Unit.BANDWIDTH, "--bandwidth")
    if beta <= 0:
        raise PreadyError(f"--bandwidth = {bandwidth!r}", valid="greater than 0")
    steps: list[str] = []
    if gamma is not None:
        if ai is not None or ci is not None or frequency is not None:
            raise PreadyError("--gamma comes with --ai, --ci or --frequency", valid="--gamma alone, or the other three")
        rate = parse(gamma, Unit.TIME_PER_BYTE, "--gamma")
        if rate < 0:
            raise PreadyError(f"--gamma = {gamma!r}", valid="at least 0")
    else:
        if ai is None or ci is None or frequency is None:
            missing = [n for n, v in (("--ai", ai), ("--ci", ci), ("--frequency", frequency)) if v is None]
            raise PreadyError(f"{', '.join(missing)} missing", valid="--gamma, or all of --ai, --ci and --frequency")
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
        data = {
            "eta": form.eta,
            "gamma_us_per_mb": form.gamma_us_per_mb,
            "n_partitions": form.n_partitions,
            "regime": form.regime,
        }
        print_json(data)
        return
    if explain:
        steps.append(f"Eq. 4  {g.large_message_gain.substituted(threads, theta, rate, beta)}")
        steps.append(f"       (departure: {g.large_message_gain.departure})")
        click.echo("\n".join(steps))
    click.echo(
        f"eta = {form.eta:.6f}  gamma = {form.gamma_us_per_mb:.6f} us/MB  "
        f"N_part = {form.n_partitions}  regime: {form.regime}"
    )
