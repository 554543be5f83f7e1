"""The one exception a user of pready meets: a sentence that names what is wrong and what is valid."""

from __future__ import annotations


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

    def __str__(self) -> str:
        where = f"{self.source}: " if self.source else ""
        want = f"; valid: {self.valid}" if self.valid else ""
        return f"{where}{self.problem}{want}"

    def at(self, source: str) -> PreadyError:
        """The same error, with the file it came from."""
        return PreadyError(self.problem, valid=self.valid, source=source)


def shown(value: object, limit: int = 60) -> str:
    """`value` as an error message quotes it: one line, never longer than `limit`."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
