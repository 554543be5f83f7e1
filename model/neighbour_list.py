"""A neighbour list as a text file: a line per rank, the ranks that it sends to."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pready.model.errors import PreadyError
from pready.model.files import LARGEST_DATA, decoded, read_bytes


def read_neighbours(path: str) -> tuple[tuple[int, ...], ...]:
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
        return _read(path, 0, 0)  # says what is wrong
    return _read(path, seen.st_mtime_ns, seen.st_size)


@lru_cache(maxsize=4)
def _read(path: str, changed: int, size: int) -> tuple[tuple[int, ...], ...]:
    """`changed` and `size` make a file that was written anew a file of its own."""
    out = []
    for number, line in enumerate(decoded(read_bytes(Path(path), LARGEST_DATA), path).splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        words = line.partition("#")[0].replace(",", " ").split()
        if not all(word.isascii() and word.isdigit() and len(word) <= 10 for word in words):
            raise PreadyError(
                f"line {number} is not a list of ranks", valid="integers of at least 0, # for comments", source=path
            )
        out.append(tuple(map(int, words)))
    return tuple(out)
