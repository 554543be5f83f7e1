"""The recurrence, plainly: one message at a time, as docs/theory/engine.md says it. The oracle of the engine.

Every rank sends one buffer to each of its neighbours and receives theirs. Seven steps follow; each is a shift, a FIFO
server, end_i = max(arrival_i, end_(i-1)) + service_i, or a port that is shared.

What messages and ranks cost is the plan's (`rules.of_message`, `rules.of_rank`), as are its jobs, VCIs and threads;
who waits for whom is said again here.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from pready.model.engine import _kernel
from pready.model.engine.pattern import adapters_of
from pready.model.engine.plan import Plan
from pready.model.timeline import rules

NEVER = -math.inf


def ticks(time: float) -> float:
    """In whole picoseconds, from where no message's time is: rounding alone must not decide an order."""
    return float(round(time * 1e12 + 0.1234567)) if math.isfinite(time) else time


# A port that several flows share, evenly: processor sharing, exactly, event by event. A flow is what goes to one
# destination, or what comes from one sender; its jobs are served in order. Jobs come to the port a gap apart. Every
# flow that has a job at hand is served at the same rate, and no capacity is left idle meanwhile.


@dataclass
class Job:
    """A message at a port."""

    at: float
    """From when on it may come."""
    flow: int
    service: float
    """Seconds of the port alone."""
    gap: float = 0.0
    """Those until the next job may come."""
    begun: float = math.nan
    end: float = math.nan


def share(jobs: Sequence[Job], free: float = -math.inf) -> float:
    """Fill in when each job begins and ends, given in the order in which they come, at a port that is busy until
    `free`; returns when the last ends."""
    comes, latest = list[float](), -math.inf
    for job in jobs:
        comes.append(max(job.at, latest))
        latest = comes[-1] + job.gap
    now, coming = free, deque(zip(comes, jobs, strict=True))
    flows = defaultdict[int, deque[Job]](deque)
    left = dict[int, float]()  # by flow: what its job at hand still takes

    def begin(flow: int) -> None:
        if flows[flow]:
            job = flows[flow][0]
            job.begun, left[flow] = now, job.service

    while coming or left:
        until = coming[0][0] if coming else math.inf
        if left:
            flow = min(left, key=lambda f: left[f])
            end = now + left[flow] * len(left)
            served = left[flow] if end <= until else max(0.0, until - now) / len(left)
            left = {f: rest - served for f, rest in left.items()}
            now = min(end, max(now, until))
            if end <= until:
                del left[flow]
                flows[flow].popleft().end = now
                begin(flow)
                continue
        now = max(now, until)
        _, job = coming.popleft()
        flows[job.flow].append(job)
        if len(flows[job.flow]) == 1:
            begin(job.flow)
    return now


@dataclass(slots=True)
class Message:
    """One message at every step; absolute seconds."""

    direction: int
    vci: int
    goes: float
    """The protocol lets the payload go."""
    begun: float = math.nan
    """Its first byte leaves."""
    left: float = math.nan
    """From when on it could have streamed alone to be through the port as it is."""


@dataclass
class Sent:
    """What one rank sends in an exchange; absolute seconds."""

    first: float
    last: float
    """Its first and its last partition are ready."""
    join: float
    """Its threads have met."""
    issued: float
    done: float
    """Its sends are complete."""
    nic: float
    """Its port is free again."""
    messages: list[Message] = field(default_factory=list)
    """In the order in which they leave."""
    arrived: list[float] = field(default_factory=list)
    notify: float = NEVER
    """Its targets know that its epoch is over."""
    sending: list[list[tuple[float, float]]] = field(default_factory=list)
    """By VCI, or of one thread for all: from when until when the thread that receives sends; after the start."""

    @property
    def early(self) -> int:
        """Messages that have arrived when its threads have met."""
        return sum(at <= self.join for at in self.arrived)


@dataclass(frozen=True)
class Ready:
    """When what a rank sends is ready, in seconds after its start."""

    jobs: list[float]
    first: float
    last: float
    join: float
    in_mpi: list[float]
    """By VCI: when a thread is in MPI to stay."""


@dataclass
class State:
    """What one exchange leaves to the next: when each rank may begin, and its port, or its node's, is free."""

    start: list[float]
    nic: list[float]
    adapters: list[float]
    ports: list[float]
    """Of receivers, where they hold up senders."""

    @staticmethod
    def at_rest(ranks: int) -> State:
        """All ranks in step, and every port free."""
        return State([0.0] * ranks, *([NEVER] * ranks for _ in range(3)))


@dataclass(frozen=True)
class Ended:
    """How an exchange ends for one rank; absolute seconds."""

    received: float
    end: float
    causes: dict[str, float]
    told: float = NEVER
    """The end but for what the rank's threads still have to work on."""


class Ranks:
    """The ranks of a plan."""

    def __init__(self, plan: Plan, rails: int = 1) -> None:
        self.plan, self.interface, self.setting = plan, plan.approach.interface, plan.setting
        of, messages = plan.pattern, plan.messages
        self.wavefront, self.computing = of.name == "sweep3d", plan.workload.receiver_computes
        senders, tags = of.tables[0].from_
        self.to = [[None] * of.directions] * of.ranks if self.wavefront else of.neighbours
        self.from_ = [
            [(q, j if tags is None else int(tags[r, j])) for j, q in enumerate(row) if q >= 0]
            for r, row in enumerate(senders.tolist())
        ]
        placed = plan.workload.placement or "in turn"
        self.node = None if of.node is None else adapters_of(of.node, rails, placed).tolist()
        self.kinds = [self._kind(k) for k in range(len(plan.costs))]
        self.kind_of = [[self.kinds[k] for k in of.classes[p]] for p in of.profile.tolist()]
        self.team: Any = SimpleNamespace(**dict(zip(_kernel.TEAM_FIELDS, plan.team[0].tolist(), strict=True)))
        self.contention = plan.contention[0].tolist()
        self.mapped = messages.waiting is not None
        groups = rules.serving(plan.approach, self.setting, messages.vcis, messages.waiting)
        self.serving = groups * len(messages.vcis) if len(groups) == 1 else groups
        self.own_threads = self.interface.completes == "threads"
        self.packing = rules.packing(self.interface, self.setting, messages.job_sizes, messages.needs)
        self.meeting = self.team.barrier if self.own_threads else 0.0
        self.receivers = rules.receivers(self.interface, self.setting)
        outside, one = self.computing and self.setting.progress != "thread", len(messages.vcis) == 1
        self.by_vci = self.receivers == "threads" and not one
        # One thread sends and receives, but for one in MPI all the time beside threads with a VCI each.
        self.turns = self.setting.two_way and self.receivers != "none" and (self.by_vci or one or outside)
        self.meanwhile = self.turns and (self.own_threads or not self.computing)
        self.asks = any(k.asks for k in self.kinds)
        self.holds_up = not (self.wavefront or of.root or of.alone) and senders.shape[1] > 1 and self._holds_up()

    def _holds_up(self) -> bool:
        """Does a rank receive more than one of its senders sends?"""
        edges = [(q, r, self.kind_of[q][d]) for r, row in enumerate(self.from_) for q, d in row]
        apart = [(sender, receiver, float(kind.busy)) for sender, receiver, kind in edges if not kind.inside]
        sends, receives = (dict.fromkeys(range(len(self.from_)), 0.0) for _ in range(2))
        for sender, receiver, busy in apart:
            sends[sender] += busy
            receives[receiver] += busy
        return any(receives[receiver] > sends[sender] * (1 + 1e-9) for sender, receiver, _ in apart)

    def _kind(self, number: int) -> Any:
        """What messages of a class cost, and which rules hold for them."""
        c, interface, setting = self.plan.costs[number], self.interface, self.setting
        asks = bool(rules.asks(c, interface, setting))
        return SimpleNamespace(
            **dict(zip(_kernel.KIND_FIELDS, self.plan.kinds[0, number].tolist(), strict=True)),
            asks=asks,
            in_mpi=asks and bool(rules.answers_inside(c, interface, setting)),
            sender=interface.boundary_first and asks and bool(rules.answers_inside(c, interface, setting)),
            leaves=bool(rules.leaves(c, interface)),
            inside=self.plan.pattern.kinds[number].inside,
        )

    # 1. Ready: a job when its last partition is; a rank is in MPI once its threads have joined, or one is through.

    def ready(self, times: Sequence[float]) -> Ready:
        """What is ready when, of a rank whose user partitions are at `times`."""
        of, theta, joins = self.setting, self.setting.partitions_per_thread, self.interface.joins
        times = [of.slower * t for t in times]
        # What is sent is computed and packed first; the interior follows, behind a barrier if one thread sends for all.
        own = [of.boundary * t + pack for t, pack in zip(times, self.packing or [0.0] * len(times), strict=True)]
        met = max(own) + self.team.barrier
        behind = [met] * len(own) if joins and of.boundary < 1 else own
        ends = [at + (1 - of.boundary) * t for at, t in zip(behind, times, strict=True)]
        join = max(ends) + self.team.barrier
        jobs = [met if joins else max(own[p] for p in needs) for needs in self.plan.messages.needs]
        enters = own if self.interface.tests else ends
        by_thread = [max(enters[begin : begin + theta]) for begin in range(0, len(times), theta)]
        last = math.inf if self.own_threads else join
        in_mpi = [min([last, *(by_thread[t] for t in threads)]) for threads in self.serving]
        return Ready(jobs, min(times), max(times), join, in_mpi)

    # 2. Issue: a job takes the lock of its VCI, in order; one that waits for it pays c(k) more with each message. What
    # has come before is received first, of peers that send as this rank does, if a thread is in MPI.

    def send(
        self, rank: int, ready: Ready, state: State, to: Sequence[int | None], enters: Callable[[int, int], float]
    ) -> Sent:
        """What a rank sends; `enters`: when a rank is in MPI to stay, by VCI."""
        start, kinds, interface = state.start[rank], self.kind_of[rank], self.interface
        posts = {d: state.start[r] - start for d, r in enumerate(to) if r is not None}
        directions, queued = len(kinds), self.queued(ready, posts)
        port, order, number, issued = state.nic[rank] - start, list[tuple[float, int, Message]](), 0, NEVER
        sending: list[list[tuple[float, float]]] = []
        for vci, members in enumerate(self.plan.messages.vcis):
            free, theirs, coming, spans = NEVER, NEVER, list[tuple[float, float]](), list[tuple[float, float]]()
            for time, job in sorted((queued[j], j) for j in members):
                targets = [job % directions] if self.mapped else [*posts]
                if self.mapped and targets[0] not in posts:
                    continue
                due = ticks(max(free, time))
                while self.meanwhile and coming and ticks(coming[0][0]) <= due:
                    comes, takes = coming.pop(0)
                    free = max(free, comes) + takes
                at = max(time, free + len(targets) * self._contention(vci))
                begun = time if at == time else free
                free, held = at, 0.0
                for d in targets:
                    held, at = held + kinds[d].hold, at + kinds[d].hold
                    mine = max(at, posts[d] + self.team.control + held) if interface.active_message else at
                    free = max(free, mine)
                    receiver = to[d]
                    assert receiver is not None
                    goes = self.allowed(kinds[d], mine, posts[d], enters(receiver, vci) - start)
                    goes = max(goes, ready.in_mpi[vci]) if kinds[d].sender else goes
                    order.append((goes, job if self.mapped else number, Message(d, vci, goes)))
                    number += 1
                    leaves = max(goes, theirs)
                    theirs = leaves + kinds[d].busy
                    coming.append((leaves + (kinds[d].stream + kinds[d].wire), self.receiving(kinds[d], len(posts))))
                    if interface.one_by_one:
                        left = max(goes, port)
                        port, at = left + kinds[d].busy, max(goes, left + kinds[d].stream) if kinds[d].leaves else goes
                issued = max(issued, free)
                if spans and begun <= spans[-1][1]:
                    begun, _ = spans.pop()
                spans.append((begun, free))
                free += self._between([kinds[d] for d in targets])
            sending.append(spans)
        join, interior = ready.join, (1 - self.setting.boundary) * ready.last
        if self.setting.boundary < 1:  # the last to issue computes its interior then
            join = max(join, issued + interior + self.team.barrier)
        out = Sent(start + ready.first, start + ready.last, start + join, start + issued, start + issued, NEVER)
        if self.turns:
            out.sending = sending if self.by_vci or len(sending) == 1 else [[(NEVER, issued)]]
        out.nic = start + self.leave(rank, order, to, state)
        for _, _, m in order:
            m.goes, m.begun, m.left = start + m.goes, start + m.begun, start + m.left
        out.messages = [m for *_, m in order]
        if self.node is None and not self.holds_up:
            self.land(rank, out)
        return out

    def queued(self, ready: Ready, posts: dict[int, float]) -> list[float]:
        """When each job queues for its VCI."""
        jobs, interface = ready.jobs, self.interface
        if interface.one_sided and posts:  # the epoch is open when all peers have posted
            jobs = [max(t, max(posts.values()) + self.team.control) for t in jobs]
        elif interface.active_message:  # none before the first clear-to-send
            jobs = [max(t, min(posts.values(), default=NEVER) + self.team.control) for t in jobs]
        return [max(t, ready.join) for t in jobs] if rules.late_puts(interface, self.setting) else jobs

    def _contention(self, vci: int) -> float:
        return float(self.contention[vci])

    def _between(self, kinds: Sequence[Any]) -> float:
        """What a rank receives under the lock before its next job, whether or not it has come."""
        return 0.0

    # 3. Protocol: eager, or RTS and CTS, half a handshake each; nobody answers outside MPI, unless hardware does.

    def allowed(self, kind: Any, issued: float, posted: float, enters: float) -> float:
        """When the payload of a message may go, whose receiver is in MPI to stay from `enters` on."""
        if self.interface.two_sided_rendezvous:  # whoever comes second starts the transfer
            return max(issued, posted + float(kind.wire))
        if not kind.asks:
            return issued
        request = issued + kind.half
        waits = kind.in_mpi and self.computing and not self.wavefront and request >= posted
        return float(max(request, enters if waits else posted) + kind.half)

    # 4. NIC: messages to one destination leave in order, g + G_link m apart; destinations share the port evenly.

    def leave(
        self, rank: int, order: list[tuple[float, int, Message]], to: Sequence[int | None], state: State
    ) -> float:
        """When each message leaves by the rank's own port, and when that is free; brings `order` into that order: as
        they may go; what may go in the same picosecond, as it was issued."""
        order.sort(key=lambda each: (ticks(each[0]), each[1]))
        of, kinds = self.plan.pattern, self.kind_of[rank]
        # From rest all peers have one place, and differ.
        peers = [d if of.alone else -1 if q is None else q for d, q in enumerate(to)]
        jobs = [Job(m.goes, peers[m.direction], k.busy, k.gap) for *_, m in order for k in (kinds[m.direction],)]
        free = share(jobs, state.nic[rank] - state.start[rank])
        for (*_, m), job in zip(order, jobs, strict=True):
            m.begun, m.left = job.begun, max(job.begun, job.end - kinds[m.direction].alone)
        return free

    def leave_nodes(self, sent: Sequence[Sent], state: State) -> None:
        """What leaves a node goes on through an adapter, which its ranks share evenly."""
        assert self.node is not None
        lines: dict[int, list[tuple[float, int, int, Message]]] = {n: [] for n in self.node}
        for rank, n in enumerate(self.node):
            latest = NEVER
            for place, m in enumerate(sent[rank].messages):
                if not self.kind_of[rank][m.direction].inside:
                    latest = max(latest, ticks(m.begun))
                    lines[n].append((latest, rank, place, m))
        for n, line in lines.items():
            line.sort(key=lambda each: each[:3])
            leaving = [(m.begun, rank, self.kind_of[rank][m.direction]) for _, rank, _, m in line]
            jobs = [Job(begun, rank, kind.shared) for begun, rank, kind in leaving]
            state.adapters[n] = share(jobs, state.adapters[n])
            for (_, rank, _, m), job in zip(line, jobs, strict=True):
                kind = self.kind_of[rank][m.direction]
                m.begun, m.left = job.begun, max(m.left, job.begun, job.end - max(kind.shared, kind.alone))
        for rank, out in enumerate(sent):
            if not self.holds_up:
                self.land(rank, out)

    def pass_ports(self, sent: Sequence[Sent], state: State) -> None:
        """Where ports hold up senders, what comes to a rank goes through its port, behind what came in the exchange
        before, and has left when it could have streamed alone to be through then."""
        for r, sources in enumerate(self.from_):
            coming = [
                (ticks(m.begun - state.start[r]), j, i, m, kind)
                for j, (q, d) in enumerate(sources)
                for kind in (self.kind_of[q][d],)
                for i, m in enumerate(m for m in sent[q].messages if m.direction == d)
                if not kind.inside
            ]
            coming.sort(key=lambda each: each[:3])
            jobs = [Job(m.begun, sources[j][0], kind.busy, kind.gap) for _, j, _, m, kind in coming]
            if jobs:
                state.ports[r] = share(jobs, state.ports[r])
            for (*_, m, kind), job in zip(coming, jobs, strict=True):
                m.left = max(m.left, job.end - kind.alone)
        for rank, out in enumerate(sent):
            self.land(rank, out)

    # 5. Wire: G m and L. Sends are complete once copied or left; then the sender's epoch closes.

    def land(self, rank: int, out: Sent) -> None:
        """Messages arrive."""
        known = NEVER
        for m in out.messages:
            kind = self.kind_of[rank][m.direction]
            out.arrived.append(m.left + (kind.stream + kind.wire))
            known = max(known, out.arrived[-1] + kind.ack)
            out.done = max(out.done, m.goes, m.left + kind.stream if kind.leaves else NEVER)
        if self.interface.sync == "active":
            after = max(out.issued + self.team.barrier, out.join)
            complete = out.issued if self.interface.windows_per_thread else after
            out.notify, out.done = complete + self.team.control, max(out.done, complete + self.team.closing)
        elif self.interface.sync == "passive":  # a flush waits for acknowledgements, then a message tells the target
            out.done = max(known, out.join) + self.team.closing
            out.notify = out.done + self.team.control

    # 6. Receive: the receiver's port if several send to it, then matching and o_r + O_r m, one after the other.

    def receiving(self, kind: Any, sources: int) -> float:
        """CPU time to receive one message of a queue (jammer2022)."""
        plan, vcis = self.plan, len(self.plan.messages.vcis)
        each = of_one = plan.transports / vcis
        if self.mapped:  # a neighbour may be several directions
            of_one = len(plan.messages.needs) / len({*plan.pattern.steps}) / vcis
        # Messages of one thread arrive in the order of their receives; of what others sent half is searched.
        others = sources * each - of_one / max(plan.messages.issuers)
        return float(kind.receive + self.team.per_entry * others / 2)

    def receive(
        self, sources: Sequence[tuple[int, Sent, int]], floors: Sequence[float], start: float = 0.0,
        sending: Sequence[Sequence[tuple[float, float]]] = (),
    ) -> list[tuple[float, int, int, Any]]:  # fmt: skip
        """When each message is received, its source, its number and its kind; a source is a rank, what it sent, and in
        which direction. A rank receives from `floors` on, by VCI, but while it is `sending` itself."""
        since = min(floors)
        coming = [
            (ticks(m.begun - since), j, i, m, self.kind_of[rank][d])
            for j, (rank, sent, d) in enumerate(sources)
            for i, m in enumerate(m for m in sent.messages if m.direction == d)
        ]
        arrived = []
        coming.sort(key=lambda each: each[:3])
        passed = self.holds_up or self.plan.pattern.alone
        shared = [] if passed else [each for each in coming if not each[4].inside]
        jobs = [Job(m.begun, sources[j][0], k.busy, k.gap) for _, j, _, m, k in shared]
        share(jobs)
        through = {id(m): job.end - kind.alone for (*_, m, kind), job in zip(shared, jobs, strict=True)}
        for _, j, i, m, kind in coming:  # not before its last byte has left
            left = max(m.left, through.get(id(m), NEVER))
            arrived.append((left + (kind.stream + kind.wire), j, i, m.vci, kind))
        if self.receivers == "none":
            return [(at, j, i, kind) for at, j, i, _, kind in arrived]
        by_vci = len(floors) > 1 and self.receivers == "threads"
        free, out = [*floors] if by_vci else [since] * len(floors), []
        for at, j, i, vci, kind in sorted(arrived, key=lambda each: (ticks(each[0] - since), *each[1:3])):
            server = vci if by_vci else 0
            begins = max(free[server], at)
            for begin, end in sending[server] if sending else ():
                if ticks(begin) <= ticks(begins - start):
                    begins = max(begins, start + end)
            free[server] = begins + self.receiving(kind, len(sources))
            out.append((free[server], j, i, kind))
        return out

    # 7. Finish: epochs close, and threads meet that have each completed their own messages.

    def told(self, end: float, sources: Sequence[tuple[int, Sent, int]]) -> float:
        """The end at a receiver that has received everything at `end`."""
        sync, notify = self.interface.sync, max(sent.notify for _, sent, _ in sources)
        if sync == "passive":
            end = max(end + self.kinds[0].ack + self.team.closing + self.team.control, notify)
        elif sync == "active":
            end = max(end, notify) + self.team.closing
        return end + self.meeting

    def consumed(self, received: Sequence[tuple[float, int, int, Any]], since: float, end: float, free: float) -> float:
        """When the threads of a rank have worked on all that came, each on the next partition as soon as it is free;
        all at the `end` where MPI does not tell of each message. They are free from `free` on."""
        if self.interface.tells:
            received = [(at + self.team.tested, j, i, kind) for at, j, i, kind in received]
        else:
            released = end + (0.0 if self.own_threads else self.team.barrier)
            received = [(released, j, i, kind) for _, j, i, kind in received]
        threads, each = [free] * self.setting.consumers, len(self.plan.messages.needs[0])
        partitions = rules.received_in(self.plan.transports, each, self.setting)
        for at, _, _, kind in sorted(received, key=lambda each: (ticks(each[0] - since), *each[1:3])):
            for _ in range(partitions):
                heapq.heapreplace(threads, done := max(at, threads[0]) + kind.work)
                end = max(end, done)
        return end


def attributed(sources: Sequence[tuple[int, Sent, int]], ranks: Ranks, since: float, end: float) -> dict[str, float]:
    """What a rank waited for, by the latest arrival, departure, issue and readiness of its neighbours."""
    left = [(max(m.left for m in s.messages if m.direction == d), ranks.kind_of[q][d]) for q, s, d in sources]
    last = [
        max((at + (k.stream + k.wire) for at, k in left), default=NEVER),
        max((at for at, _ in left), default=NEVER),
    ]
    last += [max((getattr(s, name) for _, s, _ in sources), default=NEVER) for name in ("issued", "last")]
    marks = [end]
    for time in last:
        marks.append(max(since, min(time, marks[-1])))
    end, arrival, gone, issued, ready = marks
    names = ("late_neighbour", "issue", "nic", "wire", "receive")
    return dict(zip(names, (ready - since, issued - ready, gone - issued, arrival - gone, end - arrival), strict=True))


def exchange(ranks: Ranks, times: Sequence[Sequence[float]], state: State) -> tuple[list[Ended], list[Sent]]:
    """One exchange of all ranks, whose partitions are ready at `times` after their starts; moves `state` on."""
    every, alone = range(len(ranks.to)), ranks.plan.pattern.alone
    ready, start = [ranks.ready(t) for t in times], list(state.start)
    sent = [ranks.send(r, ready[r], state, ranks.to[r], lambda q, v: start[q] + ready[q].in_mpi[v]) for r in every]
    if ranks.node is not None:
        ranks.leave_nodes(sent, state)
    if ranks.holds_up:
        ranks.pass_ports(sent, state)
    out = []
    for r in range(alone or len(every)):
        mine, own = [(q, sent[q], d) for q, d in ranks.from_[r + alone]], sent[r]
        join = sent[r + alone].join
        waits = ranks.computing and ranks.setting.progress != "thread"
        floors = [start[r] + (at if waits else 0.0) for at in ready[r + alone].in_mpi]
        each = ranks.receive(mine, floors, start[r], own.sending) if mine else []
        received = max((at for at, *_ in each), default=min(floors))
        received = ranks.told(received, mine) if mine else received + ranks.meeting
        received = max(received, join) if ranks.computing else received
        told = max(received, own.join, own.done + ranks.meeting if ranks.setting.two_way or not alone else NEVER)
        end, free = told, start[r] if alone and not ranks.computing else join
        if ranks.setting.consumers and mine:
            end = ranks.consumed(each, min(floors), told, free)
        causes = attributed(mine, ranks, own.last, told) | {"compute": own.last - start[r], "consume": end - told}
        out.append(Ended(received, end, causes, told))
    for r in range(len(out)):
        state.start[r], state.nic[r] = out[r].end, sent[r].nic
    return out, sent


def _listed(by_rank: Sequence[float]) -> Callable[[int, float], float]:
    return lambda q, _: by_rank[q]


def sweep(
    ranks: Ranks, times: Callable[[int, int], Sequence[float]], state: State
) -> tuple[list[Ended], list[dict[int, Sent]]]:
    """All octants of a sweep; `times` by rank and step. A rank receives from upstream, in MPI, computes, and sends
    downstream."""
    (x, y, _), blocks = ranks.plan.pattern.grid, ranks.plan.steps // 8
    steps: list[dict[int, Sent]] = []
    waited: list[dict[str, float]] = [{} for _ in range(x * y)]
    for step in range(8 * blocks):
        sx, sy = ((1, 1), (-1, 1), (-1, -1), (1, -1))[step // (2 * blocks)]
        sent: dict[int, Sent] = {}
        steps.append(sent)
        free = list(state.start)
        for r in sorted(range(x * y), key=lambda r: (sy * (r // x), sx * (r % x))):
            i, j = r % x, r // x
            beside, above = 0 <= i - sx < x, 0 <= j - sy < y
            upstream = [(q, sent[q], d) for q, d, there in ((r - sx, 0, beside), (r - sy * x, 1, above)) if there]
            downstream = [r + sx if 0 <= i + sx < x else None, r + sy * x if 0 <= j + sy < y else None]
            floors = [free[r]] * len(ranks.plan.messages.vcis)
            received = max((at for at, *_ in ranks.receive(upstream, floors)), default=free[r])
            begun = max(ranks.told(received, upstream) - ranks.meeting if upstream else received, free[r])
            here = State([*free], state.nic, state.adapters, state.ports)
            here.start[r] = begun
            out = sent[r] = ranks.send(r, ranks.ready(times(r, step)), here, downstream, _listed(free))
            state.start[r], state.nic[r] = max(out.join, out.done + ranks.meeting), out.nic
            causes = attributed(upstream, ranks, free[r], begun) | {"compute": out.last - begun}
            causes["issue"] += state.start[r] - out.last
            waited[r] = {name: waited[r].get(name, 0.0) + time for name, time in causes.items()}
    return [Ended(end, end, causes) for end, causes in zip(state.start, waited, strict=True)], steps


class Relays(Ranks):
    """Ranks of a tree that send on what they receive: message by message, or where MPI tells of the whole only, once
    the last is there. No team that computes or joins; none contends, unless each thread completes its own messages."""

    def _contention(self, vci: int) -> float:
        return super()._contention(vci) if self.own_threads else 0.0

    def _between(self, kinds: Sequence[Any]) -> float:
        return sum(self.receiving(kind, 1) / len(kinds) for kind in kinds)

    def relayed(self, arrived: Sequence[tuple[float, Message]], start: float, join: float) -> Ready:
        """When messages are ready to be sent on that come to a rank; after its `start`."""
        vcis = self.plan.messages.vcis
        by_vci, cost = len(vcis) > 1 and self.receivers == "threads", self.receiving(self.kinds[0], 1)
        free, jobs, left = [0.0] * len(vcis), [NEVER] * len(self.plan.messages.needs), [list(v) for v in vcis]
        for at, m in sorted(arrived, key=lambda each: each[0]):
            server = m.vci if by_vci else 0
            jobs[left[m.vci].pop(0)] = free[server] = max(at - start, free[server]) + cost
        if not self.interface.tells:
            jobs = [max(jobs)] * len(jobs)
        return Ready(jobs, min(jobs), max(jobs), join - start, [NEVER] * len(vcis))


def broadcast(root: Ranks, times: Sequence[float], state: State) -> tuple[list[Ended], dict[int, Sent]]:
    """One broadcast of all ranks, parents before their children; it ends for all when the last has everything."""
    relays, start, vcis = Relays(root.plan), list(state.start), len(root.plan.messages.vcis)
    sent = {0: root.send(0, root.ready(times), state, root.to[0], lambda q, _: start[q])}
    end = max(sent[0].join, sent[0].done + root.meeting)
    out = [Ended(end, end, {"compute": sent[0].last - start[0]})]
    for r in range(1, len(root.to)):
        ((q, d),) = root.from_[r]
        mine = [(q, sent[q], d)]
        received = end = relays.told(max(at for at, *_ in relays.receive(mine, [start[r]] * vcis)), mine)
        arrived = [(at, m) for at, m in zip(sent[q].arrived, sent[q].messages, strict=True) if m.direction == d]
        ready = relays.relayed(arrived, start[r], sent[0].join)
        sent[r] = relays.send(r, ready, state, root.to[r], lambda q, _: start[q])
        if sent[r].messages:
            end, state.nic[r] = max(end, sent[r].done + root.meeting), sent[r].nic
        out.append(Ended(received, end, attributed(mine, relays, sent[0].last, end) | out[0].causes))
    state.nic[0] = sent[0].nic
    state.start[:] = [max(e.end for e in out)] * len(out)
    return out, sent
