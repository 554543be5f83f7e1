"""What nobody measured, and what else it could plausibly be.

The interval of a prediction covers the machine's values with their intervals. Beyond them lie inputs that an interval
does not hold: who answers a rendezvous, from which size on there is one, what a synchronisation of RMA costs in this
library, how many ranks share an adapter, congestion, and choices that the workload leaves open. Each is moved by
itself; what was measured on the machine stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from pready.model.advice.case import Case
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import part
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine
from pready.model.machine.path import NetworkPath, Progress, Segment, SizeCurve
from pready.model.machine.threads import TeamTimes
from pready.model.result.prediction import Source
from pready.model.toml.provenance import Value
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload

THRESHOLD = 4.0
"""Libraries' thresholds of one fabric differ by so much: UCX 8 to 16 KiB, Open MPI over TCP 64 KiB."""
TEAMS = 3.0
"""Barriers and contention of one library on two fabrics differ by so much in measurements."""
CONGESTED = (2.0, 4.0)
"""The bandwidth is divided by them."""
SHARING = 4
"""Ranks that share an adapter."""
SLOW_EPOCH, SLOW_PUT = 5e-6, 5e-6
"""Seconds: what a synchronisation takes, and what a put takes in addition, in libraries that emulate them."""


@dataclass(frozen=True)
class Unknown:
    """An input that nobody measured."""

    name: str
    source: Source
    others: tuple[tuple[str, Case], ...]
    """What else it could be, as a clause after "if"."""
    measure: str = ""
    """Measurements of ``pready calibrate`` that tell; empty: none does."""


def unknowns(here: Case) -> list[Unknown]:
    """All that concern a case."""
    return [u for make in _ALL for u in make(here) if u.others and u.source != "measured"]


def _progress(here: Case) -> Iterator[Unknown]:
    now = here.machine.progress
    other: Progress
    if now.value == "on-call":
        other, said = "thread", "a progress thread or the adapter answered each rendezvous"
    else:
        other, said = "on-call", "a rendezvous waited until the receiver calls MPI"
    there = here.machine.progressing(other)
    yield Unknown("who answers a rendezvous", now.source, ((said, replace(here, machine=there)),), "overlap")


def _thresholds(here: Case) -> Iterator[Unknown]:
    first = next((s for s in here.machine.inter.segments if s.handshake is not None and s.from_ > 0), None)
    if first is None:
        return
    others = []
    for by, said in ((THRESHOLD, "{:g} times as large"), (1 / THRESHOLD, "a quarter as large")):
        moved = _with_paths(here.machine, partial(_threshold, by=by))
        others.append((f"the rendezvous threshold were {said.format(by)}", replace(here, machine=moved)))
    yield Unknown("the rendezvous threshold", first.o_s.source, tuple(others), "pingpong")


def _threshold(path: NetworkPath, by: float) -> NetworkPath:
    """Another size from which on messages are sent by rendezvous; a protocol below it that has none left is gone."""
    segments = path.segments
    at = next((i for i, s in enumerate(segments) if s.handshake is not None), None)
    if at is None or at == 0:
        return path
    border = segments[at].from_ * by
    eager = [s for s in segments[:at] if s.from_ < border]
    rest = [s.model_copy(update={"from_": max(s.from_, border)}) for s in segments[at:]]
    kept = [s for s, after in zip(rest, [*rest[1:], None], strict=True) if after is None or after.from_ > s.from_]
    kept[0] = kept[0].model_copy(update={"from_": border})
    return path.model_copy(update={"segments": (*eager, *kept)})


def _epochs(here: Case) -> Iterator[Unknown]:
    if not any(a.interface.one_sided for a in here.ways):
        return
    sided = here.machine.one_sided
    if sided.epoch.value < SLOW_EPOCH:
        slow = sided.model_copy(update={"epoch": _value(sided.epoch, SLOW_EPOCH)})
        there = replace(here, machine=here.machine.model_copy(update={"one_sided": slow}))
        said = f"a synchronisation of RMA took {1e6 * SLOW_EPOCH:g} us"
        yield Unknown("synchronisation of RMA", sided.epoch.source, ((said, there),), "approach")
    if not any(a.interface.one_sided for a in here.baseline.ways):
        yield Unknown("puts", "assumed" if sided.put is None else sided.put.source, (_slower_puts(here),), "approach")


def _slower_puts(here: Case) -> tuple[str, Case]:
    """A put holds its VCI for longer, whatever its size."""
    own = here.machine.one_sided.put
    if own is None:  # as a send of that size
        segments = here.machine.inter.segments
        steps = [(max(s.from_, 1.0), s.o_s.value) for s in segments]
        steps += [(after.from_ * (1 - 1e-9), s.o_s.value) for s, after in pairwise(segments)]
        sizes, times = zip(*sorted(steps), strict=True)
        own = SizeCurve.model_construct(sizes=sizes, time=times, interval=0.0, source="assumed", why="as a send")
    slow = own.model_copy(update={"time": tuple(t + SLOW_PUT for t in own.time), "interval": 0.0})
    sided = here.machine.one_sided.model_copy(update={"put": slow})
    there = replace(here, machine=here.machine.model_copy(update={"one_sided": sided}))
    return f"a put took {1e6 * SLOW_PUT:g} us more", there


def _teams(here: Case) -> Iterator[Unknown]:
    threads = here.machine.threads
    for field, name, measure in (
        ("barrier", "the threads' barrier", "approach"),
        ("contention", "contention for a VCI", "contention"),
    ):
        of: TeamTimes = threads.barrier if field == "barrier" else contention(here.machine)
        others = []
        for by, said in ((TEAMS, f"{TEAMS:g} times as much"), (1 / TEAMS, "a third")):
            update = {field: _times(of, by)}
            there = here.machine.model_copy(update={"threads": threads.model_copy(update=update)})
            others.append((f"{name} took {said}", replace(here, machine=there)))
        yield Unknown(name, of.source, tuple(others), measure)


def _congestion(here: Case) -> Iterator[Unknown]:
    others = []
    for by, said in zip(CONGESTED, ("half", "a quarter"), strict=True):
        there = _with_paths(here.machine, partial(_narrower, by=by), inter_only=True)
        others.append((f"congestion left {said} of the bandwidth", replace(here, machine=there)))
    yield Unknown("congestion", "not given", tuple(others))


def _ranks(here: Case) -> Iterator[Unknown]:
    if any(w.ranks_per_node is not None for w in here.parts):
        return
    there = _on_shared_nodes(here)
    if there is None:  # each has its share of the rate and of the bandwidth
        there = replace(here, machine=_with_paths(here.machine, _shared, inter_only=True))
    yield Unknown("ranks per node", "not given", ((f"{SHARING} ranks shared an adapter", there),))


def _on_shared_nodes(here: Case) -> Case | None:
    """With so many ranks on each node, where they have a layout and a path within it."""
    if here.rest or here.machine.intra is None or here.parts[0].pattern in ("pt2pt", "bcast"):
        return None
    try:
        parts = tuple(w.changed(ranks_per_node=SHARING) for w in here.parts)
        for w in parts:
            supported_by.check(w, "engine")
            part(w).pattern(w)
    except PreadyError:  # they do not fill their nodes, or nobody simulates them on nodes
        return None
    return replace(here, parts=parts)


def _shared(path: NetworkPath) -> NetworkPath:
    narrow = _narrower(path, SHARING)
    slower = tuple(s.model_copy(update={"g": _value(s.g, SHARING * s.g.value)}) for s in narrow.segments)
    return narrow.model_copy(update={"segments": slower})


def _open_choices(here: Case) -> Iterator[Unknown]:
    """Fields of two values that the workload does not state."""
    if all("receiver" not in w.model_fields_set and w.consume is None and w.pattern != "bcast" for w in here.parts):
        waits = here.parts[0].receiver == "waiting"
        other = "computing" if waits else "waiting"
        said = "receivers computed meanwhile" if waits else "receivers waited in MPI"
        there = tuple(w.model_copy(update={"receiver": other}) for w in here.parts)
        yield Unknown("receiver", "not given", ((said, replace(here, parts=there)),))
    changed = tuple(map(_other_order, here.parts))
    if any(a is not b for a, b in zip(changed, here.parts, strict=True)):
        before = next(w.arrivals for w, b in zip(here.parts, changed, strict=True) if w is not b)
        if getattr(before, "partitions", "") == "together":
            said = "a thread's partitions became ready in turn"
        else:
            said = "a thread's partitions became ready together"
        yield Unknown("arrivals.partitions", "not given", ((said, replace(here, parts=changed)),))


def _other_order(workload: Workload) -> Workload:
    arrivals = workload.arrivals
    now = getattr(arrivals, "partitions", None)
    if now is None or "partitions" in arrivals.model_fields_set or workload.partitions_per_thread == 1:
        return workload
    other = "in turn" if now == "together" else "together"
    return workload.model_copy(update={"arrivals": arrivals.model_copy(update={"partitions": other})})


def _work_without_progress(here: Case) -> Iterator[Unknown]:
    """Where progress takes a call of MPI, nothing may move while all threads of a receiver work on what has come."""
    if here.machine.progress.value != "on-call" or all(w.consume is None for w in here.parts):
        return
    untold = tuple(
        replace(way, interface=replace(way.interface, told_whole=True)) if way.interface.tells else way
        for way in here.ways
    )
    if untold != here.ways:
        said = "nothing came while all threads of a receiver worked"
        yield Unknown("progress while receivers work", "not given", ((said, replace(here, ways=untold)),))


_ALL = (_progress, _thresholds, _epochs, _teams, _ranks, _congestion, _open_choices, _work_without_progress)

V = TypeVar("V", bound=Value[Any])


def _value(of: V, value: float) -> V:
    return of.model_copy(update={"value": value, "interval": None})


T = TypeVar("T", bound=TeamTimes)


def _times(of: T, by: float) -> T:
    return of.model_copy(update={"time": tuple(by * t for t in of.time)})


def _with_paths(machine: Machine, change: Callable[[NetworkPath], NetworkPath], *, inter_only: bool = False) -> Machine:
    paths = {"inter": change(machine.inter)}
    if machine.intra is not None and not inter_only:
        paths["intra"] = change(machine.intra)
    return machine.model_copy(update=paths)


def _narrower(path: NetworkPath, by: float) -> NetworkPath:
    """A share of the bandwidth, of one message and of many."""

    def narrow(s: Segment) -> Segment:
        link = None if s.G_link is None else _value(s.G_link, by * s.G_link.value)
        return s.model_copy(update={"G": _value(s.G, by * s.G.value), "G_link": link})

    bandwidth = _value(path.link_bandwidth, path.link_bandwidth.value / by)
    return path.model_copy(update={"segments": tuple(map(narrow, path.segments)), "link_bandwidth": bandwidth})
