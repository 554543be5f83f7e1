"""The Machine: what communication costs on one cluster, and how sure each number is.

A machine is a TOML file. Every value in it is a table ``{ value, interval?, source, why }``, so that
a reader sees at the number whether it was measured, read in a paper or assumed. Shipped profiles
lie in ``profiles/``; `load` reads either a profile by name or a file.

The parameters are those of LogGP (Alexandrov et al., 1995, https://doi.org/10.1145/215399.215427),
per segment of message sizes, plus what threads and protocols add.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from datetime import date
from functools import cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from pready.model import units
from pready.model.errors import PreadyError, did_you_mean, shown
from pready.model.files import read_toml, validated
from pready.model.values import Provenance, Strict, Value

Protocol = Literal["short", "bcopy", "rendezvous"]
Progress = Literal["hardware", "thread", "on-call"]
PathName = Literal["inter", "intra"]
Puts = Literal["adapter", "processor", "deferred"]
Fabric = Literal["infiniband", "omni-path", "aries", "tcp"]

FORMAT = 1
"""Version of the machine file's layout."""


class Segment(Strict):
    """LogGP parameters of messages from `from_` bytes up to the next segment.

    A message of m bytes that meets an idle network takes o_s + O_s m, [handshake], G m, L,
    o_r + O_r m, in this order. O_s and O_r (seconds per byte) are the CPU's copies of the buffered
    protocol; absent, they follow the node's copy bandwidth for ``bcopy`` and are zero otherwise.
    """

    from_: units.Offset = Field(alias="from")
    protocol: Protocol
    L: Value[units.SignedTime]
    """May be negative above the first segment, where it is the intercept of a fitted line. What a message takes stays
    positive."""
    o_s: Value[units.Time]
    o_r: Value[units.Time]
    g: Value[units.Time]
    G: Value[units.TimePerByte]
    G_link: Value[units.TimePerByte] | None = None
    """G when many messages are in flight; absent, what the path's link bandwidth says."""
    O_s: Value[units.TimePerByte] | None = None
    O_r: Value[units.TimePerByte] | None = None
    O_r_beyond: Value[units.TimePerByte] | None = None
    """O_r of bytes that the cache of `[memory]` has no room for: of all that a rank receives in an exchange. Absent,
    as of others."""
    handshake: Value[units.Time] | None = None

    @model_validator(mode="after")
    def _handshake_iff_rendezvous(self) -> Segment:
        if (self.protocol == "rendezvous") != (self.handshake is not None):
            raise PreadyError(
                f"protocol = {shown(self.protocol)}, handshake = {self.handshake and self.handshake.value}",
                valid="a handshake for rendezvous, none for short and bcopy",
            )
        if self.G.value <= 0:
            raise PreadyError(f"G = {self.G.value!r}", valid="greater than 0")
        if self.handshake is not None and self.handshake.value <= 0:
            raise PreadyError(f"handshake = {self.handshake.value!r}", valid="greater than 0")
        if self.O_r_beyond is not None and (self.O_r is None or self.O_r_beyond.value < self.O_r.value):
            raise PreadyError(
                f"O_r_beyond = {self.O_r_beyond.value:g} s/B beside "
                + ("no O_r" if self.O_r is None else f"O_r = {self.O_r.value:g} s/B"),
                valid="an O_r, of what the cache holds, that is not slower",
            )
        if self.G_link is not None and self.G_link.value > self.G.value * (1 + 1e-6):
            raise PreadyError(
                f"G_link = {self.G_link.value:g} s/B is slower than one message alone",
                valid=f"at most G = {self.G.value:g} s/B",
            )
        return self


class SizeCurve(Provenance):
    """Times measured at a few message sizes: linear in the logarithm between them, constant outside."""

    sizes: tuple[units.Size, ...]
    time: tuple[units.Time, ...]
    interval: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Relative half-width of the 95 % interval of every time."""

    @model_validator(mode="after")
    def _valid(self) -> SizeCurve:
        if not self.sizes or len(self.sizes) != len(self.time) or any(a >= b for a, b in pairwise(self.sizes)):
            raise PreadyError(
                f"{len(self.time)} times for sizes {list(self.sizes)}", valid="as many, of increasing sizes"
            )
        return self

    def at(self, size: float) -> float:
        """The time of messages of `size` bytes."""
        import numpy as np  # not for who only lists machines

        return float(np.interp(math.log(max(size, 1.0)), np.log(self.sizes), self.time))


class SendCompletes(Provenance):
    """When a send of `from_` bytes or more is complete: a property of a library over a transport.

    ``copied``: once its data are copied; ``left``: once its last byte has left; ``delivered``: once the receiver, in
    MPI, has it and that is known here. Then MPI_Win_complete, too, returns when the targets have what was put.
    Smaller sends are complete once their data are copied.
    """

    interval: ClassVar[None] = None
    value: Literal["copied", "left", "delivered"]
    from_: units.Offset = Field(default=0.0, alias="from")


class NetworkPath(Strict):
    """One way between two ranks: its segments by message size, and what many messages reach."""

    segments: Annotated[tuple[Segment, ...], Field(min_length=1)]
    link_bandwidth: Value[units.Bandwidth]
    send_completes: SendCompletes | None = None
    """When a send is complete; absent: an eager one once its data are copied, a rendezvous once its last byte has
    left."""

    @model_validator(mode="after")
    def _ordered(self) -> NetworkPath:
        starts = [s.from_ for s in self.segments]
        if starts[0] != 0 or any(a >= b for a, b in pairwise(starts)):
            raise PreadyError(f"segments start at {starts} bytes", valid="increasing sizes, the first from 0 B")
        for segment in self.segments:
            least = segment.o_s.value + segment.L.value + segment.o_r.value + segment.G.value * segment.from_
            if least < 0 or (segment.from_ == 0 and segment.L.value < 0):
                raise PreadyError(
                    f"segments: L = {segment.L.value:g} s from {segment.from_:g} B, so messages arrive before they go",
                    valid="L of at least 0 in the first segment, o_s + L + G m + o_r of at least 0 in the others",
                )
            if segment.G_link is None and segment.G.value * self.link_bandwidth.value < 1 - 1e-6:
                raise PreadyError(
                    f"segments: G = {segment.G.value:g} s/B from {segment.from_:g} B beats the link bandwidth",
                    valid=f"at least {1 / self.link_bandwidth.value:g} s/B (one message cannot outrun the link)",
                )
        return self

    def segment(self, size: float) -> Segment:
        """The segment that a message of `size` bytes falls into."""
        return self.segments[self.place(size)]

    def place(self, size: float) -> int:
        """Where that is among the segments."""
        return bisect_right([s.from_ for s in self.segments], size) - 1


class TeamCurve(Provenance):
    """A time by team size, linear between measured teams."""

    of: ClassVar[str]
    """What it is the time of, for messages."""
    threads: tuple[int, ...]
    time: tuple[units.Time, ...]
    interval: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Relative half-width of the 95 % interval of every time."""

    @model_validator(mode="after")
    def _valid(self) -> Self:
        xs, ys = self.threads, self.time
        if len(xs) != len(ys) or len(xs) < 2:
            raise PreadyError(
                f"{self.of} time has {len(ys)} values for {len(xs)} thread counts", valid="as many, at least 2"
            )
        if xs[0] != 1 or any(a >= b for a, b in pairwise(xs)):
            raise PreadyError(f"threads = {list(xs)}", valid="increasing, from 1")
        if any(a > b for a, b in pairwise(ys)) or not all(math.isfinite(y) and y >= 0 for y in ys):
            raise PreadyError(f"{self.of} time = {list(ys)}", valid="finite, at least 0, never decreasing")
        return self

    def at(self, threads: int) -> float:
        """The time of a team of `threads`.

        Raises
        ------
        PreadyError
            More threads than were measured.
        """
        import numpy as np

        xs = self.threads
        if not xs[0] <= threads <= xs[-1]:
            raise PreadyError(
                f"{self.of} time is known for {xs[0]} to {xs[-1]} threads, not for {threads}",
                valid=f"a machine file whose {self.of} time curve reaches {threads} threads",
            )
        return float(np.interp(threads, xs, self.time))

    def up_to(self, threads: int) -> list[float]:
        """The times of teams of 1 to `threads`, as `at` says them."""
        import numpy as np

        self.at(threads)
        each: list[float] = np.interp(range(1, threads + 1), self.threads, self.time).tolist()
        return each


class Barrier(TeamCurve):
    """Time of a barrier of k threads."""

    of = "barrier"


class Contention(TeamCurve):
    """What it costs a message to find its VCI's lock taken when k threads share it; nothing for k = 1.

    The lock and what it protects move to another core. Who finds the lock free pays nothing.
    """

    of = "contention"

    @model_validator(mode="after")
    def _alone(self) -> Self:
        if self.time[0] != 0:
            raise PreadyError(f"time = {self.time[0]:g} s for one thread", valid="0 s: nobody to wait for")
        return self


class Threads(Strict):
    """What threads add: marking partitions ready, meeting in a barrier, sharing and polling VCIs."""

    pready: Value[units.Time]
    """One MPI_Pready, or one decrement of a counter that the user keeps."""
    vci_poll: Value[units.Time]
    """What each further VCI adds when one thread completes messages on all of them (zambre2021 5.1)."""
    barrier: Barrier
    contention: Contention
    contention_put: Contention | None = None
    """The same for MPI_Put; absent, as for sends."""


class Matching(Strict):
    """Cost of finding the receive that a message belongs to (jammer2022)."""

    base: Value[units.Time]
    per_entry: Value[units.Time]


class Requests(Strict):
    """What a request costs, before the loop and in it."""

    setup: Value[units.Time] | None = None
    """What of o_s a send saves whose request was set up before (MPI_Send_init); absent: nothing."""


class Begin(Strict):
    """What it costs a rank to begin, once: setting something up, and what its first use takes longer than the next."""

    persistent: Value[units.Time]
    """A persistent request (MPI_Send_init or MPI_Recv_init)."""
    partitioned: Value[units.Time]
    """A partitioned one (MPI_Psend_init or MPI_Precv_init), with the handshake of its first start."""
    window: Value[units.Time]
    """MPI_Win_create."""
    registration: Value[units.TimePerByte]
    """Registering the memory that a window exposes."""
    communicator: Value[units.Time]
    """MPI_Comm_dup."""


class OneSided(Strict):
    """What RMA adds (gillis2023 2.3.3): opening and closing epochs, one by one per window."""

    put: Value[units.Time]
    """Overhead of one MPI_Put, in place of o_s."""
    epoch: Value[units.Time]
    """CPU time to open and close an epoch on one window, on top of its messages."""
    flush: Value[units.Time] | None = None
    """The same for passive synchronisation; absent, as for active."""
    window: Value[units.Time] | None = None
    """The same for each further window; absent, as for the first."""
    puts: Value[Puts] | None = None
    """How MPI_Put moves its data: by the adapter; taken in by the target's processor, one thread in MPI, o_r + O_r m
    each, where the library makes active messages of puts; or deferred to the origin's call that ends the epoch. Absent:
    by the adapter."""


class Memory(Strict):
    """Copy bandwidth of one core, and the cache that it receives into."""

    copy_hot: Value[units.Bandwidth]
    copy_cold: Value[units.Bandwidth]
    cache: Value[units.Size] | None = None
    """The last-level cache of the core that receives: of a socket, or of a part of one. What a rank receives beyond it
    in an exchange costs a segment's `O_r_beyond`. Absent: it holds all."""
    caches: Value[Annotated[int, Field(ge=1)]] | None = None
    """How many of them a node has; ranks of a node share them evenly, but no rank receives into two. Absent: one."""

    def part(self, ranks: int) -> float:
        """What of a cache is for a rank, of so many that share a node."""
        return min(1.0, (1 if self.caches is None else self.caches.value) / ranks)


class Network(Provenance):
    """What lies between the nodes, for what a prediction says of congestion; nodes are filled in order."""

    topology: Literal["torus", "fattree"]
    extents: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1, max_length=6)] | None = None
    """Of a torus: nodes along each axis, the first one's neighbours next to each other."""
    nodes_per_switch: Annotated[int, Field(ge=1)] | None = None
    """Of a fat tree: nodes on an edge switch."""
    taper: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 1.0
    """Of a fat tree: cables to nodes over cables up, of one edge switch."""

    @model_validator(mode="after")
    def _consistent(self) -> Network:
        torus = self.topology == "torus"
        if (
            (self.extents is not None) != torus
            or (self.nodes_per_switch is None) != torus
            or (torus and self.taper > 1)
        ):
            raise PreadyError(
                f"network: topology = {shown(self.topology)} with the other's fields, or without its own",
                valid="extents for a torus, nodes_per_switch and a taper for a fattree",
            )
        return self

    @property
    def nodes(self) -> int | None:
        """How many; None: as many as are needed."""
        return None if self.extents is None else math.prod(self.extents)

    @property
    def uplinks(self) -> float:
        """Cables up from an edge switch of a fat tree, at least one."""
        return max(1.0, (self.nodes_per_switch or 0) / self.taper)

    @property
    def sst_name(self) -> str:
        """What ``pready sst run --topology`` calls it."""
        if self.extents is not None:
            return "torus:" + "x".join(map(str, self.extents))
        return f"fattree:{self.taper:g}:{self.nodes_per_switch}"

    @property
    def title(self) -> str:
        """In words."""
        if self.extents is not None:
            return f"a {' x '.join(map(str, self.extents))} torus"
        return f"a fat tree tapered {self.taper:g}:1" if self.taper > 1 else "a full fat tree"


class Library(Strict):
    """The MPI library that the machine was described with."""

    name: str
    early_send: Value[bool] | None = None
    """Measured: does MPI_Pready send before the last partition is ready?"""
    version: str | None = None


class Machine(Strict):
    """One cluster. See the fields' own types."""

    format: Literal[1]
    name: str = Field(min_length=1)
    description: str = ""
    created: date
    created_by: str
    """The tool and version, or who wrote it from which paper."""
    library: Library
    fabric: Fabric | None = None
    """Which network; decides, with the library, how puts move where the file does not say it (`pready.model.puts`)."""
    progress: Value[Progress]
    """When a rendezvous moves: without the CPU, by a progress thread, or only inside MPI calls."""
    sender_progress: Value[Progress] | None = None
    """When the sender's half of a rendezvous moves; absent, without the sender (the receiver reads)."""
    contexts: Value[Annotated[int, Field(ge=1)]]
    """Hardware contexts of the adapter: VCIs beyond them share round-robin (zambre2021 5.3)."""
    inter: NetworkPath
    intra: NetworkPath | None = None
    threads: Threads
    matching: Matching
    one_sided: OneSided
    memory: Memory
    requests: Requests | None = None
    """What setting up requests costs; absent: nothing."""
    begin: Begin | None = None
    """What it costs to begin; absent: nothing."""
    network: Network | None = None
    """What lies between the nodes; absent: nothing is said of congestion."""
    active_message: SizeCurve | None = None
    """What ``MPI_Psend`` over active messages takes longer than a send, copies aside; absent: nothing."""
    cold: SizeCurve | None = None
    """What the first message after computing takes longer, code and data having left the caches; absent: nothing."""

    @model_validator(mode="after")
    def _cache_with_what_is_beyond(self) -> Machine:
        paths = [p for p in (self.inter, self.intra) if p is not None]
        beyond = any(s.O_r_beyond is not None for p in paths for s in p.segments)
        if beyond != (self.memory.cache is not None):
            raise PreadyError(
                "O_r_beyond without memory.cache" if beyond else "memory.cache without O_r_beyond in any segment",
                valid="both, or neither: what is received beyond the cache, and how large that is",
            )
        if self.memory.caches is not None and not beyond:
            raise PreadyError("memory.caches without memory.cache", valid="how large each of them is")
        return self

    def path(self, name: PathName) -> NetworkPath:
        """The inter- or intra-node path.

        Raises
        ------
        PreadyError
            The machine has no intra-node path.
        """
        if name == "inter":
            return self.inter
        if self.intra is None:
            raise PreadyError(
                f"{self.name} has no intra-node path",
                valid="an [intra] table, measured by 'pready calibrate --intra' with two ranks on one node "
                '(--launcher "srun -N 1 -n 2") into the same file',
            )
        return self.intra

    @property
    def bandwidth(self) -> float:
        """β: what one large message reaches between nodes, in B/s."""
        return 1 / self.inter.segments[-1].G.value

    def values(self) -> list[tuple[str, Value[Any] | SendCompletes | TeamCurve | SizeCurve]]:
        """Every value with its dotted name, in file order."""
        return list(_walk(self, ""))


def _walk(table: Strict, prefix: str) -> Iterator[tuple[str, Value[Any] | SendCompletes | TeamCurve | SizeCurve]]:
    for name, info in type(table).model_fields.items():
        item = getattr(table, name)
        label = f"{prefix}{info.alias or name}"
        if isinstance(item, (Value, SendCompletes, TeamCurve, SizeCurve)):
            yield label, item
        elif isinstance(item, Strict):
            yield from _walk(item, f"{label}.")
        elif isinstance(item, tuple):
            for i, part in enumerate(item):
                if isinstance(part, Strict):
                    yield from _walk(part, f"{label}[{i}].")


def profiles() -> dict[str, Any]:
    """The shipped profiles: lower-case name to resource."""
    folder = resources.files("pready.model") / "profiles"
    return {
        p.name.removesuffix(".toml"): p
        for p in sorted(folder.iterdir(), key=lambda p: p.name)
        if p.name.endswith(".toml")
    }


@cache
def _profile(name: str) -> Machine:
    resource = profiles()[name]
    with resources.as_file(resource) as path:
        return validated(Machine, read_toml(path), f"profile {name}")


def load(name_or_path: str | Path) -> Machine:
    """A machine by profile name or from a file.

    Raises
    ------
    PreadyError
        No such profile or file, or a file that is not a valid machine: one line naming file, field,
        value and what is valid.
    """
    text = str(name_or_path)
    known = profiles()
    if text.lower() in known:
        return _profile(text.lower())
    path = Path(text)
    if not path.exists() and "/" not in text and not text.endswith(".toml"):
        problem = f"machine = {shown(text)} is unknown{did_you_mean(text, known)}"
        raise PreadyError(problem, valid=f"a file, or one of {', '.join(known)}")
    return validated(Machine, read_toml(path), text)
