"""The messages of an approach: sizes, the user partitions that each waits for, the VCI that each goes through.

Without a thread grid every thread owns a part of every neighbour's buffer. With one, the threads of a rank are arranged
in space like its cells, and a face (edge, corner) consists of the partitions of the threads that touch it: temucin2022
3.2 (https://doi.org/10.1145/3545008.3545088), zambre2021 6.1. Of 4 × 4 × 4 threads, sixteen share each face.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from pready.model.approach.interfaces import Approach
from pready.model.approach.vcis import (
    check_transport_partitions,
    issuers,
    vci_members,
)
from pready.model.common.errors import PreadyError
from pready.model.engine.pattern import Pattern
from pready.model.workload.edges import PATTERNS
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
        if workload.thread_grid is not None and not pattern.alone:
            return _by_direction(workload, approach, pattern, sizes, contexts)
    members = tuple(map(tuple, vci_members(approach, workload.threads, contexts)))
    sharing = issuers(approach, workload.threads, workload.partitions_per_thread, contexts)
    return Messages(pattern, approach, sizes, members, _bins(workload.n_partitions, approach.messages), sharing)


@lru_cache(maxsize=16)  # of a million partitions a comparison would else hold a hundred copies
def _bins(partitions: int, count: int) -> tuple[tuple[int, ...], ...]:
    """The user partitions of each of so many messages of one size."""
    return tuple(tuple(range(partitions * t // count, partitions * (t + 1) // count)) for t in range(count))


def partitions_per_direction(workload: Workload) -> int:
    """What divides the user partitions of every direction's message: all of them without a thread grid."""
    grid = workload.thread_grid
    if grid is None:
        return workload.n_partitions
    each = (len(owners(grid, step)) for step in PATTERNS[workload.pattern].stencil)
    return math.gcd(*each) * workload.partitions_per_thread


def owners(thread_grid: tuple[int, int, int], step: tuple[int, int, int]) -> list[int]:
    """The threads whose blocks lie at the side that `step` points to, each with a part of what is sent there."""
    x, y, _ = thread_grid
    along = [[n - 1 if by > 0 else 0] if by else range(n) for by, n in zip(step, thread_grid, strict=True)]
    return [i + x * (j + y * k) for k in along[2] for j in along[1] for i in along[0]]


def _by_direction(
    workload: Workload, approach: Approach, pattern: Pattern, sizes: tuple[float, ...], contexts: int
) -> Messages:
    """Messages of threads in a grid, of which other ones touch each side."""
    assert workload.thread_grid is not None
    theta, transports = workload.partitions_per_thread, approach.transport_partitions
    available, directions = min(approach.vcis, contexts), pattern.directions
    partitions: list[tuple[int, ...]] = [()] * (transports * directions)
    by_vci: dict[int, list[int]] = {}
    receiver: dict[int, int] = {}
    for d, step in enumerate(pattern.steps):
        owned = [n * theta + k for n in owners(workload.thread_grid, step) for k in range(theta)]
        x, y, z = step
        opposite = owners(workload.thread_grid, (-x, -y, -z))
        if len(owned) % transports:
            raise PreadyError(
                f"transport_partitions = {transports} does not divide the {len(owned)} user partitions "
                f"in direction {step}",
                valid="a divisor of each face's",
            )
        size = len(owned) // transports
        for t in range(transports):
            number = t * directions + d
            partitions[number] = tuple(owned[t * size : (t + 1) * size])
            receiver[number] = opposite[t * size // theta]
            # Round-robin by message, or by the thread whose communicator or window it is.
            lane = t if approach.interface.mechanism == "tags" else partitions[number][0] // theta
            by_vci.setdefault(lane % available, []).append(number)
    vcis = tuple(tuple(sorted(by_vci[v])) for v in sorted(by_vci))
    wanting = [{p // theta for m in messages for p in partitions[m]} for messages in vcis]
    issuers = tuple(min(len(m), len(o)) for m, o in zip(vcis, wanting, strict=True))
    waiting = [{partitions[m][0] // theta for m in messages} | {receiver[m] for m in messages} for messages in vcis]
    return Messages(
        pattern, approach, sizes, vcis, tuple(partitions), issuers, tuple(tuple(sorted(w)) for w in waiting)
    )
