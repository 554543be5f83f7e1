"""How transport partitions are spread over VCIs and issued by threads (zambre2021 4 and 5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pready.model.approach.interfaces import Approach, Interface
from pready.model.common.errors import PreadyError


def lane(transport: int, transports: int, threads: int) -> int:
    """The communicator, tag or window of a transport partition: at most one per thread.

    With fewer transport partitions than threads each has its own; otherwise that of the thread that owns its first user
    partition (bins are contiguous).
    """
    return transport if transports <= threads else transport * threads // transports


def vci_of(transport: int, approach: Approach, threads: int, contexts: int) -> int:
    """The VCI that a transport partition's message goes through.

    Tags spread messages round-robin (gillis2023 3.2.2: message i on VCI i mod n), the other mechanisms spread
    communicators or windows; beyond the hardware's contexts both start again from VCI 0 (zambre2021 5.3).
    """
    available = min(approach.vcis, contexts)
    if approach.interface.mechanism == "tags":
        return transport % available
    return lane(transport, approach.transport_partitions, threads) % available


def vci_members(approach: Approach, threads: int, contexts: int) -> list[list[int]]:
    """The transport partitions of each VCI in use, in index order."""
    members: dict[int, list[int]] = {}
    for t in range(approach.messages):
        members.setdefault(vci_of(t, approach, threads, contexts), []).append(t)
    return [members[v] for v in sorted(members)]


def waiting_threads(members: list[int], transports: int, threads: int) -> list[int]:
    """The threads that wait in MPI for messages of a VCI where each completes its own: those that receive one of them.

    A message is received by the thread that owns its first user partition.
    """
    return sorted({t * threads // transports for t in members})


def issuing_threads(members: list[int], transports: int, threads: int, partitions_per_thread: int) -> int:
    """How many threads can contend for a VCI: k of the contention curve.

    One thread issues a message, so at most as many as there are messages, and as threads that own a part of them.
    """
    per_bin = threads * partitions_per_thread // transports
    owners: set[int] = set()
    for t in members:
        owners.update(
            range(
                t * per_bin // partitions_per_thread,
                ((t + 1) * per_bin - 1) // partitions_per_thread + 1,
            )
        )
        if len(owners) == threads:
            break
    return min(len(members), len(owners))


@lru_cache(maxsize=4096)
def issuers(approach: Approach, threads: int, partitions_per_thread: int, contexts: int) -> tuple[int, ...]:
    """Threads that issue the messages of each VCI in use."""
    members = vci_members(approach, threads, contexts)
    return tuple(issuing_threads(m, approach.messages, threads, partitions_per_thread) for m in members)


def transport_counts(n_partitions: int, limit: int = 16) -> list[int]:
    """Divisors of the user partitions, thinned to at most `limit` (evenly in the logarithm)."""
    small = [d for d in range(1, int(n_partitions**0.5) + 1) if n_partitions % d == 0]
    divisors = sorted({*small, *(n_partitions // d for d in small)})
    if len(divisors) <= limit:
        return divisors
    wanted = [n_partitions ** (i / (limit - 1)) for i in range(limit)]
    return sorted({min(divisors, key=lambda d: abs(d / w - 1)) for w in wanted} | {1, n_partitions})


def communicators_27_point(x: int, y: int, z: int) -> int:
    """Communicators that expose all parallelism of a 27-point exchange of [x, y, z] threads.

    zambre2021 6.1; 808 for [4, 4, 4]. Both threads of a pair need the same communicator, so each
    direction needs one per thread that takes part: six faces, eight corners, twelve edges.
    """
    faces = 2 * x * y + 2 * y * z + 2 * x * z
    corners = 8 * (x * y + y * z + x * z - 1)
    edges = 4 * (x * z + y * z - z) + 4 * (x * y + y * z - y) + 4 * (x * y + x * z - x)
    return faces + corners + edges


def check_transport_partitions(transport: int, user: int) -> None:
    """Refuse transport partitions that are not bins of equally many user partitions."""
    if transport < 1 or user % transport:
        divisors = [d for d in range(1, user + 1) if user % d == 0]
        valid = ", ".join(map(str, divisors)) if len(divisors) <= 16 else f"a divisor of {user}"
        raise PreadyError(
            f"transport_partitions = {transport} does not divide {user} user partitions",
            valid=valid,
        )


def enumerate_approaches(
    interfaces: tuple[Interface, ...],
    threads: int,
    transports: list[int],
    contexts: int,
    max_vcis: int,
) -> Iterator[Approach]:
    """Every interface with every transport count, on one VCI and on as many as are useful."""
    for interface in interfaces:
        for t in transports if interface.splits else [1]:
            useful = min(threads, t, contexts, max_vcis)
            for v in sorted({1, useful if interface.mechanism != "none" else 1}):
                yield Approach(interface, t, v)
