"""How a program sends today: by which calls and threads, in how many messages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from pready.calibrate.capture.exchanges import Group
from pready.calibrate.capture.files import ONE_SIDED
from pready.calibrate.capture.thresholds import ALIKE_PARTS, MOSTLY
from pready.calibrate.capture.timeline import most_common
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
