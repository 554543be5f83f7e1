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
3. **Protocol**: a rendezvous adds its handshake, which moves only when progress allows; of an active message the
   receiver fetches the data from a size on (`Interface.fetched_from`), inside MPI.
4. **NIC**: messages leave in issue order, g and the time on the link apart; one message alone
   streams at 1/G, several together at the link's bandwidth. A shaped link lets a burst through
   first: a message may leave early by what is left in the token bucket. What finds
   no room to wait for it moves when someone is inside MPI again (`room`).
5. **Wire**: L.
6. **Receive**: matching, o_r, copy; serial per receiving VCI, or per receiving thread.
7. **Finish**: polling further VCIs, RMA synchronisation, the receiver's own lateness; not before the
   threads have met, which they do once more where each has completed its own messages, nor, of a rank
   that receives as it sends, before its own sends are complete.

Every server is "max-plus" and needs no event queue: end_i = max(arrival_i, end_{i-1}) + h_i, which
unrolls to a running maximum (`fifo_starts`). Where peers get as many bytes each, all messages of an
approach are alike and pass every server in one order. Where they do not (faces of several sizes),
each has the costs of its peer's, and messages are brought into order before each server that they may
reach in another: the adapter (`_line_up`), a shaped port, the receiver.

Times are relative to the sender's last ready partition, so that the compute time, often a thousand
times the communication, costs no digits.

Several ranks that send to one share its port: end_i = max(arrived_i, end_(i-1) + g + G m). The timeline has one
sender. Between two ranks it is exact, for what left through one port never waits at another as fast; of several
peers it is exact where they are in step, so that a rank receives what it sends, whatever the sizes. Where they
are not, ports are the engine's (`pready.model.engine`), and so is what go-aheads wait for there (a path's `queue`).

Limits, tested as properties: with L = o = g = 0 and the last partition late by D it is Eq. 3 of
gillis2023 (https://doi.org/10.1145/3605573.3605599); with S → 0 and only o left it is Eq. 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pready.model.approach import Approach, Interface, issuing_threads, vci_members
from pready.model.arrays import Array, latest
from pready.model.costs import Costs
from pready.model.line import Line, fifo_starts, line_up, through, ticks
from pready.model.machine import Progress, Puts


@dataclass(frozen=True)
class Setting:
    """What the timeline needs to know besides times and costs."""

    threads: int
    partitions_per_thread: int
    peers: int
    contexts: int
    progress: Progress
    sender_progress: Progress = "hardware"
    two_way: bool = False
    """A rank's peers send to it while it sends to them."""
    puts: Puts = "adapter"
    """How MPI_Put moves its data."""


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
    starts = _starts(marked, join, last_ready, by_peer, approach, setting)

    def allowed(issued: Array, of: Costs) -> Array:
        def next_waiting(waiting: Array) -> Array:
            ends, queued = latest_by_thread(marked, setting), _queues(starts, members)[0]
            return _next_waiting(issued, ends, queued, queues_within(rank), waiting)

        return _protocol(issued, next_waiting, join, waits_from, last_ready, of, approach, setting)

    def completed(goes: Array, left: Array, of: Costs) -> Array:
        return _completed(goes, left, waits_from, of, approach, setting)

    # 2. Issue and 3. protocol.
    if interface.one_by_one:
        issued, sent = _one_by_one(starts, by_peer, approach, setting.peers, allowed, completed)
    else:
        issued = _issue(starts, members, rank, each, approach, setting)
        sent = allowed(issued, each)
    # 4. NIC and 5. wire.
    line = line_up(sent, each, interface, last_ready)
    goes = line.goes
    if room(interface, setting) < math.inf:
        inside = join if met_first(interface) else latest_by_thread(marked, setting).min(axis=1)
        goes = _attended(line, each, inside, setting.peers * room(interface, setting), calls_push(interface))
    left = through(goes, line.of(_service(each)), line.of(each.drain), line.of(each.credit))
    early = _early(left, line, each, join)
    # 6. Receive.
    received = _receive(left, line, each, approach, len(members), setting, waits_from, last_ready)
    if setting.scattered and np.any(unevenness(rank, approach)):
        received = received + _delay_by_sharing(left, line, each, unevenness(rank, approach))
    # 7. Finish.
    last_issued = _finite_max(issued)
    end = _finish(received, last_issued, join, waits_from, len(members), rank, approach, setting)

    # What has arrived has left, unless the wire gives time back.
    if setting.two_way and np.any(np.logical_or(delivered(each, interface, setting), each.wire + each.buffered < 0)):
        known = _finite_max(completed(line.back(goes), line.back(left), each))
        known = known + rank.barrier if interface.receivers == "threads" else known
        end = np.maximum(end, known)

    count = approach.messages * setting.peers
    steps = None
    if keep_steps:
        at = (issued, *map(line.back, (goes, left, left + line.of(each.stream), left + line.of(_travel(each)))))
        steps = _steps(starts, members, at, received, count)
    return Timeline(end, join, times.min(axis=1), last_issued, early / count, count, steps)


def _starts(
    marked: Array, join: Array, last_ready: Array, by_peer: Sequence[Costs], approach: Approach, setting: Setting
) -> Array:
    """When each transport partition queues for its VCI: shape (rows, messages)."""
    interface, rows, costs = approach.interface, len(marked), by_peer[0]
    starts = latest(marked.reshape(rows, approach.messages, -1))
    shared = counted(approach, setting.threads, setting.partitions_per_thread)
    if any(shared):
        starts = starts + np.where(shared, costs.pready[..., None], 0.0)
    if interface.joins:
        starts = starts + _wide(costs.barrier, rows)[:, None]
    if interface.opens:
        # The receiver's go-ahead of this iteration: an exposure epoch, or a clear-to-send.
        starts = np.maximum(starts, (costs.control - last_ready)[:, None])
    if not interface.joins:
        starts = starts + costs.wake[..., None] * _paid(starts + last_ready[:, None], costs.waking[..., None])
    if late_puts(interface, setting):
        keeping = sum(by_peer[peer % len(by_peer)].kept for peer in range(setting.peers))
        starts = np.maximum(starts, _met_to_end_the_epoch(starts, join, keeping, costs.barrier)[:, None])
    return _warmed(starts, -last_ready, costs) if np.any(costs.cold) else starts


def _met_to_end_the_epoch(starts: Array, join: Array, keeping: Array | float, barrier: Array) -> Array:
    """When threads have met that have called all puts, each `keeping` its data, one after the other: shape (rows,)."""
    if not np.any(keeping):
        return join
    cost = _wide(np.asarray(keeping), len(starts))
    called = fifo_starts(np.sort(starts, axis=1), cost[:, None]) + cost[:, None]
    return np.asarray(np.maximum(join, called[:, -1] + barrier))


def _protocol(
    issued: Array,
    next_waiting: Callable[[Array], Array],
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
        return np.maximum(issued, costs.wire - _beside(last_ready, issued))
    return _handshake(issued, costs, approach, setting, waits_from, join, next_waiting)


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
    if receivers(interface, setting) == "master":
        # One thread polls all VCIs to complete messages on them (global progress, zambre2021 5.1).
        end = end + (vcis - 1) * costs.poll
    if interface.one_sided:
        end = _synchronise(end, last_issued, join, costs, approach, setting)
    if interface.receivers == "threads":  # each thread has completed its own, then they meet
        last = end if setting.receivers_meet or np.any(costs.acknowledged) else last_issued
        end = np.maximum(end, last + costs.barrier)
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


def _beside(x: Array, messages: Array) -> Array:
    """A time of each row, shape (rows,), to broadcast over an array of shape (rows, ...)."""
    return x.reshape(-1, *[1] * (messages.ndim - 1))


def _to_all(x: Array, peers: int) -> Array:
    """The sum over the messages to all peers: without the last axis, which is of length 1 where they are alike."""
    return np.asarray(peers * x[..., 0] if x.shape[-1] == 1 else x.sum(axis=-1))


def _wide(x: Array, rows: int) -> Array:
    return np.broadcast_to(x, (rows,))


def joined(ready: Array, costs: Costs, approach: Approach, setting: Setting) -> Array:
    """When a rank's threads have met after marking their partitions: shape (rows,), on the clock of `ready`."""
    if approach.interface.counts:
        ready = marked_by_threads(ready, setting, costs.pready)
    return np.asarray(latest(ready) + costs.barrier)


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
    of the iteration, shape (rows,), when the exchange before has just ended; a share of what it costs, always to that.
    """
    order = np.argsort(starts, axis=1, kind="stable")
    ordered = np.take_along_axis(starts, order, axis=1)
    busy = costs.link[..., None]
    before = np.concatenate([begin[:, None], (fifo_starts(ordered, busy) + busy)[:, :-1]], axis=1)
    paid = _paid(ordered - before, costs.cooling[..., None])
    if np.any(own := costs.cold_own[..., None]):
        paid = (1 - own) * paid + own * _paid(ordered - begin[:, None], costs.cooling[..., None])
    later = ordered + costs.cold[..., None] * paid
    out = np.empty_like(later)
    # What follows at once waits for the first: it cannot overtake.
    np.put_along_axis(out, order, np.maximum.accumulate(later, axis=1), axis=1)
    return np.asarray(out)


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

    A transport partition is one message per peer, issued one after the other by one thread; where others
    wait for the lock, each of them finds it taken. It is free for the next one when, where traffic is
    two-way, as many have been received.
    """
    queued, _ = _queues(starts, members)
    sharing = [issuing_threads(ts, starts.shape[1], setting.threads, setting.partitions_per_thread) for ts in members]
    hold = holding(each, approach)
    taken = contending(rank, approach)[..., sharing][..., None, None]  # (VCIs, 1, 1) or (rows, VCIs, 1, 1)
    between = received_between(each, approach, len(members), setting)
    # A FIFO of ends: max(ready_i + h, end_(i-1) + h + c), for all peers.
    turn = _to_all(hold, setting.peers)
    ends = fifo_starts(queued + turn, _to_all(hold + taken + between, setting.peers))
    if hold.shape[-1] == 1:
        follow = np.arange(setting.peers - 1, -1, -1) * hold
    else:
        follow = turn[..., None] - np.cumsum(hold, axis=-1)
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
    free = turn = np.full_like(at, -np.inf)
    for peer in range(peers):
        costs = by_peer[peer % len(by_peer)]
        issued.append(at + holding(costs, approach))
        sent.append(allowed(issued[-1][:, None, None, None], Costs.abreast([costs]))[:, 0, 0, 0])
        turn = np.maximum(sent[-1], turn)
        left = np.maximum(np.maximum(sent[-1], free), turn - costs.credit)
        free, turn = left + _service(costs), turn + costs.drain
        at = np.maximum(issued[-1], completed(sent[-1], left, costs))
    return np.stack(issued, axis=-1)[:, None, None], np.stack(sent, axis=-1)[:, None, None]


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
    next_waiting: Callable[[Array], Array],
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
        # Nobody answers the request-to-send until the receiver enters MPI.
        request = np.maximum(request, held(_beside(waits_from, issued)))
    answered = request + half
    if setting.sender_progress == "on-call":
        # Somebody has to be inside MPI to see the answer.
        if approach.interface.sender_returns:
            answered = np.maximum(answered, held(_beside(join, issued)))  # the threads, when they have joined
        elif setting.partitions_per_thread > 1 and approach.interface.splits:
            waiting = own_wait(costs, approach.transport_partitions, setting.threads)
            answered = np.maximum(answered, held(next_waiting(waiting)))
    return np.asarray(answered)


def own_wait(costs: Costs, transports: int, threads: int) -> Array:
    """How long a thread waits inside MPI for its own messages: what is left of them on the link once the system has
    buffered what it can, and the last one at least, which asks first."""
    return np.maximum(costs.link * transports / threads - costs.buffered, costs.link)


def queues_within(costs: Costs) -> Array:
    """After which time a thread's last partition is in the queue for its VCI, at the latest; 1 ns for rounding."""
    return np.asarray(costs.pready + costs.wake + costs.cold + 1e-9)


def _next_waiting(issued: Array, ends: Array, queued: Array, within: Array, waiting: Array) -> Array:
    """When a thread is next inside MPI, for every message: shape of `issued`.

    A thread with several partitions goes on computing after it has started a message. It is inside MPI from when its
    last one is ready, at `ends` of shape (rows, threads), until it has issued that: what was `queued` up to `within`
    after it, shape (rows, VCIs, partitions), goes first. Then it waits for as long as its messages take (`own_wait`).
    """
    seen = np.maximum(_beside(latest(ends), issued), issued)
    last = issued[..., -1]
    for end in -np.sort(-ends, axis=1).T:
        mine = queued <= (end + within)[:, None, None]
        busy = np.maximum(np.where(mine, last, -np.inf).max(axis=-1), end[:, None])[..., None, None]
        seen = np.where(busy + waiting >= issued, np.maximum(_beside(end, issued), issued), seen)
    return np.asarray(seen)


def latest_by_thread(marked: Array, setting: Setting) -> Array:
    """When each thread's last partition is ready: shape (rows, threads)."""
    return latest(marked.reshape(len(marked), setting.threads, -1))


def late_puts(interface: Interface, setting: Setting) -> bool:
    """Are puts put off, by the library, until one thread ends the epoch of all?"""
    return interface.one_sided and interface.needs_room and setting.unattended == 0


def met_first(interface: Interface) -> bool:
    """Is nobody inside MPI, to move what waits, before the threads have met? Else each waits there for its own."""
    return interface.one_sided or interface.sender_returns


def room(interface: Interface, setting: Setting) -> float:
    """Bytes to one peer that can wait for the link while nobody is inside MPI; infinite: no less than there may be."""
    if not interface.needs_room or late_puts(interface, setting):
        return math.inf
    if not met_first(interface) and setting.partitions_per_thread == 1:
        return math.inf  # who sends waits at once
    return setting.unattended if interface.one_sided else setting.sends_unattended


def calls_push(interface: Interface) -> bool:
    """Does a call hand over what earlier ones could not? A send polls; a put only joins the queue behind them."""
    return not interface.one_sided


def _attended(line: Line, each: Costs, inside: Array, room: float, push: bool) -> Array:
    """When messages may go, in the order of the line, if `room` bytes can wait for it without anyone inside MPI.

    If calls `push`, each hands over what the link has made room for since the one before; a message of which some finds
    none waits for the next call, or until somebody is `inside`, shape (rows,), and from then on somebody is.
    """
    goes = line.goes
    service = np.broadcast_to(line.of(_service(each)), goes.shape)
    rooms = np.broadcast_to(line.of(room / each.size * each.link), goes.shape)
    work = np.cumsum(service, axis=1)
    calls = np.minimum(np.maximum.accumulate(goes, axis=1), inside[:, None])
    calls = np.concatenate([calls, inside[:, None]], axis=1)
    passed, taken = np.zeros_like(calls), np.full_like(calls, np.inf)
    through, held, before = np.zeros_like(inside), np.zeros_like(inside), calls[:, 0]
    for i, now in enumerate(calls.T):
        through = passed[:, i] = np.minimum(through + (now - before), held)
        if i < goes.shape[1]:
            room_for = np.maximum(held, np.minimum(work[:, i], through + rooms[:, i]))
            if not push and i:
                room_for = np.where(held < work[:, i - 1], held, room_for)
            held = taken[:, i] = np.where(now < inside, room_for, np.inf)
        before = now
    out, rows, at = goes.copy(), np.arange(len(goes)), np.zeros(len(goes), dtype=np.intp)
    for i, ends in enumerate(work.T):
        at = np.maximum(at, i)
        while np.any(short := taken[rows, at] < ends):
            at = at + short
        later = calls[rows, at] + ends - passed[rows, at] - service[:, i]
        out[:, i] = np.where(at > i, np.maximum(goes[:, i], later), goes[:, i])
    return out


def answers_inside(interface: Interface, progress: Progress) -> bool:
    """Does a receiver answer only inside MPI? An adapter answers a rendezvous at best, and no active message."""
    return progress == "on-call" or (interface.active_message and progress != "thread")


def receivers(interface: Interface, setting: Setting) -> Literal["master", "threads", "none"]:
    """Who completes messages: of puts, one thread where the library makes active messages of them."""
    return "master" if interface.one_sided and setting.puts_take_cpu else interface.receivers


def receiving(costs: Costs, approach: Approach, vcis: int, setting: Setting) -> Array:
    """CPU time to receive one message: shape (rows,) or ()."""
    interface = approach.interface
    if receivers(interface, setting) == "none":
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


def _early(left: Array, line: Line, each: Costs, join: Array) -> NDArray[np.intp]:
    """How many messages have arrived when the sender's threads meet: shape (rows,)."""
    return np.asarray(np.count_nonzero(left + line.of(_travel(each)) <= join[:, None], axis=1))


def _receive(
    left: Array,
    line: Line,
    each: Costs,
    approach: Approach,
    vcis: int,
    setting: Setting,
    waits_from: Array | None,
    last_ready: Array,
) -> Array:
    """When the last message is complete at the receiver, shape (rows,); `left` is in the order of the line."""
    rows, interface = len(left), approach.interface
    begins = waits_from if setting.progress != "thread" else None  # completing takes the CPU
    nobody = receivers(interface, setting) == "none"
    if nobody and line.alike:
        return _finite_max(left) + line.of(_travel(each))[:, 0]
    arrived = left + line.of(_travel(each))
    if not line.alike and np.any(each.drain):
        arrived = _port(left, line, each, -last_ready if begins is None else begins)
    if nobody:
        return _finite_max(arrived)
    service = receiving(each, approach, vcis, setting)
    if receivers(interface, setting) == "threads" and vcis > 1:
        queues = line.back(arrived).reshape(rows, vcis, -1)
        service = service[..., 0] if line.alike else np.broadcast_to(service, line.shape).reshape(queues.shape)
    else:
        queues, service = arrived[:, None], line.of(service)[:, None]
    if begins is not None:
        np.maximum(queues, begins[:, None, None], out=queues)
    if not line.alike:  # a large message may have overtaken a small one, or the other way round
        order = np.argsort(queues, axis=-1, kind="stable")
        queues, service = (np.take_along_axis(x, order, axis=-1) for x in (queues, service))
    ends = fifo_starts(queues, service)
    ends += service
    return _finite_max(ends)


def _port(left: Array, line: Line, each: Costs, begins: Array) -> Array:
    """When messages arrive through the port of a receiver that begins then: in the order of the line, as `left`.

    It is as slow as the one through which they left, so they wait there only where a shaped link has let a message
    with more credit go before another whose turn was earlier.
    """
    order = np.argsort(ticks(left - begins[:, None]), axis=1, kind="stable")
    at_port = (left, *map(line.of, (_service(each), each.drain, each.credit)))
    begun = np.empty_like(left)
    np.put_along_axis(begun, order, through(*(np.take_along_axis(x, order, axis=1) for x in at_port)), axis=1)
    return begun + line.of(_travel(each))


def unevenness(costs: Costs, approach: Approach) -> Array:
    """What flows that share ports take longer, as a share, shape (rows,) or ()."""
    if approach.interface.one_sided:
        return costs.uneven_puts
    return costs.uneven_active if approach.interface.active_message else costs.uneven


def _delay_by_sharing(left: Array, line: Line, each: Costs, share: Array) -> Array:
    """What a port that others use as well, as far as they are, delays the last message by: shape (rows,).

    Each takes that share longer, and a shaped link's bucket fills that much slower; what went before is forgotten
    where the port has caught up since.
    """

    def end(times: Array) -> Array:
        service, drain = (times * line.of(x) for x in (_service(each), each.drain))
        return np.asarray((through(left, service, drain, line.of(each.credit)) + service).max(axis=1))

    return end(1 + share[..., None]) - end(np.ones(1))


def _completed(
    goes: Array, left: Array, waits_from: Array | None, costs: Costs, approach: Approach, setting: Setting
) -> Array:
    """When a rank knows that a send is complete, its peers being as far as it is: shape of `left`.

    One that asks first is when its last byte has left; one whose receiver's word it waits for, when that is there.
    -inf: any other, as soon as it is copied.
    """
    interface = approach.interface
    asks = np.logical_or(interface.two_sided_rendezvous, costs.asks(interface))
    # Each peer has a socket, and all of them are filled.
    buffered = costs.buffered if interface.one_by_one else setting.peers * costs.buffered
    done = np.where(asks, np.maximum(goes, left + costs.stream - buffered), -np.inf)
    heard_of = delivered(costs, interface, setting)
    if not setting.two_way or not np.any(heard_of):
        return done
    arrived = left + _travel(costs)
    if waits_from is not None and setting.progress != "thread":
        arrived = np.maximum(arrived, _beside(waits_from, arrived))
    return np.where(
        heard_of, arrived + taken_in(costs, interface, setting) + acknowledgement(costs, interface, setting), done
    )


def delivered(costs: Costs, interface: Interface, setting: Setting) -> Array:
    """Does a rank wait for its receivers' word that they have what it sent? Shape of a cost."""
    if interface.one_sided:
        return np.asarray(setting.puts_delivered and interface.sync == "active")
    return costs.acknowledged


def confirmed_by_message(setting: Setting) -> bool:
    """Does a message of the target say that puts have arrived? Where all are put off, an epoch's cost has it."""
    return setting.puts_delivered and setting.unattended > 0


def confirmed(interface: Interface, setting: Setting) -> bool:
    """Does the end of an epoch wait until its puts are known to have arrived, before the target is told?"""
    return interface.sync == "passive" or (interface.sync == "active" and confirmed_by_message(setting))


def acknowledgement(costs: Costs, interface: Interface, setting: Setting) -> Array:
    """From an arrival until its sender knows: a word on its way back, or a message by a put's target, inside MPI."""
    return costs.control if interface.one_sided and confirmed_by_message(setting) else costs.ack


def taken_in(costs: Costs, interface: Interface, setting: Setting) -> Array:
    """CPU time of a receiver from a message's arrival to its word."""
    if receivers(interface, setting) == "none":
        return np.zeros(())
    service = costs.receive if interface.matches else costs.unmatched
    return service + costs.copy_out if interface.active_message else service


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
        if confirmed(interface, setting):
            complete = np.maximum(complete, end + acknowledgement(costs, interface, setting))
        return np.asarray(np.maximum(end, complete + costs.control) + closing)
    # Passive: flush waits for the acknowledgement, then a message tells the receiver.
    flushed = np.maximum(end + acknowledgement(costs, interface, setting), join)
    return np.asarray(flushed + closing + costs.control)
