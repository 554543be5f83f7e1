"""Text for terminals that cannot show every letter: missing letters are spelt, η as eta.

Does not import Rich: help and errors use it.
"""

from __future__ import annotations

import io
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import TextIO

SPELT = {
    "×": "x", "→": ">", "←": "<", "·": "*", "−": "-", "–": "-", "—": "-", "─": "-", "…": "...", "±": "+-", "≤": "<=",
    "≥": ">=", "≈": "~", "∞": "inf", "√": "sqrt", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "η": "eta",
    "θ": "theta", "λ": "lambda", "μ": "u", "µ": "u", "π": "pi", "σ": "sigma", "τ": "tau", "“": '"', "”": '"', "‘": "'",
    "’": "'", "≠": "!=", "∈": "in", "▁": "_", "█": "#", "▏": "|", "│": "|", "÷": "/",
}  # fmt: skip
"""Spelling of letters that an encoding may lack; others lose their accents, or become a question mark."""


def plain(text: str, encoding: str | None) -> str:
    """`text` with the letters that `encoding` lacks spelt out; an encoding unknown to Python lacks none."""
    try:
        text.encode(encoding or "utf-8")
    except LookupError:
        return text
    except UnicodeEncodeError:
        return "".join(_plain_letter(letter, encoding or "utf-8") for letter in text)
    return text


def _plain_letter(letter: str, encoding: str) -> str:
    for candidate in (letter, SPELT.get(letter), unicodedata.normalize("NFKD", letter)[0]):
        if candidate is not None:
            try:
                candidate.encode(encoding)
            except UnicodeEncodeError:
                continue
            return candidate
    return "?"


class _Plain(io.TextIOBase):
    """A text stream that spells letters which the stream below cannot write."""

    def __init__(self, below: TextIO) -> None:
        self._below = below

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._below.encoding

    def write(self, text: str) -> int:
        self._below.write(plain(text, self.encoding))
        return len(text)

    def flush(self) -> None:
        self._below.flush()

    def isatty(self) -> bool:
        return self._below.isatty()

    def fileno(self) -> int:
        return self._below.fileno()

    def writable(self) -> bool:
        return True


def lacks_letters(stream: TextIO) -> bool:
    """Whether the stream cannot show some letter of our tables."""
    every = "".join(SPELT)
    return plain(every, getattr(stream, "encoding", None)) != every


@contextmanager
def plainly() -> Iterator[None]:
    """Let standard output and error spell letters that their encodings lack."""
    with ExitStack() as stack:
        if lacks_letters(sys.stdout):
            stack.enter_context(redirect_stdout(_Plain(sys.stdout)))
        if lacks_letters(sys.stderr):
            stack.enter_context(redirect_stderr(_Plain(sys.stderr)))
        yield
