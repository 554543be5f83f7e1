"""The exchanges of one rank: what it sends until all of it is complete, and the computing before.

A new message begins a new exchange once all requests of the one before are complete, and the program knows it: it
waited for one, or computed since. Messages that block one after the other, from one routine and with nothing computed
between them, are one exchange. What several threads of a team send in a stretch of computing is one exchange for each
turn of theirs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from statistics import mode

import numpy as np

from pready.calibrate.capture.call_sites import Way, way_to
from pready.calibrate.capture.dependence import Dependence, Gaps, gaps
from pready.calibrate.capture.files import ONE_SIDED
from pready.calibrate.capture.regions import Stretch
from pready.calibrate.capture.thresholds import COMPUTES_S, MOSTLY
from pready.calibrate.capture.timeline import BLOCKING, COLLECTIVE, RECEIVING, Call, Timeline, is_message, most_common
from pready.model.approach.interfaces import Today
from pready.model.common.arrays import Array


@dataclass
class Group:
    """One exchange of one rank; times in seconds."""

    begin: float  # of the first message
    end: float = 0.0  # of the last completion
    since: float = 0.0  # end of the exchange before
    ready: float = 0.0  # the last thread is through with its computing
    took: float = 0.0  # from then on in MPI; where a team sends, from its last thread's first message to the end
    times: Array = field(default_factory=lambda: np.zeros(1))  # each thread's computing after the exchange before
    sent: dict[int, int] = field(default_factory=dict)  # bytes by peer
    counts: dict[int, int] = field(default_factory=dict)  # messages by peer
    received: Counter[int] = field(default_factory=Counter)  # messages by peer
    parts: dict[int, int] = field(default_factory=dict)  # bytes of a partition by peer
    kinds: Counter[str] = field(default_factory=Counter)
    producer: tuple[Stretch, int] | None = None  # computing before it, or in which its threads send; and the instance
    team: bool = False  # several threads send, or mark their partitions
    inside_s: float = 0.0  # computing between its last message and the first completion after it
    pack_s: float = 0.0  # between its first message and its last, without regions: what the second sends is packed
    beside: bool = False  # one thread of a team sends while others compute
    one_by_one: bool = False  # each message blocks
    orders: frozenset[tuple[int, int]] = frozenset()  # its messages: receiver, the how many-eth of the two ranks
    needs: frozenset[tuple[int, int]] = frozenset()  # receives of the exchange before that some need, likewise
    came: frozenset[tuple[int, int]] = frozenset()  # receives complete since it began and before this one, likewise
    collectives: int = 0  # since the exchange before
    others_s: float = 0.0  # in these and in other calls outside of exchanges
    sites: list[int] = field(default_factory=list)  # places of its messages in the code, the first one first
    waits: list[int] = field(default_factory=list)  # places of the calls that complete them
    way: Way = ()  # the calls that lead to the first


@dataclass
class _Open:
    """An exchange that is not over."""

    sends: list[Call]
    marks: list[Call] = field(default_factory=list)
    end: float = 0.0
    learnt: float = -1.0  # when a receive was last complete
    computed: bool = False
    first: float | None = None  # when a receive was first complete after the last message began
    got: list[int] = field(default_factory=list)
    waits: list[Call] = field(default_factory=list)

    @property
    def last(self) -> float:
        """Begin of the last message."""
        return self.sends[-1].begin

    @property
    def sends_done(self) -> float:
        return max(c.done for c in self.sends)


_Team = tuple[int, int] | None
"""Region and stretch in which several threads send; None: all other calls."""
_ALL = -1
"""Stands for a thread's number where a stream is of all threads."""


class _Thread:
    """Follows the calls of one thread, or of all that are in no team that sends."""

    def __init__(self, timeline: Timeline, gaps: Gaps) -> None:
        self.timeline = timeline
        self.gaps = gaps
        self.rank = timeline.process.rank
        self.open: _Open | None = None
        self.posted: list[Call] = []
        self.busy_until = 0.0
        self.site = 0
        self.over: list[_Open] = []

    def learn(self, at: float) -> None:
        """Receives that are complete by then."""
        rest = []
        for call in self.posted:
            if call.done > at:
                rest.append(call)
            elif self.open is not None:
                self.open.learnt = max(self.open.learnt, call.done)
                self.open.end = max(self.open.end, call.done)
                if call.done >= self.open.last:
                    self.open.first = min(self.open.first or call.done, call.done)
                self.open.got.append(call.who)
        self.posted = rest

    def complete(self, at: float) -> bool:
        """Are all requests of the exchange complete? Receives for the next one may be open already."""
        if self.open is None or self.open.sends_done > at:
            return False
        done = self.open.sends_done
        return self.open.learnt >= self.open.last or all(c.begin >= done for c in self.posted)

    def close(self, at: float | None = None) -> None:
        """All of it is complete, or from a time on the next step's is on its way, too."""
        assert self.open is not None
        self.open.end = at or max(self.open.end, self.open.sends_done)
        self.over.append(self.open)
        self.open = None

    def follow(self, calls: Sequence[Call], computing: Sequence[float]) -> None:
        """All calls; threads begin to compute at the times `computing`."""
        following = iter(computing)
        at = next(following, np.inf)
        for call in calls:
            while at <= call.begin:
                self.compute(at)
                at = next(following, np.inf)
            self.call(call)
        if self.open is not None:
            self.learn(np.inf)
            self.close()

    def compute(self, at: float) -> None:
        """Threads begin to compute."""
        self.learn(at)
        if self.complete(at):
            self.close()
        elif self.open is not None:
            self.open.computed = True

    def call(self, call: Call) -> None:
        at = call.begin
        self.learn(at)
        if self.gaps.get((self.site, call.site), at - self.busy_until) > COMPUTES_S:
            self.compute(self.busy_until)
        if call.kind in COLLECTIVE and self.complete(at):
            self.close()
        if call.kind in RECEIVING and call.who != -2:
            self.posted.append(call)
        elif call.kind == "pready" and self.open is not None:
            self.open.marks.append(call)
        elif is_message(call, self.rank):
            if self.complete(at) and self._knows() and not self._comes_back(call):
                self.close()
            elif self._again(call):
                self.close(at)
            self.open = self.open or _Open([])
            self.open.sends.append(call)
            self.open.first = None
        elif call.kind in ("wait", "test") and self.open is not None and call.what:
            self.open.waits.append(call)
        self.busy_until, self.site = max(self.busy_until, call.end), call.site

    def _knows(self) -> bool:
        """Has the program waited for something of the exchange since its last message, or computed?"""
        assert self.open is not None
        waited = any(c.end < c.done for c in self.open.sends)
        return waited or self.open.learnt >= self.open.last or self.open.computed

    def _again(self, call: Call) -> bool:
        """Is it the first message once more, after computing?"""
        first = self.open.sends[0] if self.open is not None and self.open.computed else None
        return first is not None and (first.site, first.who, first.what) == (call.site, call.who, call.what)

    def _comes_back(self, call: Call) -> bool:
        """Calls that receive as well: does the second one go where the first one's came from? They are the two ways
        along one axis; of others nobody knows whether they need what came."""
        assert self.open is not None
        sends = self.open.sends
        alike = len(sends) == 1 and {sends[0].kind, call.kind} == {"sendrecv"} and not self.open.computed
        return alike and call.who in self.open.got


def groups(timeline: Timeline, of: Dependence | None = None) -> list[Group]:
    """The exchanges of a rank in order; messages to itself do not count."""
    rank = timeline.process.rank
    senders: defaultdict[_Team, set[int]] = defaultdict(set)
    for call in timeline.calls:
        if call.of in timeline.teams and is_message(call, rank):
            senders[call.of].add(call.number)
    streams: defaultdict[tuple[_Team, int], list[Call]] = defaultdict(list)
    for call in timeline.calls:
        streams[(call.of, call.number) if len(senders[call.of]) > 1 else (None, _ALL)].append(call)
    between = gaps(streams.values())
    over: defaultdict[_Team, dict[int, list[_Open]]] = defaultdict(dict)
    for (team, number), calls in streams.items():
        thread = _Thread(timeline, between)
        thread.follow(calls, [] if team else [begin for begin, *_ in timeline.computing])
        over[team][number] = thread.over
    found = [
        (each, team)
        for team, turns in over.items()
        for each in _turns(turns, team is not None and timeline.teams[team][0].tasks)
    ]
    found.sort(key=lambda each: min(o.sends[0].begin for o in each[0].values()))
    return list(_finished(of or Dependence(timeline), found))


def _turns(over: dict[int, list[_Open]], tasks: bool) -> list[dict[int, _Open]]:
    """What threads of a team send, turn by turn; all of it together if they take different numbers of turns, or tasks,
    of which each thread takes whichever is free."""
    turns = {number: of for number, of in over.items() if of}
    if len({len(of) for of in turns.values()}) <= 1 and not tasks:
        return [dict(zip(turns, each, strict=True)) for each in zip_longest(*turns.values())]
    whole = {}
    for number, of in turns.items():
        got, sends = [who for o in of for who in o.got], [c for o in of for c in o.sends]
        whole[number] = _Open(sends, end=max(o.end for o in of), got=got, waits=of[-1].waits)
    return [whole]


def _finished(dependence: Dependence, found: Sequence[tuple[dict[int, _Open], _Team]]) -> Iterator[Group]:
    """Groups with the computing before each."""
    timeline, previous = dependence.timeline, float("inf")
    before = ended = timeline.process.within_mpi_s[0]
    computing = timeline.computing
    begins = [begin for begin, *_ in computing]
    collectives = [c.begin for c in timeline.calls if c.kind in COLLECTIVE]
    counted = 0
    own: dict[int, float] = {}
    masters = timeline.process.thread[timeline.process.of("region")]
    for each, sender in found:
        team = sender
        calls = [c for o in each.values() for c in o.sends]
        marks = [c for o in each.values() for c in o.marks]
        group = Group(min(c.begin for c in calls), max(o.end for o in each.values()), ended)
        _add_messages(group, each, calls, marks)
        group.way = way_to(timeline.process.places, group.sites[0])
        # Between regions the thread computes that begins them, whichever of a team sends first.
        thread = int(masters[0]) if sender is not None else min(calls, key=lambda c: c.begin).thread
        effective = min((c.begin for c in marks), default=group.begin)
        over = ended if ended < effective else before  # else all of it is computed while messages are on their way
        since = computing[bisect_left(begins, over) : bisect_left(begins, effective)]
        earlier = [s for s in since if round(1e9 * (s[1] - effective)) <= 0]
        if sender is None:
            inside = [c for c in marks if c.of in timeline.teams]
            if len({c.number for c in inside}) > 1:
                team = mode(c.of for c in inside)
        if team is not None:
            _of_team(group, timeline, team, thread, marks or calls, before, own)
        else:
            solo = timeline.outside(thread, before, effective)
            group.ready, group.times = effective, np.array([max(0.0, solo)])
            if earlier:
                begin, end, stretch, i = earlier[-1]
                group.producer = stretch, i
                alone = timeline.outside(thread, before, begin) + timeline.outside(thread, end, effective)
                group.times = (alone + stretch.computing[i]).clip(0.0)
                group.ready = end
            group.took = timeline.in_mpi(thread, effective, group.end)
        order = dependence.order
        group.orders = frozenset((c.who, order[id(c)]) for c in calls)
        if sender is None or not timeline.teams[sender][0].tasks:  # each for itself
            group.needs = frozenset((r.who, order[id(r)]) for c in calls for r in dependence.needs(c, previous))
        group.came = frozenset((r.who, order[id(r)]) for r in dependence.came(previous, group.begin))
        previous = group.begin
        if not group.team:
            _add_overlap(group, dependence, each[_ALL], thread)
        then = bisect_left(collectives, group.begin)
        group.collectives, counted = then - counted, then
        group.others_s = timeline.in_mpi(thread, ended, group.begin)
        # All that is not in MPI is computing, packing and unpacking among it.
        before, ended = group.end if group.team else effective, group.end
        yield group


def _add_overlap(group: Group, dependence: Dependence, of: _Open, thread: int) -> None:
    """What is computed while its messages are on their way: not before the last is begun, nor once one is there."""
    timeline, begin, last = dependence.timeline, of.sends[0].end, max(of.sends, key=lambda c: c.begin)
    waited = [c.done for c in of.sends if c.done > c.end and c.done > last.end]
    end = min([*waited, group.end] if of.first is None else [of.first, *waited, group.end])
    if of.computed and last.end < end and dependence.computes(thread, last.end, end):
        group.inside_s = max(0.0, timeline.outside(thread, last.end, end))
    regions = [at for at, *_ in timeline.computing if begin <= at < last.begin] if last.begin > begin else []
    group.pack_s = 0.0 if regions else max(0.0, timeline.outside(thread, begin, last.begin))
    if of.sends[0].of in timeline.teams:
        stretch, i = timeline.teams[of.sends[0].of]
        others = [n for n in range(stretch.threads) if n != of.sends[0].number]
        group.beside = bool((stretch.begin[i] + stretch.finish[i, others] > group.begin + COMPUTES_S).any())


def _add_messages(group: Group, each: dict[int, _Open], calls: list[Call], marks: list[Call]) -> None:
    for c in calls:
        group.sent[c.who] = group.sent.get(c.who, 0) + c.what
        group.counts[c.who] = group.counts.get(c.who, 0) + 1
        group.kinds[c.kind] += 1
    for c in marks:
        if c.what:
            group.parts[c.who] = min(c.what, group.parts.get(c.who, c.what))
    for o in each.values():
        group.received.update(o.got)
    group.one_by_one = all(c.kind in BLOCKING for c in calls) and len(calls) > 1
    ordered = sorted(each[min(each)].sends, key=lambda c: c.begin)
    group.sites = list(dict.fromkeys(c.site for c in (*ordered, *calls)))
    group.waits = sorted({c.site for o in each.values() for c in o.waits})


def _of_team(
    group: Group,
    timeline: Timeline,
    team: tuple[int, int],
    master: int,
    calls: list[Call],
    before: float,
    own: dict[int, float],
) -> None:
    """When each thread sends its own part."""
    stretch, i = timeline.teams[team]
    begin = float(stretch.begin[i])
    after = begin >= group.since
    base = max(0.0, timeline.outside(master, before, begin)) if after else 0.0
    times, ready = base + stretch.computing[i], 0.0
    for number in {c.number for c in calls if 0 <= c.number < stretch.threads}:
        mine = [c for c in calls if c.number == number]
        at = max(c.begin for c in mine) if mine[0].kind == "pready" else min(c.begin for c in mine)
        since = max(begin, own.get(number, begin))
        times[number] = base + max(0.0, timeline.outside(mine[0].thread, since, at))
        own[number] = at
        ready = max(ready, at)
    group.producer, group.team, group.times = (stretch, i), True, times
    group.ready = min(ready, group.end)
    group.took = group.end - group.ready


def today_of(groups: Sequence[Group]) -> tuple[Today, int]:
    """How an exchange is sent, and the messages to a neighbour, most often."""
    kinds = Counter[str]()
    for g in groups:
        kinds.update(g.kinds)
    messages = most_common([n for g in groups for n in g.counts.values()] or [1])
    most = kinds.most_common(1)[0][0] if kinds else "isend"
    teams = sum(g.team for g in groups) >= MOSTLY * len(groups)
    if most == "pstart_send":
        return "partitioned", messages
    if most in ONE_SIDED:
        return "rma", messages
    if teams:
        return "one message per thread", messages
    if messages > 1:
        return "several messages", messages
    if most == "start_send":
        return "persistent", messages
    several = [g for g in groups if sum(g.counts.values()) > 1]  # one message alone blocks no other
    blocking = sum(g.one_by_one for g in several) >= MOSTLY * max(1, len(several))
    return ("blocking" if blocking else "nonblocking"), messages
