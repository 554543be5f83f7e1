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
from pready.model.common.errors import PreadyError
from pready.model.engine.pattern import Pattern
from pready.model.workload.edges import HALOS, PATTERNS
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class Mapping:
    """Messages that each have a direction of their own: message t in direction d has the number t · directions + d."""

    partitions: tuple[tuple[int, ...], ...]
    """The user partitions of each message."""
    vcis: tuple[tuple[int, ...], ...]
    """The messages of each VCI that is used."""
    issuers: tuple[int, ...]
    """How many threads can want each VCI at the same time."""
    waiting: tuple[tuple[int, ...], ...]
    """The threads that send or receive a message of each VCI."""


@dataclass(frozen=True)
class Messages:
    """What an approach sends to each neighbour."""

    pattern: Pattern
    sizes: tuple[float, ...]
    """Bytes of a message by class of the pattern."""
    sent: Approach
    """The approach as the pattern has it: one message in each direction, where the parts of threads differ."""
    vcis: tuple[tuple[int, ...], ...]
    """The jobs that queue for each: transport partitions, which go to all neighbours, or with a mapping messages."""
    needs: tuple[tuple[int, ...], ...]
    """The user partitions of each job."""
    issuers: tuple[int, ...]
    """How many threads can want each VCI at the same time."""
    mapping: Mapping | None = None

    @property
    def job_sizes(self) -> list[float]:
        """Bytes of each job, to all its neighbours."""
        each = [self.sizes[k] for k in self.pattern.classes[0]]
        return [sum(each) if self.mapping is None else each[n % len(each)] for n in range(len(self.needs))]


def messages(
    workload: Workload,
    approach: Approach,
    pattern: Pattern,
    buffers: tuple[float, ...],
    contexts: int,
    thread_grid: tuple[int, int, int] | None = None,
) -> Messages:
    """The messages of an approach, given whom ranks talk to and the bytes for a neighbour by class.

    Raises
    ------
    PreadyError
        Transport partitions that do not divide the user partitions, partitioned calls of parts that differ, or threads
        that do not fit their grid.
    """
    interface = approach.interface
    if interface.splits:
        check_transport_partitions(approach.transport_partitions, workload.n_partitions)
    sizes = tuple(map(approach.message_size, buffers))
    if thread_grid is not None:
        # One message for the whole buffer waits for all threads, wherever they are.
        mapping = mapped(
            pattern, workload, approach if interface.splits else Approach(interface), thread_grid, contexts
        )
        if interface.splits:
            return Messages(pattern, sizes, approach, mapping.vcis, mapping.partitions, mapping.issuers, mapping)
    n, count = workload.n_partitions, approach.messages
    members = tuple(map(tuple, vci_members(approach, workload.threads, contexts)))
    sharing = issuers(approach, workload.threads, workload.partitions_per_thread, contexts)
    return Messages(pattern, sizes, approach, members, _bins(n, count), sharing)


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
    at = [(n % x, n // x % y, n // (x * y)) for n in range(math.prod(thread_grid))]
    return [n for n, here in enumerate(at) if _touches(here, thread_grid, step)]


def _touches(at: Sequence[int], grid: Sequence[int], step: Sequence[int]) -> bool:
    return all(not by or i == (n - 1 if by > 0 else 0) for i, by, n in zip(at, step, grid, strict=True))


def mapped(
    pattern: Pattern, workload: Workload, approach: Approach, thread_grid: tuple[int, int, int], contexts: int
) -> Mapping:
    """Messages of threads in a grid.

    Raises
    ------
    PreadyError
        A thread grid that does not have the workload's threads, a pattern without directions in
        space, or transport partitions that do not divide a face's user partitions.
    """
    if pattern.name not in HALOS:
        raise PreadyError(f"thread_grid with pattern = {pattern.name!r}", valid=" or ".join(map(repr, HALOS)))
    if math.prod(thread_grid) != workload.threads or min(thread_grid) < 1:
        raise PreadyError(
            f"thread_grid = {list(thread_grid)} has {math.prod(thread_grid)} threads",
            valid=f"{workload.threads}, the workload's threads",
        )
    theta, transports = workload.partitions_per_thread, approach.transport_partitions
    available = min(approach.vcis, contexts)
    directions = pattern.directions
    partitions: list[tuple[int, ...]] = [()] * (transports * directions)
    by_vci: dict[int, list[int]] = {}
    receiver: dict[int, int] = {}
    for d, step in enumerate(pattern.steps):
        owned = [n * theta + k for n in owners(thread_grid, step) for k in range(theta)]
        x, y, z = step
        opposite = owners(thread_grid, (-x, -y, -z))
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
    return Mapping(tuple(partitions), vcis, issuers, tuple(tuple(sorted(w)) for w in waiting))
