"""For which buffer sizes an approach pays, as ranges.

A gain at one size does not imply a gain at the next larger one: where bulk changes its protocol before the parts do,
there may be a gain between two losses. So the answer is a set of ranges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SMALLEST_BUFFER, LARGEST_BUFFER = 2.0**10, 2.0**30
"""Bytes per peer, if the workload's own buffer lies between."""


@dataclass(frozen=True)
class Range:
    """Buffers in bytes per peer."""

    low: float
    """0 if from one byte per partition on."""
    high: float
    """Infinite if up to the largest buffer of the search."""

    def __contains__(self, size: float) -> bool:
        return self.low <= size <= self.high

    def to_list(self) -> list[float | None]:
        """Both ends as plain data: None where there is no upper one."""
        return [self.low, None if math.isinf(self.high) else self.high]


def nearest(found: Sequence[Range], size: float) -> Range | None:
    """The range that contains a size, else the next larger one."""
    return next((r for r in found if r.high >= size), None)
