"""GOAL text replayed by LogGOPSim's rules, and rule by rule by the engine's, with every nanosecond accounted for.

LogGOPSim (https://doi.org/10.1145/1851476.1851564) differs from the engine in three rules where messages have one byte
and g ≤ o (what else differs is per byte, see `pready.model.engine.export_goal`):

1. *One CPU.* What arrives takes its overhead o from the CPU that computes and sends: after the operation that runs
   and before the next. The engine's threads compute and send while another server receives.
2. *One sequence.* Time passes only along one CPU's operations, so a rank's threads are one sequence, and
   its receives are posted after its last send. In the engine threads that have marked their last
   partition have joined; their messages may still queue for the VCI while the rank receives.
3. *The lock.* Between two transport partitions that queue for its VCI the engine's rank receives as many messages
   as the first sent. In LogGOPSim the CPU receives what has come, and nothing before L is over.

`replay` switches them one after the other and walks the critical path back from the last end.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

Joins = Sequence[Sequence[int]]
"""Nanoseconds from the start of an iteration to the join of a rank's threads, by rank and iteration."""
KINDS = ("calc", "send", "recv", "wire", "gap")
"""What a critical path consists of: computing, overheads of sends and receives, L, waiting for g."""


@dataclass
class Op:
    """One line of GOAL, or the arrival of a message."""

    rank: int
    kind: str
    size: int = 0
    peer: int = 0
    tag: int = 0
    left: int = 0
    """Requirements that are not done."""
    needed_by: list[Op] = field(default_factory=list)
    start: int = 0
    end: int = 0
    before: Op | None = None
    """What decided when it started."""


@dataclass(frozen=True)
class Replayed:
    """The last end in ns, and what the critical path to it consists of; the terms add up to the end."""

    end: int
    terms: dict[str, int]


def read(text: str) -> list[list[Op]]:
    """Operations by rank, in the order of the text."""
    ranks: list[list[Op]] = []
    names: dict[str, Op] = {}
    for line in text.splitlines():
        if line.startswith("rank"):
            ranks.append([])
            names = {}
        elif made := re.fullmatch(r"(\w+): (calc|send|recv) (\d+)b?(?: (?:to|from) (\d+) tag (\d+))?", line):
            name, kind, size, peer, tag = made.groups()
            names[name] = Op(len(ranks) - 1, kind, int(size), int(peer or 0), int(tag or 0))
            ranks[-1].append(names[name])
        elif needs := re.fullmatch(r"(\w+) requires (\w+)", line):
            names[needs[1]].left += 1
            names[needs[2]].needed_by.append(names[needs[1]])
    return ranks


def _post_at_joins(ranks: list[list[Op]], joins: Joins) -> None:
    """Post receives at the join, not after the last send: they wait for a timer of their own."""
    for operations, delays in zip(ranks, joins, strict=True):
        begun: Op | None = None  # the last operation of the iteration before
        timers = iter([Op(operations[0].rank, "timer", delay) for delay in delays])
        timer = next(timers)
        posts: list[Op] = []
        for op in list(operations):
            if op.kind == "recv":
                posts.append(op)
            elif posts:  # the iteration's last operation
                for other in operations:
                    if other.kind == "calc":
                        other.needed_by = [n for n in other.needed_by if not any(n is q for q in posts)]
                timer.needed_by = posts
                if begun is not None:
                    begun.needed_by.append(timer)
                    timer.left = 1
                operations.append(timer)
                begun, posts, timer = op, [], next(timers, timer)


def replay(
    text: str, *, L: int, o: int, g: int, shared: bool, joins: Joins | None = None, between: int = 0
) -> Replayed:
    """Run GOAL text of small eager messages.

    Parameters
    ----------
    L, o, g
        Nanoseconds.
    shared
        One CPU per rank, as LogGOPSim has it; otherwise arrivals have a server of their own, that starts
        when their receive is posted, and time passes along every dependency (rule 1).
    joins
        Receives are posted then; absent: after a rank's last send (rule 2).
    between
        Nanoseconds to receive a message, for each of a partition before the next one that waits (rule 3).
    """
    ranks = read(text)
    if joins is not None:
        _post_at_joins(ranks, joins)
    queue: list[tuple[int, int, Op]] = []
    number = 0
    last: list[list[Op | None]] = [[None, None] for _ in ranks]  # by server: the CPU, and what receives
    sent: list[Op | None] = [None] * len(ranks)
    got: list[Op | None] = [None] * len(ranks)
    issued: list[Op | None] = [None] * len(ranks)
    sizes = [0] * len(ranks)  # messages of the partition that was issued last, so far
    posted: dict[tuple[int, int, int], deque[Op]] = defaultdict(deque)
    arrived: dict[tuple[int, int, int], deque[Op]] = defaultdict(deque)

    def push(time: int, op: Op) -> None:
        nonlocal number
        heapq.heappush(queue, (time, number, op))
        number += 1

    def free(op: Op, server: int) -> int:
        before = last[op.rank][server]
        return 0 if before is None else before.end

    def done(op: Op) -> None:
        ready = []
        for other in op.needed_by:
            other.left -= 1
            if not shared and (other.before is None or other.before.end <= op.end):
                other.before = op
            if other.left == 0:
                ready.append(other)
        for other in sorted(ready, key=lambda x: ("send", "recv", "calc", "timer").index(x.kind)):
            carried = 0 if shared or other.before is None else other.before.end
            push(carried if other.kind in ("timer", "recv") and not shared else max(free(other, 0), carried), other)

    def served(op: Op, time: int, cost: int, server: int) -> None:
        previous = last[op.rank][server]
        if previous is not None and previous.end == time:
            op.before = previous
        op.start, op.end = time, time + cost
        last[op.rank][server] = op

    def through_the_lock(op: Op) -> Op:
        """The send itself, or a later one after what is received before it."""
        previous = issued[op.rank]
        same = previous is not None and previous.tag == op.tag
        free = 0 if previous is None else previous.end + (0 if same else sizes[op.rank] * between)
        if previous is not None and free > op.start:
            received = Op(op.rank, "between", start=previous.end, end=free, before=previous)
            op = Op(op.rank, "send", tag=op.tag, start=free, end=free + o, before=received)
        sizes[op.rank] = sizes[op.rank] + 1 if same else 1
        issued[op.rank] = op
        return op

    for rank in ranks:
        for op in rank:
            if op.left == 0:
                push(0, op)
    while queue:
        time, stamp, op = heapq.heappop(queue)
        key = (op.rank, op.peer, op.tag)
        if op.kind == "timer":
            op.start, op.end = time, time + op.size
            done(op)
        elif op.kind == "calc":
            if (at := free(op, 0)) > time:
                heapq.heappush(queue, (at, stamp, op))
                continue
            served(op, time, op.size, 0)
            done(op)
        elif op.kind == "send":
            gap = sent[op.rank]
            at = max(free(op, 0), 0 if gap is None else gap.start + g)
            if at > time:
                heapq.heappush(queue, (at, stamp, op))
                continue
            op.before = gap
            served(op, time, o, 0)
            sent[op.rank] = op
            left = through_the_lock(op)
            push(left.end + L, Op(op.peer, "message", peer=op.rank, tag=op.tag, before=left))
            done(op)
        elif op.kind == "recv":
            if not arrived[key]:
                posted[key].append(op)
                continue
            message = arrived[key].popleft()
            if shared:
                done(op)
            else:
                message.needed_by = [op]
                message.before = op.before
                push(max(time, free(op, 1)), message)
        else:
            server = 0 if shared else 1
            waits = not shared and not op.needed_by
            if waits and not posted[key]:
                arrived[key].append(op)  # not before it is posted
                continue
            gap = got[op.rank]
            at = max(free(op, server), 0 if gap is None or not shared else gap.start + g)
            if at > time:
                heapq.heappush(queue, (at, stamp, op))
                continue
            served(op, time, o, server)
            got[op.rank] = op
            if op.needed_by:
                receive = op.needed_by[0]
            elif posted[key]:
                receive = posted[key].popleft()
            else:
                arrived[key].append(op)
                continue
            receive.start, receive.end, receive.before = op.start, op.end, op
            done(receive)
    return _path(max((op for servers in last for op in servers if op is not None), key=lambda op: op.end))


def _path(op: Op) -> Replayed:
    """Walk back from an operation to time 0."""
    end, terms = op.end, dict.fromkeys(KINDS, 0)
    while True:
        terms[{"message": "recv", "between": "recv", "timer": "calc"}.get(op.kind, op.kind)] += op.end - op.start
        before = op.before
        while before is not None and before.kind == "recv":  # a receive is its message
            before = before.before
        if before is None:
            terms["gap"] += op.start
            return Replayed(end, terms)
        terms["wire" if op.kind == "message" and before.kind == "send" else "gap"] += op.start - before.end
        op = before
