"""What the model itself was off by where it met real machines, beyond the uncertainty of their machine files.

A claim is off by ln(measured / predicted); its predicted 95 % interval has a half-width there, too. The model's error
of a class of exchange is the half-width w with which the intervals, widened to the root of half-width² + w², hold the
measured values of 95 % of the class's claims, each claim counting once. The quantile is that of Harrell and Davis: one
machine more or less moves it little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pready.calibrate.fit.results import CONFIDENCE
from pready.model.result.interval import quantile
from pready.validate.claims.result import ClaimResult

LEVEL = CONFIDENCE  # share of claims within what the model lacks
CLASSES: Mapping[str, str] = {
    "time one way": "one message",
    "bandwidth": "stream",
    "time": "stream",
    "time to many ranks and back": "stream",
    "bandwidth of all pairs": "shared ports",
    "bandwidth both ways": "shared ports",
    "time per message": "many threads",
    "time after the last thread": "many threads",
    "η": "many threads",
}
"""By the quantity of a claim. Fewer than 20 claims do not tell what 95 % of them lack: 15 both ways go with those of
pairs, which share ports as well, and five gains with the times of their threads."""


@dataclass(frozen=True)
class Miss:
    """One measurement and its prediction, in logarithms."""

    machine: str
    off: float
    half: float
    """Half-width of the predicted interval, on the measured value's side."""
    of: str = "one message"
    """Its class."""

    @property
    def lacks(self) -> float:
        """The smallest w with which the widened interval holds the measured value."""
        return math.sqrt(max(self.off**2 - self.half**2, 0.0))


def misses(claims: Sequence[ClaimResult]) -> list[Miss]:
    """How far off each claim is that is a positive number with an interval."""
    out = []
    for c in claims:
        numbers = (c.expected, c.got, c.low, c.high)
        if all(isinstance(x, (int, float)) and not isinstance(x, bool) and 0 < x < math.inf for x in numbers):
            expected, got, low, high = map(float, numbers)  # type: ignore[arg-type]
            off = math.log(expected / got)
            half = max(math.log(high / got) if off > 0 else math.log(got / low), 0.0)
            out.append(Miss(c.source, off, half, CLASSES.get(c.quantity, "one message")))
    return out


def model_error(found: Sequence[Miss]) -> float:
    """w of some claims of one class, as a relative half-width: 0.1 widens an interval by 10 %."""
    return math.expm1(quantile(np.array([m.lacks for m in found]), LEVEL)) if found else 0.0


def by_class(found: Sequence[Miss]) -> dict[str, dict[str, float]]:
    """For each class the number of claims, the model's error, the share of measured values inside intervals that are
    widened by it, each machine by the error of the others, and the median half-width of these intervals."""
    out = {}
    for name in dict.fromkeys(m.of for m in found):
        some = [m for m in found if m.of == name]
        error = model_error(some)
        wide = float(np.median([math.expm1(math.hypot(m.half, math.log1p(error))) for m in some]))
        out[name] = {"claims": len(some), "error": error, "held": held_by_others(some), "wide": wide}
    return out


def held_by_others(found: Sequence[Miss]) -> float:
    """The share of measured values inside intervals that are widened by the error of the other machines; of a class of
    one machine by its own."""
    machines = {m.machine for m in found}
    error = {
        name: math.log1p(model_error([m for m in found if m.machine != name or len(machines) == 1]))
        for name in machines
    }
    return float(np.mean([m.lacks <= error[m.machine] for m in found]))
