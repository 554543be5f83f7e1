"""How far the model itself is off, by the likelihood of what was measured on real machines.

A figure is off by x = ln(measured / predicted). It grows with each factor of the model's own error by its steepness J
(`pready.validate.claims.judge.steepness`), so that x has the variance Σ (J σ)², with a σ for each factor. The σ are
those of the largest likelihood of all figures, each by itself (the independent normal of Sargsyan, Huan and Najm).

Three things do not widen the error: figures of which it is known which term of the model is wrong; those that a
formula bounds, without a simulation; and the intervals of machine files, whose values were fitted to other figures of
the same machine and benchmark. The factor of another machine lies within Student's interval, with as many degrees of
freedom as machines that tell it, less one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pready.model.common.normal import Z95, student95
from pready.model.timeline.own_error import COSTS, Factor
from pready.validate.claims.result import ClaimResult

FACTORS: tuple[Factor, ...] = (*COSTS, "transfers", "ways")
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
"""By the quantity of a claim: classes of at least 20."""
BOUNDS = ("time one way of all pairs",)
"""Quantities of which we have no simulation, but bounds."""
LARGE = 64 * 1024
"""Bytes from which a message is large."""
TELLS = 0.5
"""Steepness from which a machine tells a factor."""
LEAST = 0.02 / Z95
"""Of σ: two runs of a benchmark differ by 2 % (ARCHER2)."""
STEPS = 2000


@dataclass(frozen=True)
class Miss:
    """One measurement and its prediction, in logarithms."""

    machine: str
    off: float
    half: float  # half-width of the interval by the machine's values, on the measured value's side
    steep: tuple[float, ...] = (0.0, 1.0, 0.0, 0.0, 1.0, 1.0)  # by factor
    of: str = "one message"  # its class
    large: bool = False
    known: bool = False  # is it known which term of the model is wrong?

    def wide(self, by: Mapping[Factor, float]) -> float:
        """Half-width of the interval with the model's own error of these relative half-widths."""
        return math.hypot(self.half, *(s * math.log1p(by[f]) for f, s in zip(FACTORS, self.steep, strict=True)))


def misses(claims: Sequence[ClaimResult]) -> list[Miss]:
    """How far off each claim is that is a positive number with an interval."""
    out = []
    for c in claims:
        numbers = (c.expected, c.got, c.low, c.high)
        simulated = c.quantity not in BOUNDS
        if simulated and all(
            isinstance(x, (int, float)) and not isinstance(x, bool) and 0 < x < math.inf for x in numbers
        ):
            expected, got, low, high = map(float, numbers)  # type: ignore[arg-type]
            off = math.log(expected / got)
            half = max(math.log(high / got) if off > 0 else math.log(got / low), 0.0)
            # What is common to all transfers cancels in a gain, and each of its two ways is off by itself.
            transfers, ways = (0.0, math.sqrt(2)) if c.quantity == "η" else (1.0, 1.0)
            steep = (*(c.steepness.get(of, 0.0) for of in COSTS), transfers, ways)
            name, large = CLASSES.get(c.quantity, "one message"), (c.bytes or 0.0) >= LARGE
            out.append(Miss(c.source, off, half, steep, name, large, c.known_off))
    return out


def spreads(found: Sequence[Miss]) -> dict[Factor, float]:
    """Of each factor the relative half-width of a 95 % interval on another machine."""
    some = [m for m in found if not m.known]
    squares, off = np.array([m.steep for m in some]) ** 2, np.array([m.off for m in some]) ** 2
    at = np.full(len(FACTORS), LEAST**2 + float(off.mean()))
    for _ in range(
        STEPS
    ):  # each raises the likelihood (Zhou, Hu, Zhou and Lange 2019, doi:10.1080/10618600.2018.1529601)
        variance = squares @ at
        rise, fall = (off / variance**2) @ squares, (1 / variance) @ squares
        at = np.maximum(at * np.sqrt(rise / np.where(fall > 0, fall, np.inf)), LEAST**2)
    out = dict[Factor, float]()
    for n, of in enumerate(FACTORS):
        machines = len({m.machine for m in some if abs(m.steep[n]) > TELLS})
        student = student95(max(machines - 1, 1)) * math.sqrt(1 + 1 / max(machines, 1))
        out[of] = math.expm1(student * math.sqrt(at[n]))
    return out


def by_class(found: Sequence[Miss]) -> dict[str, dict[str, float]]:
    """For each class, and for small and large messages, the number of claims, the share of measured values inside their
    intervals, each machine's with the error that the other machines tell, and the median half-width of these."""
    others = {name: spreads([m for m in found if m.machine != name]) for name in {m.machine for m in found}}
    groups = {name: [m for m in found if m.of == name] for name in dict.fromkeys(m.of for m in found)}
    groups |= {"below 64 KiB": [m for m in found if not m.large], "from 64 KiB": [m for m in found if m.large]}
    out = {}
    for name, some in groups.items():
        wide = [m.wide(others[m.machine]) for m in some]
        held = [abs(m.off) <= w for m, w in zip(some, wide, strict=True)]
        if some:
            out[name] = {"claims": len(some), "held": float(np.mean(held)), "wide": math.expm1(float(np.median(wide)))}
    return out
