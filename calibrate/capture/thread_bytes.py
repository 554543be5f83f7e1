"""How many bytes of each buffer every thread sends, where threads send or mark partitions ready themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from pready.calibrate.capture.repetition import Group

ALIKE = 0.03
"""Threads' parts that differ by less, as a share of the mean part, count as alike: what a division leaves."""


def thread_shares(of_ranks: Sequence[Sequence[Group]], threads: int) -> tuple[tuple[int, ...] | None, bool]:
    """Parts of a buffer by thread, over all ranks and steps of an exchange.

    Returns
    -------
    The parts in the smallest unit that divides them; None where they are alike, or where a buffer is not sent by all
    threads. And whether they are left out because they differ from buffer to buffer.
    """
    rows: list[list[int]] = []
    for of_rank in of_ranks:
        total: Counter[tuple[int, int]] = Counter()
        for group in of_rank:
            total.update(group.by_thread)
        for peer in {peer for peer, _ in total}:
            if total.keys() & {(peer, -1)}:
                return None, False
            rows.append([total[peer, thread] for thread in range(threads)])
            if min(rows[-1]) == 0 or sum(rows[-1]) < sum(b for (to, _), b in total.items() if to == peer):
                return None, False
    if threads < 2 or not rows:
        return None, False
    each = np.array(rows, dtype=np.float64)
    each *= threads / each.sum(axis=1, keepdims=True)
    if np.ptp(each, axis=1).max() < ALIKE:
        return None, False
    if np.ptp(each, axis=0).max() >= ALIKE:
        return None, True
    unit = math.gcd(*rows[0])
    return tuple(part // unit for part in rows[0]), False
