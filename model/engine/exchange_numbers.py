"""What an exchange costs, and which of its steps there are, in the kernel's numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from pready.model.approach.interfaces import Approach, Interface
from pready.model.approach.vcis import issuers
from pready.model.common.arrays import Array
from pready.model.engine._kernel import FIELDS
from pready.model.engine.ranks.mapping import Mapping
from pready.model.engine.ranks.pattern import Pattern
from pready.model.engine.ready_numbers import TABLE
from pready.model.timeline.costs import Costs
from pready.model.timeline.rules import (
    Setting,
    answers_inside,
    asks,
    contending,
    epochs,
    holding,
    late_puts,
    latest_by_thread,
    leaves,
    received,
    received_in,
    receivers,
    released,
    searched,
    serving,
    tested,
    work,
)
from pready.model.workload.workload import Workload

_SAME = [f.name for f in fields(Costs) if FIELDS.get(f.name) in (("float64", ""), ("float64", "classes"))]
"""Costs that the kernel takes as they are, by the same name: of the rank, or of each class of messages."""
RECEIVERS = {"master": 0, "threads": 1, "none": 2}
SYNC = {"none": 0, "active": 1, "passive": 2}


@dataclass(frozen=True)
class Exchange:
    """What the numbers of one exchange follow from."""

    workload: Workload
    approach: Approach
    pattern: Pattern
    setting: Setting
    by_class: list[Costs]
    members: list[list[int]]
    mapping: Mapping | None
    rows: int

    @property
    def interface(self) -> Interface:
        """The approach's."""
        return self.approach.interface

    @property
    def first(self) -> Costs:
        """Costs that are the same for all classes."""
        return self.by_class[0]

    @property
    def transports(self) -> int:
        """Messages per neighbour."""
        return self.approach.messages

    @property
    def per_message(self) -> int:
        """User partitions of a message."""
        return (
            self.workload.n_partitions // self.transports if self.mapping is None else len(self.mapping.partitions[0])
        )

    @cached_property
    def sharing(self) -> tuple[int, ...]:
        """How many threads issue the messages of each VCI, and wait for them where each completes its own."""
        w = self.workload
        if self.mapping is not None:
            return tuple(self.mapping.issuers)
        return issuers(self.approach, w.threads, w.partitions_per_thread, self.setting.contexts)

    @property
    def queue(self) -> float:
        """Messages that a rank receives through a VCI."""
        jobs = self.setting.sources * self.transports if self.mapping is None else len(self.mapping.partitions)
        return jobs / len(self.members)

    @property
    def in_order(self) -> float:
        """Of them, those that one thread of one neighbour sends."""
        return self.transports / len(self.members) / max(self.sharing)

    @property
    def received_in(self) -> int:
        """Partitions of a message at its receiver."""
        return received_in(self.transports, self.per_message, self.setting)

    @property
    def computing(self) -> bool:
        """Does the receiver compute, rather than wait in MPI?"""
        return self.workload.receiver_computes

    def wide(self, cost: Array) -> Array:
        """A cost by row, shape (rows,)."""
        if cost.shape == (self.rows,):  # of hundreds of plans; np.broadcast_to and np.full take their time
            return cost
        return cost.reshape(1) if self.rows == 1 else cost.repeat(self.rows)

    def each(self, cost: Callable[[Costs], Array]) -> Array:
        """A cost by row and class, shape (rows, classes)."""
        if len(self.by_class) == 1:  # as above
            return self.wide(cost(self.first))[:, None]
        return np.array([self.wide(cost(c)) for c in self.by_class]).T  # np.stack takes twice as long

    @property
    def sweeps(self) -> bool:
        """Does a rank receive before it computes? All that it sent before has left its hands when it answers."""
        return self.pattern.name == "sweep3d"

    @cached_property
    def receive(self) -> Array:
        """CPU time of one message, less what grows with the queue, shape (rows, classes)."""
        return self.each(lambda c: received(c, self.approach, self.setting, max(self.sharing), self.queue))

    @cached_property
    def per_entry(self) -> Array:
        """CPU time for each message that is queued before, shape (rows,)."""
        return self.wide(self.first.per_entry if self.interface.matches else np.asarray(0.0))

    @cached_property
    def asks(self) -> NDArray[np.bool_]:
        """Does a message ask before it goes, by class? As its protocol says, however short the handshake."""
        return np.array([bool(asks(c, self.interface, self.setting).any()) for c in self.by_class])

    @property
    def answered_in_mpi(self) -> NDArray[np.bool_]:
        """Is a request answered only when a thread of its receiver is in MPI, by class?"""
        if not self.computing or self.sweeps:
            return np.zeros_like(self.asks)
        return self.asks & [bool(answers_inside(c, self.interface, self.setting).any()) for c in self.by_class]

    @cached_property
    def serving(self) -> list[list[int]]:
        """The threads that make progress, of all VCIs or VCI by VCI."""
        waiting = None if self.mapping is None else self.mapping.waiting
        return serving(self.approach, self.setting, self.members, waiting)

    @cached_property
    def completes(self) -> Array:
        """From when a message leaves until its send is complete, shape (rows, classes); -inf: once it may go."""
        return self.each(lambda c: np.where(leaves(c, self.interface), c.stream, -np.inf))

    @cached_property
    def travel(self) -> Array:
        """From when a message leaves until it arrives, shape (rows, classes)."""
        return self.each(lambda c: c.stream + c.wire)

    @cached_property
    def hold(self) -> Array:
        """Seconds that a message holds its VCI's lock, shape (rows, classes)."""
        return self.each(lambda c: holding(c, self.approach))

    @cached_property
    def epoch(self) -> Array:
        """Time to open or close an epoch, shape (rows,)."""
        one_sided = self.interface.one_sided
        return self.wide(epochs(self.first, self.approach, self.setting) if one_sided else np.asarray(0.0))


def message_numbers(x: Exchange) -> dict[str, object]:
    """How a rank's buffers are split into messages, and which VCI each goes through."""
    return {
        "classes": len(x.by_class),
        "transports": x.transports,
        "threads": x.workload.threads,
        "own_threads": x.interface.completes == "threads",
        **_groups(x.serving, x.workload.threads),
        "theta": x.workload.partitions_per_thread,
        "per_bin": x.per_message,
        "mapped": x.mapping is not None,
        **_parts(x.mapping, x.workload.n_partitions),
        "vcis": len(x.members),
        "vci_size": [len(m) for m in x.members],
        "vci_members": [t for m in x.members for t in m],
    }


def steps(x: Exchange) -> dict[str, object]:
    """Which of the timeline's steps there are, and how they go."""
    interface, asks = x.interface, bool(x.asks.any())
    return {
        "joins": interface.joins,
        "opens": interface.one_sided,
        "granted": interface.active_message,
        "deferred": late_puts(interface, x.setting),
        "rounds": x.pattern.directions > 1
        and not x.sweeps
        and len(x.members) == 1
        and (interface.two_sided_rendezvous or asks),
        "two_sided": interface.two_sided_rendezvous,
        "one_by_one": interface.one_by_one,
        "asks": x.asks,
        "answered_in_mpi": x.answered_in_mpi,
        "receivers": RECEIVERS[receivers(interface, x.setting)],
        "waits": x.computing and x.setting.progress != "thread",
        "receiver_computes": x.computing,
        "waits_for_sends": x.setting.two_way or not x.pattern.alone,
        "sync": SYNC[interface.sync],
        "confirmed": interface.sync == "passive",
        "window_per_thread": interface.windows_per_thread,
        "consumers": x.setting.consumers,
        "tells": interface.tells,
        "received_in": x.received_in,
    }


def prices(x: Exchange, fixed: dict[str, object]) -> dict[str, Array]:
    """What the steps cost, each of shape (rows, ...)."""
    first, interface = x.first, x.interface
    by_row = {
        **_namesakes(x),
        **_locks(x),
        "opened": first.control,
        # From a message's issue to its arrival: handshakes, the NIC and the wire.
        "half_shake": x.each(lambda c: c.half_shake(interface)),
        "service": x.each(lambda c: c.gap + c.link),
        "travel": x.travel,
        "completes": x.completes,
        # From arrivals to the end of the exchange.
        "receive": x.receive,
        "per_entry": x.per_entry,
        "in_order": np.asarray(x.in_order),
        "ack": x.each(lambda c: c.control),
        "closing": x.epoch,
        "told": first.control + x.epoch if interface.sync == "passive" else first.control,
        "work": x.each(lambda c: work(c, x.received_in, x.setting)),
        "released": released(first, interface),
        "tested": tested(first, x.queue * len(x.members), x.received_in, x.setting),
    }
    if fixed["arrivals"] == TABLE:
        by_row["table"] = tables(x, fixed)
    return {name: value if value.ndim > 1 else x.wide(value) for name, value in by_row.items()}


def _namesakes(x: Exchange) -> dict[str, Array]:
    """`_SAME` of an exchange."""
    return {name: x.each(attrgetter(name)) if FIELDS[name][1] else getattr(x.first, name) for name in _SAME}


def _locks(x: Exchange) -> dict[str, Array]:
    """How long a VCI's lock is held, message by message."""
    pattern, classes = x.pattern, range(len(x.by_class))
    # (rows, profiles, classes)
    between = np.zeros((x.rows, len(pattern.present), len(classes)))
    if x.setting.two_way and receivers(x.interface, x.setting) != "none":
        queued = pattern.degree * x.transports / len(x.members)
        between += x.receive[:, None, :] + x.per_entry[:, None, None] * searched(queued[:, None], x.in_order)
    # (classes, profiles, directions): messages up to and including a direction
    counts = [np.cumsum(pattern.present & (pattern.classes == c), axis=1) for c in classes]
    hold_to = np.asarray(sum(counts[c] * x.hold[:, c, None, None] for c in classes))
    # As many messages are received before the next partition.
    received = np.asarray(sum(counts[c][:, -1] * between[:, :, c] for c in classes))
    taken = _contentions(x)
    contended = pattern.degree[:, None] * taken[:, None, :]
    if pattern.root:
        # The root's profile is the last. Who sends on receives one message before the next, and contends with nobody if
        # one thread does both.
        before = searched(x.transports / len(x.members), x.in_order)
        each = x.receive[:, :1] + x.per_entry[:, None] * before
        relays = np.arange(len(pattern.present)) < len(pattern.present) - 1
        received = np.where(relays, each, 0.0)
        if x.interface.completes == "master":
            contended = np.where(relays[:, None], 0.0, contended)
    behind = received[:, :, None] + contended
    return {
        "hold": hold_to,
        "hold_behind": hold_to[:, :, -1:] + behind,
        "hold_each": x.hold,
        "between": between,
        "taken": taken,
    }


def _contentions(x: Exchange) -> Array:
    """What a message pays that waits for its VCI's lock, shape (rows, VCIs)."""
    curve = contending(x.first, x.approach, x.setting)[..., [*x.sharing]]
    return np.broadcast_to(curve, (x.rows, len(x.sharing)))


def _groups(serving: list[list[int]], threads: int) -> dict[str, object]:
    """For each thread the groups of those that make progress which it is in."""
    mine = [[g for g, those in enumerate(serving) if thread in those] for thread in range(threads)]
    starts = np.concatenate([[0], np.cumsum([len(groups) for groups in mine])])
    return {
        "groups": len(serving),
        "serve_start": starts,
        "serve_group": np.array([g for groups in mine for g in groups], np.int64),
    }


def _parts(mapping: Mapping | None, partitions: int) -> dict[str, object]:
    """For each user partition the messages that wait for it."""
    if mapping is None:
        return {"part_start": [0], "part_job": [0]}
    waiting: list[list[int]] = [[] for _ in range(partitions)]
    for number, needed in enumerate(mapping.partitions):
        for p in needed:
            waiting[p].append(number)
    starts = np.concatenate([[0], np.cumsum([len(w) for w in waiting])])
    return {"part_start": starts, "part_job": [m for w in waiting for m in w] or [0]}


def tables(x: Exchange, fixed: dict[str, object]) -> Array:
    """Per row of ready times: first, last, and last again (the kernel's mark), the last partition of the first thread
    of each group, when each transport partition is ready; shape (rows, ...)."""
    times = np.asarray(fixed["table"])
    setting = Setting(x.workload.threads, x.workload.partitions_per_thread, 1, 1, "hardware")
    if x.mapping is None:
        starts = times.reshape(len(times), x.transports, -1).max(axis=2)
    else:
        starts = np.stack([times[:, list(p)].max(axis=1) for p in x.mapping.partitions], axis=1)
    ends = latest_by_thread(times, setting)
    in_mpi = [ends[:, threads].min(axis=1, initial=np.inf) for threads in x.serving]
    head = [times.min(axis=1), times.max(axis=1), times.max(axis=1), *in_mpi]
    table = np.concatenate([np.stack(head, axis=1), starts], axis=1)
    return np.broadcast_to(table, (x.rows, *table.shape))
