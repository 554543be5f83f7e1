"""The verdict that a prediction supports: the same rule for the timeline, the engine, SST and real MPI.

A verdict is about the iteration: η rates an approach, the change of the iteration time says whether it matters.
``port`` only if the iteration gets shorter by at least a minimum with 95 % certainty, ``do not port`` if it
is not expected to, ``undecided`` in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.result.prediction import ApproachPrediction, Verdict

INDISTINCT = 0.01
"""Relative difference of η that is not worth a line of code: the simpler approach is preferred."""
MIN_GAIN = 0.01
"""Default of the share of an iteration that a port has to save."""
PREFERENCE = {interface: n for n, interface in enumerate(BY_KEY.values())}
"""Simplest to program first: the order of `INTERFACES`."""


def a_port(approach: Approach, gain: float, today: Approach) -> bool:
    """Is an approach a port, with that gain over the baseline `today`? Another whole send that is no faster is not."""
    whole_send = approach.interface.call == "MPI_Send" and not approach.interface.splits
    return approach != today and not (whole_send and gain <= 1)


def candidates(rows: Sequence[ApproachPrediction], today: Approach) -> list[ApproachPrediction]:
    """Ports that are available."""
    return [p for p in rows if p.available and a_port(p.approach, p.gain, today)]


def simplest_of_the_best(usable: Sequence[ApproachPrediction]) -> ApproachPrediction:
    """The approach that is simplest to program among those within `INDISTINCT` of the fastest."""
    return usable[simplest([(p.approach, p.gain) for p in usable])]


def simplest(gains: Sequence[tuple[Approach, float]]) -> int:
    """The same for approaches with their gains: its index."""
    top = max(gain for _, gain in gains)
    close = [i for i, (_, gain) in enumerate(gains) if gain >= top * (1 - INDISTINCT)]
    return min(close, key=lambda i: _trouble(gains[i][0]))


def _trouble(approach: Approach) -> tuple[int, int, int]:
    return PREFERENCE.get(approach.interface, len(PREFERENCE)), approach.vcis, approach.transport_partitions


class Standing(Protocol):
    """What the choice among approaches reads of each: of an `ApproachPrediction`, or of a `Stands`."""

    @property
    def approach(self) -> Approach:
        """The approach."""

    @property
    def eta(self) -> float:
        """Over the baseline."""

    @property
    def gain(self) -> float:
        """η with the set-up cost included."""

    @property
    def iteration_s(self) -> float:
        """A whole iteration."""

    @property
    def begin_s(self) -> float:
        """Set-up cost, once."""


@dataclass(frozen=True)
class Stands:
    """The same at the parameters' values, without intervals."""

    approach: Approach
    eta: float
    gain: float
    iteration_s: float
    begin_s: float


S = TypeVar("S", bound=Standing)


def best_port(usable: Sequence[S], now: Standing, iterations: int, min_gain: float = MIN_GAIN) -> S:
    """The approach to advise for a run of `iterations`: the best; if that is not worth it, the one that pays earliest.

    Parameters
    ----------
    now
        The baseline.
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
    """From how many iterations on `best` saves that share of a run, set-up included; None: never.

    n (T_now − T) − (B − B_now) ≥ g (n T_now + B_now), with T an iteration and B the set-up cost.
    """
    each = (1 - min_gain) * now.iteration_s - best.iteration_s
    once = best.begin_s - (1 - min_gain) * now.begin_s
    if each <= 0:
        return None
    return max(1, math.ceil(once / each))


def verdict_of(best: ApproachPrediction, min_gain: float = MIN_GAIN) -> Verdict:
    """The verdict on the best approach's saving and its interval; `min_gain` is a share of an iteration."""
    return verdict(best.speedup_percent, best.speedup_low_percent, 100 * min_gain)


def verdict(saving: float, low: float, least: float = MIN_GAIN) -> Verdict:
    """The verdict on a saving with the lower end of its 95 % interval; `least` is what is asked for, in their unit."""
    if saving < least:
        return "do not port"
    return "port" if low >= least else "undecided"


def taken(eta_alone: float, eta_here: float) -> float | None:
    """The share of a gain η − 1 that is lost, to congestion for instance; None if there was no gain.

    1 where the approach ends below bulk. Negative where congestion slows bulk down more than the approach.
    """
    gain = eta_alone - 1
    return min(1 - (eta_here - 1) / gain, 1.0) if gain > 0 else None
