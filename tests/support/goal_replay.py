"""GOAL text run by LogGOPSim's rules (https://doi.org/10.1145/1851476.1851564), for eager messages that cost no byte.

A rank has one CPU: what arrives takes its overhead o from it, after the operation that runs and before the next. Sends
and receives of a rank are g apart each.
"""

import heapq
import re
from collections import defaultdict, deque
from dataclasses import dataclass, field

FIRST = ("send", "recv", "calc")
"""Of operations that become ready at once."""


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
    needed_by: list["Op"] = field(default_factory=list)


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


def replay(text: str, *, L: int, o: int, g: int) -> int:
    """When the last rank ends; all in nanoseconds."""
    ranks = read(text)
    queue: list[tuple[int, int, Op]] = []
    number = 0
    cpu, sends, receives = ([0] * len(ranks) for _ in range(3))  # from when on each is free
    posted: dict[tuple[int, int, int], deque[Op]] = defaultdict(deque)
    arrived: dict[tuple[int, int, int], int] = defaultdict(int)

    def push(time: int, op: Op) -> None:
        nonlocal number
        heapq.heappush(queue, (time, number, op))
        number += 1

    def done(op: Op) -> None:
        for other in op.needed_by:
            other.left -= 1
        for other in sorted((n for n in op.needed_by if not n.left), key=lambda n: FIRST.index(n.kind)):
            push(cpu[other.rank], other)

    for op in (op for rank in ranks for op in rank if not op.left):
        push(0, op)
    while queue:
        time, stamp, op = heapq.heappop(queue)
        r, key = op.rank, (op.rank, op.peer, op.tag)
        if op.kind == "recv":
            if arrived[key]:
                arrived[key] -= 1
                done(op)
            else:
                posted[key].append(op)
            continue
        nic = {"send": sends, "message": receives}.get(op.kind)
        free = max(cpu[r], 0 if nic is None else nic[r])
        if free > time:
            heapq.heappush(queue, (free, stamp, op))
            continue
        cpu[r] = time + (op.size if op.kind == "calc" else o)
        if nic is not None:
            nic[r] = time + g
        if op.kind == "send":
            push(cpu[r] + L, Op(op.peer, "message", peer=r, tag=op.tag))
        if op.kind != "message":
            done(op)
        elif posted[key]:
            done(posted[key].popleft())
        else:
            arrived[key] += 1
    return max(cpu)
