"""The engine's recurrence once more, message by message, in plain Python and hardly anything but loops.

Slow, and written to be read beside `pready/model/timeline.py`. It shares with the engine the costs of
a message (`costs.py`), the map of messages to VCIs (`approach.py`), the draws (`arrivals.py`) and who
neighbours whom (`pattern.py`), and none of the engine's algebra.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from oracle import MAGIC, plain, ticks

from pready.model import arrivals
from pready.model.approach import Approach, issuing_threads
from pready.model.costs import Completes, Costs
from pready.model.engine.plan import Plan
from pready.model.evaluate import setting_of
from pready.model.machine import Machine

NEVER = float("-inf")


@dataclass(frozen=True)
class Message:
    """What is the same of all messages of a class: plain numbers, found once."""

    size: float
    hold: float
    """Of the VCI's lock."""
    busy: float
    """The port, while it leaves."""
    stream: float
    travel: float
    """From when it leaves until all of it is there."""
    wire: float
    ack: float
    known: float
    """From its arrival until an epoch's origin knows."""
    half_shake: float
    """From a request to its receiver, and the same back."""
    asks: bool
    """Does it wait for its receiver's answer?"""
    copied: bool
    """Is its send complete once it may go? Else once its last byte has left."""
    delivered: bool
    """Is its send complete only when its receiver has it?"""
    returned: float
    """From its arrival to the receiver's acknowledgement."""


@dataclass
class Sent:
    """What one rank's exchange looks like from outside; absolute times."""

    first: float
    ready: float
    join: float
    issued: float
    done: float
    nic: float
    notify: float = NEVER
    early: int = 0
    tied: int = 0
    """Messages that arrive just as the threads meet: rounding decides whether they are early."""
    leaves: list[tuple[int, int, float]] = field(default_factory=list)
    """(direction, VCI, time) of each message, in the order in which they leave."""
    towards: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    """By direction: (VCI, time) of each of them, in that order."""
    acknowledged: float = NEVER
    waiting: list[tuple[float, int, int]] = field(default_factory=list)
    """(time, direction, VCI) of each message that the node's adapter has yet to take, in order."""


Ready = tuple[list[float], float, float, float, list[float]]
"""Transport partitions' ready times, the last mark, the first and last ready, threads' ends; relative."""


@dataclass
class Ended:
    received: float
    end: float
    causes: dict[str, float]
    early: int
    tied: int


class Oracle:
    """All ranks of a plan, or of a step's plans in order; `run` gives ends and receive ends by exchange and rank."""

    def __init__(self, machine: Machine, *plans: Plan) -> None:
        self.machine, self.plans = machine, plans
        ranks = plans[0].pattern.ranks
        self.start = [0.0] * ranks
        self.nic = [NEVER] * ranks
        self.adapters = [NEVER] * ranks  # by node
        self.drawn: dict[tuple[int, int], list[list[float]]] = {}
        self.take(plans[0])

    def take(self, plan: Plan) -> None:
        machine, self.plan = self.machine, plan
        self.approach: Approach = plan.approach
        self.costs: list[Costs] = [plain(c) for c in plan.costs]
        if plan.approach.interface.one_sided:  # one epoch, whatever is put in it
            self.costs = [replace(c, completes=self.costs[0].completes) for c in self.costs]
        self.computing = plan.workload.receiver == "computing"
        self.setting = setting_of(machine, plan.workload)
        self.progress = self.setting.progress
        interface = plan.approach.interface
        # Puts that are active messages are taken in by one thread.
        self.receivers = "master" if interface.one_sided and self.setting.puts == "processor" else interface.receivers
        self.windows = plan.workload.threads if interface.windows_per_thread else 1
        self.pattern, self.node = plan.pattern, None if plan.pattern.node is None else plan.pattern.node.tolist()
        self.inside = [kind.inside for kind in plan.pattern.kinds]
        self.messages = [self.message(cost) for cost in self.costs]
        # One barrier and one overhead of Pready, whatever the message.
        self.barrier, self.pready = float(self.costs[0].barrier), float(self.costs[0].pready)
        one = self.costs[0].flush if interface.sync == "passive" else self.costs[0].epoch
        self.epochs = float(one + (self.windows - 1) * self.costs[0].window)
        # Threads that have completed their own messages meet once more.
        self.meeting = self.barrier if interface.receivers == "threads" else 0.0
        self.takes = [self.taken(vci) for vci in range(len(plan.members))]
        self.needs = self.needed()
        theta = plan.workload.partitions_per_thread
        self.several = [len({p // theta for p in needed}) > 1 for needed in self.needs]
        profile, classes = plan.pattern.rank_profile, plan.pattern.classes.tolist()
        ranks = range(plan.pattern.ranks)
        self.kinds = [classes[0 if profile is None else profile[r]] for r in ranks]  # by rank and direction
        if plan.pattern.name != "sweep3d":
            self.to = [plan.pattern.neighbours(r) for r in ranks]
            self.sources = self.senders()

    def run(self, iterations: int) -> list[list[Ended]]:
        self.exchanges = iterations * self.plan.steps
        if self.plan.pattern.name == "sweep3d":
            return [self.sweep(k) for k in range(iterations)]
        out = []
        for k in range(iterations):
            for plan in self.plans:
                self.take(plan)
                out.append(self.exchange(k))
        return out

    # One exchange of a halo, pairs or a list.

    def exchange(self, k: int) -> list[Ended]:
        ranks = range(self.plan.pattern.ranks)
        to = self.to
        ready = [self.ready(r, k) for r in ranks]
        joins = [self.start[r] + ready[r][1] + self.barrier for r in ranks]
        posted = list(self.start)
        enters = joins if self.computing else posted
        sent = [self.send(r, k, ready[r], self.start[r], to[r], posted, enters) for r in ranks]
        self.leave_nodes(sent)
        out = []
        for r in ranks:
            sources = [(sent[q], d, self.kinds[q][d]) for q, d in self.sources[r]]
            floor = joins[r] if self.computing and self.progress != "thread" else posted[r]
            received, causes = self.receive(sources, floor)
            received += self.meeting
            end = max(received, sent[r].join, sent[r].done + self.meeting)
            if self.computing:
                received = max(received, joins[r])
            parts = self.attribute(causes, sent[r].ready, end)
            parts["compute"] = sent[r].ready - posted[r]
            out.append(Ended(received, end, parts, sent[r].early, sent[r].tied))
        for r in ranks:
            self.start[r], self.nic[r] = out[r].end, sent[r].nic
        return out

    def senders(self) -> list[list[tuple[int, int]]]:
        """By rank: who sends to it, and in which direction, in the order in which it has them."""
        out: list[list[tuple[int, int]]] = [[] for _ in self.to]
        for q, there in enumerate(self.to):
            for d, r in enumerate(there):
                if r is not None:
                    out[r].append((q, d))
        if self.pattern.name in ("halo3d", "halo3d26"):  # of directions: who sends to r in direction d?
            out = [sorted(those, key=lambda qd: (qd[1], qd[0])) for those in out]
        return out

    # One sweep of all octants.

    def sweep(self, k: int) -> list[Ended]:
        x, y, _ = self.plan.pattern.grid
        blocks = self.plan.steps // 8
        early = tied = 0
        causes = [dict.fromkeys(("compute", "late_neighbour", "issue", "nic", "wire", "receive"), 0.0)
                  for _ in range(x * y)]  # fmt: skip
        for step in range(self.plan.steps):
            sx, sy = ((1, 1), (-1, 1), (-1, -1), (1, -1))[step // (2 * blocks)]
            sent: dict[int, Sent] = {}
            free = list(self.start)
            for j in range(y) if sy > 0 else reversed(range(y)):
                for i in range(x) if sx > 0 else reversed(range(x)):
                    r = i + x * j
                    upstream = [
                        (sent[(i - sx) + x * j], 0, 0) if 0 <= i - sx < x else None,
                        (sent[i + x * (j - sy)], 1, 0) if 0 <= j - sy < y else None,
                    ]
                    downstream = [
                        (i + sx) + x * j if 0 <= i + sx < x else None,
                        i + x * (j + sy) if 0 <= j + sy < y else None,
                    ]
                    received, last = self.receive([u for u in upstream if u], free[r])
                    begun = max(received, free[r])
                    # Downstream ranks have ended the step before and sit in MPI.
                    nth = k * self.plan.steps + step
                    s = self.send(r, nth, self.ready(r, nth), begun, downstream, free, free)
                    sent[r] = s
                    early, tied = early + s.early, tied + s.tied
                    self.start[r], self.nic[r] = max(s.join, s.done + self.meeting), s.nic
                    for name, t in self.attribute(last, free[r], begun).items():
                        causes[r][name] += t
                    causes[r]["compute"] += s.ready - begun
                    causes[r]["issue"] += self.start[r] - s.ready
        counts = [(early, tied)] + [(0, 0)] * (x * y - 1)
        return [Ended(self.start[r], self.start[r], causes[r], *counts[r]) for r in range(x * y)]

    # Steps of the timeline.

    def leave_nodes(self, sent: list[Sent]) -> None:
        """What leaves a node goes through its adapter, in whole picoseconds, then by rank, then as each rank has it."""
        if self.node is None:
            return
        lines: dict[int, list[tuple[float, int, int, float, int, int]]] = {n: [] for n in self.node}
        for r, n in enumerate(self.node):
            latest = NEVER
            for place, (time, d, vci) in enumerate(sent[r].waiting):
                latest = max(latest, ticks(time))
                lines[n].append((latest, r, place, time, d, vci))
        for n, line in lines.items():
            for _, r, _, time, d, vci in sorted(line):
                cost = self.messages[self.kinds[r][d]]
                left = max(time, self.adapters[n])
                self.adapters[n] = left + cost.busy
                self.land(sent[r], d, vci, cost, left, time, sent[r].join)
        for s in sent:
            self.close(s)

    def land(
        self, s: Sent, d: int, vci: int, cost: Message, left: float, goes: float, join: float, since: float = 0.0
    ) -> None:
        """A message leaves at `left`, which as the threads' `join` is counted from `since`."""
        arrived = left + cost.travel
        if math.isclose(arrived, join, rel_tol=1e-12):
            s.tied += 1
        elif arrived <= join:
            s.early += 1
        s.acknowledged = max(s.acknowledged, since + (arrived + cost.known))
        if cost.delivered:
            s.done = max(s.done, since + (arrived + cost.returned))
        else:
            s.done = max(s.done, since + (goes if cost.copied else left + cost.stream))
        leaves = since + left
        s.leaves.append((d, vci, leaves))
        s.towards.setdefault(d, []).append((vci, leaves))

    def message(self, cost: Costs) -> Message:
        interface = self.approach.interface
        asks = self.asks(cost)
        says = cost.completes
        last_byte = says == Completes.LEFT and not interface.one_sided
        if says == Completes.BY_PROTOCOL:
            last_byte = asks or interface.two_sided_rendezvous
        return Message(
            size=float(cost.size),
            hold=self.hold(cost),
            busy=float(cost.gap + cost.link),
            stream=float(cost.stream),
            travel=float(cost.stream + cost.wire),
            wire=float(cost.wire),
            ack=float(cost.ack),
            known=self.acknowledgement(cost),
            half_shake=0.0 if interface.active_message else 0.5 * float(cost.handshake),
            asks=asks,
            copied=not last_byte,
            delivered=self.delivered(cost),
            returned=(0.0 if self.receivers == "none" else self.receiving(cost, 1)) + self.acknowledgement(cost),
        )

    def asks(self, cost: Costs) -> bool:
        """Does a message wait for its receiver's answer?"""
        interface = self.approach.interface
        if interface.active_message:
            return float(cost.size) >= interface.fetched_from
        return cost.handshake > 0 and not (interface.one_sided or interface.two_sided_rendezvous)

    def acknowledgement(self, cost: Costs) -> float:
        """From a put's arrival until its origin knows: a message where the target's CPU sends it."""
        return float(cost.control if self.says and self.approach.interface.one_sided else cost.ack)

    @property
    def says(self) -> bool:
        """Does a message say that a put has arrived?"""
        return self.costs[0].completes == Completes.DELIVERED and self.setting.puts != "deferred"

    def delivered(self, cost: Costs) -> bool:
        """Is a send complete only when its receiver has it? A passive epoch has its flush."""
        waits = self.setting.two_way or self.plan.pattern.name == "sweep3d"
        return waits and cost.completes == Completes.DELIVERED and self.approach.interface.sync != "passive"

    def answered(self, asked: float, posted: float, enters: float) -> float:
        """When a receiver answers: in MPI, where it is as it posts its receives, too."""
        handled = self.approach.interface.active_message and self.progress != "thread"
        if self.progress != "on-call" and not handled:
            return max(asked, posted)
        return posted if asked < posted else max(asked, enters)

    def answers(self, rank: int, posted: list[float], enters: list[float]) -> float:
        return posted[rank] if self.progress == "thread" else enters[rank]

    def close(self, s: Sent) -> None:
        """The end of an epoch."""
        interface, control = self.approach.interface, float(self.costs[0].control)
        if interface.sync == "active":
            complete = s.issued if interface.windows_per_thread else max(s.issued + self.barrier, s.join)
            if self.says:
                complete = max(complete, s.acknowledged)
            s.notify, s.done = complete + control, max(s.done, complete + self.epochs)
        if interface.sync == "passive":
            flushed = max(s.acknowledged, s.join)
            s.notify, s.done = flushed + self.epochs + control, flushed + self.epochs

    def times(self, rank: int, k: int) -> list[float]:
        """When partitions are ready; all of a rank are drawn in one call."""
        own = id(self.plan), rank
        if own not in self.drawn:
            drawn = arrivals.draw(self.plan.workload, self.exchanges, self.plan.seed, rank=rank)
            self.drawn[own] = drawn.tolist()
        return self.drawn[own][k]

    def ready(self, rank: int, k: int) -> Ready:
        w, interface = self.plan.workload, self.approach.interface
        times = self.times(rank, k)
        marked = list(times)
        if interface.counts:
            theta = w.partitions_per_thread
            for n in range(w.threads):
                free = NEVER
                for j in sorted(range(n * theta, (n + 1) * theta), key=lambda j: times[j]):
                    free = marked[j] = max(times[j], free) + self.pready
        bins = [max(marked[p] for p in needed) for needed in self.needs]
        if not interface.counts and not interface.joins:  # several threads count down together
            bins = [b + self.pready * s for b, s in zip(bins, self.several, strict=True)]
        theta = w.partitions_per_thread
        ends = [max(marked[n * theta : (n + 1) * theta]) for n in range(w.threads)]
        return bins, max(marked), min(times), max(times), ends

    def needed(self) -> list[tuple[int, ...]]:
        """The partitions that each transport partition, or each message where every one has its own, waits for."""
        if self.plan.mapping is not None:
            return list(self.plan.mapping.partitions)
        size = self.plan.workload.n_partitions // self.plan.transports
        return [tuple(range(i * size, (i + 1) * size)) for i in range(self.plan.transports)]

    def taken(self, vci: int) -> float:
        """What a message pays that waits for its VCI's lock."""
        w = self.plan.workload
        if self.plan.mapping is not None:
            k = self.plan.mapping.issuers[vci]
        else:
            k = issuing_threads(self.plan.members[vci], self.plan.transports, w.threads, w.partitions_per_thread)
        cost = self.costs[0]
        return float(cost.contention_put[k] if self.approach.interface.one_sided else cost.contention[k])

    def hold(self, cost: Costs) -> float:
        interface = self.approach.interface
        issue = max(float(cost.hold - cost.setup), 0.0) if interface.persistent else float(cost.hold)
        hold = float(cost.put) if interface.one_sided else issue + float(cost.copy_in)
        return hold + (float(cost.copy_out + cost.active) if interface.active_message else 0.0)

    def between(self, kind: int, peers: int) -> float:
        """What a rank receives before its next turn for each message that it sent: as much."""
        if not self.setting.two_way or self.receivers == "none":
            return 0.0
        return self.receiving(self.costs[kind], peers * self.plan.transports / len(self.plan.members))

    def receiving(self, cost: Costs, queued: float) -> float:
        """CPU time to receive one message, of `queued` per VCI."""
        interface = self.approach.interface
        service = float(cost.receive if interface.matches else cost.unmatched)
        if interface.matches:
            service += float(self.costs[0].per_entry) * (queued - 1) / 2
        return service + (float(cost.copy_out) if interface.active_message else 0.0)

    def send(
        self,
        rank: int,
        k: int,
        own: Ready,
        start: float,
        to: list[int | None],
        posted: list[float],
        enters: list[float],
    ) -> Sent:
        """What a rank sends in its exchange `k`."""
        interface = self.approach.interface
        bins, marked, first, last, ends = own
        peers = [(d, r) for d, r in enumerate(to) if r is not None]
        join = marked + self.barrier
        if interface.joins:
            bins = [b + self.barrier for b in bins]
        granted: dict[int, float] = {}  # by direction
        if interface.one_sided and peers:
            opened = max(posted[r] - start for _, r in peers) + float(self.costs[0].control)
            bins = [max(b, opened) for b in bins]
        elif interface.active_message:
            granted = {d: posted[r] - start + float(self.costs[0].control) for d, r in peers}
            if self.plan.mapping is not None:
                bins = [max(b, granted.get(m % len(to), NEVER)) for m, b in enumerate(bins)]
            else:  # nothing starts before the first is there, and no message before its own
                bins = [max(b, min(granted.values(), default=NEVER)) for b in bins]
        if interface.one_sided and self.setting.puts == "deferred" and not interface.windows_per_thread:
            bins = [max(b, join) for b in bins]
        kinds = self.kinds[rank]
        costs = [self.messages[kind] for kind in kinds]  # by direction
        if self.plan.mapping is None:  # to several neighbours, as the first of its messages
            bins = [b + float(self.costs[0].cold) for b in bins]
        else:
            bins = [b + float(self.costs[kinds[m % len(to)]].cold) for m, b in enumerate(bins)]

        handshakes = any(m.asks for m in self.messages)
        plain = not (interface.one_sided or interface.active_message or interface.two_sided_rendezvous)
        # Where clear-to-sends of several receivers compete, payloads ready in the same picosecond leave as issued.
        compete = len(to) > 1 and (not plain or handshakes)

        # Where traffic is two-way, as many messages are received under the lock before the next turn.
        between = [self.between(kind, len(peers)) for kind in kinds]  # by direction
        issued, adapter = NEVER, self.nic[rank] - start
        queue: list[tuple[float, int, int, int, float]] = []  # order, number, direction, VCI, sent
        number = 0
        for vci, members in enumerate(self.plan.members):
            free = NEVER
            # What holds the lock in turn: a transport partition for all peers, or one message.
            if self.plan.mapping is None:
                turns = [(ready, number + i, peers) for i, ready in enumerate(sorted(bins[t] for t in members))]
            else:
                to_all = dict(peers)
                each = sorted((bins[m], m) for m in members if m % len(to) in to_all)
                turns = [(ready, m // len(to), [(m % len(to), to_all[m % len(to)])]) for ready, m in each]
            for ready, number, targets in turns:
                # Each of the messages waits for others where the first does.
                behind = free + len(targets) * self.takes[vci]
                left = max(ready, behind)
                at, held = left, 0.0
                for d, r in targets:
                    cost = costs[d]
                    at = at + cost.hold
                    time = at
                    held += cost.hold
                    if self.plan.mapping is None:
                        time = max(time, granted.get(d, NEVER) + held)
                    left = max(left, time)
                    if interface.two_sided_rendezvous:
                        time = max(time, posted[r] - start + cost.wire)
                    elif cost.asks:
                        time = self.answered(time + cost.half_shake, posted[r] - start, enters[r] - start)
                        time += cost.half_shake
                        if self.setting.sender_progress == "on-call":
                            time = max(time, self.seen(join, min(ends)))
                    queue.append((ticks(time) if compete else time, number * len(to) + d, d, vci, time))
                    if interface.one_by_one:  # back when the message is copied, or has left if it asked first
                        leaves = max(time, adapter)
                        adapter = leaves + cost.busy
                        at = left
                        if cost.delivered:
                            heard = max(leaves + cost.travel, self.answers(r, posted, enters) - start)
                            at = heard + cost.returned
                        else:
                            at = max(left, time if cost.copied else leaves + cost.stream)
                issued = max(issued, left)
                free = left + sum(between[d] for d, _ in targets)
            number += len(members)
        nic = self.nic[rank] - start
        leaving = sorted(queue)
        gated = interface.two_sided_rendezvous or handshakes
        if queue and gated and len(self.plan.members) == 1 and len(to) > 1 and self.plan.pattern.name != "sweep3d":
            leaving = self.in_rounds(queue, len(peers))
        out = Sent(start + first, start + last, start + join, start + issued, start + issued, 0.0)
        for _, _, d, vci, time in leaving:
            if self.node is not None and not self.inside[kinds[d]]:
                out.waiting.append((start + time, d, vci))
                continue
            cost = costs[d]
            left = max(time, nic)
            nic = left + cost.busy
            self.land(out, d, vci, cost, left, time, join, start)
        for d, r in peers:
            if costs[d].delivered:  # its receiver acknowledges in MPI
                out.done = max(out.done, self.answers(r, posted, enters) + costs[d].returned)
        out.nic = start + nic
        self.close(out)
        return out

    def in_rounds(
        self, queue: list[tuple[float, int, int, int, float]], peers: int
    ) -> list[tuple[float, int, int, int, float]]:
        """What may go before a round is over, from the first on, leaves as it was issued."""
        first = min(time for *_, time in queue)
        long = max(peers * (self.messages[0].busy * (1 + 1e-6)), 1e-12)
        return sorted((((t - first) / long - 0.5) + MAGIC - MAGIC, n, d, vci, t) for _, n, d, vci, t in queue)

    def seen(self, join: float, first_in_mpi: float) -> float:
        """When the sender sees the answer to a rendezvous, where it makes progress only in MPI."""
        interface = self.approach.interface
        if interface.sender_returns:
            return join
        if not interface.splits or self.plan.workload.partitions_per_thread == 1:
            return NEVER  # a thread waits there
        return first_in_mpi  # a thread that is through

    def receive(
        self, sources: list[tuple[Sent, int, int]], floor: float
    ) -> tuple[float, tuple[float, float, float, float]]:
        """The end of all receives, and the latest arrival, NIC exit, issue, ready of neighbours."""
        interface = self.approach.interface
        last = (NEVER, NEVER, NEVER, NEVER)
        if not sources:
            return floor, last
        vcis = len(self.plan.members)
        servers = vcis if interface.receivers == "threads" else 1
        lines: list[list[tuple[float, float]]] = [[] for _ in range(servers)]
        queued = len(sources) * self.plan.transports / vcis
        # All that comes to a rank comes through one port, which is as slow as the one it left through.
        port: list[tuple[float, int, int, int, float]] = []
        # Where their order decides more than when the last is through, rounding must not decide it.
        slowest = self.receiving(self.costs[0], self.pattern.sources * self.plan.transports / vcis)
        matters = len(self.costs) > 1 or (servers > 1 and slowest > self.messages[0].busy)
        for number, (source, direction, kind) in enumerate(sources):
            mine = source.towards[direction]
            for nth, (vci, left) in enumerate(mine):
                port.append((ticks(left - floor) if matters else left, number, nth, vci, left))
            latest = max(left for _, left in mine)
            there = (latest + self.messages[kind].travel, latest, source.issued, source.ready)
            last = tuple(map(max, last, there))  # type: ignore[assignment]
        costs = [self.messages[kind] for _, _, kind in sources]
        # What one rank alone sends has waited at its own port; what stays within a node does not come through one.
        waits = [self.pattern.sources > 1 and not self.inside[kind] for _, _, kind in sources]
        services = [self.receiving(self.costs[kind], queued) for _, _, kind in sources]
        free = through = NEVER
        for _, number, _, vci, left in sorted(port):
            cost, begun = costs[number], left
            if waits[number]:
                begun = max(left, free)
                free = begun + cost.busy
            arrived = begun + cost.travel
            through = max(through, arrived)
            lines[vci if servers > 1 else 0].append((arrived, services[number]))
        if self.receivers == "none":
            end = through
        else:
            ends = []
            for line in lines:
                free = floor if line else NEVER
                for time, service in sorted(line):
                    free = max(free, time) + service
                ends.append(free)
            end = max(ends)
        if self.receivers == "master":
            end += (vcis - 1) * float(self.costs[0].poll)
        notified = max(source.notify for source, _, _ in sources)
        known = end + self.acknowledgement(self.costs[0])
        if interface.sync == "active":
            if self.says:
                end = known + float(self.costs[0].control)
            end = max(end, notified) + self.epochs
        if interface.sync == "passive":
            end = max(known + self.epochs + float(self.costs[0].control), notified)
        return end, last

    @staticmethod
    def attribute(last: tuple[float, float, float, float], since: float, end: float) -> dict[str, float]:
        def clip(t: float, high: float) -> float:
            return max(since, min(t, high))

        arrival = clip(last[0], end)
        left = clip(last[1], arrival)
        issued = clip(last[2], left)
        ready = clip(last[3], issued)
        return {
            "late_neighbour": ready - since,
            "issue": issued - ready,
            "nic": left - issued,
            "wire": arrival - left,
            "receive": end - arrival,
        }
