"""How a program sends today: by which calls and threads, in how many messages; does a send wait for a receive?"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pready.calibrate.capture.exchanges import Group
from pready.calibrate.capture.files import ONE_SIDED
from pready.calibrate.capture.thresholds import ALIKE_PARTS, LEAST_CHAIN, MOSTLY
from pready.calibrate.capture.timeline import COLLECTIVE, RECEIVING, Call, Timeline, is_message, most_common
from pready.model.approach.interfaces import Today


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
    blocking = sum(g.one_by_one for g in groups) >= MOSTLY * len(groups)
    return ("blocking" if blocking else "nonblocking"), messages


def thread_shares(of_ranks: Sequence[Sequence[Group]], threads: int) -> tuple[tuple[int, ...] | None, bool]:
    """Parts of a buffer by thread, over all ranks and steps of an exchange.

    Returns
    -------
    The parts in the smallest unit that divides them; None where they are alike, or where a buffer is not sent by all
    threads. And whether they are left out because they differ from buffer to buffer.
    """
    rows: list[list[int]] = []
    for of_rank in of_ranks:
        total: Counter[tuple[int, int]] = Counter()
        for group in of_rank:
            total.update(group.by_thread)
        for peer in {peer for peer, _ in total}:
            if total.keys() & {(peer, -1)}:
                return None, False
            rows.append([total[peer, thread] for thread in range(threads)])
            if min(rows[-1]) == 0 or sum(rows[-1]) < sum(b for (to, _), b in total.items() if to == peer):
                return None, False
    if not rows:
        return None, False
    each = np.array(rows, dtype=np.float64)
    each *= threads / each.sum(axis=1, keepdims=True)
    if np.ptp(each, axis=1).max() < ALIKE_PARTS:
        return None, False
    if np.ptp(each, axis=0).max() >= ALIKE_PARTS:
        return None, True
    unit = math.gcd(*rows[0])
    return tuple(part // unit for part in rows[0]), False


@dataclass(frozen=True)
class Chain:
    """Ranks whose messages each wait for one received before.

    Attributes
    ----------
    blocks
        Messages to the next rank in a step; of all steps together if these cannot be told apart.
    steps
        0 if they cannot be told apart.
    """

    blocks: int
    steps: int


def chain(timelines: Sequence[Timeline]) -> Chain | None:
    """The pipeline that a run is, if ranks compute what they received before they send the same number on."""
    if not any(_waits(timeline) for timeline in timelines):
        return None
    of_ranks = [_in_a_row(timeline) for timeline in timelines]
    counts: list[int] = max((counts for counts in of_ranks if len(counts) > 1), key=sum, default=[])
    common = most_common(counts) if counts else 0
    if common and counts.count(common) >= MOSTLY * len(counts):
        return Chain(common, len(counts))
    return Chain(max(map(sum, of_ranks)), 0)


def _streams(timeline: Timeline) -> tuple[dict[tuple[int, int], list[Call]], dict[tuple[int, int], list[Call]]]:
    """Messages received and sent, by peer and thread."""
    rank = timeline.process.rank
    received: defaultdict[tuple[int, int], list[Call]] = defaultdict(list)
    sent: defaultdict[tuple[int, int], list[Call]] = defaultdict(list)
    for c in timeline.calls:
        if is_message(c, rank):
            sent[c.who, c.thread].append(c)
        elif c.kind in RECEIVING and c.who >= 0 and c.who != rank:
            received[c.who, c.thread].append(c)
    return received, sent


def _waits(timeline: Timeline) -> bool:
    """Does the rank compute on each message of another one before it sends one on, most of what it computes?"""
    received, sent = _streams(timeline)
    for (_, thread), mine in received.items():
        alike = [on for (_, other), on in sent.items() if other == thread and len(on) == len(mine)]
        # Messages sent after the one received is complete; in an exchange it sends before.
        after = [sum(r.done <= s.begin for r, s in zip(mine, on, strict=True)) for on in alike]
        if any(len(on) - n >= MOSTLY * len(on) for on, n in zip(alike, after, strict=True)):
            continue
        for on, n in zip(alike, after, strict=True):
            if len(on) >= LEAST_CHAIN and n >= MOSTLY * len(on) and _computed_between(timeline, thread, mine, on):
                return True
    return False


def _computed_between(timeline: Timeline, thread: int, mine: Sequence[Call], on: Sequence[Call]) -> bool:
    pairs = zip(mine, on, strict=True)
    between = sum(timeline.outside(thread, r.done, s.begin) for r, s in pairs if r.done <= s.begin)
    pairs = zip(mine[1:], on, strict=False)
    after = sum(timeline.outside(thread, s.begin, r.done) for r, s in pairs if s.begin <= r.done)
    return between > after


def _in_a_row(timeline: Timeline) -> list[int]:
    """Messages to the rank that it sends most to, between collectives or messages from ranks that it sends nothing."""
    _, sent = _streams(timeline)
    to = Counter[int]()
    for (who, _), calls in sent.items():
        to[who] += len(calls)
    if not to:
        return []
    peer = to.most_common(1)[0][0]
    starts = not _waits(timeline)
    counts = [0]
    for c in timeline.calls:
        if is_message(c, timeline.process.rank) and c.who == peer:
            counts[-1] += 1
        elif c.kind in COLLECTIVE or (c.kind == "recv" and starts and c.who not in to):
            counts.append(0)
    return [n for n in counts if n]
