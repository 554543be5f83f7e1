"""``pready compare``: workloads, machines, libraries and values of fields side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from pready.commands import options, sweep_and_compare


@click.command()
@options.workload(several=True)
@sweep_and_compare.shared
def compare(workload: Sequence[str], **how: Any) -> None:
    """Predict each WORKLOAD (a TOML file), for all combinations of some fields' values, side by side.

    A row per combination: what MPI_Psend saves, also if the library sent early; the best way today, what it saves, the
    verdict, and the buffers with which it pays.
    """
    sweep_and_compare.run(workload, **how)
