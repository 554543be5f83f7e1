"""What a message takes longer that finds its VCI's lock taken: a team that issues at once, beside one thread alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pready.calibrate.fit.results import Estimate
from pready.model.errors import PreadyError


@dataclass(frozen=True)
class TeamBurst:
    """One point of ``measure_contention.c``: k threads with n messages each, and one thread with as many.

    Attributes
    ----------
    threads, messages
        k and n.
    team
        Seconds until the team's last call has returned, the median.
    excess
        By how much that is more than k times what the one thread took, in s: the median of the differences of what was
        measured together. A core is twice as fast in one second as in the next, and the difference forgets that.
    """

    threads: int
    messages: int
    team: float
    excess: float

    @property
    def find_it_taken(self) -> int:
        """All messages of the team but the first, if the threads begin together."""
        return self.threads * self.messages - 1


@dataclass(frozen=True)
class TakenLock:
    """c(k) of one k.

    Attributes
    ----------
    each
        Seconds per message that finds the lock taken, with the 95 % interval of the slope. Never below 0.
    once
        Seconds per burst whatever its length: the team's first messages find cold caches, which is not the lock's.
    """

    each: Estimate
    once: float

    def excess(self, burst: TeamBurst) -> float:
        """What this says of a burst's excess, seconds."""
        return self.once + self.each.value * burst.find_it_taken


def lock_cost(bursts: Sequence[TeamBurst]) -> TakenLock:
    """A line through the excess over the messages that found the lock taken, its slope the median of all pairs'.

    Theil and Sen's slope, since a burst that met another process is far off; one length alone gives no line, and all
    of its excess is taken for the lock's.

    Raises
    ------
    PreadyError
        No burst.
    """
    if not bursts:
        raise PreadyError("no burst of several threads was measured", valid="points of 'contention'")
    taken = np.array([b.find_it_taken for b in bursts], dtype=float)
    excess = np.array([b.excess for b in bursts])
    if len(set(taken)) == 1:
        each = np.sort(excess / taken)
        value, low, high = (max(float(x), 0.0) for x in (np.median(each), each[0], each[-1]))
        return TakenLock(Estimate(value, low, high), 0.0)
    from scipy.stats import theilslopes

    line = theilslopes(excess, taken, alpha=0.95)
    value, low, high = (max(float(x), 0.0) for x in (line.slope, line.low_slope, line.high_slope))
    return TakenLock(Estimate(value, low, high), float(line.intercept) if value > 0 else float(np.median(excess)))
