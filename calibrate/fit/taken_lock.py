"""The cost of a taken VCI lock: a team that issues at once, beside one thread alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pready.calibrate.fit.results import Estimate


@dataclass(frozen=True)
class Contended:
    """One point of the measurement "contention": k threads with n messages each, and one thread with as many."""

    threads: int  # k
    messages: int  # n
    team: float  # seconds until the team's last call has returned, the median
    excess: float
    """Seconds beyond k times the time of the one thread: the median of the differences of repeats that were measured
    together. A core is twice as fast in one second as in the next, and the difference cancels that."""

    @property
    def waiting(self) -> int:
        """Messages that wait for the lock: all but the first, if the threads begin together."""
        return self.threads * self.messages - 1


def lock_cost(points: Sequence[Contended]) -> Estimate:
    """c(k) of one k: seconds per message that waits for the lock, with the 95 % interval of the slope; never below 0.

    The slope of the excess over the messages that waited, since a team's first messages meet cold caches, which is not
    the lock's. It is the median of all pairs' (Theil and Sen), since a point that met another process is far off. One
    length alone gives no line: all of its excess counts as the lock's.
    """
    waiting = np.array([p.waiting for p in points], dtype=float)
    excess = np.array([p.excess for p in points])
    if len(set(waiting)) == 1:
        single = excess / waiting
        return Estimate(float(np.median(single)), float(single.min()), float(single.max())).at_least_zero()
    from scipy.stats import theilslopes

    line = theilslopes(excess, waiting, alpha=0.95)
    return Estimate(float(line.slope), float(line.low_slope), float(line.high_slope)).at_least_zero()
