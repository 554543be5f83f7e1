"""Every quantitative claim of the five papers, as data, and the model's value for it.

The claims stand in one TOML file per paper (`claims.py` is their form); `checks.py` names the few
functions that compute our values. None of them sees the expected value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from pready.model.common.errors import PreadyError, shown
from pready.model.machine.machine import Machine
from pready.validate.papers.claims import PAPERS, load
from pready.validate.papers.computed_once import Lab
from pready.validate.papers.judge import result, turned
from pready.validate.papers.wrong_machines import WRONG_MACHINES
from pready.validate.result import ClaimResult

__all__ = ["PAPERS", "validate"]


def _ignore(_: ClaimResult) -> None:
    """Nobody watches."""


def validate(
    seed: int = 0,
    *,
    only: Collection[str] | None = None,
    on_claim: Callable[[ClaimResult], None] = _ignore,
    change: Callable[[Machine], Machine] | None = None,
) -> tuple[ClaimResult, ...]:
    """Check the claims of the papers.

    Parameters
    ----------
    seed
        Of all draws of arrivals.
    only
        Papers (``"gillis2023"``) or claims (``"gillis2023/eq4-theta8"``); absent: all.
    on_claim
        Called with each result as soon as it is there.
    change
        Applied to every machine first, for negative controls; weak claims are not looked for then.

    Returns
    -------
    One result per claim, in the papers' order; claims no model can address are "out of scope".

    Raises
    ------
    PreadyError
        Something in `only` that is neither a paper nor a claim, or a claims file that is not valid.
    """
    papers = [load(name) for name in PAPERS]
    known = {*PAPERS, *(f"{p.paper}/{c.id}" for p in papers for c in p.claims)}
    wanted = known if only is None else set(only)
    for name in wanted - known:
        raise PreadyError(f"only = {shown(name)} is neither a paper nor a claim", valid=f"{', '.join(PAPERS)} or an id")
    lab, out = Lab(seed, change), []
    wrong = [] if change is not None else [Lab(seed, made) for made in WRONG_MACHINES.values()]
    for paper in papers:
        for claim in paper.claims:
            if paper.paper in wanted or f"{paper.paper}/{claim.id}" in wanted:
                found = result(paper.paper, claim, lab)
                asked = bool(wrong) and found.basis == "independent" and found.status == "ok"
                out.append(replace(found, weak=asked and not any(turned(claim, w) for w in wrong)))
                on_claim(out[-1])
    return tuple(out)
