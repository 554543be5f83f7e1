"""For which buffer sizes an approach pays, as ranges.

A gain at one size does not imply a gain at the next larger one: where bulk changes its protocol before the parts do,
there may be a gain between two losses. So the answer is a set of ranges.

A glance covers many sizes with few arrivals each. Sizes near a change or near the limit get a look: the value that a
prediction of that size would give, so that the ends agree with its verdict. Independent looks run in parallel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from pready.model.common.arrays import Array
from pready.model.common.parallel import at_once

SMALLEST_BUFFER, LARGEST_BUFFER = 2.0**10, 2.0**30
"""Bytes per peer, if the workload's own buffer lies between."""
COARSE = 33
"""Number of sizes of a glance."""
CLOSE = 0.25
"""A glance within this share of the limit asks for a look."""
EXACT = 1.005
"""Resolution of the ends of ranges, as a ratio of two sizes."""
STEP = 1e-6
"""Relative distance below a border at which the value is taken, too."""

Glance = Callable[[Sequence[float]], Array]
"""Values for several buffers, roughly."""
Look = Callable[[float], float]
"""The value for one buffer, as its prediction has it."""


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


@dataclass
class OverSizes:
    """A value over buffer sizes, and the sizes at which it is above a limit."""

    glance: Glance
    look: Look
    limit: float
    lowest: float
    highest: float
    borders: Iterable[float] = ()
    """Sizes where the value may jump."""
    _sizes: list[float] = field(init=False)
    _values: list[float] = field(init=False)
    _looked: dict[float, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        inside = {b for border in self.borders for b in (border * (1 - STEP), border) if self.lowest < b < self.highest}
        some = np.geomspace(self.lowest, self.highest, COARSE).tolist() if self.lowest < self.highest else [self.lowest]
        self._sizes = sorted({*some, *inside})
        self._values = self.glance(self._sizes).tolist()
        while wanted := [i for i, s in enumerate(self._sizes) if s not in self._looked and self._unsure(i)]:
            values = at_once(self._value, [self._sizes[i] for i in wanted])
            for i, value in zip(wanted, values, strict=True):
                self._values[i] = value

    def _value(self, size: float) -> float:
        if size not in self._looked:
            self._looked[size] = self.look(size)
        return self._looked[size]

    def _unsure(self, i: int) -> bool:
        """Does the value cross the limit next to this size, or lie so close that a glance cannot tell?"""
        beside = self._values[max(i - 1, 0) : i + 2]
        return min(beside) <= self.limit < max(beside) or self._close(self._values[i])

    def _close(self, value: float) -> bool:
        return abs(value - self.limit) < CLOSE * abs(self.limit)

    def ranges(self) -> list[Range]:
        """Where the value is above the limit."""
        above = [v > self.limit for v in self._values]

        def end(between: tuple[int, int]) -> float:
            inner, outer = (self._sizes[i] for i in between)
            return _end(self._value, self.limit, inner, outer, EXACT, self._value(outer))

        return _ranges(above, 0.0, math.inf, end)


def _ranges(above: Sequence[bool], low: float, high: float, end: Callable[[tuple[int, int]], float]) -> list[Range]:
    """Ranges of consecutive sizes above the limit; `end` finds the size between one above and its neighbour below."""
    runs = [list(run) for is_above, run in groupby(range(len(above)), key=above.__getitem__) if is_above]
    beside = [(run[0], run[0] - 1) for run in runs] + [(run[-1], run[-1] + 1) for run in runs]
    beside = [(inner, outer) for inner, outer in beside if 0 <= outer < len(above)]
    ends = dict(zip(beside, at_once(end, beside), strict=True))
    return [Range(ends.get((r[0], r[0] - 1), low), ends.get((r[-1], r[-1] + 1), high)) for r in runs]


def _end(value: Look, limit: float, inner: float, outer: float, ratio: float, there: float) -> float:
    """The size nearest to `outer`, where the value is below the limit, up to which it is above it, from `inner` on.

    `there` is the value at `outer`. False position in the logarithm of the size, in the Illinois form.
    """
    above, below = value(inner) - limit, there - limit
    kept = 0  # which end the step before moved
    while abs(gap := math.log(outer / inner)) > math.log(ratio):
        nearest = 0.4 * math.log(ratio) / abs(gap)
        size = inner * math.exp(gap * min(max(above / (above - below), nearest), 1 - nearest))
        saved = value(size) - limit
        if saved > 0:
            inner, above, below, kept = size, saved, below / 2 if kept == 1 else below, 1
        else:
            outer, below, above, kept = size, saved, above / 2 if kept == -1 else above, -1
    return inner


def nearest(found: Sequence[Range], size: float) -> Range | None:
    """The range that contains a size, else the next larger one."""
    return next((r for r in found if r.high >= size), None)
