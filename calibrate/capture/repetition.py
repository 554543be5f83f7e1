"""The sequence that repeats in a list: the step of a rank's exchanges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pready.calibrate.capture.thresholds import IN_A_ROW, LEAST_COVERED, LONGEST_STEP


@dataclass(frozen=True)
class Repetition:
    """A step of `period` exchanges: its longest unbroken run, from `first` to before `stop`, and steps in all.

    `shares`: where no step takes half of the time, the share of each common one, this one's first; `rows`: then where
    it stands in a row, as other steps may hold the same exchanges.
    """

    period: int
    first: int
    stop: int
    everywhere: int = 0
    shares: tuple[float, ...] = ()
    rows: tuple[tuple[int, int], ...] = ()

    def stands(self, at: int) -> bool:
        """Is it this step that begins there?"""
        return not self.rows or any(first <= at <= stop - self.period for first, stop in self.rows)


def repetition(
    signatures: Sequence[Hashable], seconds: Sequence[float] | None = None, computed: Sequence[bool | None] = ()
) -> Repetition | None:
    """The shortest step that explains most of a sequence; None if nothing repeats.

    A shorter one that stands `IN_A_ROW` for most of the time is the common step: every twentieth may differ. Where the
    steps change during the run, as those of a mesh do, the one with most time stands for its own share only. A step may
    occur in several runs, like the iterations of a solver that is called repeatedly; one cut by the end of a run does
    not count.

    `seconds`: how long each takes; absent: all as long. `computed`: does the program compute before such ones? Between
    two steps it does, where a step begins so: the first exchanges of a longer step are no step. None, or absent: not
    known.
    """
    numbers = {s: i for i, s in enumerate(dict.fromkeys(signatures))}
    codes = np.array([numbers[s] for s in signatures], dtype=np.int64)
    n = len(codes)
    time = np.ones(n) if seconds is None else np.asarray(seconds)
    found: list[tuple[float, Repetition]] = []
    common: list[tuple[float, Repetition]] = []
    for period in range(1, min(LONGEST_STEP, n) + 1):
        edges = np.diff(np.concatenate([[0], (codes[period:] == codes[:-period]).astype(np.int8), [0]]))
        starts, lengths = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
        starts, lengths = starts[lengths >= period], lengths[lengths >= period]
        rows: defaultdict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            word = codes[start : start + period].tolist()
            if not any(period % q == 0 and word[q:] + word[:q] == word for q in range(1, period // 2 + 1)):
                rows[_turned(word)].append((start, length))
        for same in rows.values():
            first, covered = max(same, key=lambda row: row[1])
            step = Repetition(period, *_whole(period, first, covered, computed))
            # Exchanges equal to the one a step earlier, over those that have one.
            found.append((sum(length for _, length in same) / (n - period), step))
            taken = sum(
                time[start : start + length + period].sum()
                for start, length in same
                if length + period >= IN_A_ROW * period
            )
            if taken >= LEAST_COVERED * time.sum():
                return _counted(codes, step, computed)
            whole = (_whole(period, *row, computed) for row in same)
            if long := tuple((at, stop) for at, stop in whole if stop - at >= IN_A_ROW * period):
                common.append((float(taken / time.sum()), replace(step, rows=long)))
    explained, step = max(found, key=lambda each: each[0], default=(0.0, Repetition(1, 0, 0)))
    if explained >= LEAST_COVERED:
        return _counted(codes, step, computed)
    return _most_common(common)


def _whole(period: int, start: int, length: int, computed: Sequence[bool | None]) -> tuple[int, int]:
    """Begin and end of the whole steps of a row, of which so many exchanges equal the one a step later."""
    first = next((at for at in range(start, start + period) if computed and computed[at]), start)
    stop = first + (start + length + period - first) // period * period
    return first, stop - period * _goes_on(first, stop, computed)


def _goes_on(first: int, stop: int, computed: Sequence[bool | None]) -> bool:
    """Does a step that begins with computing go on at its end?"""
    return stop < len(computed) and computed[first] is True and computed[stop] is False


def _turned(word: Sequence[int]) -> tuple[int, ...]:
    """A word as the first of those that begin elsewhere in it."""
    least = min(word)
    return min((*word[i:], *word[:i]) for i, code in enumerate(word) if code == least)


def _most_common(steps: Sequence[tuple[float, Repetition]]) -> Repetition | None:
    """That with most time of several common steps, which take half of it together; twice a step is no other one."""
    kept: list[tuple[float, Repetition]] = []
    for share, step in sorted(steps, key=lambda each: (-each[0], each[1].period)):
        if all(stop <= a or first >= b for _, o in kept for a, b in o.rows for first, stop in step.rows):
            kept.append((share, step))
    if sum(share for share, _ in kept) < LEAST_COVERED:
        return None
    step = kept[0][1]
    times = sum((stop - first) // step.period for first, stop in step.rows)
    return replace(step, everywhere=times, shares=tuple(share for share, _ in kept))


def _counted(codes: NDArray[np.int64], step: Repetition, computed: Sequence[bool | None]) -> Repetition:
    """With the number of steps everywhere."""
    word = codes[step.first : step.first + step.period]
    turned = {tuple(np.roll(word, -by).tolist()) for by in range(step.period)}
    return Repetition(step.period, step.first, step.stop, len(occurrences(codes.tolist(), turned, computed)))


def occurrences(codes: Sequence[int], words: set[tuple[int, ...]], computed: Sequence[bool | None]) -> list[int]:
    """Where words of one length stand in a sequence, from the left and without overlaps."""
    (length,) = {len(word) for word in words}
    found, free = list[int](), 0
    for at in range(len(codes)):
        if at >= free and tuple(codes[at : at + length]) in words and not _goes_on(at, at + length, computed):
            found.append(at)
            free = at + length
    return found
