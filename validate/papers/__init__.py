"""Every quantitative claim of the five papers, one TOML file per paper (`pready.validate.claims` is their form)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from importlib import resources

from pready.model.common.errors import PreadyError, shown
from pready.model.machine.machine import Machine
from pready.model.toml.reading import read_toml
from pready.validate.claims.collection import ignore, validated_claims
from pready.validate.claims.form import Source, parsed
from pready.validate.result import ClaimResult

PAPERS = ("gillis2023", "zambre2021", "marts2024", "jammer2022", "temucin2022")


@cache
def load(paper: str) -> Source:
    """The claims of one paper.

    Raises
    ------
    PreadyError
        A paper that is not there, or a file that is not valid: one line naming file, field and value.
    """
    if paper not in PAPERS:
        raise PreadyError(f"paper = {shown(paper)} is unknown", valid=", ".join(PAPERS))
    resource = resources.files("pready.validate") / "papers" / f"{paper}.toml"
    with resources.as_file(resource) as path:
        return parsed(read_toml(path), f"{paper}.toml")


def validate(
    seed: int = 0,
    *,
    only: Collection[str] | None = None,
    on_claim: Callable[[ClaimResult], None] = ignore,
    change: Callable[[Machine], Machine] | None = None,
) -> tuple[ClaimResult, ...]:
    """Check the claims of the papers; see `pready.validate.claims.collection.validated_claims`."""
    return validated_claims("papers", [load(p) for p in PAPERS], seed, only=only, on_claim=on_claim, change=change)
