"""The messages of an approach: sizes, the user partitions that each waits for, the VCI that each goes through.

Without a thread grid every thread owns a part of every neighbour's buffer. With one, the threads of a rank are arranged
in space like its cells, and a face (edge, corner) consists of the partitions of the threads that touch it: temucin2022
3.2 (https://doi.org/10.1145/3545008.3545088), zambre2021 6.1. Of 4 × 4 × 4 threads, sixteen share each face.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pready.model.approach.interfaces import Approach
from pready.model.approach.vcis import (
    check_transport_partitions,
    issuers,
    vci_members,
)
from pready.model.engine.pattern import Pattern, cut
from pready.model.workload.edges import PATTERNS
from pready.model.workload.sizes import Step
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class Messages:
    """What an approach sends to each neighbour, in jobs that queue for VCIs.

    A job is a transport partition, which goes to all neighbours; or, where each direction has other threads, one
    message: message t in direction d is number t · directions + d.
    """

    pattern: Pattern
    approach: Approach
    sizes: tuple[float, ...]
    """Bytes of a message by class of the pattern."""
    transports: int
    """Messages in each direction of the pattern."""
    vcis: tuple[tuple[int, ...], ...]
    """The jobs of each VCI that is used."""
    needs: tuple[tuple[int, ...], ...]
    """The user partitions of each job."""
    issuers: tuple[int, ...]
    """How many threads can want each VCI at the same time."""
    waiting: tuple[tuple[int, ...], ...] | None = None
    """Of messages that each have a direction, the threads that send or receive one of each VCI."""

    @property
    def job_sizes(self) -> list[float]:
        """Bytes of each job, to all its neighbours."""
        each = [self.sizes[k] for k in self.pattern.classes[0]]
        return [sum(each) if self.waiting is None else each[n % len(each)] for n in range(len(self.needs))]


def messages(workload: Workload, approach: Approach, pattern: Pattern, contexts: int) -> Messages:
    """The messages of an approach to those that a pattern says, on so many contexts of an adapter.

    Raises
    ------
    PreadyError
        Transport partitions that do not divide the user partitions.
    """
    sizes = tuple(map(approach.message_size, pattern.buffers(workload)))
    if approach.interface.splits:
        check_transport_partitions(approach.transport_partitions, workload.n_partitions)
        if workload.blocks_of_threads is not None and not pattern.alone:
            return _by_direction(workload, approach, pattern, contexts)
    members = tuple(map(tuple, vci_members(approach, workload.threads, contexts)))
    sharing = issuers(approach, workload.threads, workload.partitions_per_thread, contexts)
    bins = _bins(workload.n_partitions, approach.messages)
    return Messages(pattern, approach, sizes, approach.messages, members, bins, sharing)


@lru_cache(maxsize=16)  # of a million partitions a comparison would else hold a hundred copies
def _bins(partitions: int, count: int) -> tuple[tuple[int, ...], ...]:
    """The user partitions of each of so many messages of one size."""
    return tuple(tuple(range(partitions * t // count, partitions * (t + 1) // count)) for t in range(count))


def in_directions(workload: Workload, approach: Approach, steps: Sequence[Step] = ()) -> list[int]:
    """Messages in each direction: as many as its user partitions and the transport partitions can both be cut into.

    So of 4 × 4 × 4 threads that send 16 messages to each face, an edge gets 4 and a corner 1.
    """
    grid, count = workload.blocks_of_threads, approach.messages
    if grid is None:
        return [count] * workload.peers
    steps = steps or PATTERNS[workload.pattern].stencil
    return [math.gcd(count, len(owners(grid, s)) * workload.partitions_per_thread) for s in steps]


def partitions_per_direction(workload: Workload) -> int:
    """The user partitions of a direction, with a thread grid of the one with the most."""
    grid = workload.blocks_of_threads
    if grid is None:
        return workload.n_partitions
    each = (len(owners(grid, step)) for step in PATTERNS[workload.pattern].stencil)
    return max(each) * workload.partitions_per_thread


def owners(thread_grid: tuple[int, int, int], step: tuple[int, int, int]) -> list[int]:
    """The threads whose blocks lie at the side that `step` points to, each with a part of what is sent there."""
    x, y, _ = thread_grid
    along = [[n - 1 if by > 0 else 0] if by else range(n) for by, n in zip(step, thread_grid, strict=True)]
    return [i + x * (j + y * k) for k in along[2] for j in along[1] for i in along[0]]


def _by_direction(workload: Workload, approach: Approach, pattern: Pattern, contexts: int) -> Messages:
    """Messages of threads in a grid, of which other ones touch each side.

    The kernel sends as many in every direction: one with more messages is several, each with a part of its bytes.
    """
    grid, theta = workload.blocks_of_threads, workload.partitions_per_thread
    assert grid is not None
    counts = in_directions(workload, approach, pattern.steps)
    transports = math.gcd(*counts)
    parts = [count // transports for count in counts]
    wide = cut(pattern, tuple(parts))
    available, directions = min(approach.vcis, contexts), wide.directions
    partitions: list[tuple[int, ...]] = [()] * (transports * directions)
    by_vci: dict[int, list[int]] = {}
    receiver: dict[int, int] = {}
    for d, (step, count) in enumerate(zip(pattern.steps, counts, strict=True)):
        owned = [n * theta + k for n in owners(grid, step) for k in range(theta)]
        x, y, z = step
        opposite = owners(grid, (-x, -y, -z))
        size = len(owned) // count
        for m in range(count):
            number = m % transports * directions + sum(parts[:d]) + m // transports
            partitions[number] = tuple(owned[m * size : (m + 1) * size])
            receiver[number] = opposite[m * size // theta]
            # Round-robin by message, or by the thread whose communicator or window it is.
            lane = m if approach.interface.mechanism == "tags" else partitions[number][0] // theta
            by_vci.setdefault(lane % available, []).append(number)
    vcis = tuple(tuple(sorted(by_vci[v])) for v in sorted(by_vci))
    wanting = [{p // theta for m in messages for p in partitions[m]} for messages in vcis]
    issuers = tuple(min(len(m), len(o)) for m, o in zip(vcis, wanting, strict=True))
    waiting = [{partitions[m][0] // theta for m in messages} | {receiver[m] for m in messages} for messages in vcis]
    sizes, serving = (
        tuple(size / transports for size in wide.buffers(workload)),
        tuple(tuple(sorted(w)) for w in waiting),
    )
    return Messages(wide, approach, sizes, transports, vcis, tuple(partitions), issuers, serving)
