"""The tree of a broadcast: k-nomial, whose rank r has the ranks r + j k^i below it, for k^i below r's lowest digit.

With radix 2 it is the binomial tree of MPI libraries, with as many as there are ranks the linear broadcast, in which
the root sends to all others. The largest subtree is served first.
"""

from __future__ import annotations

from functools import lru_cache

RADIX = 2
"""Radix of a tree where a workload does not say."""
RANKS = 16
"""Ranks of a broadcast where a workload does not say."""


def children(rank: int, ranks: int, radix: int) -> list[int]:
    """Children of a rank, in the order in which it sends to them."""
    steps, step = [], 1
    while step < ranks and rank % (step * radix) // step == 0:
        steps.append(step)
        step *= radix
    return [rank + j * step for step in reversed(steps) for j in range(1, radix) if rank + j * step < ranks]


@lru_cache(maxsize=8)
def by_level(ranks: int, radix: int) -> tuple[tuple[int, ...], ...]:
    """Children of every rank, ranks numbered level by level from the root on."""
    order, out = [0], []
    for rank in order:  # grows
        below = children(rank, ranks, radix)
        out.append(tuple(range(len(order), len(order) + len(below))))
        order += below
    return tuple(out)
