"""The verdict that a prediction supports: the same rule for the timeline, the engine, SST and real MPI.

A verdict is about the iteration: η rates an approach, the change of the iteration time says whether it matters.
``port`` if the whole 95 % interval of what is saved lies above a minimum, ``do not port`` if the whole lies below, else
``undecided``. Approaches that take as long, as far as that can be told, are one choice: the simplest to program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.result.prediction import ApproachPrediction, Verdict

INDISTINCT = 1e-3
"""Share of an iteration that is not worth a line of code: the simpler approach is preferred."""
ALIKE = 0.01
"""Relative difference of η that is none, where no approach saves enough."""
MIN_GAIN = 0.01
"""Default of the share of an iteration that a port has to save."""
PREFERENCE = {interface: n for n, interface in enumerate(BY_KEY.values())}
"""Simplest to program first: the order of `INTERFACES`."""
FIRMNESS: tuple[Verdict, ...] = ("do not port", "undecided", "port")
"""Verdicts from the worst to the best that may be said of a port."""


@dataclass(frozen=True)
class Stands:
    """What the choice among approaches reads of each, at the parameters' values, without intervals."""

    approach: Approach
    eta: float
    """Over the baseline."""
    gain: float
    """η with the set-up cost included."""
    iteration_s: float
    """A whole iteration."""
    begin_s: float
    """Set-up cost, once."""


Standing = ApproachPrediction | Stands
S = TypeVar("S", bound=Standing)


def a_port(approach: Approach, gain: float, today: Approach) -> bool:
    """Is an approach a port, with that gain over the baseline `today`? Another whole send that is no faster is not."""
    whole_send = approach.interface.call == "MPI_Send" and not approach.interface.splits
    return approach != today and not (whole_send and gain <= 1)


def candidates(rows: Sequence[ApproachPrediction], today: Approach) -> list[ApproachPrediction]:
    """Ports that are available."""
    return [p for p in rows if p.available and a_port(p.approach, p.gain, today)]


def simplest(usable: Sequence[S], iterations: int) -> S:
    """The approach that is simplest to program among those within `INDISTINCT` of the shortest run."""
    shortest = min(run_s(p, iterations) for p in usable)
    close = [p for p in usable if run_s(p, iterations) <= shortest * (1 + INDISTINCT)]
    return min(close, key=lambda p: trouble(p.approach))


def fastest(usable: Sequence[S]) -> S:
    """The approach that is simplest to program among those within `ALIKE` of the fastest exchange."""
    top = max(p.eta for p in usable)
    return min((p for p in usable if p.eta >= top * (1 - ALIKE)), key=lambda p: trouble(p.approach))


def run_s(of: Standing, iterations: float) -> float:
    """An iteration with its share of the set-up, in seconds."""
    return of.iteration_s + of.begin_s / iterations


def trouble(approach: Approach) -> tuple[int, int, int]:
    """How much there is to program, for comparison: the interface, then VCIs, then transport partitions."""
    return PREFERENCE.get(approach.interface, len(PREFERENCE)), approach.vcis, approach.transport_partitions


def best_port(usable: Sequence[S], now: Standing, iterations: int, min_gain: float = MIN_GAIN) -> S:
    """The approach to advise for a run of `iterations`: the best; if that is not worth it, the one that pays earliest.

    Parameters
    ----------
    now
        The baseline.
    """
    best = simplest(usable, iterations)
    if run_s(best, iterations) <= (1 - min_gain) * run_s(now, iterations):
        return best
    starts = [(p, from_iterations(p, now, min_gain)) for p in usable]
    first = min((n for _, n in starts if n is not None), default=None)
    if first is not None:
        return min((p for p, n in starts if n == first), key=lambda p: trouble(p.approach))
    return fastest(usable)  # nothing pays here: it may with other buffers


def as_good(best: S, others: Sequence[S], told_apart: Callable[[S, S], bool]) -> list[S]:
    """Approaches that save as much as `best`, as far as can be told, the simplest to program first.

    Where little is known of `best`, much cannot be told apart from it: those that come before the first one that none
    of them, up to `best`, surely outdoes are left out.

    Parameters
    ----------
    others
        One of each interface.
    told_apart
        Does the first save more than the second, with 95 % certainty?
    """
    alike = [p for p in others if p.approach.interface != best.approach.interface and not told_apart(best, p)]
    order = sorted([best, *alike], key=lambda p: trouble(p.approach))
    choice = [p for p in order if trouble(p.approach) <= trouble(best.approach)]
    outdone = [any(told_apart(q, p) for q in choice if q is not p) for p in choice[:-1]]
    return order[[*outdone, False].index(False) :]


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
    return verdict(best.speedup_low_percent, best.speedup_high_percent, 100 * min_gain)


def verdict(low: float, high: float, least: float = MIN_GAIN) -> Verdict:
    """The verdict on the ends of the 95 % interval of a saving; `least` is what is asked for, in their unit."""
    if low >= least:
        return "port"
    return "do not port" if high < least else "undecided"
