"""Rules of an exchange that the timeline and the engine share: what is paid, and who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pready.model.approach.interfaces import Approach, Interface
from pready.model.approach.libraries import library
from pready.model.approach.vcis import waiting_threads
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.machine.path import Progress
from pready.model.machine.rma import Puts
from pready.model.timeline.costs import BoolArray, Costs
from pready.model.workload.exchange import Consume, PackedBy
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class Setting:
    """What an exchange depends on besides times and costs."""

    threads: int
    partitions_per_thread: int
    peers: int
    contexts: int
    progress: Progress
    two_way: bool = False
    """A rank's peers send to it while it sends to them."""
    puts: Puts = "adapter"
    """How MPI_Put moves its data."""
    global_progress: bool = True
    """Does a thread in MPI make progress for all VCIs?"""
    consume: Consume | None = None
    """What a receiver's threads do with each user partition that comes."""
    receive_partitions: int | None = None
    """Partitions of a buffer at its receiver; None: the sender's."""

    interior: float = 0.0
    """Share of a thread's computing that needs no neighbour: it makes nothing sent and uses nothing received."""
    pack: float = 0.0
    """Seconds in which one thread packs a byte."""
    packed_by: PackedBy = "one"
    boundary: float = 1.0
    """Share of a thread's computing after which its partitions are ready."""
    slower: float = 1.0
    """By which threads compute longer that share their cores with another."""
    sends_on: bool = False
    """A broadcast: a rank sends on what one other sends to it."""

    @property
    def sources(self) -> int:
        """How many send to a rank."""
        return 1 if self.sends_on else self.peers

    @property
    def consumers(self) -> int:
        """Threads that work on what a rank receives; 0: that is no part of the exchange."""
        return 0 if self.consume is None else self.consume.threads or self.threads


def setting_of(machine: Machine, workload: Workload) -> Setting:
    """What an exchange depends on besides times and costs, of a machine and a workload."""
    puts, everywhere = machine.one_sided.puts, machine.library.global_progress
    return Setting(
        workload.threads,
        workload.partitions_per_thread,
        len(workload.sends),
        machine.contexts.value,
        machine.progress.value,
        workload.two_way,
        "adapter" if puts is None else puts.value,
        library(machine.library.name).global_progress if everywhere is None else everywhere.value,
        workload.consume,
        workload.receive_partitions,
        interior=workload.interior or 0.0,
        pack=0.0 if workload.pack is None else 1 / workload.pack,
        packed_by=workload.packed_by,
        sends_on=workload.pattern == "bcast",
    )


def setting_for(interface: Interface, setting: Setting) -> Setting:
    """What an exchange by an interface depends on.

    Nothing waits for a processor where the cable alone counts. A progress thread takes one of the threads' cores, whose
    work the others share.
    """
    boundary = 1 - setting.interior if interface.boundary_first else 1.0
    if interface.least:
        return replace(setting, progress="thread", puts="adapter", boundary=boundary)
    if interface.progress_thread:
        n = max(setting.threads, 2)
        return replace(setting, progress="thread", slower=n / (n - 1), boundary=boundary)
    return replace(setting, boundary=boundary)


def packed_by_one(interface: Interface, setting: Setting) -> bool:
    """Does one thread pack each message before it goes? One that sends its own part packs it itself."""
    by_one = setting.packed_by == "one" and not interface.all_pack
    return by_one and interface.joins and not interface.partitioned


def packing(
    interface: Interface, setting: Setting, sizes: Sequence[float], needs: Sequence[Sequence[int]]
) -> list[float]:
    """Until its thread has packed each user partition, one after the other, in seconds; empty where threads pack none.

    Parameters
    ----------
    sizes
        Bytes of each job, to all its neighbours.
    needs
        Its user partitions.
    """
    if setting.pack == 0 or interface.least or packed_by_one(interface, setting):
        return []
    each = np.zeros(setting.threads * setting.partitions_per_thread)
    for size, some in zip(sizes, needs, strict=True):
        each[[*some]] += setting.pack * size / len(some)
    return [float(x) for x in np.cumsum(each.reshape(setting.threads, -1), axis=1).ravel()]


def holding(costs: Costs, approach: Approach, setting: Setting) -> Array:
    """h: what a message holds its VCI's lock for, shape (rows,) or (): with one thread's packing, and a wait for a
    progress thread that has the lock."""
    own = _holding(costs, approach)
    if packed_by_one(approach.interface, setting):
        own = own + setting.pack * costs.size
    if approach.interface.progress_thread:
        own = own + costs.contention[..., min(2, costs.contention.shape[-1] - 1)]
    return np.asarray(own)


def _holding(costs: Costs, approach: Approach) -> Array:
    interface = approach.interface
    if interface.one_sided:
        return costs.put
    overhead = np.maximum(costs.hold - costs.setup, 0.0) if interface.persistent else costs.hold
    hold = overhead + costs.copy_in
    return np.asarray(hold + costs.copy_out) if interface.active_message else np.asarray(hold)


def contending(costs: Costs, approach: Approach, setting: Setting) -> Array:
    """c(k) by sharing threads k, shape (rows, threads + 1) or (threads + 1,). None wait to note a deferred put."""
    return np.zeros_like(costs.contention) if late_puts(approach.interface, setting) else costs.contention


def asks(costs: Costs, interface: Interface, setting: Setting) -> BoolArray:
    """Does a message wait for its receiver? Shape of a cost. A put of the size of a rendezvous does that the target's
    processor takes in: beyond what buffers hold nothing moves while no thread of the target is in MPI."""
    if interface.one_sided and setting.puts != "adapter" and setting.progress != "thread":
        return np.asarray(costs.handshake > 0)
    return costs.asks(interface)


def answers_inside(costs: Costs, interface: Interface, setting: Setting) -> BoolArray:
    """Does a receiver answer only in MPI? Shape of a cost. An adapter answers no active message, and no put that the
    processor takes in."""
    if interface.progress_thread:
        return np.zeros((), np.bool_)
    by_processor = interface.active_message or interface.one_sided
    return np.asarray(setting.progress != "thread") if by_processor else costs.on_call


def serving(
    approach: Approach, setting: Setting, members: Sequence[Sequence[int]], waiting: Sequence[Sequence[int]] | None
) -> list[list[int]]:
    """The threads of a rank that make progress while each waits for its own messages: of all VCIs, or VCI by VCI.

    Such a thread is in MPI from its last partition on (gillis2023 Tables 1-2: MPI_Start and MPI_Wait as soon as it is
    through). That it leaves MPI again is left out: it waits for a message of each neighbour, and the thread that
    receives a message is there until it has come.

    Parameters
    ----------
    members
        The messages of each VCI.
    waiting
        The threads that wait for them, where threads own parts of faces.
    """
    if approach.interface.tests:
        return [[*range(setting.threads)]]
    if approach.interface.completes == "master":
        return [[]]
    of = waiting or [waiting_threads([*m], approach.messages, setting.threads) for m in members]
    if setting.global_progress:
        return [sorted({thread for threads in of for thread in threads})]
    return [sorted(threads) for threads in of]


def leaves(costs: Costs, interface: Interface) -> BoolArray:
    """Is a send complete when its last byte has left, as a rendezvous is, rather than when its data are copied? Shape
    of a cost."""
    return np.asarray(costs.asks(interface) | interface.two_sided_rendezvous)


def late_puts(interface: Interface, setting: Setting) -> bool:
    """Do puts move only when one thread ends the epoch of all? With a window per thread, each at its own."""
    return setting.puts == "deferred" and interface.one_sided and not interface.windows_per_thread


def receivers(interface: Interface, setting: Setting) -> Literal["master", "threads", "none"]:
    """Who receives messages: the adapter, unless they are matched or puts that are active messages."""
    by_adapter = interface.two_sided_rendezvous or interface.least
    by_adapter = by_adapter or (interface.one_sided and setting.puts != "processor")
    return "none" if by_adapter else interface.completes


def received(costs: Costs, approach: Approach, setting: Setting, threads: int, messages: float) -> Array:
    """CPU time to receive one message, the search of a queue aside: shape (rows,) or ().

    Where each thread completes its own messages, whoever makes progress hands over what others wait for: once for each
    of the `threads` that wait for the `messages` of a VCI.
    """
    interface = approach.interface
    if receivers(interface, setting) == "none":
        return np.zeros(())
    service = costs.receive + costs.copy_out if interface.active_message else costs.receive
    if interface.completes == "threads":
        service = service + costs.waiting[..., threads] * threads / messages
    return np.asarray(service)


POLL_O_S = 2.3
"""MPI_Parrived or MPI_Test over o_s. Yiltan/PhD-meeting-reports-year-3 @2401c8f, data-linear-bcast: 15 ranks that test
32 partitions end 43, 50, 26 and 29 us later (128 B, 2 KiB, 32 KiB, 512 KiB) than those that do not; o_s is 0.5 us."""


def polled(costs: Costs, partitions: float) -> Array:
    """From an arrival until a thread has seen it that tests so many partitions one after the other: a pass over all of
    them, shape (rows,) or ()."""
    return np.asarray(partitions * POLL_O_S * costs.hold)


def tested(costs: Costs, messages: float, received: int, setting: Setting) -> Array:
    """Time in MPI_Parrived of a rank's threads that work on `received` partitions of each of so many messages."""
    return polled(costs, messages * received / setting.consumers) if setting.consumers else np.zeros(())


def received_in(messages: int, per_message: int, setting: Setting) -> int:
    """Partitions of a message at its receiver, of so many messages of so many user partitions each.

    Raises
    ------
    PreadyError
        A partition that a receiver works on would be in several messages.
    """
    if setting.receive_partitions is None or setting.consume is None:
        return per_message
    if setting.receive_partitions % messages:
        raise PreadyError(
            f"transport_partitions = {messages} does not divide {setting.receive_partitions} receive_partitions",
            valid="a divisor of them, where a receiver works on each (consume)",
        )
    return setting.receive_partitions // messages


def work(costs: Costs, received: int, setting: Setting) -> Array:
    """Work of a receiver's thread on one of so many partitions of a message: shape (rows,) or ()."""
    return np.zeros(()) if setting.consume is None else setting.consume.of_partition(costs.size / received)


def epochs(costs: Costs, approach: Approach, setting: Setting) -> Array:
    """CPU time of the synchronisation of all windows with all peers, at each end: shape (rows,) or ()."""
    windows = approach.interface.windows(setting.threads)
    return np.asarray(windows * costs.epoch)


def of_message(
    costs: Costs, approach: Approach, setting: Setting, partitions: int, threads: int, messages: float
) -> dict[str, Array]:
    """What a message takes in each step, by the names of the kernel's `Kind`.

    Parameters
    ----------
    partitions
        Of a message at its receiver.
    threads, messages
        As of `received`.
    """
    gap = costs.put_gap if approach.interface.one_sided else costs.gap
    return {
        "hold": holding(costs, approach, setting),
        "half": costs.half_shake(approach.interface),
        "gap": gap,
        "busy": gap + costs.link,
        "port": gap + costs.link,
        "alone": gap + costs.stream,
        "shared": costs.shared,
        "stream": costs.stream,
        "wire": costs.wire,
        "receive": received(costs, approach, setting, threads, messages),
        "ack": costs.control,
        "work": work(costs, partitions, setting),
    }


def of_rank(costs: Costs, approach: Approach, setting: Setting, partitions: int, messages: float) -> dict[str, Array]:
    """What a rank pays besides, by the names of the kernel's `Team`; it receives so many messages of so many
    partitions."""
    interface, free = approach.interface, np.zeros(())
    return {
        "barrier": costs.barrier,
        "control": costs.control,
        "per_entry": costs.per_entry if interface.matches else free,
        "closing": epochs(costs, approach, setting) if interface.one_sided else free,
        "tested": tested(costs, messages, partitions, setting),
    }
