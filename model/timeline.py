"""The exact LogGP timeline of one exchange: what a partition costs, step by step.

A rank sends one buffer to each of its peers and receives as many. Given the ready times of its user
partitions and an Approach, seven steps follow, each a FIFO server or a shift:

1. **Ready**: MPI_Pready costs `pready` on its thread; a transport partition is ready when the last
   of its user partitions is. After a pause, the first message takes longer (`Cold`).
2. **Issue**: the thread that completed it takes its VCI's lock (FIFO) and holds it for h, o_s and the
   eager copy; who finds it taken pays c(k) seconds more, k being the threads that share the VCI:
   end_i = max(ready_i + h, end_(i-1) + h + c(k)). Where several threads fill a transport partition, the
   last is known by a counter that they share. Where every rank
   receives as it sends, as many messages are received under that lock between two transport
   partitions that queue for it as the first of them sent.
3. **Protocol**: a rendezvous adds its handshake, which moves only when progress allows.
4. **NIC**: messages leave in issue order, g and the time on the link apart; one message alone
   streams at 1/G, several together at the link's bandwidth. A shaped link lets a burst through
   first: a message may leave early by what is left in the token bucket. Puts that find
   no room to wait for it move when someone is inside MPI again (`Setting.unattended`).
5. **Wire**: L.
6. **Receive**: matching, o_r, copy; serial per receiving VCI, or per receiving thread.
7. **Finish**: polling further VCIs, RMA synchronisation, the receiver's own lateness; not before the
   threads have met, which they do once more where each has completed its own messages.

All messages of one approach have the same size, so every server is "max-plus" with a constant
service time and needs no event queue: end_i = max(arrival_i, end_{i-1}) + h, which unrolls to a
running maximum (`fifo_starts`).

Times are relative to the sender's last ready partition, so that the compute time, often a thousand
times the communication, costs no digits.

Several ranks that send to one share its port: end_i = max(arrived_i, end_(i-1) + g + G m). The timeline has one
sender. Between two ranks it is exact, for what left through one port never waits at another as fast; of several
peers it is exact where they are in step, so that a rank receives what it sends. Where they are not, ports are
the engine's (`pready.model.engine`).

Limits, tested as properties: with L = o = g = 0 and the last partition late by D it is Eq. 3 of
gillis2023 (https://doi.org/10.1145/3605573.3605599); with S → 0 and only o left it is Eq. 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pready.model.approach import Approach, issuing_threads, vci_members
from pready.model.arrays import Array
from pready.model.costs import Costs
from pready.model.machine import Progress


@dataclass(frozen=True)
class Setting:
    """What the timeline needs to know besides times and costs."""

    threads: int
    partitions_per_thread: int
    peers: int
    contexts: int
    progress: Progress
    sender_progress: Progress = "hardware"
    unattended: float = math.inf
    """Bytes of MPI_Put to one peer that can wait for the link, and move, while no thread is inside MPI."""
    two_way: bool = False
    """A rank's peers send to it while it sends to them."""
    scattered: bool = False
    """Ranks send to several others, and receive from several."""
    receivers_meet: bool = True
    """Threads that have each received their own messages meet; False: one thread receives all of them."""


@dataclass(frozen=True)
class Steps:
    """Every message of an exchange at every step, for drawing: shape (rows, messages), increasing.

    Seconds after the sender's last partition was ready. All servers are FIFOs, so that position i of
    one array is position i of the next wherever a single VCI is used.
    """

    ready: Array
    issued: Array
    sent: Array
    """The protocol lets the payload go."""
    left: Array
    arrived: Array
    received: Array
    """Shape (rows,): the last message is complete at the receiver; what follows is the finish."""


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


def fifo_starts(arrivals: Array, service: Array) -> Array:
    """When a FIFO server with a constant service time starts each job.

    Parameters
    ----------
    arrivals
        Increasing along the last axis.
    service
        Broadcastable to `arrivals` with a last axis of 1, at least 0.

    Returns
    -------
    start_i = max(arrival_i, start_{i-1} + service), unrolled: i h + max_{j ≤ i}(arrival_j − j h).
    """
    n = arrivals.shape[-1]
    if n == 1:
        return arrivals
    offset = np.arange(n) * service
    starts = arrivals - offset
    np.maximum.accumulate(starts, axis=-1, out=starts)
    starts += offset
    return starts


def run(
    ready: Array,
    costs: Costs,
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
        Of messages of the approach's size; fields of shape (rows,) or ().
    receiver_joins
        Shape (rows,), seconds after the start: when the receiver enters MPI. None: it waits there.
    keep_steps
        Also return every message at every step.
    """
    interface = approach.interface
    last_ready = ready.max(axis=1)
    times = ready - last_ready[:, None]
    waits_from = None if receiver_joins is None else receiver_joins - last_ready
    members = vci_members(approach, setting.threads, setting.contexts)

    # 1. Ready.
    marked = marked_by_threads(times, setting, costs.pready) if interface.counts else times
    join = marked.max(axis=1) + costs.barrier
    starts = _starts(marked, join, last_ready, costs, approach, setting)

    def allowed(issued: Array) -> Array:
        return _protocol(issued, marked, join, waits_from, last_ready, costs, approach, setting)

    def heard(arrived: Array) -> Array:
        return _acknowledged(arrived, waits_from, costs, approach, setting)

    waits = setting.two_way and not interface.one_sided and bool(np.any(costs.acknowledged))
    # 2. Issue and 3. protocol.
    if interface.one_by_one:
        issued, sent = _one_by_one(starts, costs, approach, setting.peers, allowed, heard if waits else None)
    else:
        issued = _issue(starts, members, costs, approach, setting)
        sent = allowed(issued)
    # 4. NIC and 5. wire.
    per_vci = interface.receivers == "threads" and len(members) > 1
    arrived = _network(sent, costs, keep_vcis=per_vci)
    # 6. Receive.
    received = _receive(arrived, costs, approach, len(members), setting, waits_from)
    if setting.scattered and np.any(unevenness(costs, approach)):
        received = received + unevenness(costs, approach) * _shared(arrived, costs, approach.messages * setting.peers)
    # 7. Finish.
    last_issued = _finite_max(issued.reshape(len(ready), -1))
    end = _finish(received, last_issued, join, waits_from, len(members), costs, approach, setting)

    if waits:
        known = heard(_finite_max(arrived.reshape(len(ready), -1)))
        known = known + costs.barrier if interface.receivers == "threads" and setting.receivers_meet else known
        end = np.maximum(end, known)

    count = approach.messages * setting.peers
    early = (arrived <= join[:, None, None]).sum(axis=(1, 2)) / count
    steps = None
    if keep_steps:
        at = [_flat(x, count) for x in (np.repeat(starts, setting.peers, axis=1), issued, sent, arrived)]
        steps = Steps(at[0], at[1], at[2], at[3] - _travel(costs)[..., None], at[3], received)
    return Timeline(end, join, times.min(axis=1), last_issued, early, count, steps)


def _starts(marked: Array, join: Array, last_ready: Array, costs: Costs, approach: Approach, setting: Setting) -> Array:
    """When each transport partition queues for its VCI: shape (rows, messages)."""
    interface, rows = approach.interface, len(marked)
    starts = marked.reshape(rows, approach.messages, -1).max(axis=2)
    shared = counted(approach, setting.threads, setting.partitions_per_thread)
    if any(shared):
        starts = starts + np.where(shared, costs.pready[..., None], 0.0)
    if interface.joins:
        starts = starts + _wide(costs.barrier, rows)[:, None]
    if interface.opens:
        # The receiver's go-ahead of this iteration: an exposure epoch, or a clear-to-send.
        epoch = epochs(costs, approach, setting) if interface.one_sided else 0.0
        starts = np.maximum(starts, (costs.control - last_ready + epoch)[:, None])
    if not interface.joins:
        starts = starts + costs.wake[..., None] * _paid(starts + last_ready[:, None], costs.waking[..., None])
    if interface.needs_room and setting.unattended == 0:
        # The puts themselves are put off, by the library.
        starts = np.maximum(starts, join[:, None])
    return _warmed(starts, -last_ready, costs) if np.any(costs.cold) else starts


def _protocol(
    issued: Array,
    marked: Array,
    join: Array,
    waits_from: Array | None,
    last_ready: Array,
    costs: Costs,
    approach: Approach,
    setting: Setting,
) -> Array:
    """When each message's payload may go: shape of `issued`, but of puts that need room in order, on one VCI."""
    interface = approach.interface
    if interface.needs_room and 0 < setting.unattended < math.inf:
        return _attended(issued, costs, join, setting.peers * setting.unattended)
    if interface.opens:
        return issued
    if interface.two_sided_rendezvous:
        # The receiver's flag was written when it started, at the beginning of the iteration.
        return np.maximum(issued, (costs.wire - last_ready)[:, None, None])
    ends = marked.reshape(len(marked), setting.threads, -1).max(axis=2)
    return _handshake(issued, costs, approach, setting, waits_from, join, ends)


def _service(costs: Costs) -> Array:
    """How long the adapter is taken by a message: LogGP's g + G m, many being in flight."""
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
    if interface.receivers == "master":
        # One thread polls all VCIs to complete messages on them (global progress, zambre2021 5.1).
        end = end + (vcis - 1) * costs.poll
    if interface.one_sided:
        end = _synchronise(end, last_issued, join, costs, approach, setting)
    if interface.receivers == "threads" and setting.receivers_meet:
        end = end + costs.barrier  # each thread has completed its own, then they meet
    end = np.maximum(end, join)
    return np.asarray(end if waits_from is None else np.maximum(end, waits_from))


def _flat(times: Array, count: int) -> Array:
    """All messages of a row in order, without padding."""
    return np.sort(times.reshape(len(times), -1), axis=1)[:, :count]


def _wide(x: Array, rows: int) -> Array:
    return np.broadcast_to(x, (rows,))


def joined(ready: Array, costs: Costs, approach: Approach, setting: Setting) -> Array:
    """When a rank's threads have met after marking their partitions: shape (rows,), on the clock of `ready`."""
    if approach.interface.counts:
        ready = marked_by_threads(ready, setting, costs.pready)
    return np.asarray(ready.max(axis=1) + costs.barrier)


def marked_by_threads(times: Array, setting: Setting, pready: Array) -> Array:
    """When each MPI_Pready returns: a thread marks its partitions one after the other."""
    if not np.any(pready):
        return times
    per_thread = times.reshape(len(times), setting.threads, setting.partitions_per_thread)
    cost = pready[..., None, None]
    if setting.partitions_per_thread == 1:
        return np.asarray(per_thread + cost).reshape(times.shape)
    if np.all(per_thread[..., 1:] >= per_thread[..., :-1]):
        return (fifo_starts(per_thread, cost) + cost).reshape(times.shape)
    order = np.argsort(per_thread, axis=-1, kind="stable")  # a trace may finish out of order
    marked = fifo_starts(np.take_along_axis(per_thread, order, axis=-1), cost) + cost
    out = np.empty_like(marked)
    np.put_along_axis(out, order, marked, axis=-1)
    return out.reshape(times.shape)


def counted(approach: Approach, threads: int, partitions_per_thread: int) -> list[bool]:
    """Which transport partitions several threads fill, so that they count down to know the last of them.

    Where every partition is marked (`Interface.counts`) and where all threads meet first, nobody counts again.
    """
    interface = approach.interface
    if interface.counts or interface.joins:
        return [False] * approach.messages
    per_bin = threads * partitions_per_thread // approach.messages
    return [
        t * per_bin // partitions_per_thread != ((t + 1) * per_bin - 1) // partitions_per_thread
        for t in range(approach.messages)
    ]


def epochs(costs: Costs, approach: Approach, setting: Setting) -> Array:
    """CPU time for the epochs on all windows."""
    interface = approach.interface
    first = costs.flush if interface.sync == "passive" else costs.epoch
    return np.asarray(first + (interface.windows(setting.threads) - 1) * costs.window)


def _paid(after: Array, slowness: Array) -> Array:
    """Which share of a cost is due after so much time: all of it at once where `slowness` is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # what is infinitely fast is paid
        return np.where(slowness > 0, -np.expm1(-np.maximum(after, 0.0) / slowness), 1.0)


def _warmed(starts: Array, begin: Array, costs: Costs) -> Array:
    """Starts, each later by what the pause before it costs: shape (rows, messages).

    The pause of a message reaches back to the end of the one before on the link, or to the `begin`
    of the iteration, shape (rows,), when the exchange before has just ended.
    """
    order = np.argsort(starts, axis=1, kind="stable")
    ordered = np.take_along_axis(starts, order, axis=1)
    busy = costs.link[..., None]
    before = np.concatenate([begin[:, None], (fifo_starts(ordered, busy) + busy)[:, :-1]], axis=1)
    pause = ordered - before
    later = ordered + costs.cold[..., None] * _paid(pause, costs.cooling[..., None])
    out = np.empty_like(later)
    # What follows at once waits for the first: it cannot overtake.
    np.put_along_axis(out, order, np.maximum.accumulate(later, axis=1), axis=1)
    return np.asarray(out)


def _issue(starts: Array, members: list[list[int]], costs: Costs, approach: Approach, setting: Setting) -> Array:
    """When each message leaves the CPU: shape (rows, VCIs, messages), +inf where a VCI has fewer.

    A transport partition is one message per peer, issued one after the other by one thread; where others
    wait for the lock, each of them finds it taken. It is free for the next one when, where traffic is
    two-way, as many have been received.
    """
    rows = len(starts)
    longest = max(map(len, members))
    if len(members) == 1:
        queued = starts[:, None, :]
    else:
        index = np.full((len(members), longest), starts.shape[1])
        for v, ts in enumerate(members):
            index[v, : len(ts)] = ts
        padded = np.concatenate([starts, np.full((rows, 1), np.inf)], axis=1)
        queued = padded[:, index]
    queued = np.sort(queued, axis=-1)
    transports = starts.shape[1]
    sharing = [issuing_threads(ts, transports, setting.threads, setting.partitions_per_thread) for ts in members]
    hold = holding(costs, approach)[..., None, None]
    taken = contending(costs, approach)[..., sharing][..., None]  # (VCIs, 1) or (rows, VCIs, 1)
    between = received_between(costs, approach, len(members), setting)[..., None, None]
    # A FIFO of ends: max(ready_i + h, end_(i-1) + h + c), for all peers.
    ends = fifo_starts(queued + setting.peers * hold, setting.peers * (hold + taken + between))
    if setting.peers == 1:
        return ends
    after = np.arange(setting.peers - 1, -1, -1)
    return np.asarray(ends[..., None] - after * hold[..., None]).reshape(rows, len(members), longest * setting.peers)


def _one_by_one(
    starts: Array,
    costs: Costs,
    approach: Approach,
    peers: int,
    allowed: Callable[[Array], Array],
    heard: Callable[[Array], Array] | None,
) -> tuple[Array, Array]:
    """When each peer's message leaves the CPU, and may leave the adapter: shapes (rows, 1, peers).

    A send that asks first returns when its last byte has left, another when it is copied; then follows the next.
    `heard` is from a message's arrival to the receiver's word, where a send waits for it.
    """
    at, hold = starts[:, 0], holding(costs, approach)
    issued, sent = [], []
    free = turn = np.full_like(at, -np.inf)
    for _ in range(peers):
        issued.append(at + hold)
        sent.append(allowed(issued[-1][:, None, None])[:, 0, 0])
        turn = np.maximum(sent[-1], turn)
        left = np.maximum(sent[-1], free)
        if np.any(costs.drain):
            left = np.maximum(left, turn - costs.credit)
        free, turn = left + _service(costs), turn + costs.drain
        at = np.where(costs.rendezvous, np.maximum(sent[-1], left + costs.stream - costs.buffered), issued[-1])
        if heard is not None:
            at = np.where(costs.acknowledged, heard(left + _travel(costs)), at)
    return np.stack(issued, axis=-1)[:, None], np.stack(sent, axis=-1)[:, None]


def holding(costs: Costs, approach: Approach) -> Array:
    """h: what a message holds its VCI's lock for, shape (rows,) or ()."""
    interface = approach.interface
    if interface.one_sided:
        return costs.put
    overhead = np.maximum(costs.hold - costs.setup, 0.0) if interface.persistent else costs.hold
    hold = overhead + costs.copy_in
    return np.asarray(hold + costs.copy_out + costs.active) if interface.active_message else np.asarray(hold)


def contending(costs: Costs, approach: Approach) -> Array:
    """c(k) by sharing threads k, shape (rows, threads + 1) or (threads + 1,)."""
    return costs.contention_put if approach.interface.one_sided else costs.contention


def _handshake(
    issued: Array,
    costs: Costs,
    approach: Approach,
    setting: Setting,
    waits_from: Array | None,
    join: Array,
    ends: Array,
) -> Array:
    """When the payload may leave, after the rendezvous if there is one."""
    if not np.any(costs.rendezvous):
        return issued
    asks = costs.rendezvous[..., None, None]
    half = 0.5 * costs.handshake[..., None, None]
    request = issued + half

    def held(until: Array) -> Array:
        return np.where(asks, until[:, None, None], -np.inf)  # rendezvous rows only

    if setting.progress == "on-call" and waits_from is not None:
        # Nobody answers the request-to-send until the receiver enters MPI.
        request = np.maximum(request, held(waits_from))
    answered = request + half
    if setting.sender_progress == "on-call":
        # Somebody has to be inside MPI to see the answer.
        if approach.interface.sender_returns:
            answered = np.maximum(answered, held(join))  # the threads, when they have joined
        elif setting.partitions_per_thread > 1 and approach.interface.splits:
            waiting = costs.link * approach.transport_partitions / setting.threads
            seen = _next_waiting(issued, ends, np.asarray(waiting))
            answered = np.maximum(answered, np.where(asks, seen, -np.inf))
    return np.asarray(answered)


def _next_waiting(issued: Array, ends: Array, waiting: Array) -> Array:
    """When a thread next waits inside MPI, for every message: shape of `issued`.

    A thread with several partitions goes on computing after it has started a message; it waits when
    its last one is ready, at `ends` of shape (rows, threads), for as long as its messages take.
    """
    last = ends.max(axis=1)[:, None, None]
    seen = np.maximum(np.broadcast_to(last, issued.shape), issued)
    until = waiting[..., None, None]
    for end in -np.sort(-ends, axis=1).T:
        mine = end[:, None, None]
        seen = np.where(mine + until >= issued, np.maximum(mine, issued), seen)
    return np.asarray(seen)


def _attended(issued: Array, costs: Costs, join: Array, room: float) -> Array:
    """When puts may go, shape (rows, 1, puts), if `room` bytes can wait for the link without anyone inside MPI.

    The first put that finds too little room is early by what of it found some; with it, all that
    follow wait until the threads have met.
    """
    ordered, service = _in_order(issued), _service(costs)[..., None]
    takes = (room / costs.size * costs.link)[..., None]
    over = fifo_starts(ordered, service) + service - ordered - takes
    stuck = np.logical_or.accumulate(over > 0, axis=1)
    found = costs.link - np.take_along_axis(over, np.argmax(stuck, axis=1)[:, None], axis=1)[:, 0]
    return np.maximum(ordered, np.where(stuck, (join - np.maximum(found, 0.0))[:, None], -np.inf))[:, None, :]


def _in_order(sent: Array) -> Array:
    """Messages of all VCIs in the order in which they may go, without padding: shape (rows, messages)."""
    flat = sent.reshape(len(sent), -1)
    return np.sort(flat, axis=1)[:, : int(np.isfinite(flat[0]).sum())]


def _network(sent: Array, costs: Costs, *, keep_vcis: bool) -> Array:
    """Arrival times: shape (rows, 1, messages), or per VCI (+inf padding kept) if asked.

    A shaped link is a second server, a token bucket, as ITU-T I.371's virtual scheduling has it: a
    message conforms if it comes no more than `credit` before its turn at the link's rate.
    """

    def left(ordered: Array) -> Array:
        starts = fifo_starts(ordered, _service(costs)[..., None])
        if np.any(costs.drain):
            starts = np.maximum(starts, fifo_starts(ordered, costs.drain[..., None]) - costs.credit[..., None])
        return np.asarray(starts + _travel(costs)[..., None])

    rows, flat = len(sent), sent.reshape(len(sent), -1)
    if sent.shape[1] == 1:  # one VCI issues in order
        return left(flat)[:, None, :]
    if not keep_vcis:
        return left(_in_order(sent))[:, None, :]
    order = np.argsort(flat, axis=1, kind="stable")
    in_order = left(np.take_along_axis(flat, order, axis=1))
    arrived = np.empty_like(in_order)
    np.put_along_axis(arrived, order, in_order, axis=1)
    return arrived.reshape(rows, *sent.shape[1:])


def receiving(costs: Costs, approach: Approach, vcis: int, setting: Setting) -> Array:
    """CPU time to receive one message: shape (rows,) or ()."""
    interface = approach.interface
    if interface.receivers == "none":
        return np.asarray(0.0)
    service = costs.unmatched
    if interface.matches:
        # Messages of one queue arrive in any order: on average half of what is left is searched.
        queued = setting.peers * approach.messages / vcis
        service = costs.receive + costs.per_entry * (queued - 1) / 2
    if interface.active_message:
        service = service + costs.copy_out
    return np.asarray(service)


def received_between(costs: Costs, approach: Approach, vcis: int, setting: Setting) -> Array:
    """What a VCI's lock is held for after each message of a partition, if another queues: shape (rows,) or ()."""
    return receiving(costs, approach, vcis, setting) if setting.two_way else np.asarray(0.0)


def _receive(
    arrived: Array,
    costs: Costs,
    approach: Approach,
    vcis: int,
    setting: Setting,
    waits_from: Array | None,
) -> Array:
    """When the last message is complete at the receiver, shape (rows,)."""
    rows, interface = len(arrived), approach.interface
    if interface.receivers == "none":
        return _finite_max(arrived.reshape(rows, -1))
    service = receiving(costs, approach, vcis, setting)
    if waits_from is not None and setting.progress != "thread":
        arrived = np.maximum(arrived, waits_from[:, None, None])  # completing takes the CPU
    starts = fifo_starts(arrived, service[..., None, None])
    return _finite_max(starts.reshape(rows, -1)) + service


def unevenness(costs: Costs, approach: Approach) -> Array:
    """What flows that share ports take longer, as a share, shape (rows,) or ()."""
    return costs.uneven_active if approach.interface.active_message else costs.uneven


def _shared(arrived: Array, costs: Costs, messages: int) -> Array:
    """For how long a rank keeps ports busy that others, as far as it is, use as well: shape (rows,)."""
    rows = arrived.reshape(len(arrived), -1)
    service = _service(costs)
    return np.asarray(np.minimum(_finite_max(rows) - rows.min(axis=1) + service, messages * service))


def _acknowledged(
    arrived: Array, waits_from: Array | None, costs: Costs, approach: Approach, setting: Setting
) -> Array:
    """When a rank knows that a message is received, by a peer that is as far as it is: shape (rows,)."""
    if waits_from is not None and setting.progress != "thread":
        arrived = np.maximum(arrived, waits_from)
    service = costs.receive if approach.interface.matches else costs.unmatched
    heard = arrived + service + (costs.copy_out if approach.interface.active_message else 0.0) + costs.ack
    return np.asarray(np.where(costs.acknowledged, heard, -np.inf))


def _finite_max(times: Array) -> Array:
    """The latest of each row, +inf being the padding of VCIs with fewer messages."""
    latest: NDArray[np.float64] = times.max(axis=1)
    if np.isfinite(latest).all():
        return latest
    return np.asarray(np.where(np.isfinite(times), times, -np.inf).max(axis=1))


def _synchronise(end: Array, issued: Array, join: Array, costs: Costs, approach: Approach, setting: Setting) -> Array:
    """The end of an RMA epoch (gillis2023 2.3.3, Tables 1-2)."""
    interface, closing = approach.interface, epochs(costs, approach, setting)
    if interface.sync == "active":
        # MPI_Win_complete by one thread after a barrier, or by each thread for its window.
        complete = issued if interface.windows_per_thread else np.maximum(issued + costs.barrier, join)
        return np.asarray(np.maximum(end, complete + costs.control) + closing)
    # Passive: flush waits for the acknowledgement, then a message tells the receiver.
    flushed = np.maximum(end + costs.ack, join)
    return np.asarray(flushed + closing + costs.control)
