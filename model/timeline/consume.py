"""Receivers that start early: the threads of a rank work on user partitions as these come.

Each of k threads takes the next partition as soon as it is through with one, in the order of arrival:
C_i = max(A_i, the earliest of the k to be free) + w, which is C_i = max(A_i, C_(i-k)) + w where all take as long. Where
MPI does not tell of each message by itself (`Interface.tells`), all are there at the end of the exchange.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from pready.model.timeline.messages import NEVER, Sent, ticks
from pready.model.timeline.recurrence import Kind, Ranks

Comes = tuple[float, int, int, int, Kind]
"""A message: when, then the number of its source and of the message, which decide among those of one picosecond; its
VCI, and what it costs."""


def in_order(some: Sequence[Comes], since: float) -> list[Comes]:
    """As they come."""
    return sorted(some, key=lambda c: (ticks(c[0] - since), *c[1:3]))


def received_each(ranks: Ranks, sources: Sequence[tuple[int, Sent, int]], floors: Sequence[float]) -> list[Comes]:
    """When each message is received; arguments as of `Ranks.receive`, which says it of the last."""
    own_threads = len(ranks.members) > 1 and ranks.receivers == "threads"
    queued = len(sources) * ranks.approach.messages / len(ranks.members)
    since, free = min(floors), NEVER
    left: list[Comes] = []
    for number, (rank, sent, d) in enumerate(sources):
        left += [(m.left, number, i, m.vci, ranks.kinds[rank][d]) for i, m in enumerate(sent.towards[d])]
    arrived: list[Comes] = []
    for at, number, i, vci, kind in in_order(left, since):
        begun = at
        if ranks.sources > 1 and not kind.inside:
            begun = max(at, free)
            free = begun + kind.busy
        arrived.append((begun + kind.travel, number, i, vci, kind))
    if ranks.receivers == "none":
        return arrived
    servers = list(floors) if own_threads else [since] * len(floors)
    out: list[Comes] = []
    for at, number, i, vci, kind in in_order(arrived, since):
        server = vci if own_threads else 0
        servers[server] = max(servers[server], at) + ranks.receiving(kind, queued)
        out.append((servers[server], number, i, vci, kind))
    return out


def consumed(
    ranks: Ranks, sources: Sequence[tuple[int, Sent, int]], floors: Sequence[float], end: float, free: float
) -> float:
    """When the threads of a rank have worked on all that came, each arrival seen a pass of tests later.

    Parameters
    ----------
    sources, floors
        As of `Ranks.receive`.
    end
        Of the exchange without this work.
    free
        From when on the rank's threads have nothing else to do.
    """
    each = received_each(ranks, sources, floors)
    if ranks.interface.tells:
        each = [(at + ranks.tested, number, i, vci, kind) for at, number, i, vci, kind in each]
    else:
        each = [(end + ranks.released, number, i, vci, kind) for _, number, i, vci, kind in each]
    threads = [free] * ranks.setting.consumers
    last = NEVER
    for at, *_, kind in in_order(each, min(floors)):
        for _ in range(ranks.received_in):
            done = max(at, threads[0]) + kind.work
            heapq.heapreplace(threads, done)
            last = max(last, done)
    return last
