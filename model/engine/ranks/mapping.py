"""Which threads a message's data come from.

Without a thread grid every thread owns a part of every neighbour's buffer. With one, the threads of a
rank are arranged in space like its cells, and a face (edge, corner) consists of the partitions of the
threads that touch it: temucin2022 3.2 (https://doi.org/10.1145/3545008.3545088), zambre2021 6.1. Of 4 × 4 × 4
threads, sixteen share each face.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.ranks.pattern import Pattern
from pready.model.workload.sizes import FACES, STENCIL_27
from pready.model.workload.workload import Workload


def partitions_per_direction(workload: Workload) -> int:
    """What divides the user partitions of every direction's message: all of them without a thread grid."""
    grid = workload.thread_grid
    if grid is None:
        return workload.n_partitions
    steps = FACES if workload.pattern == "halo3d" else STENCIL_27
    return math.gcd(*(len(owners(grid, step)) for step in steps)) * workload.partitions_per_thread


def owners(thread_grid: tuple[int, int, int], step: tuple[int, int, int]) -> list[int]:
    """The threads whose blocks lie at the side that `step` points to, each with a part of what is sent there."""
    return [n for n in range(math.prod(thread_grid)) if _touches(n, thread_grid, step)]


@dataclass(frozen=True)
class Mapping:
    """The messages of one exchange. Message t in direction d has the number t · directions + d."""

    partitions: tuple[tuple[int, ...], ...]
    """The user partitions of each message."""
    vcis: tuple[tuple[int, ...], ...]
    """The messages of each VCI that is used."""
    issuers: tuple[int, ...]
    """How many threads can want each VCI at the same time."""
    waiting: tuple[tuple[int, ...], ...]
    """The threads that send or receive a message of each VCI."""


def mapped(
    pattern: Pattern,
    workload: Workload,
    approach: Approach,
    thread_grid: tuple[int, int, int],
    contexts: int,
) -> Mapping:
    """Messages of threads in a grid.

    Raises
    ------
    PreadyError
        A thread grid that does not have the workload's threads, a pattern without directions in
        space, or transport partitions that do not divide a face's user partitions.
    """
    if pattern.name not in ("halo3d", "halo3d26"):
        raise PreadyError(f"thread_grid with pattern = {pattern.name!r}", valid="'halo3d' or 'halo3d26'")
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


def _touches(thread: int, grid: tuple[int, int, int], step: tuple[int, int, int]) -> bool:
    """Does a thread's block lie at the side that `step` points to?"""
    x, y, _ = grid
    at = (thread % x, thread // x % y, thread // (x * y))
    return all(not by or i == (n - 1 if by > 0 else 0) for i, by, n in zip(at, step, grid, strict=True))
