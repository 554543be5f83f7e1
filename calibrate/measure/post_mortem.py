"""Each rank's last step before a run died or fell silent: the files that `bench/core/board.c` keeps."""

from __future__ import annotations

import re
import signal
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_NUMBERS = struct.Struct("=8q")
DOING = (
    "between two points",
    "starting an iteration",
    "receiving before it computes",
    "computing and sending",
    "completing its messages",
    "checking what it received",
)
"""By the benchmark's number."""


@dataclass(frozen=True)
class Rank:
    """One rank's last note. `signal` is 0 unless it could still say which one ended it."""

    rank: int
    pid: int
    point: int
    iteration: int
    phase: int
    doing: int
    signal: int

    @property
    def place(self) -> str:
        """In words, where it was."""
        if self.doing == 0 or self.iteration < 0:
            return "between two points" if self.doing == 0 else "setting up a point"
        phase = f", phase {self.phase}" if self.phase else ""
        return f"in iteration {self.iteration}{phase}, {DOING[self.doing]}"

    @property
    def progress(self) -> tuple[int, int, int, int]:
        """Larger is further."""
        return self.point, self.iteration, self.phase, self.doing


def read(folder: Path) -> list[Rank]:
    """The boards of a folder in the order of ranks; unreadable ones are left out."""
    found = []
    for path in folder.glob("board-*"):
        number = path.name.removeprefix("board-")
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if number.isdigit() and len(data) >= _NUMBERS.size:
            pid, point, iteration, phase, doing, signal_, _, _ = _NUMBERS.unpack_from(data)
            found.append(Rank(int(number), pid, point, iteration, phase, doing % len(DOING), signal_))
    return sorted(found, key=lambda r: r.rank)


def clear(folder: Path) -> None:
    """Forget an earlier run's boards."""
    for path in folder.glob("board-*"):
        path.unlink(missing_ok=True)


def blame(ranks: Sequence[Rank], said: str, *, silent: bool) -> str:
    """One line: the rank, and its last step.

    Parameters
    ----------
    ranks
        As from `read`.
    said
        The launcher's last words, which may name a process.
    silent
        Nobody died: the run gave no sign for too long.
    """
    if not ranks:
        return "no rank has begun"
    died = [r for r in ranks if r.signal not in (0, signal.SIGTERM)]
    if not died and not silent:
        named = {int(n) for n in re.findall(r"\b\d+\b", said)}
        # Ranks that could say nothing were killed: the first by somebody else, any others by the launcher, which may
        # name one of these.
        silenced = sorted((r for r in ranks if r.signal == 0), key=lambda r: r.progress)
        if any(r.pid in named for r in silenced):
            if len(silenced) > 1:
                last = silenced[0]
                return (
                    f"one of {len(silenced)} ranks was killed, then the launcher killed the others; furthest behind "
                    f"was rank {last.rank} (process {last.pid}) {last.place}"
                )
            died = silenced
    if died:
        first = died[0]
        how = f" by {signal.Signals(first.signal).name}" if first.signal else ""
        return f"rank {first.rank} (process {first.pid}) died{how} {first.place}"
    last = min(ranks, key=lambda r: r.progress)
    others = {r.place for r in ranks if r is not last}
    rest = f"; the others: {' or '.join(sorted(others)[:3])}" if others else ""
    what = "is silent" if silent else "was furthest behind when the run ended"
    return f"rank {last.rank} (process {last.pid}) {what} {last.place}{rest}"
