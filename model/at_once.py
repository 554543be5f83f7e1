"""Independent calls in threads of their own: simulations run outside the interpreter's lock.

The timeline's small NumPy steps do not; in threads they take a third longer than one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def at_once(value: Callable[[T], U], of: Sequence[T], *, abreast: bool = True) -> list[U]:
    """The value of each, in threads or one by one; the first error is raised once all have ended."""
    if len(of) < 2 or not abreast:
        return [value(one) for one in of]
    with ThreadPoolExecutor() as pool:
        others = [pool.submit(value, one) for one in of[1:]]
        first = value(of[0])
        return [first, *(o.result() for o in others)]


def both(one: Callable[[], T], other: Callable[[], U], *, abreast: bool = True) -> tuple[T, U]:
    """The results of two calls, in threads or one by one; this thread calls `one`."""
    if not abreast:
        return one(), other()
    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(other)
        return one(), later.result()
