"""The rounds of a GOAL exchange whose sends wait for receives: a message is one round after those that it waits for.

A binomial tree over n ranks becomes log2 n exchanges of a step. A rank that neither sends nor receives in a round goes
on to the next one, so that rounds cost what their messages cost.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from pready.calibrate.capture.patterns import Sent
from pready.calibrate.importers.goal import Operation


@dataclass
class Group:
    """One exchange of one rank: bytes and messages by peer, and ticks of computing by CPU since the one before."""

    sent: Sent = field(default_factory=dict)
    compute: dict[int, int] = field(default_factory=dict)
    rounds: dict[int, Sent] = field(default_factory=dict)
    """What is sent in each round, where sends wait for receives of the exchange; else empty."""

    def send(self, peer: int, size: int, at: int | None = None) -> None:
        """Add a message, to the round `at` if one is given."""
        into = self.sent if at is None else self.rounds.setdefault(at, {})
        before = into.get(peer, (0, 0))
        into[peer] = before[0] + size, before[1] + 1


@dataclass(frozen=True)
class Rank:
    """The exchanges of a rank."""

    groups: list[Group]
    part_of: list[int]
    """By operation: the exchange that it is of, from 1."""
    waits_for: list[int]
    """By operation: the last exchange whose messages it waits for without computing since; 0 for none."""
    chained: bool
    """A send waits for a receive of the same exchange."""


def requirements(operations: Sequence[Operation]) -> tuple[list[int], list[list[int]]]:
    """By operation of a rank: the number of operations that it requires, and those that require it."""
    count = [len(o.needs) + len(o.needs_begun) for o in operations]
    required_by: list[list[int]] = [[] for _ in operations]
    for at, operation in enumerate(operations):
        for before in (*operation.needs, *operation.needs_begun):
            required_by[before].append(at)
    return count, required_by


def find_rounds(ranks: Sequence[Sequence[Operation]], found: Sequence[Rank]) -> bool:
    """Fill in the `rounds` of all groups; False, and nothing filled in, if a receive has no send."""
    depth: list[list[int]] = [[0] * len(operations) for operations in ranks]
    left, after = [], []
    for operations in ranks:
        needs, needed_by = requirements(operations)
        left.append([n + (o.kind == "recv") for n, o in zip(needs, operations, strict=True)])
        after.append(needed_by)
    sends, receives = _queues(ranks)
    ready = deque((r, at) for r, some in enumerate(left) for at, n in enumerate(some) if not n)
    done = 0
    while ready:
        rank, at = ready.popleft()
        operation, of = ranks[rank][at], found[rank]
        done += 1
        here = of.part_of[at]
        before = max((depth[rank][n] for n in operation.needs if of.waits_for[n] == here), default=0)
        depth[rank][at] = max(depth[rank][at], before)
        freed = [(rank, other) for other in after[rank][at]]
        if operation.kind == "send":
            key = rank, operation.peer, operation.tag
            number = sends[key][at]
            if number < len(receives[key]):
                other = receives[key][number]
                depth[operation.peer][other] = depth[rank][at] + 1
                freed.append((operation.peer, other))
        for r, other in freed:
            left[r][other] -= 1
            if not left[r][other]:
                ready.append((r, other))
    if done < sum(len(operations) for operations in ranks):
        return False
    for rank, operations in enumerate(ranks):
        for at, operation in enumerate(operations):
            if operation.kind == "send" and operation.peer != rank:
                found[rank].groups[found[rank].part_of[at] - 1].send(operation.peer, operation.size, depth[rank][at])
    return True


_Key = tuple[int, int, int]
"""Sender, receiver, tag: messages of one key are received in the order in which they are sent."""


def _queues(ranks: Sequence[Sequence[Operation]]) -> tuple[dict[_Key, dict[int, int]], dict[_Key, list[int]]]:
    """By key: the number of each send, by its place among the rank's operations, and the places of the receives."""
    sends: dict[_Key, dict[int, int]] = defaultdict(dict)
    receives: dict[_Key, list[int]] = defaultdict(list)
    for rank, operations in enumerate(ranks):
        for at, operation in enumerate(operations):
            if operation.kind == "send":
                numbers = sends[rank, operation.peer, operation.tag]
                numbers[at] = len(numbers)
            elif operation.kind == "recv":
                receives[operation.peer, rank, operation.tag].append(at)
    return sends, receives
