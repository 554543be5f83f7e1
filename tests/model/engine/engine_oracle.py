"""The engine's recurrence once more, message by message, in plain Python and hardly anything but loops.

Slow, and written to be read beside `pready/model/timeline.py`. It shares with the engine the costs of
a message (`costs.py`), the map of messages to VCIs (`approach.py`), the draws (`arrivals.py`) and who
neighbours whom (`pattern.py`), and none of the engine's algebra.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from oracle import MAGIC, plain, ticks, warmed

from pready.model import arrivals
from pready.model.arrays import Array
from pready.model.costs import Costs
from pready.model.engine.plan import Plan
from pready.model.evaluate import setting_of
from pready.model.interfaces import Approach
from pready.model.machine import Machine
from pready.model.random_draws import uniforms
from pready.model.vcis import issuing_threads

NEVER = float("-inf")
STREAM_JITTER = 2
ROUNDS = 32
"""In which ranks send, where go-aheads wait, at most: until nothing changes."""


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
    link: float
    drain: float
    credit: float
    ack: float
    known: float
    buffered: float
    queue: float
    backlog: float
    request: float
    """The way of one that asks, and the way back: a handshake."""
    go_ahead: float
    asks: bool
    """Does it wait for its receiver's answer?"""
    delivered: bool
    """Is its send over when its receiver has said so?"""
    returned: float
    """From its arrival to the receiver's word."""


def through_port(
    cost: Message, comes: float, free: float, turn: float, times: float = 1.0
) -> tuple[float, float, float]:
    """When a message begins to go through a receiver's port, and when that and its bucket are free again.

    One that others use as well takes `times` as long.
    """
    begun = max(comes, free)
    free = begun + cost.busy * times
    if cost.drain > 0:
        turn = max(comes, turn)
        begun = max(begun, turn - cost.credit)
        turn += cost.drain * times
    return begun, free, turn


@dataclass
class SharedPort:
    """One through which others' messages go as well, so that each takes `times` as long."""

    times: float = 1.0
    free: float = NEVER
    turn: float = NEVER
    through: float = NEVER
    """When all have gone through."""

    def add(self, cost: Message, comes: float) -> None:
        begun, self.free, self.turn = through_port(cost, comes, self.free, self.turn, self.times)
        self.through = max(self.through, begun + cost.busy * self.times)


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
    towards: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    """By direction: (VCI, time) of each of them, in that order; where ports are overrun, of when it goes through."""
    acknowledged: float = NEVER
    alone: SharedPort = field(default_factory=SharedPort)
    """A port that nobody shares; and one that sharing slows down."""
    slowed: SharedPort = field(default_factory=SharedPort)
    waiting: list[tuple[float, int, int]] = field(default_factory=list)
    """(time, direction, VCI) of each message that the node's adapter has yet to take, in order."""
    shared: dict[int, float] = field(default_factory=dict)
    """By direction, in a sweep: when the last message leaves if what may go to the other peer shares the cable."""
    asked: dict[int, list[float]] = field(default_factory=dict)
    """By direction, in the order of issue: when each message that asks is heard of."""
    turns: list[float] = field(default_factory=list)
    """When each transport partition queues for its VCI, in order."""
    port: list[tuple[float, float]] = field(default_factory=list)
    """Since when a message lies in the port, and until when the port is taken by it, in the order in which they leave;
    before them, by what went before."""


Ready = tuple[list[float], float, float, float, list[float]]
"""Transport partitions' ready times, the last mark, the first and last ready, threads' ends; relative."""


@dataclass
class Ended:
    received: float
    end: float
    causes: dict[str, float]
    early: int
    tied: int


@dataclass
class Attended:
    """What a CPU does that answers between its sends; absolute times."""

    issued: list[list[float]] = field(default_factory=list)
    """By turn, then by peer."""
    answered: dict[tuple[int, int, int], float] = field(default_factory=dict)
    """By sender, direction and number."""


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
        self.pattern, self.node = plan.pattern, None if plan.pattern.node is None else plan.pattern.node.tolist()
        self.inside = [kind.inside for kind in plan.pattern.kinds]
        self.one_cpu = self.answers_between()
        self.messages = [self.message(cost) for cost in self.costs]
        # One barrier and one overhead of Pready, whatever the message.
        self.barrier, self.pready = float(self.costs[0].barrier), float(self.costs[0].pready)
        one = self.costs[0].flush if interface.sync == "passive" else self.costs[0].epoch
        self.epochs = float(one + (self.windows - 1) * self.costs[0].window)
        # Threads that have completed their own messages meet once more.
        self.meeting = self.barrier if interface.receivers == "threads" else 0.0
        # What sharing takes longer, as a share.
        kind = "_puts" if interface.one_sided else "_active" if interface.active_message else ""
        self.share = float(getattr(self.costs[0], f"uneven{kind}"))
        self.queues = self.go_aheads_wait()
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
        self.passes = plan.pattern.name != "sweep3d" and self.overrun()

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
        for _ in range(ROUNDS - 1 if self.queues else 0):
            before = sent
            self.coming = [self.comes(r, sent) for r in ranks]
            if self.one_cpu:
                self.cpus = [self.attend(r, joins[r], sent) for r in ranks]
            sent = [self.send(r, k, ready[r], self.start[r], to[r], posted, enters, before) for r in ranks]
            if [(s.port, s.asked) for s in sent] == [(s.port, s.asked) for s in before]:
                break
        self.leave_nodes(sent)
        if self.passes:
            self.pass_ports(sent)
        out = []
        for r in ranks:
            sources = [(sent[q], d, self.kinds[q][d]) for q, d in self.sources[r]]
            floor = joins[r] if self.computing and self.progress != "thread" else posted[r]
            received, causes = self.receive(sources, floor, self.uneven(sent, {q for q, _ in self.sources[r]}))
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

    def overrun(self) -> bool:
        """Does a rank of a list receive more than it sends, and from several?"""
        if self.pattern.name != "neighbours" or self.node is not None:
            return False
        for r, sources in enumerate(self.sources):
            came = [self.messages[self.kinds[q][d]].size for q, d in sources]
            went = [self.messages[self.kinds[r][d]].size for d, there in enumerate(self.to[r]) if there is not None]
            if len(came) > 1 and sum(came) > sum(went) * (1 + 1e-9):
                return True
        return False

    def pass_ports(self, sent: list[Sent]) -> None:
        """What comes goes through its receiver's port, behind what lies there from exchanges before, and is received
        from when it is through; a receiver's word goes back then."""
        for r, sources in enumerate(self.sources):
            line: list[tuple[float, int, float, Sent, int, int, Message]] = []
            for q, d in sources:
                for nth, (_, left) in enumerate(sent[q].towards[d]):
                    line.append((ticks(left), len(line), left, sent[q], d, nth, self.messages[self.kinds[q][d]]))
            free, turn = self.ports[r]
            for _, _, left, source, d, nth, cost in sorted(line, key=lambda each: each[:2]):
                begun, free, turn = through_port(cost, left, free, turn)
                source.towards[d][nth] = (source.towards[d][nth][0], begun)
                if cost.delivered:
                    source.done = max(source.done, begun + cost.travel + cost.returned)
            self.ports[r] = (free, turn)

    def go_aheads_wait(self) -> bool:
        """In ports?"""
        pattern = self.plan.pattern
        asks = any(m.asks for m in self.messages)
        known = asks and any(m.queue > 0 or (m.backlog > 0 and pattern.name != "sweep3d") for m in self.messages)
        known = known or self.one_cpu
        apart = self.setting.two_way and pattern.node is None and pattern.name != "pt2pt"
        return known and (apart or pattern.name == "sweep3d")

    def answers_between(self) -> bool:
        """Does a CPU answer who asks between its own sends? Among several ranks, through one VCI that all share."""
        interface, pattern = self.approach.interface, self.plan.pattern
        alone = len(self.plan.members) == 1 and self.plan.mapping is None and pattern.node is None
        several = pattern.name not in ("sweep3d", "pt2pt") and self.setting.two_way
        inside = self.computing and self.progress == "on-call"
        between = self.machine.answers is not None and self.machine.answers.value == "between sends"
        plain = not (interface.active_message or interface.one_by_one)
        return between and alone and several and inside and plain and any(self.asks(cost) for cost in self.costs)

    def attend(self, rank: int, join: float, before: list[Sent]) -> Attended:
        """A rank's CPU sends, and between two sends answers all that has asked by then, as in the round before."""
        out = Attended()
        waiting = []
        for place, (q, d) in enumerate(self.sources[rank]):
            for nth, at in enumerate(before[q].asked.get(d, [])):
                waiting.append((ticks(at), place, nth, at, q, d))
        waiting.sort()
        while waiting and waiting[0][0] < ticks(self.start[rank]):  # as it posts its receives
            _, _, nth, _, q, d = waiting.pop(0)
            out.answered[q, d, nth] = self.start[rank]

        def answer(now: float) -> float:
            while waiting and waiting[0][0] <= ticks(now):
                _, _, nth, _, q, d = waiting.pop(0)
                now += self.answering(self.costs[self.kinds[q][d]])
                out.answered[q, d, nth] = now
            return now

        kinds = [self.kinds[rank][d] for d, r in enumerate(self.to[rank]) if r is not None]
        now = NEVER
        for ready in before[rank].turns:
            found_taken = sum(self.between(kind, len(kinds)) for kind in kinds) + len(kinds) * self.takes[0]
            now = max(ready, now + found_taken)
            out.issued.append([])
            for kind in kinds:
                now = answer(now) + self.messages[kind].hold
                out.issued[-1].append(now)
            if kinds:
                now = answer(now)
        now = max(now, join)
        while waiting:
            now = answer(max(now, waiting[0][3]))
        return out

    def behind(self, rank: int, before: list[Sent] | None, given: float, cost: Message) -> float:
        """How long a go-ahead waits that is given then, behind what lay in its rank's port in the round before, or in
        a sweep, where it has sent before, what lies there."""
        if not self.queues or (before is None and self.plan.pattern.name != "sweep3d"):
            return 0.0
        taken = self.nic[rank]
        if before is not None:
            now = ticks(given)
            taken = next(until for since, until in reversed(before[rank].port) if ticks(since) < now)
        return min(max(taken - given, 0.0), cost.queue)

    def comes(self, rank: int, sent: list[Sent]) -> tuple[Array, Array, Array]:
        """From when until when each message comes to a rank, if its port takes nothing else; and from when on each has
        come since each of them began, by row."""
        flows = []
        for q, d in self.sources[rank]:
            busy = self.messages[self.kinds[q][d]].busy
            flows += [(left, left + busy) for _, left in sent[q].towards[d]]
        begun, ended = np.array(flows).reshape(-1, 2).T
        return begun, ended, np.maximum.outer(begun, begun)

    def piled(self, rank: int, before: list[Sent] | None, at: float, cost: Message) -> float:
        """How long something waits that comes to a rank then, behind what came in the round before: what has come since
        any moment, less what the port has let through since, is the most of all moments."""
        if before is None or cost.backlog <= 0:
            return 0.0
        begun, ended, since = self.coming[rank]
        came = np.maximum(np.minimum(ended, at) - since, 0.0).sum(axis=1)
        lies = (came - (at - begun))[begun <= at].max(initial=0.0)
        return min(float(lies), cost.backlog)

    def uneven(self, sent: list[Sent], sources: set[int]) -> float:
        """What a rank takes longer to which several send at once that send to others, too."""
        if self.node is not None or self.share <= 0:
            return 0.0
        windows = []
        for q in sorted(sources):
            s, listed = sent[q], self.plan.pattern.name == "neighbours"
            others = [r for r in self.to[q] if r is not None]
            if s.slowed.through > NEVER and len(others if listed else set(others)) > 1:
                long = (s.slowed.through - s.alone.through) / self.share
                windows.append((s.alone.through - long, long))
        windows = [w for w in windows if w[1] > 0]
        if len(windows) < 2:
            return 0.0
        covered = sum(long for _, long in windows)
        whole = max(at + long for at, long in windows) - min(at for at, _ in windows)
        return self.share * max(covered - whole, 0.0) / (len(windows) - 1)

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
                    self.start[r], self.nic[r], self.turn[r] = max(s.join, s.done + self.meeting), s.nic, s.turn
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
            # On a wire that gives time back (a shaped link's), what goes late arrives before it goes.
            s.done = max(s.done, since + max(goes, arrived + cost.returned))
        elif cost.asks or self.approach.interface.two_sided_rendezvous:
            sockets = s.peers if self.node is None else 1
            s.done = max(s.done, since + max(goes, left + (cost.stream - sockets * cost.buffered)))
        leaves = since + left
        s.leaves.append((d, vci, leaves))
        s.towards.setdefault(d, []).append((vci, leaves))
        s.slowed.times = 1 + self.share
        s.alone.add(cost, leaves)
        s.slowed.add(cost, leaves)

    def message(self, cost: Costs) -> Message:
        handshake = 0.0 if self.approach.interface.active_message else float(cost.handshake)
        # What a CPU hears of takes as long as a message without payload.
        request = min(float(cost.ack), handshake) if self.one_cpu else 0.5 * handshake
        return Message(
            size=float(cost.size),
            hold=self.hold(cost),
            busy=float(cost.gap + cost.link),
            stream=float(cost.stream),
            travel=float(cost.stream + cost.wire),
            wire=float(cost.wire),
            link=float(cost.link),
            drain=float(cost.drain),
            credit=float(cost.credit),
            ack=float(cost.ack),
            known=self.acknowledgement(cost),
            buffered=float(cost.buffered),
            queue=float(cost.queue),
            backlog=float(cost.backlog),
            request=request,
            go_ahead=handshake - request,
            asks=self.asks(cost),
            delivered=self.delivered(cost),
            returned=(0.0 if self.receivers == "none" else self.receiving(cost, 1)) + self.acknowledgement(cost),
        )

    def asks(self, cost: Costs) -> bool:
        """Does a message wait for its receiver's answer?"""
        interface = self.approach.interface
        if interface.active_message:
            return float(cost.size) >= interface.fetched_from
        return bool(cost.rendezvous) and not (interface.one_sided or interface.two_sided_rendezvous)

    def acknowledgement(self, cost: Costs) -> float:
        """From a put's arrival until its origin knows: a message where the target's CPU sends it."""
        return float(cost.control if self.says and self.approach.interface.one_sided else cost.ack)

    @property
    def says(self) -> bool:
        """Does a message say that a put has arrived?"""
        return self.setting.puts_delivered and self.setting.unattended > 0

    def delivered(self, cost: Costs) -> bool:
        """Is a send over when its receiver has said so?"""
        interface = self.approach.interface
        says = interface.sync == "active" and self.setting.puts_delivered if interface.one_sided else cost.acknowledged
        return bool(says) and (self.setting.two_way or self.plan.pattern.name == "sweep3d")

    def answered(self, asked: float, posted: float, enters: float) -> float:
        """When a receiver answers: inside MPI, and there it is as it posts its receives, too."""
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
            if self.queues and self.plan.pattern.name != "sweep3d":  # uniform between nothing and twice the mean
                late = uniforms(self.plan.seed, rank, range(self.exchanges), 1, STREAM_JITTER)
                drawn = drawn + 2 * float(self.costs[0].jitter) * late
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
        """What a message pays that finds its VCI's lock taken."""
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

    def answering(self, cost: Costs) -> float:
        """CPU time to take a message in, or with one CPU to answer who asks, but for the search for its receive."""
        return float(cost.receive if self.approach.interface.matches else cost.unmatched)

    def between(self, kind: int, peers: int) -> float:
        """What a rank receives before its next turn for each message that it sent: as much."""
        if not self.setting.two_way or self.receivers == "none":
            return 0.0
        return self.receiving(self.costs[kind], peers * self.plan.transports / len(self.plan.members))

    def receiving(self, cost: Costs, queued: float) -> float:
        """CPU time to receive one message, of `queued` per VCI."""
        interface = self.approach.interface
        service = 0.0 if self.one_cpu and self.asks(cost) else self.answering(cost)
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
        before: list[Sent] | None = None,
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
        if not interface.joins:
            wake, slow = float(self.costs[0].wake), float(self.costs[0].waking)
            bins = [b + wake * (1 - math.exp(-max(b, 0.0) / slow) if slow > 0 else 1.0) for b in bins]
        if interface.one_sided and self.setting.unattended == 0 and not interface.windows_per_thread:
            bins = self.put_off(bins, to, [float(self.costs[kind].kept) for kind in self.kinds[rank]], join)
        kinds = self.kinds[rank]
        costs = [self.messages[kind] for kind in kinds]  # by direction
        if self.plan.mapping is None:  # to several neighbours, as the first of its messages
            bins = warmed(bins, [self.costs[0]] * len(bins))
        else:
            there = [m for m in range(len(bins)) if to[m % len(to)] is not None]
            later = warmed([bins[m] for m in there], [self.costs[kinds[m % len(to)]] for m in there])
            for m, time in zip(there, later, strict=True):
                bins[m] = time

        handshakes = any(m.asks for m in self.messages)
        plain = not (interface.one_sided or interface.active_message or interface.two_sided_rendezvous)
        # Where receivers' go-aheads compete, payloads ready in the same picosecond leave as issued.
        compete = len(to) > 1 and (not plain or handshakes)

        # Where traffic is two-way, as many messages are received under the lock before the next turn.
        between = [self.between(kind, len(peers)) for kind in kinds]  # by direction
        by_cpu = self.cpus[rank] if self.one_cpu and before is not None else None
        asked: dict[int, list[float]] = {}
        begun: list[float] = []

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
            busy = dict.fromkeys(ends, NEVER)  # by when each thread's last partition is ready: until when it issues
            for place, (ready, number, targets) in enumerate(turns):
                # Each of the messages waits for others where the first does.
                behind = free + len(targets) * self.takes[vci]
                left = max(ready, behind)
                at, held = left, 0.0
                begun.append(start + ready)
                over = (
                    at + sum(costs[d].hold for d, _ in targets)
                    if by_cpu is None
                    else [NEVER, *by_cpu.issued[place]][-1] - start
                )
                busy = {e: max(until, over) if self.queued(ready, e) else until for e, until in busy.items()}
                for nth, (d, r) in enumerate(targets):
                    cost = costs[d]
                    at = at + cost.hold if by_cpu is None else by_cpu.issued[place][nth] - start
                    time = at
                    held += cost.hold
                    if self.plan.mapping is None:
                        time = max(time, granted.get(d, NEVER) + held)
                    left = max(left, time)
                    if interface.two_sided_rendezvous:
                        time = max(time, posted[r] - start + cost.wire)
                    elif cost.asks:
                        time += self.piled(r, before, start + time, cost)
                        time += cost.request
                        asked.setdefault(d, []).append(start + time)
                        if by_cpu is None:
                            time = self.answered(time, posted[r] - start, enters[r] - start)
                        else:
                            time = self.cpus[r].answered[rank, d, place] - start
                        time += self.behind(r, before, start + time, cost)
                        time += self.piled(rank, before, start + time, cost)
                        time += cost.go_ahead
                        if self.setting.sender_progress == "on-call":
                            time = max(time, self.seen(left, join, busy, cost))
                    queue.append((ticks(time) if compete else time, number * len(to) + d, d, vci, time))
                    if interface.one_by_one:  # back when the message is copied, or has left if it asked first
                        leaves = max(time, adapter)
                        if cost.drain > 0:
                            bucket = max(time, bucket)
                            leaves = max(leaves, bucket - cost.credit)
                            bucket += cost.drain
                        adapter = leaves + cost.busy
                        at = left
                        if cost.delivered:
                            heard = max(leaves + cost.travel, self.answers(r, posted, enters) - start)
                            at = heard + cost.returned
                        elif cost.asks:
                            at = max(time, leaves + (cost.stream - cost.buffered))
                issued = max(issued, left)
                free = left + sum(between[d] for d, _ in targets)
            number += len(members)
        nic, turn = self.nic[rank] - start, self.turn[rank] - start
        leaving = sorted(queue)
        gated = interface.two_sided_rendezvous or handshakes
        if queue and gated and len(self.plan.members) == 1 and len(to) > 1 and self.plan.pattern.name != "sweep3d":
            late = any(m.backlog > 0 for m in self.messages) and self.queues
            leaving = self.never_idle(queue, costs, nic) if late else self.in_rounds(queue, len(peers))
        early = interface.splits and not (interface.windows_per_thread or interface.two_sided_rendezvous)
        room = self.setting.unattended if interface.one_sided else self.setting.sends_unattended
        if early and room < math.inf and (room > 0 or not interface.one_sided):
            inside = min(ends) if interface.receivers == "threads" else join
            outside = [not self.inside[kind] for kind in kinds]
            leaving = self.attended(leaving, len(peers) * room, inside, costs, outside)
        out = Sent(start + first, start + last, start + join, start + issued, start + issued, 0.0)
        out.port.append((NEVER, start + nic))
        out.asked, out.turns = asked, begun
        out.peers = 1 if interface.one_by_one else len(peers)
        for _, _, d, vci, time in leaving:
            if self.node is not None and not self.inside[kinds[d]]:
                out.waiting.append((start + time, d, vci))
                continue
            cost = costs[d]
            left = max(time, nic)
            nic = left + cost.busy
            if cost.drain > 0:  # a token bucket beside the adapter
                turn = max(time, turn)
                left = max(left, turn - cost.credit)
                turn += cost.drain
            out.port.append((max(start + time, out.port[-1][0]), start + nic))
            self.land(out, d, vci, cost, left, time, join, start)
        if self.plan.pattern.name == "sweep3d":
            self.share_cable(out, [(d, start + time) for _, _, d, _, time in leaving], costs)
        for d, r in peers:
            if costs[d].delivered:  # the receiver says so when it is inside MPI
                out.done = max(out.done, self.answers(r, posted, enters) + costs[d].returned)
        out.nic, out.turn = start + nic, start + turn
        self.close(out)
        return out

    def share_cable(self, s: Sent, goes: list[tuple[int, float]], costs: list[Message]) -> None:
        """Of two flows that take turns, the last message of the first to end shares the cable with the next one."""

        def busy(d: int) -> float:
            """After a pause a shaped link lets some of it through at once."""
            return min(max(costs[d].travel - costs[d].ack, 0.0), costs[d].busy)

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
        long = max(peers * (self.messages[0].busy * (1 + 1e-6)), 1e-12)
        return sorted((((t - first) / long - 0.5) + MAGIC - MAGIC, n, d, vci, t) for _, n, d, vci, t in queue)

    def never_idle(
        self, queue: list[tuple[float, int, int, int, float]], costs: list[Message], free: float
    ) -> list[tuple[float, int, int, int, float]]:
        """Of all that may go when the cable is free, what was issued first goes; if nothing may, what may first."""
        waiting, out = sorted(queue, key=lambda each: each[1]), []
        while waiting:
            free = max(free, min(time for *_, time in waiting))
            chosen = next(each for each in waiting if ticks(each[4]) <= ticks(free))
            waiting.remove(chosen)
            out.append(chosen)
            free = max(free, chosen[4]) + costs[chosen[2]].busy
        return out

    def put_off(self, bins: list[float], to: list[int | None], kept: list[float], join: float) -> list[float]:
        """Puts wait for the threads, which meet when all have called theirs, each keeping a copy of all it sends."""
        there = [d for d, r in enumerate(to) if r is not None]
        every = sum(kept[d] for d in there)
        if self.plan.mapping is None:
            calls = [(b, every) for b in bins]
        else:
            calls = [(b, kept[m % len(to)]) for m, b in enumerate(bins) if m % len(to) in there]
        free = NEVER
        for called, copies in sorted(calls):
            free = max(called, free) + copies
        if every:
            join = max(join, free + self.barrier)
        return [max(b, join) for b in bins]

    def queued(self, ready: float, end: float) -> bool:
        """Has a message joined the queue no later than the last one of a thread that ends then?"""
        first = self.costs[0]
        return ready <= end + float(first.pready + first.wake + first.cold) + 1e-9

    def seen(self, issued: float, join: float, busy: dict[float, float], cost: Message) -> float:
        """When the sender sees the answer to a rendezvous, where it makes progress only inside MPI."""
        interface, w = self.approach.interface, self.plan.workload
        if interface.sender_returns:
            return join
        if not interface.splits or w.partitions_per_thread == 1:
            return NEVER  # a thread waits there
        waits = max(cost.link * self.plan.transports / w.threads - cost.buffered, cost.link)
        return min((max(e, issued) for e, until in busy.items() if max(e, until) + waits >= issued), default=issued)

    def attended(
        self,
        leaving: list[tuple[float, int, int, int, float]],
        bytes_: float,
        inside: float,
        costs: list[Message],
        outside: list[bool],
    ) -> list[tuple[float, int, int, int, float]]:
        """Messages of which calls hand over what finds room to wait for the link, until somebody is inside MPI."""
        waiting: list[tuple[int, float, float]] = []  # place, work up to its end, its own
        out = list(leaving)
        now, passed, taken, work = NEVER, 0.0, 0.0, 0.0
        calls = [(place, time, d) for place, (*_, d, _, time) in enumerate(leaving) if outside[d]]
        for place, time, d in [*calls, (-1, inside, -1)]:
            before, now = now, min(max(now, time), inside)
            passed = min(passed + now - before, taken) if before > NEVER else 0.0
            if place >= 0:
                work += costs[d].busy
                waiting.append((place, work, costs[d].busy))
                if (
                    not self.approach.interface.one_sided or len(waiting) == 1
                ):  # a put joins the queue behind what waits
                    taken = max(taken, min(work, passed + bytes_ / costs[d].size * costs[d].link))
            if now >= inside:
                taken = math.inf
            while waiting and waiting[0][1] <= taken:
                mine, end, busy = waiting.pop(0)
                order, number, to, vci, issued = leaving[mine]
                if mine != place:  # all of it has found room only now
                    out[mine] = order, number, to, vci, max(issued, now + end - passed - busy)
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
        # What one rank alone sends has waited at its own port, whose bucket remembers the exchange before;
        # what stays within a node does not come through one; what has been passed is not passed again.
        waits = [self.pattern.sources > 1 and not self.passes and not self.inside[kind] for _, _, kind in sources]
        services = [self.receiving(self.costs[kind], queued) for _, _, kind in sources]
        free = turn = through = NEVER
        for _, number, _, vci, left in sorted(port):
            cost, begun = costs[number], left
            if waits[number]:
                begun, free, turn = through_port(cost, left, free, turn)
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
        for source, direction, kind in sources:
            if direction in source.shared:
                went = source.shared[direction]
                came = went + self.messages[kind].travel
                end = max(end, came + (0.0 if self.receivers == "none" else self.receiving(self.costs[kind], queued)))
                last = (max(last[0], came), max(last[1], went), last[2], last[3])
        end += uneven
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
