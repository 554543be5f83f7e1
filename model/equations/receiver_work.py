"""Receivers that start early, in closed form: n user partitions, k threads, w seconds of work on each.

Derived from C_i = max(A_i, C_(i-k)) + w, the A_i in order: unrolled, C_i = max over m of A_(i-mk) + (m + 1) w, and the
last of all is the latest of them. No paper has it; the timeline equals it where every partition is a message.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError


def after_the_end(t_bulk: float, n: int, threads: int, work: float) -> float:
    """When the last partition is done, T_b + ⌈n/k⌉ w: all are there at once, and k threads share them.

    Where k divides their number that is T_b + N θ w / k.

    Parameters
    ----------
    t_bulk
        When everything is there, in seconds.
    n, threads
        User partitions N θ, and k; at least 1.
    work
        w, of one thread for one partition, in seconds.

    Raises
    ------
    PreadyError
        A value outside the domain.
    """
    return as_they_come([t_bulk] * n, threads, work)


def as_they_come(arrivals: ArrayLike, threads: int, work: float) -> float:
    """When the last partition is done: max over i of A_i + ⌈(n − i + 1)/k⌉ w.

    What arrives from the i-th on keeps k threads busy that long.

    Parameters
    ----------
    arrivals
        A_i in seconds, in any order, shape (n,), n at least 1.
    threads, work
        As of `after_the_end`.

    Raises
    ------
    PreadyError
        A value outside the domain.
    """
    ordered: Array = np.sort(np.asarray(arrivals, np.float64))
    if ordered.ndim != 1 or not len(ordered) or threads < 1 or work < 0:
        raise PreadyError(
            f"{np.size(arrivals)} arrivals, {threads} threads, {work:g} s of work",
            valid="at least one arrival and one thread, and no negative work",
        )
    rounds = -(-np.arange(len(ordered), 0, -1) // threads)
    return float((ordered + rounds * work).max())
