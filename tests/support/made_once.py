"""Strategies that are made once: to make one in a draw takes Hypothesis ten times as long as to draw from it."""

import os
from functools import cache, lru_cache
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

T = TypeVar("T")

EITHER = st.booleans()


@lru_cache(maxsize=None, typed=True)
def any_of(*values: T) -> st.SearchStrategy[T]:
    """One of them."""
    return st.sampled_from(values)


def generated(cases: int) -> settings:
    """So many, the same in each run, however long one takes; PREADY_EXAMPLES=10 asks for ten times as many."""
    cases = round(cases * float(os.environ.get("PREADY_EXAMPLES", "1")))
    return settings(max_examples=cases, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@cache
def between(least: int, most: int) -> st.SearchStrategy[int]:
    """A whole number, both ends among them."""
    return st.integers(least, most)


def some_of(*names: str) -> st.SearchStrategy[frozenset[str]]:
    """Any of them, each as often there as not: one number, instead of a truth value for each."""

    def those(bits: int) -> frozenset[str]:
        return frozenset(name for i, name in enumerate(names) if bits >> i & 1)

    return st.integers(0, 2 ** len(names) - 1).map(those)


def divisors(n: int) -> list[int]:
    """What divides n."""
    return [k for k in range(1, n + 1) if n % k == 0]
