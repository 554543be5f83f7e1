"""Traces of simulated runs, in the format of traces of captured runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pready.files import trace_events
from pready.files.trace_events import Event
from pready.model.approach.interfaces import Interface
from pready.model.common.arrays import Array
from pready.model.engine.plan import Plan
from pready.model.engine.simulation import Recorded, record

MOST_EVENTS = 200_000
"""Most events over all ranks: whole iterations, or the first ranks if one iteration exceeds it."""
PER_MESSAGE = 4
"""Events per message: departure, arrival, and both ends of an arrow."""
US = 1e6


def trace(step: Sequence[Plan], first: int, iterations: int, cores: int) -> tuple[str, str]:
    """The JSON text, and what was left out ("" if nothing).

    Parameters
    ----------
    step
        The exchanges of a step.
    first, iterations
        Iterations to skip, and iterations to show after them.
    """
    ranks, threads = step[0].pattern.ranks, step[0].workload.threads
    rows = sum(p.steps * (2 * threads + 1) for p in step) * ranks
    each = rows + PER_MESSAGE * sum(p.count for p in step)
    kept = max(1, min(iterations, MOST_EVENTS // each))
    shown = ranks if each <= MOST_EVENTS else max(1, ranks * MOST_EVENTS // each)
    writer = _Writer(step, shown)
    events = [e for r in record(step, first, kept, cores) for e in writer.events(r)]
    return trace_events.text([*writer.names(), *events]), _left_out(kept, iterations, shown, ranks)


def _left_out(kept: int, iterations: int, shown: int, ranks: int) -> str:
    said = []
    if kept < iterations:
        said.append(f"{iterations - kept} of {iterations} iterations")
    if shown < ranks:
        said.append(f"{ranks - shown} of {ranks} ranks")
    return " and ".join(said)


def calls(interface: Interface) -> tuple[str, str]:
    """Names of sending and receiving in captured traces."""
    if interface.call == "MPI_Put":
        return "put", "put"
    if interface.call == "MPI_Psend":
        return "pready", "pstart_recv"
    if interface.persistent:
        return "start_send", "start_recv"
    return "send" if interface.one_by_one else "isend", "irecv"


class _Rows:
    """Rows without overlapping slices: an overlap opens a new row."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.until: list[float] = []

    def place(self, begin: float, end: float) -> int:
        """The row of a slice; slices come sorted by begin."""
        for number, free in enumerate(self.until):
            if free <= begin:
                self.until[number] = end
                return self.first + number
        self.until.append(end)
        return self.first + len(self.until) - 1


class _Writer:
    """Makes events of recorded exchanges, for the first ranks."""

    def __init__(self, step: Sequence[Plan], shown: int) -> None:
        self.step, self.shown = step, shown
        self.threads = step[0].workload.threads
        self.origin: float | None = None
        self.number = 0
        self.leaving = [_Rows(self.threads) for _ in range(shown)]
        # 1000 rows for messages that leave a rank at the same time.
        self.coming = [_Rows(self.threads + 1000) for _ in range(shown)]

    def names(self) -> Iterator[Event]:
        """Names of processes and rows, once all events are made."""
        approach = ", ".join(dict.fromkeys(p.approach.name for p in self.step))
        for rank in range(self.shown):
            yield trace_events.process(rank, f"rank {rank} (predicted: {approach})")
            for t in range(self.threads):
                yield trace_events.row(rank, t, f"thread {t}")
            for rows, what in ((self.leaving[rank], "leaving"), (self.coming[rank], "arriving")):
                for number in range(len(rows.until)):
                    yield trace_events.row(rank, rows.first + number, f"messages {what}")

    def events(self, of: Recorded) -> Iterator[Event]:
        """Events of one exchange."""
        if self.origin is None:
            self.origin = float(of.before[: self.shown].min())
        since: float = self.origin
        label = {"iteration": of.iteration}
        if self.step[of.number].steps > 1:
            label["step"] = of.step
        shift = np.array([since])
        before, start, join, end = ((t[: self.shown] - shift) * US for t in (of.before, of.start, of.join, of.end))
        yield from self._threads(of, (of.finish[: self.shown] - since) * US, start, label)
        yield from self._waits(of, before, start, join, end, label)
        yield from self._messages(of, since, label)

    def _threads(self, of: Recorded, finish: Array, start: Array, label: dict[str, Any]) -> Iterator[Event]:
        name = self.step[of.number].workload.name
        for rank, (begin, ends) in enumerate(zip(start.tolist(), finish.tolist(), strict=True)):
            for t, at in enumerate(ends):
                yield trace_events.computing(name, rank, t, begin, at - begin, {"phase": 0, "in_team": t} | label)

    def _waits(
        self, of: Recorded, before: Array, start: Array, join: Array, end: Array, label: dict[str, Any]
    ) -> Iterator[Event]:
        """Waits of a rank: for upstream ranks before computing, and from the threads' join on."""
        threads = self.threads if self.step[of.number].approach.interface.completes == "threads" else 1
        requests = np.bincount(of.sender, minlength=len(of.start)) + np.bincount(of.receiver, minlength=len(of.start))
        times = zip(before.tolist(), start.tolist(), join.tolist(), end.tolist(), strict=True)
        for rank, (done, begin, met, over) in enumerate(times):
            args = {"requests": int(requests[rank])} | label
            for t in range(threads):
                if begin > done:
                    yield trace_events.in_mpi("wait", rank, t, done, begin - done, args)
                if over > met:
                    yield trace_events.in_mpi("wait", rank, t, met, over - met, args)

    def _messages(self, of: Recorded, since: float, label: dict[str, Any]) -> Iterator[Event]:
        """Messages at departure and at arrival, as long as they occupy the adapters."""
        send, receive = calls(self.step[of.number].approach.interface)
        leaves = (of.left - since) * US
        takes = np.minimum(of.takes, of.arrived - of.left) * US
        comes = (of.arrived - since) * US - takes
        columns = [a.tolist() for a in (of.sender, of.receiver, of.size.round().astype(int), leaves, comes, takes)]
        out: dict[int, int] = {}
        for m in np.argsort(leaves, kind="stable").tolist():
            q, r, size, at, _, long = (c[m] for c in columns)
            if q < self.shown:
                tid = out[m] = self.leaving[q].place(at, at + long)
                yield trace_events.in_mpi(send, q, tid, at, long, {"peer": r, "bytes": size} | label)
        for m in np.argsort(comes, kind="stable").tolist():
            q, r, size, at, there, long = (c[m] for c in columns)
            if r >= self.shown:
                continue
            tid = self.coming[r].place(there, there + long)
            yield trace_events.in_mpi(receive, r, tid, there, long, {"peer": q, "bytes": size} | label)
            if m in out:
                self.number += 1
                yield from trace_events.arrow(self.number, (q, out[m], at), (r, tid, there))
