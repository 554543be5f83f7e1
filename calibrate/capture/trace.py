"""A captured run as a trace in Chrome's JSON, which Perfetto and chrome://tracing open.

One process per rank, one row per thread; times in microseconds from the first event of any rank, to the nanosecond.
Computing has the category "compute", MPI the category "mpi", with `peer` (a rank) and `bytes`. Ranks' clocks are put
together by the wall clock at their start, so between nodes they are as far apart as those.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from pready.calibrate.capture.files import SHARE_TASKS, Process, Run, kinds
from pready.calibrate.capture.symbols import name_of

Event = dict[str, Any]

MOST_EVENTS = 1_000_000
"""Most events over all ranks; the first are kept."""
_NOT_A_MESSAGE = ("wait", "test", "startall", "init", "finalize")


def trace(run: Run) -> tuple[str, int]:
    """The JSON text, and the number of events left out."""
    start = min((p.wall_s for p in run.processes), default=0.0)
    events: list[Event] = []
    left_out = 0
    for number, process in enumerate(run.processes):
        pid = process.rank if process.rank >= 0 else len(run.ranks) + number
        named = f"rank {process.rank}" if process.rank >= 0 else "no rank"
        events.append(_named("process", pid, 0, f"{named} ({process.host})"))
        events += [_named("thread", pid, int(t), f"thread {t}") for t in np.unique(process.thread)]
        found = [*_events(process, pid, 1e6 * (process.wall_s - start))]
        each = MOST_EVENTS // len(run.processes)
        left_out += max(0, len(found) - each)
        events += found[:each]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, allow_nan=False), left_out


def _named(what: str, pid: int, tid: int, text: str) -> Event:
    return {"ph": "M", "name": f"{what}_name", "pid": pid, "tid": tid, "args": {"name": text}}


def _events(process: Process, pid: int, offset_us: float) -> Iterator[Event]:
    name = {number: text for text, number in kinds().items()}
    regions = process.records[process.of("region")]
    pairs = zip(regions["who"].tolist(), regions["site"].tolist(), strict=True)
    region_names = {number: name_of(process.places[site]) for number, site in pairs}
    columns = process.records[["start", "end", "kind", "site", "who", "what"]].tolist()
    for (begin, end, number, site, who, what), thread in zip(columns, process.thread.tolist(), strict=True):
        kind = name[number]
        about = {
            "ts": round(offset_us + begin * 1e-3, 3),
            "dur": round((end - begin) * 1e-3, 3),
            "pid": pid,
            "tid": thread,
        }
        if kind == "share":
            phase = {"phase": (what >> 16) & (SHARE_TASKS - 1), "in_team": what & 0xFFFF}
            yield {"ph": "X", "name": region_names.get(who, "region"), "cat": "compute", **about, "args": phase}
        elif kind == "nested":
            yield {"ph": "X", "name": "nested region", "cat": "compute", **about, "args": {}}
        elif kind != "region":  # shown by the shares of its threads
            args: dict[str, Any] = {"requests": what} if kind in _NOT_A_MESSAGE else {"peer": who, "bytes": what}
            if site:
                args["from"] = name_of(process.places[site])
            yield {"ph": "X", "name": kind, "cat": "mpi", **about, "args": args}
