"""The recurrence, message by message: what each message of an exchange waits for, in seven steps.

This is the plain form, written to be read: the pictures show it, and it is the oracle of the fast
one (`pready.model.engine`), which says the same in vectors. Every rank sends one buffer to each of its neighbours and
receives theirs. Given when its user partitions are ready, seven steps follow; each is a shift or a FIFO server,
end_i = max(arrival_i, end_(i-1)) + h_i, so that no event queue is needed:

1. **Ready** (`Ranks.ready`, `Ranks.queued`). A transport partition is ready when its last user partition is.
2. **Issue** (`Ranks.send`). Its thread takes the lock of its VCI, in order, and holds it for h = o_s + O_s m. A thread
   that finds it taken pays c(k) more, k threads sharing the VCI: end_i = max(ready_i + h, end_(i-1) + h + c(k)). Where
   every rank receives as it sends, as many messages are received under the lock before the next partition.
3. **Protocol** (`Ranks.allowed`). A rendezvous asks (RTS) and is answered (CTS), half a handshake each; nobody answers
   or sees the answer outside MPI, unless hardware or a progress thread does. Where each thread completes its own
   messages, the first that is through is in MPI for all VCIs, or for its own; else the threads' join comes first.
4. **NIC** (`Ranks.leave_nodes`, `Ranks.send`). Messages leave in order, g + G_link m apart.
5. **Wire** (`Kind.travel`). G m for the last byte of one message alone, and L.
6. **Receive** (`Ranks.receive`). The receiver's port, if several send to it, as slow as the one they left by; matching,
   o_r + O_r m, one message after the other per VCI that a thread of its own serves, else for all.
7. **Finish** (`Ranks.told`). Epochs close, threads meet, sends complete.

Limits, tested: with L = o = g = 0 and one partition late it is Eq. 3 of gillis2023
(https://doi.org/10.1145/3605573.3605599); with S → 0 and only o left, Eq. 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pready.model.approach.interfaces import Approach
from pready.model.approach.vcis import issuers as by_vci
from pready.model.approach.vcis import vci_members
from pready.model.timeline.costs import Costs
from pready.model.timeline.messages import NEVER, Message, Ready, Sent, State, ticks
from pready.model.timeline.rules import (
    Setting,
    answers_inside,
    asks,
    contending,
    epochs,
    holding,
    late_puts,
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

SAME_ROUND = 1 + 1e-6
"""What may go just as a round ends belongs to it, so that rounding does not decide."""


@dataclass(frozen=True)
class Kind:
    """Messages of one size: what the steps take, in seconds."""

    hold: float
    """Of the VCI's lock."""
    half: float
    """Of a handshake; 0 where none is needed."""
    busy: float
    """The NIC, until the next message may leave."""
    shared: float
    """A NIC that ranks of a node share, until the next message of any of them may leave."""
    stream: float
    """From its first byte to its last, alone."""
    wire: float
    travel: float
    """From its departure until all of it is there."""
    service: float
    """To receive it, the search of a queue aside."""
    ack: float
    """From its arrival until its sender knows that it is there."""
    asks: bool
    """Does it wait for its receiver's answer?"""
    inside_mpi: bool
    """Which comes only in MPI?"""
    leaves: bool
    """Is its send complete when its last byte has left, rather than when its data are copied?"""
    work: float = 0.0
    """Of its receiver's thread, on one user partition."""
    inside: bool = False
    """Does it stay within a node, past the NIC?"""


class Ranks:
    """The ranks of one exchange, and what its messages cost.

    Parameters
    ----------
    approach, setting
        How buffers are sent.
    costs
        By class of messages that differ in size; scalars.
    to
        By rank and direction: whom it sends to, or None.
    kinds
        By rank and direction: the class of what goes there.
    computing
        Does the receiver compute, rather than wait in MPI?
    needs, members
        User partitions that each job at a VCI waits for, and the jobs of each VCI; absent, transport partitions, each
        of which goes to all neighbours. Given, a job is one message, number m going in direction m modulo directions.
    issuers, waiting
        With `needs`: how many threads share each VCI, and which wait for its messages.
    node
        Of each rank, the NIC of its node that it shares with others; absent, every rank has its own.
    inside
        By class: does it stay within a node?
    sources
        By rank: who sends to it, and in which direction, in the order in which it takes what comes at once; absent, by
        sender.
    wavefront
        Does a rank receive before it computes?
    """

    def __init__(
        self,
        approach: Approach,
        setting: Setting,
        costs: Sequence[Costs],
        to: Sequence[Sequence[int | None]],
        kinds: Sequence[Sequence[int]],
        *,
        computing: bool,
        needs: Sequence[Sequence[int]] | None = None,
        members: Sequence[Sequence[int]] | None = None,
        issuers: Sequence[int] | None = None,
        waiting: Sequence[Sequence[int]] | None = None,
        node: Sequence[int] | None = None,
        inside: Sequence[bool] | None = None,
        sources: Sequence[Sequence[tuple[int, int]]] | None = None,
        wavefront: bool = False,
    ) -> None:
        self.approach, self.interface, self.setting = approach, approach.interface, setting
        self.to, self.computing, self.node, self.wavefront = to, computing, node, wavefront
        self.mapped = needs is not None
        n = setting.threads * setting.partitions_per_thread
        each = n // approach.messages
        self.needs = needs or [range(i * each, (i + 1) * each) for i in range(approach.messages)]
        self.received_in = received_in(approach.messages, len(self.needs[0]), setting)
        self.members = members or vci_members(approach, setting.threads, setting.contexts)
        self.own_threads = self.interface.completes == "threads"
        groups = serving(approach, setting, self.members, waiting)
        self.serving = groups * len(self.members) if len(groups) == 1 else groups
        self.directions = max(map(len, to))
        self.from_ = sources or self.senders()
        self.sources = 2 if wavefront else max(map(len, self.from_))
        first = costs[0]
        shared = issuers or by_vci(approach, setting.threads, setting.partitions_per_thread, setting.contexts)
        self.waiting = max(shared)
        self.queue = (len(self.needs) if self.mapped else setting.sources * approach.messages) / len(self.members)
        self.in_order = approach.messages / len(self.members) / self.waiting
        self.kinds_of = [self._kind(c) for c in costs]
        if inside is not None:
            self.kinds_of = [replace(k, inside=i) for k, i in zip(self.kinds_of, inside, strict=True)]
        self.kinds = [[self.kinds_of[k] for k in of_rank] for of_rank in kinds]
        self.barrier = float(first.barrier)
        self.released = float(released(first, self.interface))
        self.control, self.per_entry = float(first.control), float(first.per_entry)
        self.closing = float(epochs(first, approach, setting)) if self.interface.one_sided else 0.0
        self.contention = [float(contending(first, approach, setting)[k]) for k in shared]
        # Threads that have each completed their own messages meet once more.
        self.meeting = self.barrier if self.own_threads else 0.0
        self.receivers = receivers(self.interface, setting)
        self.tested = float(tested(first, self.queue * len(self.members), self.received_in, setting))
        self.handshakes = any(k.asks for k in self.kinds_of)

    def _kind(self, c: Costs) -> Kind:
        interface, setting = self.interface, self.setting
        waits = bool(asks(c, interface, setting))
        service = float(received(c, self.approach, setting, self.waiting, self.queue))
        return Kind(
            hold=float(holding(c, self.approach)),
            half=float(c.half_shake(interface)),
            busy=float(c.gap + c.link),
            shared=float(c.shared),
            stream=float(c.stream),
            wire=float(c.wire),
            travel=float(c.stream) + float(c.wire),
            service=service,
            ack=float(c.control),
            asks=waits,
            inside_mpi=waits and bool(answers_inside(c, interface, setting)),
            leaves=bool(leaves(c, interface)),
            work=float(work(c, self.received_in, setting)),
        )

    def senders(self) -> list[list[tuple[int, int]]]:
        """By rank: who sends to it, and in which direction."""
        out: list[list[tuple[int, int]]] = [[] for _ in self.to]
        for q, there in enumerate(self.to):
            for d, r in enumerate(there):
                if r is not None:
                    out[r].append((q, d))
        return out

    # 1. Ready.

    def ready(self, times: Sequence[float]) -> Ready:
        """When a rank's transport partitions are ready whose user partitions are at `times`."""
        theta = self.setting.partitions_per_thread
        jobs = [max(map(times.__getitem__, parts)) for parts in self.needs]
        ends = [max(times[begin : begin + theta]) for begin in range(0, len(times), theta)]
        through = [min((ends[thread] for thread in threads), default=NEVER) for threads in self.serving]
        return Ready(jobs, min(times), max(times), through)

    def in_mpi(self, start: float, ready: Ready) -> list[float]:
        """From when on a rank that computes is in MPI to stay, by VCI, if it began at `start`."""
        if self.own_threads:
            return [start + through for through in ready.through]
        return [start + (ready.join(self.barrier))] * len(self.members)

    def queued(self, ready: Ready, grants: dict[int, float]) -> list[float]:
        """When each job queues for its VCI; `grants`: by direction, when the receiver has let it, after the start."""
        jobs, join, interface = ready.transports, ready.join(self.barrier), self.interface
        if interface.joins:
            jobs = [max(t + self.barrier, join) for t in jobs]
        if interface.one_sided:  # the epoch is open when all peers have posted
            jobs = [max(t, *grants.values()) for t in jobs] if grants else jobs
        elif interface.active_message:  # none before the first clear-to-send
            jobs = [max(t, min(grants.values(), default=NEVER)) for t in jobs]
        if late_puts(interface, self.setting):
            jobs = [max(t, join) for t in jobs]
        return jobs

    # 2. Issue.

    def send(
        self,
        rank: int,
        ready: Ready,
        state: State,
        to: Sequence[int | None],
        posted: Sequence[float],
        enters: Sequence[Sequence[float]],
    ) -> Sent:
        """What a rank sends: its receivers post their receives at `posted`, and are in MPI to stay from `enters` on, by
        VCI."""
        start, kinds, interface = state.start[rank], self.kinds[rank], self.interface
        there = [(d, r) for d, r in enumerate(to) if r is not None]
        posts = {d: posted[r] - start for d, r in there}
        entered = {d: [at - start for at in enters[r]] for d, r in there}
        grants = {d: at + self.control for d, at in posts.items()} if interface.opens else {}
        jobs = self.queued(ready, grants)
        join, every = ready.join(self.barrier), [*posts]
        between = {d: self._between(kinds[d], len(posts)) for d in posts}
        nic, order, number, issued = state.nic[rank] - start, list[tuple[float, int, Message]](), 0, NEVER
        for vci, members in enumerate(self.members):
            free = NEVER
            for place, (time, job) in enumerate(sorted((jobs[j], j) for j in members)):
                targets = [job % self.directions] if self.mapped else every
                if self.mapped and targets[0] not in posts:
                    continue
                nth = job // self.directions if self.mapped else number + place
                # Whoever finds the lock taken pays for it with each of its messages.
                at = max(time, free + len(targets) * self.contention[vci])
                free, held = at, 0.0
                for d in targets:
                    kind = kinds[d]
                    held += kind.hold
                    at += kind.hold
                    mine = max(at, grants[d] + held) if interface.active_message else at
                    free = max(free, mine)
                    goes = self.allowed(kind, mine, posts[d], entered[d][vci])
                    m = Message(d, job, vci, time, mine, goes)
                    order.append((goes, nth * self.directions + d, m))
                    if interface.one_by_one:
                        nic, at = self._blocked(kind, m, nic)
                issued = max(issued, free)
                free += sum([between[d] for d in targets])
            number += len(members)
        first, last, join, issued = (start + t for t in (ready.first, ready.last, join, issued))
        out = Sent(first, last, join, issued, issued, start + self._leave(rank, order, len(posts), state))
        for _, _, m in order:
            m.ready, m.issued, m.goes, m.left = start + m.ready, start + m.issued, start + m.goes, start + m.left
        out.messages = [m for *_, m in order]
        if self.node is None:
            self._land(rank, out)
        return out

    @staticmethod
    def _blocked(kind: Kind, m: Message, nic: float) -> tuple[float, float]:
        """A send that blocks: when the NIC is free again, and when the call returns."""
        left = max(m.goes, nic)
        return left + kind.busy, max(m.goes, left + kind.stream) if kind.leaves else m.goes

    def _between(self, kind: Kind, peers: int) -> float:
        """What a rank receives under the lock before its next partition, for each message that it sent."""
        if not self.setting.two_way or self.receivers == "none":
            return 0.0
        return self.receiving(kind, peers * self.approach.messages / len(self.members))

    # 3. Protocol.

    def allowed(self, kind: Kind, issued: float, posted: float, enters: float) -> float:
        """When the payload of a message issued then may go, of whose VCI the receiver's thread enters MPI at
        `enters`."""
        if self.interface.two_sided_rendezvous:  # whoever comes second starts the transfer
            return max(issued, posted + kind.wire)
        if not kind.asks:
            return issued
        request = issued + kind.half
        answered = max(request, posted)  # as it posts its receives, or from then on
        if kind.inside_mpi and request >= posted:
            answered = max(request, enters)
        return answered + kind.half

    # 4. NIC.

    def _leave(self, rank: int, order: list[tuple[float, int, Message]], peers: int, state: State) -> float:
        """When each message leaves by the rank's own NIC, and when that is free; brings `order` into that order.

        As they may go; what may go in the same picosecond, or where receivers answer in the same round of messages to
        all of them, as they were issued.
        """
        gated, free = self.interface.two_sided_rendezvous or self.handshakes, state.nic[rank] - state.start[rank]
        if order and gated and len(self.members) == 1 and self.directions > 1 and not self.wavefront:
            begun = min(goes for goes, *_ in order)
            long = max(peers * (self.kinds_of[0].busy * SAME_ROUND), 1e-12)
            order.sort(key=lambda each: (round((each[0] - begun) / long - 0.5), each[1]))
        elif self.directions > 1 and (gated or self.interface.opens):
            order.sort(key=lambda each: (ticks(each[0]), each[1]))
        else:
            order.sort()
        busy = [kind.busy for kind in self.kinds[rank]]
        for _, _, m in order:
            m.left = max(m.goes, free)
            free = m.left + busy[m.direction]
        return free

    def leave_nodes(self, sent: Sequence[Sent], state: State) -> None:
        """What leaves a node goes from its rank's own NIC through an adapter: in whole picoseconds, then
        by rank, then as each rank has it."""
        assert self.node is not None
        lines: dict[int, list[tuple[float, int, int, Message]]] = {n: [] for n in self.node}
        for rank, n in enumerate(self.node):
            latest = NEVER
            for place, m in enumerate(sent[rank].messages):
                if not self.kinds[rank][m.direction].inside:
                    latest = max(latest, ticks(m.left))
                    lines[n].append((latest, rank, place, m))
        for n, line in lines.items():
            for _, rank, _, m in sorted(line, key=lambda each: each[:3]):
                m.left = max(m.left, state.adapters[n])
                state.adapters[n] = m.left + self.kinds[rank][m.direction].shared
        for rank, out in enumerate(sent):
            self._land(rank, out)

    # 5. Wire.

    def _land(self, rank: int, out: Sent) -> None:
        """Messages arrive, and sends are complete; then the epoch closes."""
        kinds = self.kinds[rank]
        for m in out.messages:
            kind = kinds[m.direction]
            m.arrived = m.left + kind.travel
            out.acknowledged = max(out.acknowledged, m.arrived + kind.ack)
            out.done = max(out.done, m.goes, m.left + kind.stream if kind.leaves else NEVER)
        self._close(out)

    # 6. Receive.

    def receiving(self, kind: Kind, queued: float) -> float:
        """CPU time to receive one message of a queue (jammer2022)."""
        return kind.service + (self.per_entry * searched(queued, self.in_order) if self.interface.matches else 0.0)

    def receive(
        self, sources: Sequence[tuple[int, Sent, int]], floors: Sequence[float]
    ) -> tuple[float, tuple[float, ...]]:
        """When a rank that receives from `floors` on, by VCI, has all that `sources` send to it, and their latest
        arrival, departure, issue and readiness; a source is a rank, what it sent, and in which direction."""
        vcis, floor = len(self.members), min(floors)
        own_threads = vcis > 1 and self.receivers == "threads"
        queued = len(sources) * self.approach.messages / vcis
        # Where the order decides more than when the last is through, rounding must not decide it.
        slowest = self.receiving(self.kinds_of[0], self.sources * self.approach.messages / vcis)
        matters = len(self.kinds_of) > 1 or (own_threads and slowest > self.kinds_of[0].busy)
        port, services = list[tuple[float, int, int, Message, Kind]](), []
        last: tuple[float, ...] = (NEVER,) * 4
        for number, (rank, sent, d) in enumerate(sources):
            kind, mine = self.kinds[rank][d], sent.towards[d]
            services.append(self.receiving(kind, queued))
            port += [(ticks(m.left - floor) if matters else m.left, number, i, m, kind) for i, m in enumerate(mine)]
            latest = max([m.left for m in mine])
            last = tuple(map(max, last, (latest + kind.travel, latest, sent.issued, sent.last)))
        free = through = NEVER
        lines: dict[int, list[tuple[float, float]]] = {}
        for _, number, _, m, kind in sorted(port):
            begun = m.left
            if self.sources > 1 and not kind.inside:  # one sender's messages are this far apart already
                begun = max(begun, free)
                free = begun + kind.busy
            arrived = begun + kind.travel
            through = max(through, arrived)
            lines.setdefault(m.vci if own_threads else 0, []).append((arrived, services[number]))
        if self.receivers == "none":
            return through, last
        begins = floors if own_threads else [floor]
        return max(self._served(sorted(line), begins[vci]) for vci, line in lines.items()), last

    @staticmethod
    def _served(line: Sequence[tuple[float, float]], free: float) -> float:
        for arrived, service in line:
            free = max(free, arrived) + service
        return free

    # 7. Finish.

    def _close(self, out: Sent) -> None:
        """The end of an epoch at its origin (gillis2023 2.3.3, Tables 1-2)."""
        interface = self.interface
        if interface.sync == "active":
            # MPI_Win_complete by one thread after a barrier, or by each thread for its window.
            complete = out.issued if interface.windows_per_thread else max(out.issued + self.barrier, out.join)
            out.notify, out.done = complete + self.control, max(out.done, complete + self.closing)
        elif interface.sync == "passive":
            # A flush waits for acknowledgements, then a message tells the target.
            out.done = max(out.acknowledged, out.join) + self.closing
            out.notify = out.done + self.control

    def told(self, end: float, sources: Sequence[tuple[int, Sent, int]]) -> float:
        """The end at a receiver that has received everything at `end`: its epoch closes (data are there, and their
        origins have said so), and its threads meet."""
        sync, notify = self.interface.sync, max(sent.notify for _, sent, _ in sources)
        if sync == "none":
            return end + self.meeting
        if sync == "passive":
            return max(end + self.kinds_of[0].ack + self.closing + self.control, notify) + self.meeting
        return max(end, notify) + self.closing + self.meeting
