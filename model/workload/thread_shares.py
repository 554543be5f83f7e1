"""How large the threads' parts of a buffer are, where they differ: listed, graded, or what a division leaves."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from pready.model.common.errors import PreadyError
from pready.model.toml.provenance import Strict

Weight = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Remainder(Strict):
    """So many items, as many for each thread, rounded up; the last takes what is left."""

    items: Weight
    """Rows, cells or whatever the threads divide among themselves."""


class Graded(Strict):
    """Evenly from the first thread's part to the last one's."""

    first: Weight
    """The first thread's share, in whatever unit."""
    last: Weight
    """The last thread's share, in that unit."""


def _kind(data: Any) -> str:
    if isinstance(data, Graded) or (isinstance(data, dict) and "items" not in data):
        return "graded"
    return "remainder" if isinstance(data, (dict, Remainder)) else "listed"


ThreadShares = Annotated[
    Annotated[tuple[Weight, ...], Tag("listed")]
    | Annotated[Remainder, Tag("remainder")]
    | Annotated[Graded, Tag("graded")],
    Discriminator(_kind),
]


def weights(shares: tuple[int, ...] | Remainder | Graded, threads: int) -> tuple[int, ...]:
    """How large each thread's part is, in a unit of their own.

    Raises
    ------
    PreadyError
        Not one for each thread, or a last thread that nothing is left for.
    """
    if isinstance(shares, Graded):
        steps = max(threads - 1, 1)
        each = [shares.first * steps + (shares.last - shares.first) * i for i in range(threads)]
    elif isinstance(shares, Remainder):
        most = -(-shares.items // threads)
        left = shares.items - most * (threads - 1)
        if left < 1:
            raise PreadyError(
                f"thread_shares.items = {shares.items} leaves nothing for the last of {threads} threads "
                f"with {most} for each other",
                valid="more items, or fewer threads",
            )
        each = [most] * (threads - 1) + [left]
    elif len(shares) != threads:
        raise PreadyError(f"thread_shares = {list(shares)} has {len(shares)} threads", valid=f"{threads}, the threads")
    else:
        each = [*shares]
    unit = math.gcd(*each)
    return tuple(w // unit for w in each)
