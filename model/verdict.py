"""What a figure allows to say: the same for the timeline, the engine, SST and real MPI.

A verdict is about the iteration: η says how good an approach is, the run time whether anyone should care.
``port`` only if the iteration gets shorter by at least a minimum with 95 % certainty, ``do not port`` if it
is not expected to, ``undecided`` in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pready.model.interfaces import BY_KEY, Approach
from pready.model.prediction import ApproachPrediction, Verdict

INDISTINCT = 0.01
"""Relative difference of η that is not worth a line of code: the simpler approach is preferred."""
MIN_GAIN = 0.01
"""Share of an iteration that is worth porting for, unless somebody says otherwise."""
PREFERENCE = {interface: n for n, interface in enumerate(BY_KEY.values())}
"""Simplest to program first: the order of `INTERFACES`."""


def a_port(approach: Approach, gain: float, today: Approach) -> bool:
    """Is it one, with that gain against `today`? Another name for what the application does, no faster, is none."""
    whole_send = approach.interface.call == "MPI_Send" and not approach.interface.splits
    return approach != today and not (whole_send and gain <= 1)


def candidates(rows: Sequence[ApproachPrediction], today: Approach) -> list[ApproachPrediction]:
    """What one may port to and can have."""
    return [p for p in rows if p.available and a_port(p.approach, p.gain, today)]


def simplest_of_the_best(usable: Sequence[ApproachPrediction]) -> ApproachPrediction:
    """Of the approaches hardly slower than the fastest, the one that is simplest to program."""
    return usable[simplest([(p.approach, p.gain) for p in usable])]


def simplest(gains: Sequence[tuple[Approach, float]]) -> int:
    """The same of approaches and their gains: its place."""
    top = max(gain for _, gain in gains)
    close = [i for i, (_, gain) in enumerate(gains) if gain >= top * (1 - INDISTINCT)]
    return min(close, key=lambda i: _trouble(gains[i][0]))


def _trouble(approach: Approach) -> tuple[int, int, int]:
    return PREFERENCE.get(approach.interface, len(PREFERENCE)), approach.vcis, approach.transport_partitions


class Standing(Protocol):
    """What the choice among approaches needs of each: an `ApproachPrediction`, or a `Stands`."""

    @property
    def approach(self) -> Approach:
        """What it is."""

    @property
    def eta(self) -> float:
        """Against what the application does today."""

    @property
    def gain(self) -> float:
        """That with what beginning takes."""

    @property
    def iteration_s(self) -> float:
        """A whole iteration."""

    @property
    def begin_s(self) -> float:
        """What beginning takes."""


@dataclass(frozen=True)
class Stands:
    """The same at the parameters' values alone."""

    approach: Approach
    eta: float
    gain: float
    iteration_s: float
    begin_s: float


S = TypeVar("S", bound=Standing)


def best_port(usable: Sequence[S], now: Standing, iterations: int, min_gain: float = MIN_GAIN) -> S:
    """What to advise for so many iterations: the best of that run; if even that is not worth it, what pays earliest.

    Parameters
    ----------
    now
        What the application does today.
    """
    best = usable[simplest([(p.approach, p.gain) for p in usable])]
    run, run_now = (p.begin_s + iterations * p.iteration_s for p in (best, now))
    if run <= (1 - min_gain) * run_now:
        return best
    starts = [(p, from_iterations(p, now, min_gain)) for p in usable]
    first = min((n for _, n in starts if n is not None), default=None)
    if first is None:
        return usable[simplest([(p.approach, p.eta) for p in usable])]
    return min((p for p, n in starts if n == first), key=lambda p: _trouble(p.approach))


def from_iterations(best: Standing, now: Standing, min_gain: float = MIN_GAIN) -> int | None:
    """From how many iterations on `best` saves that share of a run, beginning included; None: never.

    n (T_now − T) − (B − B_now) ≥ g (n T_now + B_now), with T an iteration and B what beginning takes.
    """
    each = (1 - min_gain) * now.iteration_s - best.iteration_s
    once = best.begin_s - (1 - min_gain) * now.begin_s
    if each <= 0:
        return None
    return max(1, math.ceil(once / each))


def verdict_of(best: ApproachPrediction, min_gain: float = MIN_GAIN) -> Verdict:
    """What the best approach's saving and its interval allow to say; `min_gain` as a share of an iteration."""
    return verdict(best.speedup_percent, best.speedup_low_percent, 100 * min_gain)


def verdict(saving: float, low: float, least: float = MIN_GAIN) -> Verdict:
    """The same of a saving, the lower end of its 95 % interval and what it has to be, all in one unit."""
    if saving < least:
        return "do not port"
    return "port" if low >= least else "undecided"


def taken(eta_alone: float, eta_here: float) -> float | None:
    """The share of a gain η − 1 that something takes, such as congestion; None if there was no gain.

    All of it, 1, where the approach ends below bulk. Below 0 where it gains by it: what slows the approach
    down may slow bulk down more.
    """
    gain = eta_alone - 1
    return min(1 - (eta_here - 1) / gain, 1.0) if gain > 0 else None
