"""What a rank does, in order: MPI calls of each thread, and stretches of computing, in seconds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pready.calibrate.capture.files import ONE_SIDED, RECEIVES, SENDS, Process, kinds
from pready.calibrate.capture.regions import Stretch, counted, stretches
from pready.model.common.arrays import Array

SENDING = {*SENDS, "pstart_send"} - {"pready"}
"""Kinds of calls that begin a message of an exchange."""
RECEIVING = {*RECEIVES, "pstart_recv"}
BLOCKING = ("send", "sendrecv")
COLLECTIVE = ("barrier", "collective")
CLOSING = ("fence", "complete", "unlock", "flush")
"""Calls that complete what is one-sided."""
NOT_CALLS = ("region", "share", "nested", "init", "finalize")


@dataclass(frozen=True, slots=True)
class Call:
    """An MPI call, or a message that it begins; times in seconds."""

    begin: float
    end: float
    done: float  # the message was complete as the program knows it; `end` if it blocks, or is never completed
    kind: str
    who: int  # peer of a message
    what: int  # its bytes; the number of requests of other calls
    site: int
    thread: int  # the operating system's
    number: int  # of the thread in the team; -1: it is in none
    of: tuple[int, int] | None  # region and stretch of the team that it is called in; None outside
    buffer: int = 0  # address of a message's data; 0: not known


class Timeline:
    """Calls and stretches of one process."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.stretches: tuple[Stretch, ...] = stretches(process)
        self.calls = _calls(process)

    @cached_property
    def computing(self) -> list[tuple[float, float, Stretch, int]]:
        """Begin, end, stretch and instance of all stretches, in order."""
        found = [
            (begin, end, stretch, i)
            for stretch in self.stretches
            for i, (begin, end) in enumerate(zip(stretch.begin.tolist(), stretch.end.tolist(), strict=True))
        ]
        return sorted(found, key=lambda each: each[:2])

    @cached_property
    def teams(self) -> dict[tuple[int, int], tuple[Stretch, int]]:
        """Stretch and instance by region and number of the stretch in it."""
        return {(int(s.which[i, 0]), int(s.which[i, 1])): (s, i) for *_, s, i in self.computing}

    @cached_property
    def _busy(self) -> dict[int, tuple[list[float], list[float], Array]]:
        out = {}
        for thread in {c.thread for c in self.calls}:
            mine = [c for c in self.calls if c.thread == thread]
            begins, ends = apart(np.array([c.begin for c in mine]), np.array([c.end for c in mine]))
            out[thread] = begins.tolist(), ends.tolist(), np.concatenate([[0.0], np.cumsum(ends - begins)])
        return out

    def outside(self, thread: int, begin: float, end: float) -> float:
        """Seconds of a thread outside MPI from `begin` to `end`, negative if that is before."""
        return end - begin - self.in_mpi(thread, begin, end)

    def in_mpi(self, thread: int, begin: float, end: float) -> float:
        """Seconds of a thread in MPI from `begin` to `end`."""
        if thread not in self._busy:
            return 0.0
        begins, ends, total = self._busy[thread]
        first, last = bisect_right(ends, begin), bisect_left(begins, end)  # those that overlap
        if first >= last:
            return 0.0
        cut = max(0.0, begin - begins[first]) + max(0.0, ends[last - 1] - end)
        return max(0.0, float(total[last] - total[first]) - cut)


def apart(begins: Array, ends: Array) -> tuple[Array, Array]:
    """Intervals, sorted by begin, without what an earlier one has covered."""
    covered = np.concatenate([[-np.inf], np.maximum.accumulate(ends)])[:-1]
    begins = begins.clip(covered)
    return begins, ends.clip(begins)


def _calls(process: Process) -> list[Call]:
    wanted = ~process.of(*NOT_CALLS)
    rows, threads = process.records[wanted], process.thread[wanted]
    teams = zip(*(each.tolist() for each in _teams(process, rows["start"], threads)), strict=True)
    name = {number: text for text, number in kinds().items()}
    columns = rows[["start", "end", "done", "kind", "site", "who", "what", "buffer"]].tolist()
    out: list[Call] = []
    closes: float | None = None
    every = [*zip(columns, threads.tolist(), teams, strict=True)]
    for (begin, end, done, kind, site, who, what, buffer), thread, (number, region, phase) in reversed(every):
        done_s, of = max(done, end) * 1e-9, (region, phase) if region >= 0 else None
        # What is one-sided and has no request is complete when the call that closes its epoch returns.
        if name[kind] in CLOSING:
            closes = end * 1e-9
        elif name[kind] in ONE_SIDED and done <= end and closes is not None:
            done_s = closes
        out.append(Call(begin * 1e-9, end * 1e-9, done_s, name[kind], who, what, site, thread, number, of, buffer))
    return out[::-1]


def _teams(
    process: Process, at: NDArray[np.int64], threads: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each call the thread's number in its team, and the region and stretch that it is in; -1 outside."""
    numbers, regions, phases = (np.full(len(at), -1, dtype=np.int64) for _ in range(3))
    is_share = process.of("share")
    shares, owners = process.records[is_share], process.thread[is_share]
    teams = process.records[process.of("region")]
    ends = dict(zip(teams["who"].tolist(), teams["end"].tolist(), strict=True))
    for thread in np.unique(owners):
        mine = shares[owners == thread]
        mine = mine[np.argsort(mine["start"], kind="stable")]
        calls = np.flatnonzero(threads == thread)
        if not len(calls):
            continue
        last = np.searchsorted(mine["start"], at[calls], side="right") - 1
        known = last >= 0
        share = mine[last]
        # A task runs while its thread waits at a barrier, after its share.
        over = [ends.get(who, end) for who, end in share[["who", "end"]].tolist()]
        inside = known & (at[calls] <= over)
        regions[calls[inside]] = share["who"][inside]
        numbers[calls[inside]] = (share["what"][inside] & 0xFFFF).astype(np.int64)
        # A thread's shares of a region in order are its stretches.
        phases[calls[inside]] = counted(mine["who"])[last[inside]]
    return numbers, regions, phases


def is_message(call: Call, rank: int) -> bool:
    """Is it the begin of a message to or from another rank? To MPI_PROC_NULL and to itself there is none."""
    return call.kind in SENDING and call.who >= 0 and call.who != rank


def most_common(values: Sequence[int]) -> int:
    """The most frequent value, the largest of equals."""
    counted = Counter(values)
    return max(counted, key=lambda v: (counted[v], v))
