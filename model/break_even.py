"""For which buffers something pays: the ranges of sizes, and how sure their ends are.

Nothing says that what pays at one size pays at the next larger one: where bulk changes its protocol before the
parts do, there may be a gain between two losses. So the answer is a set of ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pready.model.arrays import Array

LARGEST_BUFFER = 2.0**30
COARSE, REFINE, ROUNDS = 33, 17, 2
"""Sizes over all buffers; then, this often, so many between the two that enclose an end."""

STEP = 1e-6
"""How closely below a border is looked at, relatively."""

OverSizes = Callable[[Sequence[float]], Array]
"""What is looked at, for several buffers at once."""


@dataclass(frozen=True)
class Range:
    """Buffers in bytes per peer."""

    low: float
    """0 if from one byte per partition on."""
    high: float
    """Infinite if up to the largest buffer looked at."""

    def __contains__(self, size: float) -> bool:
        return self.low <= size <= self.high


def ranges(value: OverSizes, limit: float, lowest: float, highest: float, borders: Iterable[float] = ()) -> list[Range]:
    """Where `value` is above `limit`, between two sizes; `borders` are sizes where it may jump."""
    if not lowest < highest:
        return [Range(0.0, np.inf)] if value([lowest])[0] > limit else []
    inside = {b for border in borders for b in (border * (1 - STEP), border) if lowest < b < highest}
    sizes = np.array(sorted({*np.geomspace(lowest, highest, COARSE), *inside}))
    above = value(sizes.tolist()) > limit
    out: list[Range] = []
    low: float | None = 0.0 if above[0] else None
    for i in range(1, len(sizes)):
        if above[i] == above[i - 1]:
            continue
        end = _end(value, limit, float(sizes[i - 1]), float(sizes[i]), rising=bool(above[i]))
        if above[i]:
            low = end
        elif low is not None:
            out.append(Range(low, end))
            low = None
    return out if low is None else [*out, Range(low, np.inf)]


def _end(value: OverSizes, limit: float, low: float, high: float, *, rising: bool) -> float:
    """The last change between two sizes, from the side on which `value` is above."""
    for _ in range(ROUNDS):
        sizes = np.geomspace(low, high, REFINE)
        above = value(sizes.tolist()) > limit
        changes = np.flatnonzero(above[1:] != above[:-1])
        i = int(changes[-1])
        low, high = float(sizes[i]), float(sizes[i + 1])
    return high if rising else low


def nearest(found: Sequence[Range], size: float) -> Range | None:
    """The range that holds a size, else the next larger one."""
    return next((r for r in found if r.high >= size), None)
