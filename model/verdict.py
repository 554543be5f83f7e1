"""What a figure allows to say: the same for the timeline, the engine, SST and real MPI.

Advice is as firm as the interval: ``port`` only if the whole 95 % interval of η lies above 1, ``do not
port`` if nothing is faster than bulk by more than one per cent, ``undecided`` in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from pready.model.approach import INTERFACES
from pready.model.prediction import ApproachPrediction, Verdict

INDISTINCT = 0.01
"""Relative difference of η that is not worth a line of code: the simpler approach is preferred."""
PREFERENCE = {interface: n for n, interface in enumerate(INTERFACES)}
"""Simplest to program first: the order of `INTERFACES`."""


def simplest_of_the_best(usable: Sequence[ApproachPrediction]) -> ApproachPrediction:
    """Of the approaches hardly slower than the fastest, the one that is simplest to program."""
    top = max(p.eta for p in usable)
    close = [p for p in usable if p.eta >= top * (1 - INDISTINCT)]
    return min(close, key=lambda p: (PREFERENCE[p.approach.interface], p.vcis, p.transport_partitions))


def verdict_of(best: ApproachPrediction) -> Verdict:
    """What the interval of the best approach allows to say."""
    if best.eta <= 1 + INDISTINCT or best.eta_high <= 1:
        return "do not port"
    return "port" if best.eta_low > 1 else "undecided"


def taken(eta_alone: float, eta_here: float) -> float | None:
    """The share of a gain η − 1 that something takes, such as congestion; None if there was no gain.

    All of it, 1, where the approach ends below bulk. Below 0 where it gains by it: what slows the approach
    down may slow bulk down more.
    """
    gain = eta_alone - 1
    return min(1 - (eta_here - 1) / gain, 1.0) if gain > 0 else None
