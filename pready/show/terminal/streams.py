"""Standard output and error of a command: letters that they cannot show are question marks, a failure has one meaning.

Does not import Rich: help and errors use it.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

from pready.files.writing import UnwrittenError

OUTPUT = "standard output"


class ReaderGone(Exception):
    """Nobody reads the output any more."""


class _Stream(io.TextIOBase):
    """A text stream whose failures are ours."""

    def __init__(self, below: TextIO) -> None:
        self._below = below
        if isinstance(below, io.TextIOWrapper):
            below.reconfigure(errors="replace")

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._below.encoding

    def write(self, text: str) -> int:
        with self._failing():
            self._below.write(text)
        return len(text)

    def flush(self) -> None:
        with self._failing():
            self._below.flush()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise ReaderGone from None
            raise UnwrittenError(f"cannot be written: {error.strerror or error}", source=OUTPUT) from None

    def isatty(self) -> bool:
        return self._below.isatty()


class _Notes(_Stream):
    """Standard error: work goes on where it cannot be written, and what it still holds is no failure at the end."""

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            give_up(2)


@contextmanager
def streams() -> Iterator[None]:
    """Standard output and error for a command. Raises UnwrittenError: standard output is closed, or something cannot be
    written to it; ReaderGone: its reader has gone."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: else the next file that is opened would take its place
            os.open(os.devnull, os.O_RDWR)
    with redirect_stderr(_Notes(sys.stderr or Path(os.devnull).open("w", encoding="utf-8"))):
        if sys.stdout is None:
            raise UnwrittenError("is closed", valid="a terminal, a pipe or a file", source=OUTPUT)
        with redirect_stdout(_Stream(sys.stdout)):
            yield


def give_up(*streams: int) -> None:
    """Let what standard output and error, or one of them, still hold go nowhere, so that Python ends in silence."""
    for number in streams or (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
