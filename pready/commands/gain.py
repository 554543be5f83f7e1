"""``pready gain``: the closed form alone."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import click

from pready import api
from pready.model.common.errors import PreadyError, did_you_mean, shown
from pready.model.result.verdict import MIN_GAIN


@click.command()
@click.argument("values", nargs=-1, metavar="NAME=VALUE...")
def gain(values: Sequence[str]) -> None:
    """The closed form alone: η of Eq. 4 (corrected) of gillis2023.

    NAME is threads, theta (user partitions of each, 1 if absent), bandwidth and gamma, the delay rate; or, in place of
    gamma, arithmetic_intensity, communication_intensity, frequency, epsilon and delta (Appendix A).
    """
    names = list(signature(api.gain).parameters)
    given: dict[str, Any] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            raise PreadyError(f"{shown(text)}{did_you_mean(name, names)}", valid=f"NAME=VALUE of {', '.join(names)}")
        given[name] = _number(name, value)
    if missing := [name for name in ("threads", "bandwidth") if name not in given]:
        raise PreadyError(f"{missing[0]} is missing", valid='such as threads=8 bandwidth="25 GB/s"')
    form = api.gain(**given)
    pays = form.eta >= 1 + MIN_GAIN
    head = f"An exchange gets at most {form.eta:.2f} times as fast" if pays else "No gain: an exchange gets no faster"
    click.echo(f"{head} by sending early, with bandwidth alone{': pready predict says what is left' * pays}.")
    click.echo(
        f"eta = {form.eta:.6f}  gamma = {form.gamma_us_per_mb:.6f} us/MB  "
        f"N_part = {form.n_partitions}  regime: {form.regime}"
    )


def _number(name: str, text: str) -> int | float | str:
    """An integer for counts, a number for intensities; quantities stay text with their unit."""
    counts, whole = ("arithmetic_intensity", "communication_intensity", "flops_per_cycle"), ("threads", "theta")
    try:
        return int(text) if name in whole else float(text) if name in counts else text
    except ValueError:
        raise PreadyError(f"{name} = {shown(text)}", valid="an integer" if name in whole else "a number") from None
