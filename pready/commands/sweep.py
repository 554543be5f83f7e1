"""``pready sweep``: a workload over any fields of it, machines and libraries."""

from __future__ import annotations

from typing import Any

import click

from pready.commands import options, sweep_and_compare
from pready.model.common.errors import PreadyError


@click.command()
@options.workload()
@sweep_and_compare.shared
def sweep(workload: str, **how: Any) -> None:
    """Predict WORKLOAD (a TOML file) over all combinations of some fields' values.

    A row per point, with the best approach and the verdict. With -o, finished points are kept beside the file: an
    interrupted sweep resumes, and a larger one computes its new points only.
    """
    if not how["fields"]:
        raise PreadyError("--set is missing", valid="fields to vary, such as --set buffer=64KiB:4MiB:4x")
    sweep_and_compare.run([workload], **how)
