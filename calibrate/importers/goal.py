"""GOAL text, the traces of LogGOPSim and ATLAHS: per rank what it computes, sends, receives, and what waits for what.

The grammar is that of LogGOPSim's own reader (spcl/LogGOPSim @76451de, src/LogGOPSim/txt2bin.re): ``num_ranks N``,
``rank R { ... }`` with ``L: calc NS``, ``L: send Bb to R tag T``, ``L: recv Bb from R tag T``, each with an optional
``cpu C`` and ``nic N``, ``L requires M`` and ``L irequires M`` (M has started), and comments. Binary GOAL is not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TextIO

from pready.calibrate.importers.text import ImportFormatError
from pready.model.common.errors import PreadyError, shown

LARGEST_FILE = 2 << 30
"""Bytes of one file at most."""
MOST_RANKS = 1 << 20
MOST_OPERATIONS = 20_000_000
LONGEST_LINE = 1000
LARGEST_NUMBER = 2**63 - 1

Kind = Literal["calc", "send", "recv"]


@dataclass(slots=True)
class Operation:
    """One operation of a rank."""

    kind: Kind
    size: int
    """Ticks of a calc, else bytes."""
    peer: int = -1
    tag: int = 0
    cpu: int = 0
    needs: list[int] = field(default_factory=list)
    """Operations of the rank that have to end before."""
    needs_begun: list[int] = field(default_factory=list)
    """Operations of the rank that have to begin before."""


@dataclass(frozen=True)
class Goal:
    """All ranks' operations, in the order of the text."""

    ranks: tuple[list[Operation], ...]
    ticks_per_ns: int
    """1, but where the first comment says ``times in 1/10 ns``, as pready's export does."""

    @property
    def messages(self) -> list[tuple[int, int, int, int]]:
        """Sender, receiver, bytes and tag of each message, sorted."""
        return sorted((r, o.peer, o.size, o.tag) for r, some in enumerate(self.ranks) for o in some if o.kind == "send")


_OPERATION = re.compile(
    r"(?:(\w+)\s*:\s*)?(?:calc\s+(\d+)|(send|recv)\s+(\d+)\s*b\s+(?:to|from)\s+(\d+))"
    r"((?:\s+(?:tag|cpu|nic)\s+\d+)*)"
)
_LABELLED = re.compile(r"(tag|cpu|nic)\s+(\d+)")
_NEEDS = re.compile(r"(\w+)\s+(i?requires)\s+(\w+)")
_TICKS = re.compile(r"//\s*times in 1/(\d+) ns\b")


def read_goal(path: Path) -> Goal:
    """Read a file of GOAL text.

    Raises
    ------
    ImportFormatError
        No GOAL text, an unknown label, a peer that is no rank, or more than the limits above; with the line.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise PreadyError(f"has {path.stat().st_size} bytes", valid=f"at most {LARGEST_FILE}", source=str(path))
        with path.open(encoding="ascii", errors="replace") as lines:
            return _Reader(str(path)).read(lines)
    except OSError as error:
        raise PreadyError(f"cannot be read: {error.strerror}", source=str(path)) from None


class _Reader:
    def __init__(self, source: str) -> None:
        self.source, self.line = source, 0
        self.ranks: list[list[Operation]] = []
        self.labels: dict[str, int] = {}
        self.rank: int | None = None
        self.count = 0
        self.ticks = 1

    def read(self, lines: TextIO) -> Goal:
        comment = False
        while text := lines.readline(LONGEST_LINE + 1):
            self.line += 1
            if len(text) > LONGEST_LINE:
                raise self.wrong(f"is longer than {LONGEST_LINE} characters", "GOAL text, not binary GOAL")
            if self.line == 1 and (found := _TICKS.match(text)):
                self.ticks = self.number(found[1], 10**6)
            if comment:
                _, comment_end, text = text.partition("*/")
                comment = not comment_end
            while "/*" in text:
                before, _, rest = text.partition("/*")
                _, end, after = rest.partition("*/")
                comment, text = not end, before + " " + after
            self.statement(text.partition("//")[0].strip())
        if not self.ranks:
            raise ImportFormatError("has no num_ranks", valid="GOAL text of LogGOPSim", source=self.source)
        if self.rank is not None:
            raise self.wrong(f"ends within rank {self.rank}", "a closing brace")
        return Goal(tuple(self.ranks), self.ticks)

    def statement(self, text: str) -> None:
        if not text:
            return
        if not self.ranks:
            found = re.fullmatch(r"num_ranks\s+(\d+)", text)
            if found is None:
                raise self.wrong(f"{shown(text)} is no GOAL", "num_ranks N first")
            count = self.number(found[1], MOST_RANKS)
            if not count:
                raise self.wrong("has 0 ranks", f"1 to {MOST_RANKS}")
            self.ranks = [[] for _ in range(count)]
        elif self.rank is None:
            found = re.fullmatch(r"rank\s+(\d+)\s*\{", text)
            if found is None:
                raise self.wrong(f"{shown(text)} is outside a rank", "rank R {")
            self.rank = self.number(found[1], len(self.ranks) - 1)
            if self.ranks[self.rank]:
                raise self.wrong(f"rank {self.rank} is there twice", "each rank once")
            self.labels = {}
        elif text == "}":
            self.rank = None
        else:
            self.operation(text, self.ranks[self.rank])

    def operation(self, text: str, into: list[Operation]) -> None:
        if found := _OPERATION.fullmatch(text):
            label, ticks, kind, size, peer, more = found.groups()
            self.count += 1
            if self.count > MOST_OPERATIONS:
                raise self.wrong("is one operation too many", f"at most {MOST_OPERATIONS}")
            if label is not None:
                if label in self.labels:
                    raise self.wrong(f"label {shown(label)} is there twice", "each label once in a rank")
                self.labels[label] = len(into)
            named = dict(_LABELLED.findall(more))
            numbers = self.number(named.get("tag", "0"), LARGEST_NUMBER), self.number(named.get("cpu", "0"), 255)
            if kind is None:
                into.append(Operation("calc", self.number(ticks, LARGEST_NUMBER), -1, *numbers))
            else:
                to = self.number(peer, len(self.ranks) - 1)
                into.append(
                    Operation("send" if kind == "send" else "recv", self.number(size, LARGEST_NUMBER), to, *numbers)
                )
        elif found := _NEEDS.fullmatch(text):
            of, how, on = found.groups()
            for label in (of, on):
                if label not in self.labels:
                    raise self.wrong(f"no operation is called {shown(label)}", "a label above it, in this rank")
            (into[self.labels[of]].needs if how == "requires" else into[self.labels[of]].needs_begun).append(
                self.labels[on]
            )
        else:
            raise self.wrong(f"{shown(text)} is no operation", "calc, send, recv, requires or irequires")

    def number(self, text: str, most: int) -> int:
        value = int(text) if len(text) < 20 else most + 1
        if value > most:
            raise self.wrong(f"{shown(text)} is too large", f"0 to {most}")
        return value

    def wrong(self, problem: str, valid: str) -> ImportFormatError:
        return ImportFormatError(f"line {self.line}: {problem}", valid=valid, source=self.source)
