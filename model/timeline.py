"""The exact LogGP timeline of one exchange: what a partition costs, step by step.

A rank sends one buffer to each of its peers and receives as many. Given the ready times of its user partitions and an
Approach, seven steps follow, each a FIFO server or a shift:

1. **Ready**: MPI_Pready costs `pready` on its thread; a transport partition is ready when the last of its user
   partitions is. Where several threads fill it, they share a counter. The first message after computing takes `cold`
   longer. Deferred puts wait until the threads have met.
2. **Issue**: the thread that completed it takes its VCI's lock (FIFO) and holds it for h, o_s and the eager copy; a
   message that waits for the lock pays c(k) more, k being the threads that share the VCI:
   end_i = max(ready_i + h, end_(i-1) + h + c(k)). Where every rank receives as it sends, it receives under that lock,
   between two transport partitions that queue for it, as many messages as the first of them sent.
3. **Protocol**: a rendezvous adds its handshake, which moves only when progress allows. From a size on
   (`Interface.fetched_from`) the receiver, in MPI, fetches the data of an active message.
4. **NIC**: messages leave in issue order, g and the time on the link apart; one message alone streams at 1/G, several
   together at the link's bandwidth.
5. **Wire**: L.
6. **Receive**: matching, o_r, copy; serial per receiving VCI, or per receiving thread.
7. **Finish**: polling further VCIs, RMA synchronisation, the receiver's own lateness; not before the threads have met,
   which they do once more where each has completed its own messages, nor, of a rank that receives as it sends, before
   its own sends are complete (`Completes`).

Every server is "max-plus" and needs no event queue: end_i = max(arrival_i, end_{i-1}) + h_i, which unrolls to a running
maximum (`fifo_starts`). Where peers get as many bytes each, all messages of an approach are alike and pass every server
in one order. Where they do not (faces of several sizes), each has the costs of its peer's, and messages are sorted
before each server that they may reach in another order: the adapter (`departures`) and the receiver.

Times are relative to the sender's last ready partition, so that the compute time, often a thousand times the
communication, costs no digits.

The timeline has one sender. Several ranks that send to one share its port: end_i = max(arrived_i, end_(i-1) + g + G m).
Between two ranks, and among ranks in step that receive what they send, nothing waits there: it left through a port as
fast. Where ranks are not in step, ports are the engine's (`pready.model.engine`).

Limits, tested as properties: with L = o = g = 0 and the last partition late by D it is Eq. 3 of
gillis2023 (https://doi.org/10.1145/3605573.3605599); with S → 0 and only o left it is Eq. 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pready.model.arrays import Array, latest
from pready.model.costs import Completes, Costs
from pready.model.fifo import fifo_starts
from pready.model.interfaces import Approach
from pready.model.order import Departures, departures
from pready.model.rules import (
    Setting,
    acknowledgement,
    answers_inside,
    confirmed,
    contending,
    counted,
    delivered,
    epochs,
    holding,
    late_puts,
    latest_by_thread,
    marked_by_threads,
    received_between,
    receivers,
    receiving,
    taken_in,
)
from pready.model.vcis import issuing_threads, vci_members


@dataclass(frozen=True)
class Steps:
    """Every message of an exchange at every step, for drawing: shape (rows, messages), as their partitions are ready.

    Seconds after the sender's last partition was ready. Position i is the same message in all arrays.
    """

    ready: Array
    issued: Array
    sent: Array
    """The protocol lets the payload go."""
    left: Array
    streamed: Array
    """Its last byte has left."""
    arrived: Array
    received: Array
    """Shape (rows,): the last message is complete at the receiver; what follows is the finish."""
    partition: NDArray[np.intp]
    """The transport partition that it is of."""
    peer: NDArray[np.intp]
    """Whom it is for, in the order in which a partition is sent to its peers."""


@dataclass(frozen=True)
class Timeline:
    """Times of one exchange per row, in seconds after the sender's last partition was ready.

    Arrays of shape (rows,).
    """

    end: Array
    """Everything received; the communication time T of Eq. 1."""
    join: Array
    """The sender's threads have met (end of the parallel region); at most a few costs after 0."""
    first_ready: Array
    """First MPI_Pready, at most 0."""
    issued: Array
    """The last message has left the CPU."""
    arrived_early: Array
    """Share of the messages whose payload has arrived when the sender's threads meet."""
    messages: int
    """Messages per rank and exchange."""
    steps: Steps | None = None
    """Kept if asked for."""


def run(
    ready: Array,
    costs: Costs | Sequence[Costs],
    approach: Approach,
    setting: Setting,
    receiver_joins: Array | None = None,
    *,
    keep_steps: bool = False,
) -> Timeline:
    """The timeline of every row.

    Parameters
    ----------
    ready
        Shape (rows, N_part), seconds after the start of the iteration.
    costs
        Of messages of the approach's size; fields of shape (rows,) or (). Where peers get different sizes, of the
        messages to each peer, in the order in which they are sent.
    receiver_joins
        Shape (rows,), seconds after the start: when the receiver enters MPI. None: it waits there.
    keep_steps
        Also return every message at every step.
    """
    interface = approach.interface
    by_peer = (costs,) if isinstance(costs, Costs) else tuple(costs)
    # What is the same of all messages is read from the first's; `each` is for arrays (rows, VCIs, partitions, peers).
    rank, each = by_peer[0], Costs.abreast(by_peer)
    last_ready = latest(ready)
    times = ready - last_ready[:, None]
    waits_from = None if receiver_joins is None else receiver_joins - last_ready
    members = vci_members(approach, setting.threads, setting.contexts)

    # 1. Ready.
    marked = marked_by_threads(times, setting, rank.pready) if interface.counts else times
    join = latest(marked) + rank.barrier
    starts = _starts(marked, join, last_ready, rank, approach, setting)

    first_in_mpi = latest_by_thread(marked, setting).min(axis=1)

    def allowed(issued: Array, of: Costs) -> Array:
        return _protocol(issued, first_in_mpi, join, waits_from, last_ready, of, approach, setting)

    def completed(goes: Array, left: Array, of: Costs) -> Array:
        return _completed(goes, left, waits_from, of, approach, setting)

    # 2. Issue and 3. protocol.
    if interface.one_by_one:
        issued, sent = _one_by_one(starts, by_peer, approach, setting.peers, allowed, completed)
    else:
        issued = _issue(starts, members, rank, each, approach, setting)
        sent = allowed(issued, each)
    # 4. NIC and 5. wire.
    order = departures(sent, each, interface, last_ready)
    left = fifo_starts(order.goes, order.of(_service(each)))
    early = _early(left, order, each, join)
    # 6. Receive.
    received = _receive(left, order, each, approach, len(members), setting, waits_from)
    # 7. Finish.
    last_issued = _finite_max(issued)
    end = _finish(received, last_issued, join, waits_from, len(members), rank, approach, setting)

    if setting.two_way:
        complete = _finite_max(completed(order.back(order.goes), order.back(left), each))
        end = np.maximum(end, complete + rank.barrier if interface.receivers == "threads" else complete)

    count = approach.messages * setting.peers
    steps = None
    if keep_steps:
        at = (
            issued,
            *map(order.back, (order.goes, left, left + order.of(each.stream), left + order.of(_travel(each)))),
        )
        steps = _steps(starts, members, at, received, count)
    return Timeline(end, join, times.min(axis=1), last_issued, early / count, count, steps)


def _starts(marked: Array, join: Array, last_ready: Array, costs: Costs, approach: Approach, setting: Setting) -> Array:
    """When each transport partition queues for its VCI: shape (rows, messages)."""
    interface, rows = approach.interface, len(marked)
    starts = latest(marked.reshape(rows, approach.messages, -1))
    shared = counted(approach, setting.threads, setting.partitions_per_thread)
    if any(shared):
        starts = starts + np.where(shared, costs.pready[..., None], 0.0)
    if interface.joins:
        starts = starts + _wide(costs.barrier, rows)[:, None]
    if interface.opens:
        # An exposure epoch or a clear-to-send of this iteration has come.
        starts = np.maximum(starts, (costs.control - last_ready)[:, None])
    if late_puts(interface, setting):
        starts = np.maximum(starts, join[:, None])
    return np.asarray(starts + costs.cold[..., None])


def _protocol(
    issued: Array,
    first_in_mpi: Array,
    join: Array,
    waits_from: Array | None,
    last_ready: Array,
    costs: Costs,
    approach: Approach,
    setting: Setting,
) -> Array:
    """When each message's payload may go: shape of `issued`."""
    interface = approach.interface
    if interface.two_sided_rendezvous:
        # The receiver's flag was written when it started, at the beginning of the iteration.
        return np.maximum(issued, costs.wire - _broadcast(last_ready, issued))
    return _handshake(issued, costs, approach, setting, waits_from, join, first_in_mpi)


def _service(costs: Costs) -> Array:
    """How long a message keeps the adapter busy: LogGP's g + G m, many being in flight."""
    return costs.gap + costs.link


def _travel(costs: Costs) -> Array:
    return costs.stream + costs.wire


def _finish(
    received: Array,
    last_issued: Array,
    join: Array,
    waits_from: Array | None,
    vcis: int,
    costs: Costs,
    approach: Approach,
    setting: Setting,
) -> Array:
    """When the exchange is over, shape (rows,)."""
    interface, end = approach.interface, received
    if receivers(interface, setting) == "master":
        # One thread polls all VCIs to complete messages on them (global progress, zambre2021 5.1).
        end = end + (vcis - 1) * costs.poll
    if interface.one_sided:
        end = _synchronise(end, last_issued, join, costs, approach, setting)
    if interface.receivers == "threads":  # each thread has completed its own, then they meet
        end = end + costs.barrier
    end = np.maximum(end, join)
    return np.asarray(end if waits_from is None else np.maximum(end, waits_from))


def _steps(starts: Array, members: list[list[int]], at: Sequence[Array], received: Array, count: int) -> Steps:
    """Messages as their partitions are ready; `at` has the steps from the issue on, as `_issue` arranges messages."""
    rows, shape = len(starts), at[0].shape
    queued, partition = _queues(starts, members, number=True)
    peer = np.broadcast_to(np.arange(shape[-1]), shape).reshape(rows, -1)
    ready, whose = (np.repeat(x.reshape(rows, -1), shape[-1], axis=1) for x in (queued, partition))
    order = np.lexsort((peer, whose, ready), axis=1)[:, :count]

    def ordered(x: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(x.reshape(rows, -1), order, axis=1)

    issued, sent, left, streamed, arrived = map(ordered, at)
    return Steps(ordered(ready), issued, sent, left, streamed, arrived, received, ordered(whose), ordered(peer))


def _broadcast(x: Array, messages: Array) -> Array:
    """A time of each row, shape (rows,), to broadcast over an array of shape (rows, ...)."""
    return x.reshape(-1, *[1] * (messages.ndim - 1))


def _to_all(x: Array, peers: int) -> Array:
    """The sum over the messages to all peers: without the last axis, which is of length 1 where they are alike."""
    return np.asarray(peers * x[..., 0] if x.shape[-1] == 1 else x.sum(axis=-1))


def _wide(x: Array, rows: int) -> Array:
    return np.broadcast_to(x, (rows,))


def _queues(starts: Array, members: list[list[int]], *, number: bool = False) -> tuple[Array, NDArray[np.intp]]:
    """When each VCI's transport partitions queue for its lock, in order: shape (rows, VCIs, partitions).

    +inf where a VCI has fewer. With `number` also which they are, else nothing.
    """
    rows, transports = starts.shape
    index = np.full((len(members), max(map(len, members))), transports)
    for v, ts in enumerate(members):
        index[v, : len(ts)] = ts
    # `take`, for an index would leave rows apart in memory, and each step after it slower.
    queued = np.take(np.concatenate([starts, np.full((rows, 1), np.inf)], axis=1), index, axis=1)
    if not number:
        return np.sort(queued, axis=-1), index[:0]
    order = np.argsort(queued, axis=-1, kind="stable")
    which = np.take_along_axis(np.broadcast_to(index, queued.shape), order, axis=-1)
    return np.take_along_axis(queued, order, axis=-1), which


def _issue(
    starts: Array, members: list[list[int]], rank: Costs, each: Costs, approach: Approach, setting: Setting
) -> Array:
    """When each message leaves the CPU: shape (rows, VCIs, partitions, peers), +inf where a VCI has fewer.

    A transport partition is one message per peer, issued one after the other by one thread; each message of a
    partition that waits for the lock pays c. Where traffic is two-way, the lock is released once as many messages have
    been received.
    """
    queued, _ = _queues(starts, members)
    sharing = [issuing_threads(ts, starts.shape[1], setting.threads, setting.partitions_per_thread) for ts in members]
    hold = holding(each, approach)
    contention = contending(rank, approach)[..., sharing][..., None, None]  # (VCIs, 1, 1) or (rows, VCIs, 1, 1)
    between = received_between(each, approach, len(members), setting)
    # A FIFO of ends: max(ready_i + h, end_(i-1) + h + c), for all peers.
    whole = _to_all(hold, setting.peers)
    ends = fifo_starts(queued + whole, _to_all(hold + contention + between, setting.peers))
    if hold.shape[-1] == 1:
        follow = np.arange(setting.peers - 1, -1, -1) * hold
    else:
        follow = whole[..., None] - np.cumsum(hold, axis=-1)
    return np.asarray(ends[..., None] - follow)


def _one_by_one(
    starts: Array,
    by_peer: Sequence[Costs],
    approach: Approach,
    peers: int,
    allowed: Callable[[Array, Costs], Array],
    completed: Callable[[Array, Array, Costs], Array],
) -> tuple[Array, Array]:
    """When each peer's message leaves the CPU, and may leave the adapter: shapes (rows, 1, 1, peers).

    A send returns when it is complete; then follows the next.
    """
    at = starts[:, 0]
    issued, sent = [], []
    free = np.full_like(at, -np.inf)
    for peer in range(peers):
        costs = by_peer[peer % len(by_peer)]
        issued.append(at + holding(costs, approach))
        sent.append(allowed(issued[-1][:, None, None, None], Costs.abreast([costs]))[:, 0, 0, 0])
        left = np.maximum(sent[-1], free)
        free = left + _service(costs)
        at = np.maximum(issued[-1], completed(sent[-1], left, costs))
    return np.stack(issued, axis=-1)[:, None, None], np.stack(sent, axis=-1)[:, None, None]


def _handshake(
    issued: Array,
    costs: Costs,
    approach: Approach,
    setting: Setting,
    waits_from: Array | None,
    join: Array,
    first_in_mpi: Array,
) -> Array:
    """When the payload may leave, after the rendezvous if there is one."""
    asks = costs.asks(approach.interface)
    if not np.any(asks):
        return issued
    half = costs.half_shake(approach.interface)
    request = issued + half

    def held(until: Array) -> Array:
        return np.where(asks, until, -np.inf)  # rendezvous only

    if answers_inside(approach.interface, setting.progress) and waits_from is not None:
        # No CTS before the receiver enters MPI.
        request = np.maximum(request, held(_broadcast(waits_from, issued)))
    answered = request + half
    if setting.sender_progress == "on-call":
        # The sender sees the CTS in MPI.
        if approach.interface.sender_returns:
            answered = np.maximum(answered, held(_broadcast(join, issued)))
        elif setting.partitions_per_thread > 1 and approach.interface.splits:
            # A thread with further partitions goes on computing; one that is through waits in MPI.
            answered = np.maximum(answered, held(_broadcast(first_in_mpi, issued)))
    return np.asarray(answered)


def _early(left: Array, order: Departures, each: Costs, join: Array) -> NDArray[np.intp]:
    """How many messages have arrived when the sender's threads meet: shape (rows,)."""
    return np.asarray(np.count_nonzero(left + order.of(_travel(each)) <= join[:, None], axis=1))


def _receive(
    left: Array,
    order: Departures,
    each: Costs,
    approach: Approach,
    vcis: int,
    setting: Setting,
    waits_from: Array | None,
) -> Array:
    """When the last message is complete at the receiver, shape (rows,); `left` is in the order of departure."""
    rows, interface = len(left), approach.interface
    begins = waits_from if setting.progress != "thread" else None  # completing takes the CPU
    nobody = receivers(interface, setting) == "none"
    if nobody and order.alike:
        return _finite_max(left) + order.of(_travel(each))[:, 0]
    arrived = left + order.of(_travel(each))
    if nobody:
        return _finite_max(arrived)
    service = receiving(each, approach, vcis, setting)
    if receivers(interface, setting) == "threads" and vcis > 1:
        queues = order.back(arrived).reshape(rows, vcis, -1)
        service = service[..., 0] if order.alike else np.broadcast_to(service, order.shape).reshape(queues.shape)
    else:
        queues, service = arrived[:, None], order.of(service)[:, None]
    if begins is not None:
        np.maximum(queues, begins[:, None, None], out=queues)
    if not order.alike:  # a large message may have overtaken a small one, or the other way round
        by_arrival = np.argsort(queues, axis=-1, kind="stable")
        queues, service = (np.take_along_axis(x, by_arrival, axis=-1) for x in (queues, service))
    ends = fifo_starts(queues, service)
    ends += service
    return _finite_max(ends)


def _completed(
    goes: Array, left: Array, waits_from: Array | None, costs: Costs, approach: Approach, setting: Setting
) -> Array:
    """When a rank knows that a send is complete, its peers being as far as it is: shape of `left`.

    -inf: once its data are copied, which they are when it is issued.
    """
    interface, says = approach.interface, costs.completes
    asked = np.logical_or(interface.two_sided_rendezvous, costs.asks(interface))
    copied = np.where(asked, goes, -np.inf)
    by_last_byte = np.where(says == Completes.BY_PROTOCOL, asked, (says == Completes.LEFT) & (not interface.one_sided))
    done = np.where(by_last_byte, left + costs.stream, copied)
    known = delivered(costs, interface, setting)
    if not np.any(known):
        return done
    arrived = left + _travel(costs)
    if waits_from is not None and setting.progress != "thread":
        arrived = np.maximum(arrived, _broadcast(waits_from, arrived))
    return np.where(
        known, arrived + taken_in(costs, interface, setting) + acknowledgement(costs, interface, setting), done
    )


def _finite_max(times: Array) -> Array:
    """The latest of each row, +inf being the padding of VCIs with fewer messages."""
    flat = times.reshape(len(times), -1)
    last = latest(flat)
    if np.isfinite(last).all():
        return last
    return latest(np.where(np.isfinite(flat), flat, -np.inf))


def _synchronise(end: Array, issued: Array, join: Array, costs: Costs, approach: Approach, setting: Setting) -> Array:
    """The end of an RMA epoch (gillis2023 2.3.3, Tables 1-2)."""
    interface, closing = approach.interface, epochs(costs, approach, setting)
    if interface.sync == "active":
        # MPI_Win_complete by one thread after a barrier, or by each thread for its window.
        complete = issued if interface.windows_per_thread else np.maximum(issued + costs.barrier, join)
        known = np.where(
            confirmed(costs, interface, setting), end + acknowledgement(costs, interface, setting), -np.inf
        )
        complete = np.maximum(complete, known)
        return np.asarray(np.maximum(end, complete + costs.control) + closing)
    # Passive: flush waits for the acknowledgement, then a message tells the receiver.
    flushed = np.maximum(end + acknowledgement(costs, interface, setting), join)
    return np.asarray(flushed + closing + costs.control)
