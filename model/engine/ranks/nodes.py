"""Which ranks share a node, and which of them an adapter of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pready.model.common.arrays import Wholes
from pready.model.common.errors import PreadyError


def nodes_of(grid: Sequence[int], ranks_per_node: int, node_grid: Sequence[int] | None = None) -> Wholes:
    """The node of each rank, shape (ranks,).

    Parameters
    ----------
    grid
        Ranks along x, y, z; one to three numbers.
    ranks_per_node
        So many ranks in a row, x first, share a node; unless
    node_grid
        says how many along x, y, z.

    Raises
    ------
    PreadyError
        Ranks that do not fill their nodes.
    """
    size = (*grid, 1, 1)[:3]
    ranks = math.prod(size)
    if node_grid is None:
        if ranks % ranks_per_node:
            raise PreadyError(
                f"ranks_per_node = {ranks_per_node} does not divide {ranks} ranks", valid=f"a divisor of {ranks}"
            )
        return np.arange(ranks) // ranks_per_node
    by = (*node_grid, 1, 1)[:3]
    for axis, (n, b) in enumerate(zip(size, by, strict=True)):
        if n % b:
            raise PreadyError(
                f"node_grid[{axis}] = {b} does not divide {n} ranks along that axis", valid=f"a divisor of {n}"
            )
    everyone, out, stride, nodes = np.arange(ranks), np.zeros(ranks, np.int64), 1, 1
    for n, b in zip(size, by, strict=True):
        out += everyone // stride % n // b * nodes
        stride, nodes = stride * n, nodes * (n // b)
    return out


def adapters_of(node: Wholes, rails: int) -> Wholes:
    """The adapter of each rank, shape (ranks,): those of a node use its `rails` in turn."""
    if rails == 1:
        return node
    order = np.argsort(node, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(node))])
    place = np.empty(len(node), np.int64)
    place[order] = np.arange(len(node)) - starts[node[order]]
    numbers: Wholes = np.unique(node * rails + place % rails, return_inverse=True)[1]
    return numbers


def as_grid(grid: Sequence[int], ranks_per_node: int) -> tuple[int, int, int] | None:
    """Ranks of a node along x, y, z where so many in a row, x first, are a box; None where they are not."""
    left, out = ranks_per_node, list[int]()
    for n in (*grid, 1, 1)[:3]:
        by = math.gcd(left, n)
        if left > 1 and out and out[-1] != (*grid, 1, 1)[len(out) - 1]:
            return None
        out.append(by)
        left //= by
    x, y, z = out
    return (x, y, z) if left == 1 else None
