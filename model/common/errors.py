"""The one exception a user of pready meets: a sentence that names what is wrong and what is valid."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class PreadyError(ValueError):
    """Bad input, said in one line.

    Parameters
    ----------
    problem
        What is wrong, naming the field and the value.
    valid
        What would be valid instead.
    source
        The file (or other origin) that the field comes from.
    """

    def __init__(self, problem: str, *, valid: str | None = None, source: str | None = None) -> None:
        self.problem = " ".join(problem.split())
        self.valid = None if valid is None else " ".join(valid.split())
        self.source = source
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # From a worker process; an exception pickles its text alone.
        return _raised, (type(self), self.problem, self.valid, self.source)

    def __str__(self) -> str:
        # Problem and valid values quote files, whose control characters shall not reach a terminal.
        where = f"{self.source}: " if self.source else ""
        want = f"; valid: {self.valid}" if self.valid else ""
        return printable(f"{where}{self.problem}{want}")

    def at(self, source: str) -> PreadyError:
        """A copy that names the file it came from."""
        return PreadyError(self.problem, valid=self.valid, source=source)


def _raised(kind: type[PreadyError], problem: str, valid: str | None, source: str | None) -> PreadyError:
    return kind(problem, valid=valid, source=source)


def printable(text: str) -> str:
    """`text` with what would move the cursor or change its colour written as Python writes it: ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\u00a0" else repr(c)[1:-1] for c in text)


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """`` (did you mean "buffer"?)`` behind a word that is none of `known` but near one; empty if none is near."""
    if not isinstance(word, str):
        return ""
    by_letters = {_letters(k): k for k in reversed(list(known))}
    wanted = _letters(word)
    begun = [k for k in by_letters if wanted and k.startswith(wanted)]
    near = begun[-1:] or get_close_matches(wanted, by_letters)
    return f' (did you mean "{by_letters[near[0]]}"?)' if near else ""


def _letters(word: str) -> str:
    return "".join(c for c in word.lower() if c.isalnum())


def shown(value: object, limit: int = 60) -> str:
    """`value` as an error message quotes it: one line, never longer than `limit`."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
