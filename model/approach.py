"""The Approach: one way to send a partitioned buffer.

The interfaces are rows of data, not code paths: they differ in who sends when, what is matched
and how an exchange ends (gillis2023 2.3 and Tables 1-2, https://doi.org/10.1145/3605573.3605599;
jammer2022 III.C for persistent operations whose matching is proven). How messages are spread over
VCIs follows zambre2021 4 and 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Sync = Literal["none", "active", "passive"]
Mechanism = Literal["none", "communicators", "tags", "windows", "endpoints"]


@dataclass(frozen=True, kw_only=True)
class Interface:
    """One row of the table of interfaces. What is true of an interface is said here, and nowhere by its key."""

    key: str
    name: str
    """As the papers' figures call it."""
    call: Literal["MPI_Psend", "MPI_Send", "MPI_Put"]
    """Who hands messages over: partitioned operations, (persistent) sends, or RMA."""
    splits: bool
    """One message per transport partition; otherwise the whole buffer in one."""
    joins: bool = False
    """The threads meet in a barrier before the message goes."""
    persistent: bool = False
    """Its requests were set up before the loop (MPI_Send_init), and are only started in it."""
    one_by_one: bool = False
    """A message is issued when the one before has left: sends that block."""
    counts: bool = False
    """Every user partition is marked ready (MPI_Pready or a counter of the user's own)."""
    matches: bool = False
    """The receiver searches a queue for each message."""
    receivers: Literal["master", "threads", "none"] = "none"
    """Who completes messages: one thread for all VCIs, each thread its own, or the adapter."""
    mechanism: Mechanism = "none"
    """What exposes parallelism to the library."""
    sync: Sync = "none"
    """RMA synchronisation that ends the exchange."""
    windows_per_thread: bool = False
    active_message: bool = False
    """Travels as an active message: copied on both sides, after a clear-to-send per iteration."""
    fetched_from: float = math.inf
    """Bytes from which on the receiver of an active message fetches its data, and so has to be inside MPI."""
    sender_returns: bool = False
    """The call that hands a message over returns at once: nobody at the sender is inside MPI until
    the threads have joined. Otherwise a thread waits there for its message."""
    two_sided_rendezvous: bool = False
    """Whoever comes second starts the transfer; no handshake is left to progress (jammer2022 III.C)."""
    needs: str = ""
    """What would have to exist for it; empty: MPI libraries do this as they are."""
    motif: str | None = None
    """What the SST motifs call it; None: they do not do it."""

    def __hash__(self) -> int:
        return hash(self.key)  # asked for thousands of times in a prediction: all fields take ten times as long

    @property
    def one_sided(self) -> bool:
        """Is it MPI_Put between RMA synchronisations?"""
        return self.sync != "none"

    @property
    def opens(self) -> bool:
        """Does it wait for the receiver's go-ahead of this iteration: an exposure epoch, or a clear-to-send?"""
        return self.one_sided or self.active_message

    @property
    def shakes(self) -> bool:
        """Does the library send a large message by a rendezvous?"""
        return not (self.opens or self.two_sided_rendezvous)

    @property
    def partitioned(self) -> bool:
        """Is it behind ``MPI_Psend_init``? Which one is, the library decides."""
        return self.call == "MPI_Psend"

    def messages(self, transports: int) -> int:
        """Messages per peer with so many transport partitions."""
        return transports if self.splits else 1

    def windows(self, threads: int) -> int:
        """Windows, and so epochs, of a rank with so many threads."""
        return threads if self.windows_per_thread else 1

    def into(self, transports: int, vcis: int = 1) -> Approach:
        """The approach with so many transport partitions, or with one message if it does not split."""
        return Approach(self, self.messages(transports), vcis)


PART = Interface(
    key="part",
    name="Pt2Pt part",
    call="MPI_Psend",
    splits=True,
    counts=True,
    matches=True,
    receivers="master",
    mechanism="tags",
    sender_returns=True,
    motif="partitioned",
)
# The active-message path of released MPICH (gillis2023 3.1): the data go when the clear-to-send of
# this iteration has been seen. MPI_Pready makes no progress, so with every thread computing that
# is in MPI_Wait, after the threads have joined. What is larger than libfabric takes at once
# (MPIDI_OFI_DEFAULT_SHORT_SEND_SIZE) is read by the receiver: to one that is away from MPI for 200 ms, 16000 B are
# there when it comes back, and of 40000 B nothing.
PART_AM = Interface(
    key="part-am",
    name="Pt2Pt part",
    call="MPI_Psend",
    splits=False,
    joins=True,
    counts=True,
    receivers="master",
    active_message=True,
    fetched_from=16 * 1024,
)
SINGLE = Interface(
    key="single",
    name="Pt2Pt single",
    call="MPI_Send",
    splits=False,
    joins=True,
    matches=True,
    receivers="master",
    motif="bulk",
)
# The smallest port there is.
PERSISTENT = replace(SINGLE, key="persistent", name="Pt2Pt persistent", persistent=True, motif=None)
# Receives are posted before; MPI_Send to each peer in turn.
BLOCKING = replace(SINGLE, key="blocking", name="Pt2Pt blocking", one_by_one=True, motif=None)
MANY = Interface(
    key="many",
    name="Pt2Pt many",
    call="MPI_Send",
    splits=True,
    persistent=True,
    matches=True,
    receivers="threads",
    mechanism="communicators",
    motif="many",
)
# What a code does today whose threads each send their own part.
PER_THREAD = replace(MANY, key="per-thread", name="Pt2Pt per thread", persistent=False, motif=None)
RMA_SINGLE_ACTIVE = Interface(
    key="rma-single-active", name="RMA single - active", call="MPI_Put", splits=True, sync="active"
)
RMA_MANY_ACTIVE = Interface(
    key="rma-many-active",
    name="RMA many - active",
    call="MPI_Put",
    splits=True,
    sync="active",
    mechanism="windows",
    windows_per_thread=True,
)
RMA_SINGLE_PASSIVE = Interface(
    key="rma-single-passive", name="RMA single - passive", call="MPI_Put", splits=True, sync="passive"
)
RMA_MANY_PASSIVE = Interface(
    key="rma-many-passive",
    name="RMA many - passive",
    call="MPI_Put",
    splits=True,
    sync="passive",
    mechanism="windows",
    windows_per_thread=True,
)
# A research compiler pass, in no library (jammer2022).
PERSISTENT_MATCHED = Interface(
    key="persistent-matched",
    name="Persistent matched",
    call="MPI_Send",
    splits=True,
    mechanism="communicators",
    two_sided_rendezvous=True,
    needs="a compiler pass that proves matching (jammer2022)",
)

INTERFACES: tuple[Interface, ...] = (
    SINGLE,
    PERSISTENT,
    PART,
    PART_AM,
    MANY,
    RMA_SINGLE_ACTIVE,
    RMA_MANY_ACTIVE,
    RMA_SINGLE_PASSIVE,
    RMA_MANY_PASSIVE,
    PERSISTENT_MATCHED,
)
"""What one may port to, simplest to program first."""
EACH = Interface(key="each", name="each as advised", call="MPI_Send", splits=True)
"""Of a step with several exchanges: every one as it is advised. No interface of its own, and not to be asked for."""
BY_KEY = {i.key: i for i in (*INTERFACES, BLOCKING, PER_THREAD)}
"""For the border: what users, files and benchmarks call an interface."""


@dataclass(frozen=True)
class Approach:
    """An interface with its transport partitions and VCIs.

    `vcis` is what the user asks for; `hardware` is what the adapter has. Requests beyond it share,
    round-robin (zambre2021 5.3).
    """

    interface: Interface
    transport_partitions: int = 1
    vcis: int = 1

    @property
    def name(self) -> str:
        """The interface's name."""
        return self.interface.name

    @property
    def messages(self) -> int:
        """Messages per peer."""
        return self.interface.messages(self.transport_partitions)

    def message_size(self, buffer: float) -> float:
        """Bytes of one message of a buffer of so many bytes."""
        return buffer / self.messages


BULK = Approach(SINGLE)
"""The threads meet, then one thread sends one message."""


def whole(approaches: Sequence[Approach]) -> Approach:
    """What stands for the approaches of all exchanges of a step: theirs, if it is one."""
    return approaches[0] if len(set(approaches)) == 1 else Approach(EACH)


Today = Literal["nonblocking", "blocking", "persistent", "one message per thread", "rma"]
TODAY: Mapping[Today, Interface] = {
    "nonblocking": SINGLE,
    "blocking": BLOCKING,
    "persistent": PERSISTENT,
    "one message per thread": PER_THREAD,
    "rma": RMA_SINGLE_ACTIVE,
}
"""What applications do before anything is ported."""


def baseline(today: Today, threads: int) -> Approach:
    """What everything is compared with: what the application does today."""
    interface = TODAY[today]
    return interface.into(threads if interface is PER_THREAD else 1)


def lane(transport: int, transports: int, threads: int) -> int:
    """The communicator, tag or window a transport partition uses: one per thread, or fewer.

    With fewer transport partitions than threads each has its own; otherwise it is the thread that
    owns its first user partition (bins are contiguous).
    """
    return transport if transports <= threads else transport * threads // transports


def vci_of(transport: int, approach: Approach, threads: int, contexts: int) -> int:
    """The VCI that a transport partition's message goes through.

    Tags spread messages round-robin (gillis2023 3.2.2: message i on VCI i mod n), the other mechanisms
    spread communicators, tags or windows; whatever exceeds the hardware's contexts
    starts again from VCI 0 (zambre2021 5.3).
    """
    available = min(approach.vcis, contexts)
    if approach.interface.mechanism == "tags":
        return transport % available
    return lane(transport, approach.transport_partitions, threads) % available


def vci_members(approach: Approach, threads: int, contexts: int) -> list[list[int]]:
    """The transport partitions of each VCI that is used, in index order."""
    members: dict[int, list[int]] = {}
    for t in range(approach.messages):
        members.setdefault(vci_of(t, approach, threads, contexts), []).append(t)
    return [members[v] for v in sorted(members)]


def issuing_threads(members: list[int], transports: int, threads: int, partitions_per_thread: int) -> int:
    """How many threads can want one VCI at the same time: k of the contention curve.

    A message is issued by one thread, so there are at most as many issuers as messages, and at most
    as many as threads that own a part of them.
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


def enumerate_approaches(
    interfaces: tuple[Interface, ...],
    threads: int,
    transports: list[int],
    contexts: int,
    max_vcis: int,
) -> Iterator[Approach]:
    """Every interface with every transport count, on one VCI and on as many as it can use."""
    for interface in interfaces:
        for t in transports if interface.splits else [1]:
            useful = min(threads, t, contexts, max_vcis)
            for v in sorted({1, useful if interface.mechanism != "none" else 1}):
                yield Approach(interface, t, v)
