"""Independent calls in threads of their own: simulations run outside the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def at_once(value: Callable[[T], U], of: Sequence[T]) -> list[U]:
    """The value of each, in threads; the first error is raised once all have ended."""
    if len(of) < 2:
        return [value(one) for one in of]
    with ThreadPoolExecutor() as pool:
        others = [pool.submit(value, one) for one in of[1:]]
        first = value(of[0])
        return [first, *(o.result() for o in others)]


def both(one: Callable[[], T], other: Callable[[], U]) -> tuple[T, U]:
    """The results of two calls, in two threads; this thread calls `one`."""
    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(other)
        return one(), later.result()


def all_cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
