"""A neighbour list as a text file: a line per rank, the ranks that it sends to, as ``1`` or ``1:65536``, with bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from pready.model.common.errors import PreadyError, shown
from pready.model.toml.reading import LARGEST_DATA, decoded, read_bytes

LARGEST_RANK = int(np.iinfo(np.uint32).max)  # a 32-bit word of the counter that draws arrivals
TIMES = 160
"""Bytes of memory for each byte of a list: a rank of one digit is a word, a match and an entry."""
_NEIGHBOUR = re.compile(r"([0-9]{1,10})(?::([0-9]{1,15}))?", re.ASCII)


@dataclass(frozen=True)
class Neighbours:
    """Whom each rank sends to, and how many bytes; None where nothing is said of that."""

    ranks: tuple[tuple[int, ...], ...]
    sizes: tuple[tuple[float | None, ...], ...]

    @cached_property
    def sized(self) -> bool:
        """Has any of them a size?"""
        return any(size is not None for sizes in self.sizes for size in sizes)

    def filled(self, buffer: float) -> tuple[tuple[float, ...], ...]:
        """Bytes for every neighbour, `buffer` where nothing is said."""
        return tuple(tuple(buffer if size is None else size for size in sizes) for sizes in self.sizes)


def read_neighbours(path: str) -> Neighbours:
    """Whom each rank sends to, from a text file: blank or comma separated, ``#`` comments.

    A line that is only a comment does not count; an empty line is a rank that sends to nobody.

    Raises
    ------
    PreadyError
        A file that is missing, or a line that is not a list of ranks.
    """
    try:
        seen = Path(path).stat()
    except (OSError, ValueError):
        return _read(path)  # says what is wrong
    return _read(path, changed=seen.st_mtime_ns, size=seen.st_size)


@lru_cache(maxsize=4)
def _read(path: str, *, changed: int | None = None, size: int | None = None) -> Neighbours:
    """`changed` and `size` make a file that was written anew a file of its own."""
    ranks: list[tuple[int, ...]] = []
    sizes: list[tuple[float | None, ...]] = []
    for number, line in enumerate(decoded(read_bytes(Path(path), LARGEST_DATA, TIMES), path).splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        words = line.partition("#")[0].replace(",", " ").split()
        found = [_NEIGHBOUR.fullmatch(word) for word in words]
        for word, m in zip(words, found, strict=True):
            if m is None or int(m[1]) > LARGEST_RANK or m[2] == "0" * len(m[2] or "x"):
                raise PreadyError(
                    f"line {number}: {shown(word)} is no neighbour",
                    valid=f"ranks from 0 to {LARGEST_RANK}, with bytes as in 1:65536 (at most 15 digits) where they "
                    "differ, # for comments",
                    source=path,
                )
        ranks.append(tuple(int(m[1]) for m in found if m))
        sizes.append(tuple(float(m[2]) if m[2] else None for m in found if m))
    return Neighbours(tuple(ranks), tuple(sizes))
