"""Chrome's trace events in JSON, for Perfetto and chrome://tracing, alike for captured and predicted runs.

A process is a rank, a row a thread; times are microseconds, rounded to nanoseconds. Computing has the category
"compute", MPI the category "mpi", with `peer` (a rank) and `bytes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Event = dict[str, Any]


def process(pid: int, text: str) -> Event:
    """The name of a process."""
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": text}}


def row(pid: int, tid: int, text: str) -> Event:
    """The name of a row."""
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": text}}


def computing(label: str, pid: int, tid: int, begin_us: float, took_us: float, args: dict[str, Any]) -> Event:
    """Computing of a thread."""
    return _slice(label, "compute", pid, tid, begin_us, took_us, args)


def in_mpi(call: str, pid: int, tid: int, begin_us: float, took_us: float, args: dict[str, Any]) -> Event:
    """An MPI call or a message."""
    return _slice(call, "mpi", pid, tid, begin_us, took_us, args)


def _slice(name: str, category: str, pid: int, tid: int, begin: float, took: float, args: dict[str, Any]) -> Event:
    times = {"ts": round(begin, 3), "dur": round(took, 3)}
    return {"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, **times, "args": args}


def arrow(number: int, sender: tuple[int, int, float], receiver: tuple[int, int, float]) -> tuple[Event, Event]:
    """An arrow between two slices, each given by process, row, and a time within it in microseconds."""
    ends = [
        {"name": "message", "cat": "mpi", "id": number, "pid": pid, "tid": tid, "ts": round(at, 3)}
        for pid, tid, at in (sender, receiver)
    ]
    return {"ph": "s", **ends[0]}, {"ph": "f", "bp": "e", **ends[1]}


def text(events: Iterable[Event]) -> str:
    """The text of the file."""
    return json.dumps({"traceEvents": list(events), "displayTimeUnit": "ns"}, allow_nan=False)
