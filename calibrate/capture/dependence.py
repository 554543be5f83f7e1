"""What a message depends on: receives that its rank had completed and computed on since, or whose buffer it sends on.

In a pipeline and in a sweep ranks send on what came in the same step: the first message of a step needs one that came
in it, from a rank that goes on without an answer. Where ranks may begin an octant each, receives that were posted
together are complete one after the other, and messages between them are sent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import median

from pready.calibrate.capture.thresholds import COMPUTES_S, LEAST_CHAIN, LEAST_COVERED, MOSTLY
from pready.calibrate.capture.timeline import COLLECTIVE, RECEIVING, Call, Timeline, is_message, most_common

Gaps = dict[tuple[int, int], float]
"""Median seconds between two calls in a row, by their places."""


def gaps(streams: Iterable[Sequence[Call]]) -> Gaps:
    """Gaps between places that are known.

    The median: a program computes between two places, or does not; a single gap may be the operating system's, which
    had another thread run.
    """
    found: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    for calls in streams:
        busy_until = 0.0
        for before, call in pairwise(c for c in calls if c.kind != "sendrecv_receive"):
            busy_until = max(busy_until, before.end)
            if before.site and call.site:
                found[before.site, call.site].append(call.begin - busy_until)
    return {places: median(seconds) for places, seconds in found.items()}


class Dependence:
    """The messages of one rank, and the receives that each depends on."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        rank = timeline.process.rank
        self.sends = [c for c in timeline.calls if is_message(c, rank)]
        self.receives = [c for c in timeline.calls if c.kind in RECEIVING and c.who not in (-2, rank)]
        self.to, self.by = (defaultdict[int, list[Call]](list) for _ in range(2))
        """Messages by receiver, and receives by sender, in order: the k-th of a pair are one message."""
        for calls, of in ((self.sends, self.to), (self.receives, self.by)):
            for c in calls:
                of[c.who].append(c)

    @cached_property
    def _regions(self) -> list[float]:
        return [begin for begin, *_ in self.timeline.computing]

    @cached_property
    def computed(self) -> dict[int, float]:
        """By `id` of a message: since when its rank computes last before it, in a region or on its own thread."""
        threads: defaultdict[int, list[Call]] = defaultdict(list)
        for c in self.timeline.calls:
            threads[c.thread].append(c)
        between = gaps(threads.values())
        out = dict[int, float]()
        for calls in threads.values():
            busy_until = since = -1.0
            site = 0
            for c in calls:
                if between.get((site, c.site), c.begin - busy_until) > COMPUTES_S:
                    since = busy_until
                before = bisect_right(self._regions, c.begin)
                out[id(c)] = max(since, self._regions[before - 1] if before else -1.0)
                busy_until, site = max(busy_until, c.end), c.site
        return out

    @cached_property
    def _by_buffer(self) -> dict[int, list[Call]]:
        found: defaultdict[int, list[Call]] = defaultdict(list)
        for c in self.receives:
            if c.buffer and c.what:
                found[c.buffer].append(c)
        return found

    @cached_property
    def _by_done(self) -> tuple[list[Call], list[float]]:
        ordered = sorted(self.receives, key=lambda c: c.done)
        return ordered, [c.done for c in ordered]

    @cached_property
    def order(self) -> dict[int, int]:
        """By `id` of a message or receive: the how many-eth of its pair of ranks, and way, it is."""
        return {id(c): k for of in (self.to, self.by) for calls in of.values() for k, c in enumerate(calls)}

    def came(self, since: float, until: float) -> list[Call]:
        """Receives complete after the one time, and not after the other."""
        ordered, done = self._by_done
        return ordered[bisect_right(done, since) : bisect_right(done, until)]

    def needs(self, message: Call, since: float) -> list[Call]:
        """Receives complete after `since` that a message depends on."""
        computed = self.came(since, self.computed[id(message)])
        same = self._by_buffer.get(message.buffer, ()) if message.what else ()
        return [*computed, *(c for c in same if since < c.done <= message.begin)]

    def computes(self, thread: int, begin: float, end: float) -> bool:
        """Does a thread compute by itself, or a team, whose region begins in this time or takes all of it?"""
        if self.timeline.outside(thread, begin, end) > COMPUTES_S:
            return True
        at = bisect_right(self._regions, begin)
        if at < len(self._regions) and self._regions[at] <= end:
            return True
        return at > 0 and self.timeline.computing[at - 1][1] >= end > begin + COMPUTES_S

    @cached_property
    def steps(self) -> list[tuple[float, float]]:
        """Times between collectives in which the rank has messages; all of the run without collectives."""
        ends = [-1.0, *(c.end for c in self.timeline.calls if c.kind in COLLECTIVE), float("inf")]
        times = sorted(c.begin for c in (*self.sends, *self.receives))
        at = (bisect_right(times, end) for end in ends)
        return [span for span, (a, b) in zip(pairwise(ends), pairwise(at), strict=True) if a < b]

    @cached_property
    def batches(self) -> list[tuple[float, float]]:
        """Times from one moment without an open request to the next one in which the rank has messages."""
        out = list[tuple[float, float]]()
        for c in sorted((*self.sends, *self.receives), key=lambda c: c.begin):
            if out and c.begin < out[-1][1]:
                out[-1] = out[-1][0], max(out[-1][1], c.done)
            else:
                out.append((c.begin, c.done))
        return out


@dataclass(frozen=True)
class Chain:
    """Ranks whose messages each wait for one received before."""

    blocks: int  # messages to the next rank in a step; of all steps together if these cannot be told apart
    steps: int  # 0 if they cannot be told apart
    own: bool = False  # ranks begin by themselves, each with what it need not wait for
    said: str = field(default="", compare=False)  # in words: a sweep with its grid and messages, or a pipeline


def chain(ranks: Sequence[Dependence]) -> Chain | None:
    """The pipeline or sweep that a run is: of some rank most messages are in steps that send on what they got."""
    waiting = {r for r, of in enumerate(ranks) if _mostly(of, _flows(ranks, r))}
    own = {r for r, of in enumerate(ranks) if _mostly(of, _open_in_turn(of))}
    if not waiting and not own:
        return None
    # Steps end with collectives, or, of ranks that do not wait, where they get something; of ranks that begin by
    # themselves where nothing is open.
    ways: list[list[list[float]]] = (
        [[[end for _, end in of.batches] for of in ranks]]
        if own
        else [
            [[c.end for c in of.timeline.calls if c.kind in COLLECTIVE] for of in ranks],
            [[] if r in waiting else [c.done for c in of.receives] for r, of in enumerate(ranks)],
        ]
    )
    for ends in ways:
        of_ranks = [*map(_in_a_row, ranks, ends)]
        counts: list[int] = max((counts for counts in of_ranks if len(counts) > 1), key=sum, default=[])
        common = most_common(counts) if counts else 0
        if common and counts.count(common) >= MOSTLY * len(counts):
            return Chain(common, sum(2 * n >= common for n in counts), bool(own))
    return Chain(max(sum(_in_a_row(of, ())) for of in ranks), 0, bool(own))


def _mostly(of: Dependence, spans: Iterable[tuple[float, float]]) -> bool:
    """Are at least half of a rank's messages in these times?"""
    times = sorted(c.begin for c in (*of.sends, *of.receives))
    inside = sum(bisect_right(times, end) - bisect_right(times, begin - 1e-9) for begin, end in spans)
    return bool(inside) and inside >= LEAST_COVERED * len(times)


def _flows(ranks: Sequence[Dependence], r: int) -> Iterator[tuple[float, float]]:
    """Steps of a rank whose first message needs one of several that another rank sends without an answer between; and
    those in which a rank that sends nothing computes on each of them."""
    of = ranks[r]
    way = Counter(c.site for c in of.sends).most_common(1)
    alone = [span for span in of.steps if not any(span[0] < c.begin <= span[1] for c in of.sends)]
    for span in of.steps:
        begin, end = span
        one = len(of.steps) == 1
        first = next((c for c in of.sends if begin < c.begin <= end and (not one or c.site == way[0][0])), None)
        if first is None and len(alone) < 2:
            continue
        before = end if first is None else first.begin
        came = {c.who for c in of.receives if begin < c.done <= before}
        for q in came & set(range(len(ranks))):
            theirs = ranks[q].to[r]
            mine = [k for k, c in enumerate(of.by[q][: len(theirs)]) if begin < c.begin <= end]
            alike = [k for k in mine if theirs[k].site == theirs[mine[0]].site]
            least = 2 if first is not None and not one else LEAST_CHAIN
            pairs = [*pairwise(alike)]
            if len(alike) < least:
                continue
            on = sum(_goes_on(of, ranks[q], r, q, *pair, first is None) for pair in pairs)
            if on >= MOSTLY * len(pairs) and (first is None or _computes_first(of, [of.by[q][k] for k in alike])):
                yield span
                break


def _computes_first(of: Dependence, received: Sequence[Call]) -> bool:
    """Is more computed from a receive to the next message than from that to the next receive?"""
    begins = [c.begin for c in of.sends]
    between = after = 0.0
    for one, then in pairwise(received):
        at = bisect_left(begins, one.done)
        if at < len(begins):
            thread = of.sends[at].thread
            between += of.timeline.outside(thread, one.done, begins[at])
            after += max(0.0, of.timeline.outside(thread, begins[at], then.done))
    return between > after


def _goes_on(of: Dependence, other: Dependence, r: int, q: int, k: int, then: int, alone: bool) -> bool:
    """Does a rank send two messages without one that comes back between? Where nothing comes back at all (`alone`): do
    both ranks compute between?"""
    a, b = other.to[r][k], other.to[r][then]
    if alone:
        mine, later = of.by[q][k], of.by[q][then]
        return of.computes(mine.thread, mine.done, later.done) and other.computes(b.thread, a.begin, b.begin)
    return not any(a.begin < c.done <= b.begin for c in other.by[r])


def _open_in_turn(of: Dependence) -> Iterator[tuple[float, float]]:
    """Batches of requests of which receives from one rank were posted before the first message, and are complete one
    after the other: a message needs one of them while another one is open."""
    for begin, end in of.batches:
        sends = [c for c in of.sends if begin <= c.begin < end]
        if not sends:
            continue
        receives = [c for c in of.receives if begin <= c.begin < end]
        posted: defaultdict[int, list[float]] = defaultdict(list)
        for c in receives:
            if c.begin < sends[0].begin and c.who >= 0:
                posted[c.who].append(c.done)
        if sum(map(len, posted.values())) < MOSTLY * len(receives):
            continue
        spans = [(min(done), max(done)) for done in posted.values() if len(done) > 1]
        if any(first <= of.computed[id(c)] and c.begin < last for c in sends for first, last in spans):
            yield begin, end


def _in_a_row(of: Dependence, ends: Sequence[float]) -> list[int]:
    """Messages to the rank that it sends most to, between these times."""
    begins = [c.begin for c in max(of.to.values(), key=len, default=[])]
    at = [0, *(bisect_right(begins, end) for end in sorted(ends)), len(begins)]
    return [n for a, b in pairwise(at) if (n := b - a)]
