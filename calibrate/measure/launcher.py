"""How a program gets onto its nodes: a launcher's words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from pready.model.common.errors import PreadyError


@dataclass(frozen=True)
class Launcher:
    """Starts a program on some ranks.

    `prefix` and one entry of `parts` go before the program. One part is the usual form ("srun -N 2 -n 2"); several
    are MPMD, joined by ":", each rank with a prefix of its own.
    """

    prefix: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...] = ((),)
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables set for the program, besides the caller's own."""
    label: str = ""  # the name of this way of launching in the records; the words of the prefix if empty

    @classmethod
    def parse(cls, text: str) -> Self:
        """From a user's string, such as "srun -N 2 -n 2" or "mpiexec -n 2". Raises PreadyError: it is empty, or cannot
        be split. Whether there is such a command is seen when it is started."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise PreadyError(f"launcher '{text}': {error}") from None
        if not words:
            raise PreadyError("launcher is empty; for example: --launcher 'srun -N 2 -n 2'")
        return cls(tuple(words), label=shlex.join(words))

    @property
    def name(self) -> str:
        return self.label or shlex.join(self.prefix)

    def command(self, program: Sequence[str]) -> list[str]:
        words = list(self.prefix)
        for number, part in enumerate(self.parts):
            words += [*([":"] if number else []), *part, *program]
        return words
