"""The sequence that repeats in a list: the step of a rank's exchanges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pready.calibrate.capture.thresholds import IN_A_ROW, LEAST_COVERED, LONGEST_STEP


@dataclass(frozen=True)
class Repetition:
    """A step of `period` exchanges: its longest unbroken run, from `first` to before `stop`, and steps in all."""

    period: int
    first: int
    stop: int
    everywhere: int = 0

    @property
    def times(self) -> int:
        """Whole steps in the longest run."""
        return (self.stop - self.first) // self.period


def repetition(signatures: Sequence[Hashable], seconds: Sequence[float] | None = None) -> Repetition | None:
    """The shortest step that explains most of a sequence; None if nothing repeats.

    A shorter one that stands `IN_A_ROW` for most of the time is the common step: every twentieth may differ.

    Parameters
    ----------
    seconds
        How long each takes; absent: all as long.

    A step may occur in several runs, like the iterations of a solver that is called repeatedly. A step cut by the end
    of a run does not count.
    """
    numbers = {s: i for i, s in enumerate(dict.fromkeys(signatures))}
    codes = np.array([numbers[s] for s in signatures], dtype=np.int64)
    n = len(codes)
    time = np.ones(n) if seconds is None else np.asarray(seconds)
    found: list[tuple[float, Repetition]] = []
    for period in range(1, min(LONGEST_STEP, n) + 1):
        edges = np.diff(np.concatenate([[0], (codes[period:] == codes[:-period]).astype(np.int8), [0]]))
        starts, lengths = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
        starts, lengths = starts[lengths >= period], lengths[lengths >= period]
        if not len(starts):
            continue
        longest = int(np.argmax(lengths))
        first, covered = int(starts[longest]), int(lengths[longest] + period)
        # Exchanges equal to the one a step earlier, over those that have one.
        explained = float(lengths.sum()) / (n - period)
        step = Repetition(period, first, first + covered // period * period)
        rows = lengths + period >= IN_A_ROW * period
        taken = sum(time[i : i + n + period].sum() for i, n in zip(starts[rows], lengths[rows], strict=True))
        if taken >= LEAST_COVERED * time.sum():
            return _counted(codes, step)
        found.append((explained, step))
    if not found:
        return None
    explained, step = max(found, key=lambda each: each[0])
    return _counted(codes, step) if explained >= LEAST_COVERED else None


def _counted(codes: NDArray[np.int64], step: Repetition) -> Repetition:
    """With the number of steps everywhere."""
    word = codes[step.first : step.first + step.period]
    turned = {tuple(np.roll(word, -by).tolist()) for by in range(step.period)}
    return Repetition(step.period, step.first, step.stop, len(occurrences(codes.tolist(), turned)))


def occurrences(codes: Sequence[int], words: set[tuple[int, ...]]) -> list[int]:
    """Where words of one length stand in a sequence, from the left and without overlaps."""
    (length,) = {len(word) for word in words}
    found, free = list[int](), 0
    for at in range(len(codes)):
        if at >= free and tuple(codes[at : at + length]) in words:
            found.append(at)
            free = at + length
    return found
