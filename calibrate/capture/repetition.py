"""The step that repeats: its exchanges in order, found from the messages between stretches of computing.

An exchange is all that a rank sends between two stretches. It begins with the first message, and ends with the next
stretch or collective once its requests are complete. Messages during a stretch of computing are one exchange, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pready.calibrate.capture.files import Process, kinds
from pready.calibrate.capture.regions import Stretch, stretches

LONGEST_STEP = 512
"""Most exchanges of a step."""
LEAST_COVERED = 0.5
"""Share of a rank's exchanges that the repetition must explain."""
ABOUT = 0.95
"""Share of the best step's explanation that a shorter one must reach."""

_NONBLOCKING = ("isend", "start_send", "pstart_send", "rput", "irecv", "start_recv", "pstart_recv", "rget")
_SENDING = ("send", "isend", "sendrecv", "start_send", "pstart_send", "put", "rput", "accumulate")
_AHEAD = ("irecv", "start_recv", "pstart_recv", "pstart_send")
"""Starts that may stand before the computing whose result is sent."""
_ONE_SIDED = ("put", "accumulate")
_CLOSING = ("fence", "complete", "unlock", "flush")
_COLLECTIVE = ("barrier", "collective", "neighbour_collective")


@dataclass
class Group:
    """One exchange of one rank.

    Attributes
    ----------
    begin, end
        Start of the first message and end of the last completion, in seconds.
    sent
        Bytes and messages by peer.
    site
        Place in the code of the first message; of the master's first one, where threads send: which of them is first
        differs from step to step, and another thread's place has no callers outside of the region.
    overlapped
        Threads compute between its messages and their completion, and none of that is sent with them.
    producer
        The last stretch before it, after the previous exchange, or the first in which threads send its messages or mark
        its partitions ready; and its instance. None if there is none.
    ready
        When the last thread has finished that, or the last such stretch, in seconds; `begin` without one.
    parts
        Bytes of a partition by peer, of partitioned sends.
    by_thread
        Bytes by peer and by who sends them or marks them ready: a thread's number in its team; -1: a thread of none.
    since
        End of the previous exchange, in seconds.
    waited, serial
        Seconds in point-to-point calls between `since` and the producer, and outside MPI between the producer and
        the first message.
    collectives
        Collectives between the previous exchange and this one.
    """

    begin: float
    since: float
    end: float = 0.0
    site: int = 0
    waited: float = 0.0
    serial: float = 0.0
    collectives: int = 0
    producer: tuple[Stretch, int] | None = None
    ready: float = 0.0
    sent: dict[int, tuple[int, int]] = field(default_factory=dict)
    parts: dict[int, int] = field(default_factory=dict)
    by_thread: Counter[tuple[int, int]] = field(default_factory=Counter)
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _during: list[_During] = field(default_factory=list)
    _of_master: bool = False

    def __post_init__(self) -> None:
        self.ready = max(self.ready, self.begin)

    @property
    def overlapped(self) -> bool:
        """See above."""
        return not all(d.sends for d in self._during)

    @property
    def computes(self) -> bool:
        """Do threads compute between its messages and their completion?"""
        return bool(self._during)

    @property
    def early(self) -> bool:
        """Do threads send its messages, or mark its partitions ready, while others still compute?"""
        return any(d.sends for d in self._during)

    @property
    def took(self) -> float:
        """From the first message to the end, in seconds; if sent early, from the last thread's finish."""
        return self.end - (self.ready if self.early else self.begin)

    def compute(self, during: _During) -> None:
        """Add a stretch that begins during it."""
        self._during.append(during)

    def marks(self, at: float, *, partition: bool) -> None:
        """A message is sent, or a partition marked ready: by threads that compute, or after their last stretch."""
        if not self._during:
            if partition and self.producer is None:
                self.ready = max(self.ready, at)
            return
        last = self._during[-1]
        if partition or (self.producer in (None, last.of) and at < last.finish):
            last.sends = True
            self.ready = max(self.ready, last.finish)
            self.producer = self.producer or last.of

    @property
    def exact(self) -> Hashable:
        """Place, receivers and bytes."""
        return self.site, tuple(sorted(self.sent.items()))

    @property
    def rough(self) -> Hashable:
        """Place and receivers: sizes may differ."""
        return self.site, tuple(sorted(self.sent))

    def add(self, peer: int, size: int, site: int, thread: int) -> None:
        """Add a message of a thread with that number in its team; -1: of none."""
        if thread <= 0 and not self._of_master:
            self.site, self._of_master = site, True
        bytes_, count = self.sent.get(peer, (0, 0))
        self.sent[peer] = (bytes_ + size, count + 1)
        self._seen.add((peer, site))

    @property
    def sites(self) -> list[int]:
        """Places in the code of its messages, that of the first one first."""
        return [self.site, *sorted({site for _, site in self._seen} - {self.site})]

    def has(self, peer: int, site: int) -> bool:
        """Whether a message went from this place to this peer."""
        return (peer, site) in self._seen


@dataclass
class _During:
    """A stretch during an exchange: when its last thread finishes, which it is, and whether it sends the exchange."""

    finish: float
    of: tuple[Stretch, int]
    sends: bool = False


def groups(process: Process) -> list[Group]:
    """The exchanges of a rank in order; messages to itself do not count."""
    found: list[Group] = []
    current: Group | None = None
    last: tuple[float, Stretch, int, float, float] | None = None
    waited = 0.0
    outstanding = before = collectives = 0
    puts = False
    since = process.mpi_s[0] or 0.0
    computing = stretches(process)

    events = _events(process, computing)
    computes_next = _computes_next(events)
    for number, (at, finish, kind, who, what, site, thread) in enumerate(events):
        over = current is not None and outstanding <= before and not puts
        sends = kind in _SENDING and who != process.rank and who >= 0
        ends = over and kind in ("", *_COLLECTIVE)
        if current is not None and at >= current.ready:
            # Requests of the next exchange are started before its threads compute.
            ends |= over and kind in _NONBLOCKING and current.early
            ends |= over and kind in _AHEAD and outstanding == 0 and computes_next[number]
            ends |= sends and current.computes and current.has(who, site)
        if current is not None and ends:
            found.append(current)
            since, collectives, waited, current = current.end, 0, 0.0, None
        if kind == "":
            if current is None:
                last = (finish, computing[who], what, waited, at)
            else:
                current.compute(_During(finish, (computing[who], what)))
            continue
        if sends:
            if current is None:
                current = Group(at, since, site=site, collectives=collectives)
                before = outstanding
                if last is not None and since <= last[0] <= at:
                    current.producer, current.waited = last[1:3], last[3]
                    current.ready, current.serial = last[0], max(0.0, at - last[0] - (waited - last[3]))
                else:
                    current.waited = waited
                    if last is not None and last[4] <= at < last[0]:  # by a thread of that stretch
                        current.compute(_During(last[0], last[1:3]))
            current.add(who, what, site, thread)
            if kind != "pstart_send":
                current.marks(at, partition=False)
                current.by_thread[who, thread] += what
            puts |= kind in _ONE_SIDED
        if kind == "pready" and current is not None:
            current.marks(at, partition=True)
            current.by_thread[who, thread] += what
            if what:
                current.parts[who] = min(what, current.parts.get(who, what))
        if kind in _NONBLOCKING:
            outstanding += 1
        elif kind in ("wait", "test"):
            outstanding = max(0, outstanding - what)
        elif kind in _CLOSING:
            puts = False
        elif kind in _COLLECTIVE:
            collectives += 1
        elif current is None:
            waited += finish - at
        if current is not None:
            current.end = max(current.end, finish)
    if current is not None:
        found.append(current)
    return found


Event = tuple[float, float, str, int, int, int, int]
"""Begin, end, kind, peer, bytes, place and thread in its team of a record; a stretch has kind "", its number and its
instance."""


def _computes_next(events: Sequence[Event]) -> list[bool]:
    """Of each event: does a stretch of computing follow before anything is sent, a started partitioned send aside?"""
    out, computes = [], False
    for _, _, kind, *_ in reversed(events):
        out.append(computes)
        if kind == "" or (kind in _SENDING and kind != "pstart_send"):
            computes = kind == ""
    return out[::-1]


def _events(process: Process, computing: Sequence[Stretch]) -> list[Event]:
    """Stretches and calls, sorted by begin."""
    wanted = ~process.of("region", "share", "nested", "init", "finalize")
    rows, threads = process.records[wanted], _in_team(process)[wanted]
    name = {number: text for text, number in kinds().items()}
    found: list[Event] = [
        (begin * 1e-9, end * 1e-9, name[kind], who, what, site, thread)
        for (begin, end, kind, site, who, what), thread in zip(
            rows[["start", "end", "kind", "site", "who", "what"]].tolist(), threads.tolist(), strict=True
        )
    ]
    for which, stretch in enumerate(computing):
        times = zip(stretch.begin.tolist(), stretch.end.tolist(), strict=True)
        found += [(begin, end, "", which, instance, 0, -1) for instance, (begin, end) in enumerate(times)]
    return sorted(found, key=lambda event: event[:2])


def _in_team(process: Process) -> NDArray[np.int64]:
    """For each record, the number in its team that its thread mostly has; -1: it is in none."""
    shares = process.of("share")
    numbers = (process.records["what"][shares] & 0xFFFF).astype(np.int64)
    threads = process.thread[shares]
    of = {int(t): most_common(numbers[threads == t].tolist()) for t in np.unique(threads)}
    each, where = np.unique(process.thread, return_inverse=True)
    return np.array([of.get(int(t), -1) for t in each], dtype=np.int64)[where]


@dataclass(frozen=True)
class Repetition:
    """A step of `period` exchanges in its longest unbroken run, from exchange `first` to before `stop`.

    Attributes
    ----------
    runs
        Exchanges in all unbroken runs over those in the longest; at least 1.
    """

    period: int
    first: int
    stop: int
    runs: float = 1.0

    @property
    def times(self) -> int:
        """Whole steps in the longest run."""
        return (self.stop - self.first) // self.period


def repetition(signatures: Sequence[Hashable]) -> Repetition | None:
    """The shortest step that explains about as much of a sequence as the best; None if nothing repeats.

    A step may occur in several runs, like the iterations of a solver that is called repeatedly. A step cut by the end
    of a run does not count.
    """
    numbers = {s: i for i, s in enumerate(dict.fromkeys(signatures))}
    codes = np.array([numbers[s] for s in signatures], dtype=np.int64)
    n = len(codes)
    found: list[tuple[float, Repetition]] = []
    for period in range(1, min(LONGEST_STEP, n // 2) + 1):
        edges = np.diff(np.concatenate([[0], (codes[period:] == codes[:-period]).astype(np.int8), [0]]))
        starts, lengths = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
        starts, lengths = starts[lengths >= period], lengths[lengths >= period]
        if not len(starts):
            continue
        longest = int(np.argmax(lengths))
        first, covered = int(starts[longest]), int(lengths[longest] + period)
        runs = float((lengths + period).sum()) / covered
        # Exchanges equal to the one a step earlier, over those that have one.
        explained = float(lengths.sum()) / (n - period)
        found.append((explained, Repetition(period, first, first + covered // period * period, runs)))
    most = max((explained for explained, _ in found), default=0.0)
    if most < LEAST_COVERED:
        return None
    return next((step for explained, step in found if explained >= ABOUT * most), None)


def most_common(values: Sequence[int]) -> int:
    """The most frequent value, the largest of equals."""
    counted = Counter(values)
    return max(counted, key=lambda v: (counted[v], v))
