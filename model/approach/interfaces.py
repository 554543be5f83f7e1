"""The Approach: one way to send a partitioned buffer, an interface with its transport partitions and VCIs.

Interfaces are rows of data, not code paths: they differ in who sends when, what is matched and how an exchange ends
(gillis2023 2.3 and Tables 1-2, https://doi.org/10.1145/3605573.3605599; jammer2022 III.C for persistent operations
whose matching is proven).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Sync = Literal["none", "active", "passive"]
Mechanism = Literal["none", "communicators", "tags", "windows", "endpoints"]

SYNCHRONISATION: Mapping[Sync, str] = {
    "none": "",
    "active": "MPI_Win_post and MPI_Win_wait at the target, MPI_Win_start and MPI_Win_complete at the origin, "
    "which MPI may deprecate (MPI forum, issue 558)",
    "passive": "MPI_Win_lock once, then MPI_Win_flush and a message that tells the target",
}
"""MPI's calls by kind of synchronisation. None is MPI_Win_fence, which makes all ranks of the window wait."""


@dataclass(frozen=True, kw_only=True)
class Interface:
    """One row of the table of interfaces. Code reads these fields and never compares keys."""

    key: str
    name: str
    """The name in the papers' figures."""
    call: Literal["MPI_Psend", "MPI_Send", "MPI_Put"]
    """The call that hands messages over: partitioned, (persistent) send, or RMA."""
    splits: bool
    """One message per transport partition; otherwise the whole buffer in one."""
    joins: bool = False
    """The threads meet in a barrier before the message goes."""
    persistent: bool = False
    """Requests are set up before the loop (MPI_Send_init) and started in it."""
    told_whole: bool = False
    """MPI_Parrived is false for every partition until the last is there."""
    one_by_one: bool = False
    """Sends that block: a message is issued when the one before is complete."""
    matches: bool = False
    """The receiver searches a queue for each message."""
    completes: Literal["master", "threads"] = "master"
    """Who completes messages, and so is in MPI (gillis2023 Tables 1-2): one thread all of them, after the threads have
    joined, or each thread its own, as soon as it is through."""
    mechanism: Mechanism = "none"
    """How parallelism is exposed to the library."""
    sync: Sync = "none"
    """RMA synchronisation that ends the exchange."""
    windows_per_thread: bool = False
    active_message: bool = False
    """Sent as an active message, after a clear-to-send per iteration; who copies it is the library's over the fabric
    (`pready.model.machine.transports.copies`)."""
    fetched_from: float = math.inf
    """Bytes from which on the receiver, in MPI, fetches the data of an active message."""
    two_sided_rendezvous: bool = False
    """The rank that comes second starts the transfer, without a handshake (jammer2022 III.C)."""
    needs: str = ""
    """What would have to exist for it; empty: MPI libraries can do it."""
    tests: bool = False
    """A thread that is through calls MPI_Test until the others are, for all messages of its rank; with the boundary
    first, between parts of its interior."""
    progress_thread: bool = False
    """A thread of the library makes progress, on a core that the others lack."""
    all_pack: bool = False
    """All threads pack their parts, before one sends; absent: who does it today."""
    boundary_first: bool = False
    """Threads compute what is sent first, and the interior once it has gone."""
    least: bool = False
    """No way to send, but what none exceeds: a message goes when it is ready, and costs its bytes on the cable and a
    latency."""
    says: str = ""
    """In words, what is sent how."""
    effort: str = ""
    """How much there is to program."""

    def __hash__(self) -> int:
        return hash(self.key)  # asked for thousands of times in a prediction: all fields take ten times as long

    @property
    def one_sided(self) -> bool:
        """Is it MPI_Put between RMA synchronisations?"""
        return self.sync != "none"

    @property
    def synchronisation(self) -> str:
        """The RMA calls that open and end each exchange; empty where there are none (gillis2023 Tables 1 and 2)."""
        return SYNCHRONISATION[self.sync]

    @property
    def opens(self) -> bool:
        """Does it wait, each iteration, for the receiver's exposure epoch or clear-to-send?"""
        return self.one_sided or self.active_message

    @property
    def tells(self) -> bool:
        """Does a receiver know of each message by itself, by MPI_Parrived or MPI_Test? Of puts it knows no more than
        the end of their epoch: a flag for each would be another exchange."""
        return self.splits and not self.one_sided and not self.told_whole

    @property
    def shakes(self) -> bool:
        """Does the library send a large message by a rendezvous?"""
        return not (self.opens or self.two_sided_rendezvous)

    @property
    def partitioned(self) -> bool:
        """Is it behind ``MPI_Psend_init``? The library decides which one."""
        return self.call == "MPI_Psend"

    def messages(self, transports: int) -> int:
        """Messages per peer with so many transport partitions."""
        return transports if self.splits else 1

    def windows(self, threads: int) -> int:
        """Windows, and epochs, of a rank with so many threads."""
        return threads if self.windows_per_thread else 1

    def into(self, transports: int, vcis: int = 1) -> Approach:
        """The approach with so many transport partitions, or with one message if it does not split."""
        return Approach(self, self.messages(transports), vcis)


PART = Interface(
    key="part",
    name="Pt2Pt part",
    call="MPI_Psend",
    splits=True,
    matches=True,
    mechanism="tags",
    says="partitions by MPI_Pready",
    effort="a tiled loop",
)
# ParaStation MPI: mpich2/src/mpid/psp/src/mpid_part.c.
PART_WHOLE = replace(PART, key="part-whole", told_whole=True)
# The active-message path of released MPICH (gillis2023 3.1): the data go once the clear-to-send of this iteration is
# seen. MPI_Pready makes no progress, so that is in MPI_Wait, after the threads have joined. Beyond
# MPIDI_OFI_DEFAULT_SHORT_SEND_SIZE the receiver reads the data: of a receiver outside MPI for 200 ms, 16000 B had
# arrived when it came back, and of 40000 B nothing.
PART_AM = Interface(
    key="part-am",
    name="Pt2Pt part",
    call="MPI_Psend",
    splits=False,
    joins=True,
    active_message=True,
    fetched_from=16 * 1024,
    says="partitions by MPI_Pready",
    effort="a tiled loop",
)
SINGLE = Interface(
    key="single",
    name="Pt2Pt single",
    call="MPI_Send",
    splits=False,
    joins=True,
    matches=True,
    says="one message per neighbour",
    effort="packing",
)
# The smallest port.
PERSISTENT = replace(
    SINGLE,
    key="persistent",
    name="Pt2Pt persistent",
    persistent=True,
    says="persistent requests",
    effort="a few lines",
)


def tested(of: Interface) -> Interface:
    """A way in which a thread tests while others compute."""
    says, effort = f"{of.says}, a thread tests", ", ".join(filter(None, (of.effort, "a loop of MPI_Testall")))
    return replace(of, key=f"{of.key}-tested", name=f"{of.name}, tested", tests=True, says=says, effort=effort)


def boundary_first(of: Interface) -> Interface:
    """A way in which threads compute what is sent first, and the interior once it has gone."""
    says, effort = f"the boundary first, then {of.says}", ", ".join(filter(None, (of.effort, "an interior apart")))
    key, name = f"boundary-{of.key}", f"Boundary first, {of.name.removeprefix('Pt2Pt ')}"
    return replace(of, key=key, name=name, boundary_first=True, says=says, effort=effort)


BOUNDARY = replace(boundary_first(SINGLE), key="boundary", name="Boundary first", effort="an interior apart")
PACKED = replace(
    SINGLE,
    key="packed",
    name="Pt2Pt single, all pack",
    all_pack=True,
    says="one message per neighbour, packed by all threads",
    effort="a parallel loop that packs",
)
# MPICH_ASYNC_PROGRESS and its like.
PROGRESS_THREAD = replace(
    SINGLE,
    key="progress-thread",
    name="Pt2Pt single, progress thread",
    progress_thread=True,
    says="one message per neighbour, and a progress thread",
    effort="a setting and a core",
)
# Receives are posted before; MPI_Send to one peer after the other.
BLOCKING = replace(SINGLE, key="blocking", name="Pt2Pt blocking", one_by_one=True, says="blocking sends")
MANY = Interface(
    key="many",
    name="Pt2Pt many",
    call="MPI_Send",
    splits=True,
    persistent=True,
    matches=True,
    completes="threads",
    mechanism="communicators",
    says="messages by threads",
    effort="a tiled loop",
)
# Threads start their messages and go on; the master waits for all of them, as it did before the port.
MANY_JOINED = replace(MANY, key="many-joined", name="Pt2Pt many, one waits", completes="master")
# A code whose threads each send their own part, and wait for it.
PER_THREAD = replace(MANY, key="per-thread", name="Pt2Pt per thread", persistent=False)
RMA_SINGLE_ACTIVE = Interface(
    key="rma-single-active",
    name="RMA single - active",
    call="MPI_Put",
    splits=True,
    sync="active",
    says="puts by threads",
    effort="a tiled loop, windows, epochs",
)
RMA_SINGLE_PASSIVE = replace(RMA_SINGLE_ACTIVE, key="rma-single-passive", name="RMA single - passive", sync="passive")
RMA_MANY_PASSIVE = replace(
    RMA_SINGLE_PASSIVE, key="rma-many-passive", name="RMA many - passive", mechanism="windows", windows_per_thread=True
)
RMA_MANY_ACTIVE = replace(
    RMA_MANY_PASSIVE, key="rma-many-active", name="RMA many - active", sync="active", completes="threads"
)
# A code that sends a buffer in several messages, one after the other, by one thread.
SEVERAL = replace(SINGLE, key="several", name="Pt2Pt several", splits=True, says="several messages", effort="packing")
# A research compiler pass (jammer2022), in no library.
PERSISTENT_MATCHED = Interface(
    key="persistent-matched",
    name="Persistent matched",
    call="MPI_Send",
    splits=True,
    mechanism="communicators",
    two_sided_rendezvous=True,
    says="persistent messages, matched before",
    needs="a compiler pass that proves matching (jammer2022)",
)

# A tester sees the clear-to-send, so that the last MPI_Pready sends.
PART_AM_TESTED = replace(tested(PART_AM), joins=False)
TESTED = (tested(SINGLE), tested(MANY_JOINED), tested(PART), tested(PART_WHOLE), PART_AM_TESTED)
"""Ways in which an idle thread makes progress: one that completes messages of its own is in MPI as it is."""
OVERLAPPED = (BOUNDARY, tested(BOUNDARY), *map(boundary_first, (PACKED, MANY, PART, PART_WHOLE, PART_AM)))
"""Ways in which the interior is computed while messages are on their way."""
INTERFACES: tuple[Interface, ...] = (
    SINGLE,
    PERSISTENT,
    PACKED,
    PROGRESS_THREAD,
    TESTED[0],
    SEVERAL,
    *OVERLAPPED[:2],
    MANY,
    MANY_JOINED,
    TESTED[1],
    PART,
    PART_WHOLE,
    PART_AM,
    *TESTED[2:],
    *OVERLAPPED[2:],
    RMA_SINGLE_ACTIVE,
    RMA_MANY_ACTIVE,
    RMA_SINGLE_PASSIVE,
    RMA_MANY_PASSIVE,
    PERSISTENT_MATCHED,
)
"""Interfaces to port to, simplest to program first."""
BOUND = Interface(
    key="bound", name="any library, at most", call="MPI_Send", splits=True, boundary_first=True, least=True
)
"""The yardstick of all ways; nobody can name or program it."""
EACH = Interface(key="each", name="each as advised", call="MPI_Send", splits=True)
"""Stands for a step of several exchanges, each sent as advised; users cannot name it."""
BY_KEY = {i.key: i for i in (*INTERFACES, BLOCKING, PER_THREAD)}
"""Interfaces by the key that users, files and benchmarks name."""


@dataclass(frozen=True)
class Approach:
    """An interface with its transport partitions and VCIs.

    VCIs beyond the adapter's hardware contexts share them round-robin (zambre2021 5.3).
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
    """One approach for all exchanges of a step: theirs if they are the same, else `EACH`."""
    return approaches[0] if len(set(approaches)) == 1 else Approach(EACH)


Today = Literal[
    "nonblocking",
    "overlapped",
    "blocking",
    "persistent",
    "several messages",
    "one message per thread",
    "partitioned",
    "partitioned, sent whole",
    "rma",
    "pipeline",
]
TODAY: Mapping[Today, Interface] = {
    "nonblocking": SINGLE,
    "overlapped": BOUNDARY,
    "blocking": BLOCKING,
    "persistent": PERSISTENT,
    "several messages": SEVERAL,
    "one message per thread": PER_THREAD,
    "partitioned": PART,
    "partitioned, sent whole": PART_AM,
    "rma": RMA_SINGLE_ACTIVE,
    "pipeline": BLOCKING,
}
"""Baselines: what applications do before a port. A pipeline, in which a send waits for a receive of the same step, is
not simulated."""


def baseline(today: Today, threads: int, partitions_per_thread: int = 1) -> Approach:
    """The baseline of comparisons; of several messages to a neighbour, each is a user partition."""
    interface = TODAY[today]
    several = threads * partitions_per_thread if interface in (SEVERAL, PART) else 1
    return interface.into(threads if interface is PER_THREAD else several)
