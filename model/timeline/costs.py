"""From a Machine to the numbers of one message size: what each step of the timeline costs.

A cost is an array of shape (rows,) or (); a row is one sample of one configuration (`pready.model.timeline.sampling`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pready.model.approach.interfaces import PART_AM, Interface
from pready.model.common.arrays import Array
from pready.model.machine.adapter import TOGETHER
from pready.model.machine.contention_by_library import contention, waiting
from pready.model.machine.machine import Machine
from pready.model.machine.path import NetworkPath, PathName, Segment
from pready.model.machine.transports import copies_of
from pready.model.timeline.own_error import factor
from pready.model.timeline.sampling import Sampler
from pready.model.toml.provenance import Value
from pready.model.workload.workload import Workload

BoolArray = NDArray[np.bool_]
_FIXED = ("o_s", "L", "o_r")
"""Terms of a line's time at no bytes."""
BY_SHARING = ("contention", "waiting")
"""Costs that depend on how many threads share a VCI: one value for each number of them."""
SHARING = 4
"""Ranks that share a node, where a workload does not say how many do."""
SHORTEST_HANDSHAKE = 1e-15
"""Seconds; no draw makes a rendezvous an eager message, whose handshake is 0."""


@dataclass(frozen=True)
class Costs:
    """Seconds (and shares of seconds) of each step, for messages of one size.

    Every field is an array of shape (rows,) or ().
    """

    size: Array
    """m: bytes of the message."""
    hold: Array
    """o_s: holding the VCI's lock for one message."""
    setup: Array
    """The part of it that a persistent send saves."""
    copy_in: Array
    """O_s m: the sender's eager copy, with the lock held."""
    put: Array
    """CPU time of an MPI_Put, in place of o_s + O_s m."""
    handshake: Array
    """Rendezvous: from issue to the first byte on the wire with both sides in MPI; 0 for eager."""
    gap: Array
    """g: between two messages of one adapter."""
    put_gap: Array
    """Between two puts of one adapter: no longer than a put that a stream showed."""
    shared: Array
    """Between two messages of one adapter of a node, whichever of its ranks send them."""
    stream: Array
    """G m: one message alone."""
    link: Array
    """Seconds that the message occupies the link; at most `stream`."""
    wire: Array
    """L."""
    on_call: BoolArray
    """Is a rendezvous answered only by a thread in MPI?"""
    receive: Array
    """o_r + O_r m, and the constant part of matching."""
    per_entry: Array
    """Matching cost per queued entry searched."""
    control: Array
    """A message without payload, from call to call."""
    copy_out: Array
    """m over the copy bandwidth: the copy of an active message, on each side; 0 where nobody copies it."""
    barrier: Array
    epoch: Array
    """Synchronisation of one window with all peers."""
    contention: Array
    """Shape (threads + 1,) or (rows, threads + 1): what a message pays that waits for the lock of a VCI that k threads
    share."""
    waiting: Array
    """What the wait costs of each of k threads that wait in MPI for messages of one VCI."""

    def asks(self, interface: Interface) -> BoolArray:
        """Does a message wait for its receiver in MPI? A rendezvous does, and a fetched active message."""
        if interface.active_message:
            return np.asarray(self.size >= interface.fetched_from)
        return np.asarray(np.logical_and(interface.shakes, self.handshake > 0))

    def half_shake(self, interface: Interface) -> Array:
        """One way of the handshake; 0 for an active message that is copied, whose cost contains it."""
        asks = self.asks(interface) & ((not interface.active_message) | (self.copy_out == 0))
        return np.where(asks, 0.5 * self.handshake, 0.0)

    def rows(self, some: int | slice | NDArray[np.int64]) -> Costs:
        """The costs of some rows; a cost that is the same in all rows stays a scalar."""

        def those(name: str) -> NDArray[Any]:
            value: NDArray[Any] = getattr(self, name)
            return value if value.ndim == (name in BY_SHARING) else np.asarray(value[some])

        return Costs(**{f.name: those(f.name) for f in fields(Costs)})

    def where(self, rows: BoolArray, other: Costs) -> Costs:
        """These costs in some rows, another's in the others."""

        def those(name: str) -> NDArray[Any]:
            mine, its = getattr(self, name), getattr(other, name)
            if mine is its:
                return np.asarray(mine)
            return np.asarray(np.where(rows[:, None] if name in BY_SHARING else rows, mine, its))

        return Costs(**{f.name: those(f.name) for f in fields(Costs)})


def costs(sampler: Sampler, workload: Workload, size: float) -> Costs:
    """The costs of messages of `size` bytes for a workload on the sampler's machine.

    Raises
    ------
    PreadyError
        More threads than the machine's contention or barrier curve covers.
    """
    path = sampler.machine.path(workload.path)
    of_all = (workload.path, workload.cache, workload.threads, len(workload.sends))
    alike = sampler.once(of_all, lambda: _of_all_sizes(sampler, workload, path))
    made = [
        (_in_segment(sampler, workload, size, index, alike), rows)
        for index, rows in sampler.places(workload.path, path, size)
    ]
    (out, _), *others = made
    for other, rows in others:
        out = out.where(~rows, other)
    return out


def _in_segment(sampler: Sampler, workload: Workload, size: float, index: int, alike: dict[str, Array]) -> Costs:
    """The costs of messages of `size` bytes in one of the path's segments."""
    path = sampler.machine.path(workload.path)
    segment = path.segments[index]
    fitted = sampler.once((workload.path, index), lambda: _of_segment(sampler, workload.path, path, index))
    copy = size / alike["copy"]
    copy_in, copied_out, in_handshake = _copies(sampler, workload.path, path, alike["copy"], index, size)
    stream = size * fitted["G"]
    # L of a fitted line may be negative; no draw of it makes a message arrive before it has left.
    wire = np.maximum(fitted["L"], -stream)
    link = np.minimum(size * fitted["G_link"] if "G_link" in fitted else size / alike["link_bandwidth"], stream)
    put, known = _put(sampler, workload, path, size, alike["copy"]), sampler.machine.one_sided.put
    shared, port = _shared(sampler, size, fitted["g"] + link), factor(sampler, "ports")
    one = port if workload.two_way else np.ones(())  # a port's two directions share it, as ranks do
    gap = put_gap = one * fitted["g"]
    if known is not None and known.source != "assumed":
        put_gap = np.minimum(gap, put)
    link = one * link
    if workload.path == "inter" and "share of an adapter" in sampler.alternatives:
        link = np.maximum(link, _with_others(sampler, shared) - gap)
    stream = np.maximum(stream, link)
    return Costs(
        size=np.asarray(float(size)),
        hold=fitted["o_s"],
        copy_in=copy_in,
        put=put,
        handshake=np.where(
            fitted["handshake"] > 0, np.maximum(fitted["handshake"] - in_handshake, SHORTEST_HANDSHAKE), 0.0
        ),
        gap=gap,
        put_gap=put_gap,
        shared=shared,
        stream=stream,
        link=link,
        wire=wire,
        on_call=_on_call(sampler, segment),
        receive=fitted["o_r"] + copied_out + alike["matching"],
        copy_out=copy if _copied(sampler.machine, workload.path, size) else np.zeros(()),
        **{name: alike[name] for name in _ALIKE},
    )


def _on_call(sampler: Sampler, segment: Segment) -> BoolArray:
    """Is a rendezvous in this segment answered only by a thread in MPI? By what the file says, or as it is drawn."""
    of = sampler.alternatives.get("who answers a rendezvous")
    if segment.progress is not None or of is None:
        return np.asarray((segment.progress or sampler.machine.progress).value == "on-call")
    return np.asarray(np.isin(sampler.chosen(of.name), [n for n, o in enumerate(of.options) if o == "on-call"]))


def _copied(machine: Machine, path: PathName, size: float) -> bool:
    """Do both sides copy an active message? Within a node through cells of shared memory (pmodels/mpich
    src/mpid/ch4/shm/posix/posix_am.h)."""
    which = "all" if path == "intra" else copies_of(machine).value
    return which == "all" or (which == "small" and size < PART_AM.fetched_from)


_ALIKE = ("setup", "per_entry", "control", "barrier", "epoch", *BY_SHARING)
"""Costs of a message whatever its size."""


def _of_all_sizes(sampler: Sampler, workload: Workload, path: NetworkPath) -> dict[str, Array]:
    """`_ALIKE`, and the rates that other costs are made of."""
    m, at, n = sampler.machine, workload.path, workload.threads
    by_byte, by_message, by_lock = (factor(sampler, of) for of in ("bytes", "messages", "locks"))
    copy = m.memory.copy_hot if workload.cache == "hot" else m.memory.copy_cold
    epoch, peer = (np.maximum(sampler(f"one_sided.{x}", getattr(m.one_sided, x)), 0.0) for x in ("epoch", "epoch_peer"))
    setup = None if m.requests is None else m.requests.setup
    return {
        "copy": sampler(f"memory.copy_{workload.cache}", copy) / by_byte,
        "link_bandwidth": sampler(f"{at}.link_bandwidth", path.link_bandwidth) / by_byte,
        "matching": sampler("matching.base", m.matching.base) * by_message,
        "setup": np.asarray(0.0) if setup is None else sampler("requests.setup", setup) * by_message,
        "per_entry": sampler("matching.per_entry", m.matching.per_entry) * by_message,
        "control": np.asarray(sum(_of_segment(sampler, at, path, 0)[name] for name in _FIXED)),
        "barrier": sampler.team("barrier", m.threads.barrier, n),
        "epoch": epoch + len(workload.sends) * peer,
        "contention": sampler.sharing("contention", contention(m), n) * by_lock[..., None],
        "waiting": sampler.sharing("waiting", waiting(m), n) * by_lock[..., None],
    }


def _of_segment(sampler: Sampler, at: str, path: NetworkPath, index: int) -> dict[str, Array]:
    """The values of a segment, each times what the model itself is off by; a negative L is a fit's, no time."""
    segment, label = path.segments[index], f"{at}.segments[{index}]"
    fitted = {name: sampler(f"{label}.{name}", getattr(segment, name)) for name in ("o_s", "L", "o_r", "G", "g")}
    fitted["handshake"] = np.asarray(0.0)
    if segment.handshake is not None:
        fitted["handshake"] = np.maximum(sampler(f"{label}.handshake", segment.handshake), SHORTEST_HANDSHAKE)
    if segment.G_link is not None:
        fitted["G_link"] = sampler(f"{label}.G_link", segment.G_link)
    by_byte, by_message = factor(sampler, "bytes"), factor(sampler, "messages")
    return {
        name: value * (by_byte if name.startswith("G") else np.where(value > 0, by_message, 1.0))
        for name, value in fitted.items()
    }


def _with_others(sampler: Sampler, shared: Array) -> Array:
    """How long an adapter is busy with a message and with those that others of its node send at once, in draws where
    they do; else 0. For ways of sending that are not simulated on ranks of a node."""
    adapter = sampler.machine.adapter
    rails = 1 if adapter is None else min(adapter.rails.value, SHARING)
    used = np.where(sampler.chosen("placement") == 1, 1, rails)
    return np.where(sampler.chosen("share of an adapter") == 1, SHARING / used * shared, 0.0)


def _shared(sampler: Sampler, size: float, own: Array) -> Array:
    """How long a message keeps an adapter that ranks share; `own`: a rank's own, of which several reach `TOGETHER`."""
    adapter, off = sampler.machine.adapter, factor(sampler, "ports")
    if adapter is None:
        return np.asarray(off * own / sampler("adapter.rate", TOGETHER))
    rate, gap = sampler("adapter.rate", adapter.rate), sampler("adapter.gap", adapter.gap)
    return np.asarray(off * (gap + size * adapter.rails.value / rate))


def _put(sampler: Sampler, workload: Workload, path: NetworkPath, size: float, copy: Array) -> Array:
    """CPU time of a put at a copy bandwidth: its own where it is known, else a send's of the same size.

    Beyond the largest size that is known, a curve grows as a send's time does: it, too, copies or registers.
    """
    own, off = sampler.machine.one_sided.put, factor(sampler, "messages")
    if isinstance(own, Value):
        return np.asarray(off * sampler("one_sided.put", own))

    def send(of: float) -> Array:
        """o_s + O_s m."""
        at = path.place(of)
        fitted = sampler.once((workload.path, at), lambda: _of_segment(sampler, workload.path, path, at))
        return np.asarray(fitted["o_s"] + _copies(sampler, workload.path, path, copy, at, of)[0])

    if own is None:
        return send(size)
    known, largest = off * sampler.curve("one_sided.put", own, size), own.sizes[-1]
    return known if size <= largest else np.asarray(known + np.maximum(send(size) - send(largest), 0.0))


def _copies(
    sampler: Sampler, at: PathName, path: NetworkPath, copy: Array, index: int, size: float
) -> tuple[Array, Array, Array]:
    """O_s m, O_r m and what of both a handshake contains, at a copy bandwidth, in one of the path's segments.

    An assumed overhead with its copy is at least that of the largest message of the protocol before: what is no longer
    copied is registered, asked for and confirmed instead, which is a part of the handshake. A library changes its
    protocol where neither is faster (UCX estimates both, src/ucp/proto; Hawk: 2.14 us a message of 16 KiB that is
    copied, 2.16 of 32 KiB that is not), and does not know whose data are in cache: the price is that of data that are.
    """
    segment = path.segments[index]
    off = size * factor(sampler, "bytes")
    own = [_copy(segment, per_byte, off, size / copy) for per_byte in (segment.O_s, segment.O_r)]
    if index == 0:
        return own[0], own[1], np.zeros(())
    fitted, before = (sampler.once((at, i), partial(_of_segment, sampler, at, path, i)) for i in (index, index - 1))
    hot = sampler("memory.copy_hot", sampler.machine.memory.copy_hot) / factor(sampler, "bytes")
    copied = _copies(sampler, at, path, hot, index - 1, min(size, segment.from_))
    made = [
        np.maximum(mine, before[o] + theirs - fitted[o]) if overhead.source == "assumed" else mine
        for o, mine, theirs, overhead in zip(("o_s", "o_r"), own, copied, (segment.o_s, segment.o_r), strict=False)
    ]
    return made[0], made[1], np.asarray(sum(made) - sum(own))


def _copy(segment: Segment, per_byte: Value[float] | None, size: Array, copy: Array) -> Array:
    """The CPU's copy of a message: the segment's, else the node's copy for bcopy, else none."""
    if per_byte is not None:
        return np.asarray(size * per_byte.value)
    return copy if segment.protocol == "bcopy" else np.asarray(0.0)
