"""Measurements on real machines that others published, one TOML file per machine (`series.py` is their form)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from importlib import resources

from pready.model.common.errors import PreadyError, shown
from pready.model.machine.machine import Machine
from pready.model.toml.reading import read_toml
from pready.validate.claims.collection import ignore, validated_claims
from pready.validate.claims.form import Source
from pready.validate.fabrics.series import parsed
from pready.validate.result import ClaimResult

FABRICS = (
    "alaska",
    "alaska-roce",
    "alps",
    "archer2",
    "fugaku",
    "hawk",
    "hawk-mpich",
    "hpc6a",
    "niagara",
    "summit",
)


@cache
def load(machine: str) -> Source:
    """The measurements on one machine as claims.

    Raises
    ------
    PreadyError
        A machine that is not there, or a file that is not valid: one line naming file, field and value.
    """
    if machine not in FABRICS:
        raise PreadyError(f"machine = {shown(machine)} is unknown", valid=", ".join(FABRICS))
    resource = resources.files("pready.validate") / "fabrics" / f"{machine}.toml"
    with resources.as_file(resource) as path:
        return parsed(read_toml(path), f"{machine}.toml")


def validate(
    seed: int = 0,
    *,
    only: Collection[str] | None = None,
    on_claim: Callable[[ClaimResult], None] = ignore,
    change: Callable[[Machine], Machine] | None = None,
) -> tuple[ClaimResult, ...]:
    """Check the measurements; see `pready.validate.claims.collection.validated_claims`."""
    return validated_claims("fabrics", [load(f) for f in FABRICS], seed, only=only, on_claim=on_claim, change=change)
