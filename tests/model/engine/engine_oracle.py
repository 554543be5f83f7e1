"""The engine's recurrence once more, message by message, in plain Python and nothing but loops.

Slow, and written to be read beside `pready/model/timeline.py`. It shares with the engine the costs of
a message (`costs.py`), the map of messages to VCIs (`approach.py`), the draws (`arrivals.py`) and who
neighbours whom (`pattern.py`), and none of the engine's algebra.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from oracle import MAGIC, plain, ticks, warmed

from pready.model import arrivals
from pready.model.approach import Approach, issuing_threads
from pready.model.costs import Costs
from pready.model.engine.plan import Plan
from pready.model.evaluate import setting_of
from pready.model.machine import Machine
from pready.model.random_draws import uniforms

NEVER = float("-inf")
STREAM_JITTER = 2
ROUNDS = 32
"""In which ranks send, where go-aheads wait, at most: until nothing changes."""


@dataclass
class Sent:
    """What one rank's exchange looks like from outside; absolute times."""

    first: float
    ready: float
    join: float
    issued: float
    done: float
    nic: float
    turn: float = NEVER
    notify: float = NEVER
    peers: int = 1
    early: int = 0
    tied: int = 0
    """Messages that arrive just as the threads meet: rounding decides whether they are early."""
    leaves: list[tuple[int, int, float]] = field(default_factory=list)
    """(direction, VCI, time) of each message, in the order in which they leave."""
    acknowledged: float = NEVER
    alone: float = NEVER
    """When all have gone through a port that nobody shares; and through one that sharing slows down."""
    slowed: float = NEVER
    waiting: list[tuple[float, int, int]] = field(default_factory=list)
    """(time, direction, VCI) of each message that the node's adapter has yet to take, in order."""
    through: list[tuple[int, int, float]] | None = None
    """`leaves`, but when messages begin to go through their receivers' ports, if these are overrun."""
    shared: dict[int, float] = field(default_factory=dict)
    """By direction, in a sweep: when the last message leaves if what may go to the other peer shares the cable."""
    port: list[tuple[float, float]] = field(default_factory=list)
    """Since when a message lies in the port, and until when the port is taken by it, in the order in which they leave;
    before them, by what went before."""


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
        self.turn = [NEVER] * ranks
        self.adapters = [NEVER] * ranks  # by node
        self.ports = [(NEVER, NEVER)] * ranks  # what comes, where they are overrun: until when taken, and the bucket
        self.drawn: dict[tuple[int, int], list[list[float]]] = {}
        self.take(plans[0])

    def take(self, plan: Plan) -> None:
        machine, self.plan = self.machine, plan
        self.approach: Approach = plan.approach
        self.costs: list[Costs] = [plain(c) for c in plan.costs]
        self.computing = plan.workload.receiver == "computing"
        self.setting = setting_of(machine, plan.workload)
        self.progress = self.setting.progress
        interface = plan.approach.interface
        # Puts that are active messages are taken in by one thread.
        self.receivers = "master" if interface.one_sided and self.setting.puts_take_cpu else interface.receivers
        self.windows = plan.workload.threads if interface.windows_per_thread else 1

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
        to = [self.plan.pattern.neighbours(r) for r in ranks]
        joins = [self.start[r] + self.ready(r, k)[1] + self.barrier for r in ranks]
        posted = list(self.start)
        enters = joins if self.computing else posted
        sent = [self.send(r, k, self.start[r], to[r], posted, enters) for r in ranks]
        for _ in range(ROUNDS - 1 if self.queues else 0):
            before, sent = sent, [self.send(r, k, self.start[r], to[r], posted, enters, sent) for r in ranks]
            if [s.port for s in sent] == [s.port for s in before]:
                break
        self.leave_nodes(sent)
        if self.overrun(to):
            self.pass_ports(sent, to)
        out = []
        for r in ranks:
            sources = [(sent[q], d, self.class_of(q, d)) for q, d in self.sources(r, to)]
            floor = joins[r] if self.computing and self.progress != "thread" else posted[r]
            received, causes = self.receive(sources, floor, self.uneven(sent, to, {q for q, _ in self.sources(r, to)}))
            received += self.meeting
            end = max(received, sent[r].join, sent[r].done + self.meeting)
            if self.computing:
                received = max(received, joins[r])
            parts = self.attribute(causes, sent[r].ready, end)
            parts["compute"] = sent[r].ready - posted[r]
            out.append(Ended(received, end, parts, sent[r].early, sent[r].tied))
        for r in ranks:
            self.start[r], self.nic[r], self.turn[r] = out[r].end, sent[r].nic, sent[r].turn
        return out

    def overrun(self, to: list[list[int | None]]) -> bool:
        """Does a rank of a list receive more than it sends, and from several?"""
        if self.plan.pattern.name != "neighbours" or self.plan.pattern.node is not None:
            return False
        for r in range(len(to)):
            came = [float(self.costs[self.class_of(q, d)].size) for q, d in self.sources(r, to)]
            went = [float(self.costs[self.class_of(r, d)].size) for d, there in enumerate(to[r]) if there is not None]
            if len(came) > 1 and sum(came) > sum(went) * (1 + 1e-9):
                return True
        return False

    def pass_ports(self, sent: list[Sent], to: list[list[int | None]]) -> None:
        """What comes goes through its receiver's port, behind what lies there from exchanges before, and is received
        from when it is through; a receiver's word goes back then."""
        through = [list(s.leaves) for s in sent]
        for r in range(len(to)):
            line: list[tuple[float, int, float, int, int]] = []
            for q, d in self.sources(r, to):
                for nth, (direction, _, left) in enumerate(sent[q].leaves):
                    if direction == d:
                        line.append((ticks(left), len(line), left, q, nth))
            free, turn = self.ports[r]
            for _, _, left, q, nth in sorted(line):
                d, vci, _ = sent[q].leaves[nth]
                cost = self.costs[self.class_of(q, d)]
                begun = max(left, free)
                free = begun + float(cost.gap + cost.link)
                if float(cost.drain) > 0:
                    turn = max(left, turn)
                    begun = max(begun, turn - float(cost.credit))
                    turn += float(cost.drain)
                through[q][nth] = (d, vci, begun)
                if self.delivered(cost):
                    word = begun + float(cost.stream + cost.wire) + self.returned(cost)
                    sent[q].done = max(sent[q].done, word)
            self.ports[r] = (free, turn)
        for s, leaves in zip(sent, through, strict=True):
            s.through = leaves

    @property
    def queues(self) -> bool:
        """Do go-aheads wait in ports?"""
        pattern = self.plan.pattern
        asks = any(map(self.asks, self.costs))
        known = asks and any(float(c.queue) > 0 for c in self.costs)
        apart = self.setting.two_way and pattern.node is None and pattern.name != "pt2pt"
        return known and (apart or pattern.name == "sweep3d")

    def behind(self, rank: int, before: list[Sent] | None, given: float, cost: Costs) -> float:
        """How long a go-ahead waits that is given then, behind what lay in its rank's port in the round before, or in
        a sweep, where it has sent before, what lies there."""
        if not self.queues or (before is None and self.plan.pattern.name != "sweep3d"):
            return 0.0
        taken = self.nic[rank]
        if before is not None:
            taken = [until for since, until in before[rank].port if ticks(since) < ticks(given)][-1]
        return min(max(taken - given, 0.0), float(cost.queue))

    def uneven(self, sent: list[Sent], to: list[list[int | None]], sources: set[int]) -> float:
        """What a rank takes longer to which several send at once that send to others, too."""
        if self.plan.pattern.node is not None:
            return 0.0
        windows = []
        for q in sorted(sources):
            s, listed = sent[q], self.plan.pattern.name == "neighbours"
            others = [r for r in to[q] if r is not None]
            if self.share > 0 and s.slowed > NEVER and len(others if listed else set(others)) > 1:
                long = (s.slowed - s.alone) / self.share
                windows.append((s.alone - long, long))
        windows = [w for w in windows if w[1] > 0]
        if len(windows) < 2:
            return 0.0
        covered = sum(long for _, long in windows)
        whole = max(at + long for at, long in windows) - min(at for at, _ in windows)
        return self.share * max(covered - whole, 0.0) / (len(windows) - 1)

    @property
    def share(self) -> float:
        """What sharing takes longer, as a share."""
        c = self.costs[0]
        return float(c.uneven_active if self.approach.interface.active_message else c.uneven)

    def sources(self, r: int, to: list[list[int | None]]) -> list[tuple[int, int]]:
        if self.plan.pattern.name in ("halo3d", "halo3d26"):
            # In the order of directions: who sends to r in direction d?
            return [(q, d) for d in range(self.plan.pattern.directions) for q in range(len(to)) if to[q][d] == r]
        return [(q, d) for q in range(len(to)) for d, there in enumerate(to[q]) if there == r]

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
                    s = self.send(r, k * self.plan.steps + step, begun, downstream, free, free)
                    sent[r] = s
                    early, tied = early + s.early, tied + s.tied
                    self.start[r], self.nic[r], self.turn[r] = max(s.join, s.done + self.meeting), s.nic, s.turn
                    for name, t in self.attribute(last, free[r], begun).items():
                        causes[r][name] += t
                    causes[r]["compute"] += s.ready - begun
                    causes[r]["issue"] += self.start[r] - s.ready
        counts = [(early, tied)] + [(0, 0)] * (x * y - 1)
        return [Ended(self.start[r], self.start[r], causes[r], *counts[r]) for r in range(x * y)]

    # Steps of the timeline.

    def class_of(self, rank: int, direction: int) -> int:
        of = self.plan.pattern
        return int(of.classes[0 if of.rank_profile is None else of.rank_profile[rank], direction])

    def leave_nodes(self, sent: list[Sent]) -> None:
        """What leaves a node goes through its adapter, in whole picoseconds, then by rank, then as each rank has it."""
        node = self.plan.pattern.node
        if node is None:
            return
        for n in range(int(node.max()) + 1):
            line = []
            for r in (r for r in range(len(sent)) if node[r] == n):
                latest = NEVER
                for place, (time, d, vci) in enumerate(sent[r].waiting):
                    latest = max(latest, ticks(time))
                    line.append((latest, r, place, time, d, vci))
            for _, r, _, time, d, vci in sorted(line):
                cost = self.costs[self.class_of(r, d)]
                left = max(time, self.adapters[n])
                self.adapters[n] = left + float(cost.gap + cost.link)
                self.land(sent[r], d, vci, cost, left, time, sent[r].join)
        for s in sent:
            self.close(s)

    def land(
        self, s: Sent, d: int, vci: int, cost: Costs, left: float, goes: float, join: float, since: float = 0.0
    ) -> None:
        """A message leaves at `left`, which as the threads' `join` is counted from `since`."""
        interface = self.approach.interface
        arrived = left + float(cost.stream + cost.wire)
        tied = math.isclose(arrived, join, rel_tol=1e-12)
        s.early, s.tied = s.early + (arrived <= join and not tied), s.tied + tied
        s.acknowledged = max(s.acknowledged, since + (arrived + float(cost.ack)))
        asks = self.asks(cost)
        if self.delivered(cost):
            s.done = max(s.done, since + (arrived + self.returned(cost)))
        elif interface.two_sided_rendezvous or asks:
            sockets = s.peers if self.plan.pattern.node is None else 1
            s.done = max(s.done, since + max(goes, left + float(cost.stream - sockets * cost.buffered)))
        s.leaves.append((d, vci, since + left))
        busy = float(cost.gap + cost.link)
        s.alone = max(s.alone, since + left) + busy
        s.slowed = max(s.slowed, since + left) + busy * (1 + self.share)

    def asks(self, cost: Costs) -> bool:
        """Does a message wait for its receiver's answer?"""
        interface = self.approach.interface
        if interface.active_message:
            return float(cost.size) >= interface.fetched_from
        return bool(cost.rendezvous) and not (interface.one_sided or interface.two_sided_rendezvous)

    def delivered(self, cost: Costs) -> bool:
        """Is a send over when its receiver has said so?"""
        one_sided = self.approach.interface.one_sided
        return (
            bool(cost.acknowledged) and not one_sided and (self.setting.two_way or self.plan.pattern.name == "sweep3d")
        )

    def answered(self, asked: float, posted: float, enters: float) -> float:
        """When a receiver answers: inside MPI, and there it is as it posts its receives, too."""
        handled = self.approach.interface.active_message and self.progress != "thread"
        if self.progress != "on-call" and not handled:
            return max(asked, posted)
        return posted if asked < posted else max(asked, enters)

    def answers(self, rank: int, posted: list[float], enters: list[float]) -> float:
        return posted[rank] if self.progress == "thread" else enters[rank]

    def returned(self, cost: Costs) -> float:
        """From a message's arrival to the receiver's word."""
        return self.receiving(cost, 1) + float(cost.ack)

    def close(self, s: Sent) -> None:
        """The end of an epoch."""
        interface, control = self.approach.interface, float(self.costs[0].control)
        if interface.sync == "active":
            complete = s.issued if interface.windows_per_thread else max(s.issued + self.barrier, s.join)
            s.notify, s.done = complete + control, complete + self.epochs
        if interface.sync == "passive":
            flushed = max(s.acknowledged, s.join)
            s.notify, s.done = flushed + self.epochs + control, flushed + self.epochs

    @property
    def barrier(self) -> float:
        return float(self.costs[0].barrier)

    @property
    def meeting(self) -> float:
        """Threads that have completed their own messages meet once more."""
        return self.barrier if self.approach.interface.receivers == "threads" else 0.0

    def times(self, rank: int, k: int) -> list[float]:
        """When partitions are ready; all of a rank are drawn in one call."""
        own = id(self.plan), rank
        if own not in self.drawn:
            drawn = arrivals.draw(self.plan.workload, self.exchanges, self.plan.seed, rank=rank)
            if self.queues and self.plan.pattern.name != "sweep3d":  # uniform between nothing and twice the mean
                late = uniforms(self.plan.seed, rank, range(self.exchanges), 1, STREAM_JITTER)
                drawn = drawn + 2 * float(self.costs[0].jitter) * late
            self.drawn[own] = drawn.tolist()
        return self.drawn[own][k]

    def ready(self, rank: int, k: int) -> tuple[list[float], float, float, float, list[float]]:
        """Transport partitions' ready times, the last mark, the first and last ready, threads' ends; relative."""
        w, interface = self.plan.workload, self.approach.interface
        times = self.times(rank, k)
        marked = list(times)
        if interface.counts:
            theta = w.partitions_per_thread
            for n in range(w.threads):
                free = NEVER
                for j in sorted(range(n * theta, (n + 1) * theta), key=lambda j: times[j]):
                    free = marked[j] = max(times[j], free) + float(self.costs[0].pready)
        size = len(times) // self.plan.transports
        needs = [tuple(range(i * size, (i + 1) * size)) for i in range(self.plan.transports)]
        if self.plan.mapping is not None:  # one ready time per message
            needs = list(self.plan.mapping.partitions)
        bins = [max(marked[p] for p in needed) for needed in needs]
        if not interface.counts and not interface.joins:  # several threads count down together
            several = [len({p // w.partitions_per_thread for p in needed}) > 1 for needed in needs]
            bins = [b + float(self.costs[0].pready) * s for b, s in zip(bins, several, strict=True)]
        theta = w.partitions_per_thread
        ends = [max(marked[n * theta : (n + 1) * theta]) for n in range(w.threads)]
        return bins, max(marked), min(times), max(times), ends

    @property
    def epochs(self) -> float:
        cost = self.costs[0]
        one = cost.flush if self.approach.interface.sync == "passive" else cost.epoch
        return float(one + (self.windows - 1) * cost.window)

    def taken(self, vci: int) -> float:
        """What a message pays that finds its VCI's lock taken."""
        w = self.plan.workload
        if self.plan.mapping is not None:
            k = self.plan.mapping.issuers[vci]
        else:
            k = issuing_threads(self.plan.members[vci], self.plan.transports, w.threads, w.partitions_per_thread)
        cost = self.costs[0]
        return float(cost.contention_put[k] if self.approach.interface.one_sided else cost.contention[k])

    def hold(self, c: int) -> float:
        interface, cost = self.approach.interface, self.costs[c]
        issue = max(float(cost.hold - cost.setup), 0.0) if interface.persistent else float(cost.hold)
        hold = float(cost.put) if interface.one_sided else issue + float(cost.copy_in)
        return hold + (float(cost.copy_out + cost.active) if interface.active_message else 0.0)

    def receiving(self, cost: Costs, queued: float) -> float:
        """CPU time to receive one message, of `queued` per VCI."""
        interface = self.approach.interface
        service = float(cost.unmatched)
        if interface.matches:
            service = float(cost.receive) + float(self.costs[0].per_entry) * (queued - 1) / 2
        return service + (float(cost.copy_out) if interface.active_message else 0.0)

    def send(
        self,
        rank: int,
        k: int,
        start: float,
        to: list[int | None],
        posted: list[float],
        enters: list[float],
        before: list[Sent] | None = None,
    ) -> Sent:
        interface = self.approach.interface
        bins, marked, first, last, ends = self.ready(rank, k)
        peers = [(d, r) for d, r in enumerate(to) if r is not None]
        join = marked + self.barrier
        if interface.joins:
            bins = [b + self.barrier for b in bins]
        granted: dict[int, float] = {}  # by direction
        if interface.one_sided and peers:
            opened = max(posted[r] - start for _, r in peers) + float(self.costs[0].control) + self.epochs
            bins = [max(b, opened) for b in bins]
        elif interface.active_message:
            granted = {d: posted[r] - start + float(self.costs[0].control) for d, r in peers}
            if self.plan.mapping is not None:
                bins = [max(b, granted.get(m % len(to), NEVER)) for m, b in enumerate(bins)]
            else:  # nothing starts before the first is there, and no message before its own
                bins = [max(b, min(granted.values(), default=NEVER)) for b in bins]
        if not interface.joins:
            wake, slow = float(self.costs[0].wake), float(self.costs[0].waking)
            bins = [b + wake * (1 - math.exp(-max(b, 0.0) / slow) if slow > 0 else 1.0) for b in bins]
        if interface.one_sided and self.setting.unattended == 0 and not interface.windows_per_thread:
            bins = [max(b, join) for b in bins]
        class_of = [self.class_of(rank, d) for d in range(len(to))]
        if self.plan.mapping is None:  # to several neighbours, as the first of its messages
            bins = warmed(bins, [self.costs[0]] * len(bins))
        else:
            there = [m for m in range(len(bins)) if to[m % len(to)] is not None]
            later = warmed([bins[m] for m in there], [self.costs[class_of[m % len(to)]] for m in there])
            for m, time in zip(there, later, strict=True):
                bins[m] = time

        handshakes = any(map(self.asks, self.costs))
        plain = not (interface.one_sided or interface.active_message or interface.two_sided_rendezvous)
        looks_at_receivers = not plain or handshakes

        def order(time: float) -> float:
            # Where receivers' go-aheads compete, payloads ready in the same picosecond leave as issued.
            if not looks_at_receivers or len(to) == 1:
                return time
            return ticks(time)

        # Where traffic is two-way, as many messages are received under the lock before the next turn.
        between = [0.0] * len(self.costs)
        if self.setting.two_way and self.receivers != "none":
            queued = len(peers) * self.plan.transports / len(self.plan.members)
            between = [self.receiving(c, queued) for c in self.costs]

        issued, adapter, bucket = NEVER, self.nic[rank] - start, self.turn[rank] - start
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
                behind = free + len(targets) * self.taken(vci)
                left = max(ready, behind)
                at, held = left, 0.0
                for d, r in targets:
                    time = at = at + self.hold(class_of[d])
                    held += self.hold(class_of[d])
                    if self.plan.mapping is None:
                        time = max(time, granted.get(d, NEVER) + held)
                    left = max(left, time)
                    cost = self.costs[class_of[d]]
                    half = 0.0 if interface.active_message else 0.5 * float(cost.handshake)
                    if interface.two_sided_rendezvous:
                        time = max(time, posted[r] - start + float(cost.wire))
                    elif self.asks(cost):
                        time = self.answered(time + half, posted[r] - start, enters[r] - start)
                        time += self.behind(r, before, start + time, cost)
                        time += half
                        if self.setting.sender_progress == "on-call":
                            time = max(time, self.seen(left, join, ends, cost))
                    queue.append((order(time), number * len(to) + d, d, vci, time))
                    if interface.one_by_one:  # back when the message is copied, or has left if it asked first
                        leaves = max(time, adapter)
                        if float(cost.drain) > 0:
                            bucket = max(time, bucket)
                            leaves = max(leaves, bucket - float(cost.credit))
                            bucket += float(cost.drain)
                        adapter = leaves + float(cost.gap + cost.link)
                        at = left
                        if self.delivered(cost):
                            heard = max(
                                leaves + float(cost.stream + cost.wire), self.answers(r, posted, enters) - start
                            )
                            at = heard + self.returned(cost)
                        elif self.asks(cost):
                            at = max(time, leaves + float(cost.stream - cost.buffered))
                issued = max(issued, left)
                free = left + sum(between[class_of[d]] for d, _ in targets)
            number += len(members)
        nic, turn = self.nic[rank] - start, self.turn[rank] - start
        leaving = sorted(queue)
        gated = interface.two_sided_rendezvous or handshakes
        if queue and gated and len(self.plan.members) == 1 and len(to) > 1 and self.plan.pattern.name != "sweep3d":
            leaving = self.in_rounds(queue, len(peers))
        if interface.needs_room and 0 < self.setting.unattended < math.inf:
            leaving = self.attended(leaving, len(peers), join, class_of)
        out = Sent(start + first, start + last, start + join, start + issued, start + issued, 0.0)
        out.port.append((NEVER, start + nic))
        out.peers = 1 if interface.one_by_one else len(peers)
        for _, _, d, vci, time in leaving:
            kind = class_of[d]
            if self.plan.pattern.node is not None and not self.plan.pattern.kinds[kind].inside:
                out.waiting.append((start + time, d, vci))
                continue
            cost = self.costs[kind]
            left = max(time, nic)
            nic = left + float(cost.gap + cost.link)
            if float(cost.drain) > 0:  # a token bucket beside the adapter
                turn = max(time, turn)
                left = max(left, turn - float(cost.credit))
                turn += float(cost.drain)
            out.port.append((max(start + time, out.port[-1][0]), start + nic))
            self.land(out, d, vci, cost, left, time, join, start)
        if self.plan.pattern.name == "sweep3d":
            self.share_cable(out, [(d, start + time) for _, _, d, _, time in leaving], class_of)
        for d, r in peers:
            cost = self.costs[class_of[d]]
            if self.delivered(cost):  # the receiver says so when it is inside MPI
                out.done = max(out.done, self.answers(r, posted, enters) + self.returned(cost))
        out.nic, out.turn = start + nic, start + turn
        self.close(out)
        return out

    def share_cable(self, s: Sent, goes: list[tuple[int, float]], class_of: list[int]) -> None:
        """Of two flows that take turns, the last message of the first to end shares the cable with the next one."""

        def busy(d: int) -> float:
            """After a pause a shaped link lets some of it through at once."""
            cost = self.costs[class_of[d]]
            return min(max(float(cost.stream + cost.wire - cost.ack), 0.0), float(cost.gap + cost.link))

        for d in {d for d, _ in goes}:
            last = max(i for i, (other, _) in enumerate(goes) if other == d)
            if last + 1 < len(goes):
                other, may = goes[last + 1]
                left = s.leaves[last][2]
                overlap = min(left + busy(d) - may, busy(d), busy(other))
                if overlap > 0:
                    s.shared[d] = left + overlap

    def in_rounds(
        self, queue: list[tuple[float, int, int, int, float]], peers: int
    ) -> list[tuple[float, int, int, int, float]]:
        """What may go before a round is over, from the first on, leaves as it was issued."""
        first = min(time for *_, time in queue)
        long = max(peers * (float(self.costs[0].gap + self.costs[0].link) * (1 + 1e-6)), 1e-12)
        return sorted((((t - first) / long - 0.5) + MAGIC - MAGIC, n, d, vci, t) for _, n, d, vci, t in queue)

    def seen(self, issued: float, join: float, ends: list[float], cost: Costs) -> float:
        """When the sender sees the answer to a rendezvous, where it makes progress only inside MPI."""
        interface, w = self.approach.interface, self.plan.workload
        if interface.sender_returns:
            return join
        if not interface.splits or w.partitions_per_thread == 1:
            return NEVER  # a thread waits there
        waits = float(cost.link) * self.plan.transports / w.threads
        return min((max(end, issued) for end in ends if end + waits >= issued), default=issued)

    def attended(
        self, leaving: list[tuple[float, int, int, int, float]], peers: int, join: float, class_of: list[int]
    ) -> list[tuple[float, int, int, int, float]]:
        """Puts of which only some find room to wait for the link with nobody inside MPI."""
        free, until = NEVER, NEVER
        out = []
        for order, number, d, vci, time in leaving:
            cost = self.costs[class_of[d]]
            free = max(time, free) + float(cost.gap + cost.link)
            room = peers * self.setting.unattended / float(cost.size) * float(cost.link)
            if until == NEVER and free - time > room:
                until = join - max(float(cost.link) - (free - time - room), 0.0)
            out.append((order, number, d, vci, max(time, until)))
        return out

    def receive(
        self, sources: list[tuple[Sent, int, int]], floor: float, uneven: float = 0.0
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
        port: list[tuple[float, int, int, int, float, int]] = []
        # Where their order decides more than when the last is through, rounding must not decide it.
        one = self.costs[0]
        slowest = self.receiving(one, self.plan.pattern.sources * self.plan.transports / vcis)
        matters = len(self.costs) > 1 or (servers > 1 and slowest > float(one.gap + one.link))
        for number, (source, direction, kind) in enumerate(sources):
            cost = self.costs[kind]
            travel = float(cost.stream + cost.wire)
            for nth, (d, vci, left) in enumerate(source.through or source.leaves):
                if d != direction:
                    continue
                port.append((ticks(left - floor) if matters else left, number, nth, vci, left, kind))
                there = (left + travel, left, source.issued, source.ready)
                last = tuple(map(max, last, there))  # type: ignore[assignment]
        free = turn = through = NEVER
        for *_, vci, left, c in sorted(port):
            cost = self.costs[c]
            begun = left
            # What one rank alone sends has waited at its own port, whose bucket remembers the exchange before;
            # what stays within a node does not come through one; what has been passed is not passed again.
            if (
                self.plan.pattern.sources > 1
                and not any(s.through for s, *_ in sources)
                and not self.plan.pattern.kinds[c].inside
            ):
                begun = max(left, free)
                free = begun + float(cost.gap + cost.link)
                if float(cost.drain) > 0:
                    turn = max(left, turn)
                    begun = max(begun, turn - float(cost.credit))
                    turn += float(cost.drain)
            arrived = begun + float(cost.stream + cost.wire)
            through = max(through, arrived)
            lines[vci if servers > 1 else 0].append((arrived, self.receiving(cost, queued)))
        if self.receivers == "none":
            end = through
        else:
            ends = []
            for line in lines:
                free = NEVER
                for time, service in sorted(line):
                    free = max(free, time, floor) + service
                ends.append(free)
            end = max(ends)
        for source, direction, kind in sources:
            if direction in source.shared:
                cost, went = self.costs[kind], source.shared[direction]
                came = went + float(cost.stream + cost.wire)
                end = max(end, came + (0.0 if self.receivers == "none" else self.receiving(cost, queued)))
                last = (max(last[0], came), max(last[1], went), last[2], last[3])
        end += uneven
        if self.receivers == "master":
            end += (vcis - 1) * float(self.costs[0].poll)
        notified = max(source.notify for source, _, _ in sources)
        if interface.sync == "active":
            end = max(end, notified) + self.epochs
        if interface.sync == "passive":
            end = max(end + float(self.costs[0].ack) + self.epochs + float(self.costs[0].control), notified)
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
