"""What the model itself was off by where it met real machines, beyond the uncertainty of their machine files.

A claim is off by ln(measured / predicted); its predicted 95 % interval has a half-width there, too. The model's error
is the half-width w with which the intervals, widened to the root of half-width² + w², would hold the measured values of
95 % of the claims, each machine counting as much as any other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pready.validate.claims.result import ClaimResult

LEVEL = 0.95


@dataclass(frozen=True)
class Miss:
    """One measurement and its prediction, in logarithms."""

    machine: str
    off: float
    half: float
    """Half-width of the predicted interval, on the measured value's side."""

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
            out.append(Miss(c.source, off, max(math.log(high / got) if off > 0 else math.log(got / low), 0.0)))
    return out


def model_error(found: Sequence[Miss]) -> float:
    """w, as a relative half-width: 0.1 widens an interval by 10 %."""
    weights = np.array([1 / sum(m.machine == other.machine for other in found) for m in found])
    order = np.argsort([m.lacks for m in found])
    share = np.cumsum(weights[order]) / weights.sum()
    return math.expm1(found[order[int(np.searchsorted(share, LEVEL))]].lacks)


def held(found: Sequence[Miss], error: float) -> float:
    """The share of measured values inside intervals that are widened by a model's error."""
    return float(np.mean([m.lacks <= math.log1p(error) for m in found]))


def left_out(found: Sequence[Miss]) -> dict[str, tuple[float, float]]:
    """For each machine the model's error by all others, and the share of its own measured values that this holds."""
    out = {}
    for machine in dict.fromkeys(m.machine for m in found):
        mine, others = ([m for m in found if (m.machine == machine) == own] for own in (True, False))
        error = model_error(others)
        out[machine] = error, held(mine, error)
    return out


def held_by_others(found: Sequence[Miss]) -> float:
    """The share of all measured values inside intervals that are widened by the error of the other machines."""
    by_machine = left_out(found)
    return float(np.mean([m.lacks <= math.log1p(by_machine[m.machine][0]) for m in found]))
