"""Text for terminals that cannot show every letter: missing letters are spelt, η as eta.

Does not import Rich: help and errors use it.
"""

from __future__ import annotations

import unicodedata
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


def lacks_letters(stream: TextIO) -> bool:
    """Whether the stream cannot show some letter of our tables."""
    every = "".join(SPELT)
    return plain(every, getattr(stream, "encoding", None)) != every
