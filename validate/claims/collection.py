"""Claims of one kind, from all their files: each held against the model, and against wrong machines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from pready.model.common.errors import PreadyError, shown
from pready.model.machine.machine import Machine
from pready.validate.claims.computed_once import DRAWS, Lab
from pready.validate.claims.form import Source
from pready.validate.claims.judge import interval, result, turned
from pready.validate.claims.wrong_machines import WRONG_MACHINES
from pready.validate.result import ClaimResult, Kind


def ignore(_: ClaimResult) -> None:
    """Nobody watches."""


def validated_claims(
    of: Kind,
    sources: Sequence[Source],
    seed: int = 0,
    *,
    only: Collection[str] | None = None,
    on_claim: Callable[[ClaimResult], None] = ignore,
    change: Callable[[Machine], Machine] | None = None,
) -> tuple[ClaimResult, ...]:
    """Check the claims of some papers or machines.

    Parameters
    ----------
    of
        Whether they are papers' or machines'.
    sources
        Their claims.
    seed
        Of all draws of arrivals.
    only
        Names of sources (``"gillis2023"``) or claims (``"gillis2023/eq4-theta8"``); absent: all.
    on_claim
        Called with each result as soon as it is there.
    change
        Applied to every machine first, for negative controls; weak claims are not looked for then.

    Returns
    -------
    One result per claim, in the order of the files; claims no model can address are "out of scope".

    Raises
    ------
    PreadyError
        Something in `only` that is neither a source nor a claim.
    """
    names = [s.name for s in sources]
    known = {*names, *(f"{s.name}/{c.id}" for s in sources for c in s.claims)}
    wanted = known if only is None else set(only)
    for name in wanted - known:
        one = "a paper" if of == "papers" else "a machine"
        problem = f"only = {shown(name)} is neither {one} nor a claim"
        raise PreadyError(problem, valid=f"{', '.join(names)} or an id")
    lab, out = Lab(seed, change), []
    wrong = [] if change is not None else [Lab(seed, made) for made in WRONG_MACHINES.values()]
    drawn = [Lab(seed, draw=n) for n in range(1, DRAWS + 1)] if of == "fabrics" and wrong else []
    for source in sources:
        for claim in source.claims:
            if source.name in wanted or f"{source.name}/{claim.id}" in wanted:
                found = result(source.name, claim, lab, of)
                asked = bool(wrong) and found.basis == "independent" and found.status == "ok"
                low, high = (interval(claim, drawn) if drawn else None) or (None, None)
                weak = asked and not any(turned(claim, w) for w in wrong)
                out.append(replace(found, low=low, high=high, weak=weak))
                on_claim(out[-1])
    return tuple(out)
