"""The verdict that a prediction supports: the same rule for the engine, SST and real MPI.

A verdict is about the iteration: η rates an approach, the change of the iteration time says whether it matters.
``port`` if the probability that enough is saved is at least `LIKELY`, ``do not port`` if that it is not is, else
``undecided``. A verdict is certain from `CERTAIN` on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.common.arrays import Array
from pready.model.result.prediction import ApproachPrediction, Certainty, Verdict

INDISTINCT = 1e-3
"""Share of an iteration that is not worth a line of code: the simpler approach is preferred."""
ALIKE = 0.01
"""Relative difference of η that is none."""
LIKELY, CERTAIN = 0.8, 0.99
"""Probabilities from which on a verdict is given, and certain."""
DESCRIBES = 0.25
"""Relative difference of a step's time, as sent today, from the captured one up to which the model describes it."""
MIN_GAIN = 0.01
"""Default of the share of an iteration that a port has to save."""
IN_TURN = 0.12
"""Share of an exchange by which a lucky order at a shared adapter beats the bound; 10 % was seen."""
PREFERENCE = {interface: n for n, interface in enumerate(BY_KEY.values())}
"""Simplest to program first: the order of `INTERFACES`."""


def a_port(approach: Approach, gain: float, today: Approach) -> bool:
    """Is an approach a port, with that gain over the baseline `today`? Another whole send that is no faster is not."""
    whole_send = approach.interface.call == "MPI_Send" and not approach.interface.splits
    return approach != today and not (whole_send and gain <= 1)


def candidates(rows: Sequence[ApproachPrediction], today: Approach) -> list[ApproachPrediction]:
    """Ports that are available."""
    return [p for p in rows if p.available and a_port(p.approach, p.gain, today)]


def simplest(usable: Sequence[ApproachPrediction], iterations: int) -> ApproachPrediction:
    """The approach that is simplest to program among those within `INDISTINCT` of the shortest run."""
    shortest = min(run_s(p, iterations) for p in usable)
    close = [p for p in usable if run_s(p, iterations) <= shortest * (1 + INDISTINCT)]
    return min(close, key=lambda p: trouble(p.approach))


def best_port(
    usable: Sequence[ApproachPrediction], now: ApproachPrediction, iterations: int, min_gain: float = MIN_GAIN
) -> ApproachPrediction:
    """The best approach for a run of `iterations`; if that is not worth it, the one that pays earliest, else the one
    with the fastest exchange, which may pay with other buffers.

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
    top = max(p.eta for p in usable)
    return min((p for p in usable if p.eta >= top * (1 - ALIKE)), key=lambda p: trouble(p.approach))


def run_s(of: ApproachPrediction, iterations: float) -> float:
    """An iteration with its share of the set-up, in seconds."""
    return of.iteration_s + of.begin_s / iterations


def trouble(approach: Approach) -> tuple[int, int, int]:
    """How much there is to program, for comparison: the interface, then VCIs, then transport partitions."""
    return PREFERENCE.get(approach.interface, len(PREFERENCE)), approach.vcis, approach.transport_partitions


def from_iterations(best: ApproachPrediction, now: ApproachPrediction, min_gain: float = MIN_GAIN) -> int | None:
    """From how many iterations on `best` saves that share of a run, set-up included; None: never.

    n (T_now − T) − (B − B_now) ≥ g (n T_now + B_now), with T an iteration and B the set-up cost.
    """
    each = (1 - min_gain) * now.iteration_s - best.iteration_s
    once = best.begin_s - (1 - min_gain) * now.begin_s
    if each <= 0:
        return None
    return max(1, math.ceil(once / each))


def verdict_of(probability: float) -> Verdict:
    """The verdict on the probability that enough is saved."""
    if probability >= LIKELY:
        return "port"
    return "do not port" if 1 - probability >= LIKELY else "undecided"


def enough(percent: Array | float, min_gain: float) -> NDArray[np.bool_]:
    """Does a saving in percent of an iteration reach the share that a port has to save? Of its shape."""
    return np.asarray(percent) >= 100 * min_gain


def verdict_on(best: ApproachPrediction, min_gain: float) -> Verdict:
    """The verdict on a row; where nothing was drawn, on its value alone."""
    return verdict_of(float(enough(best.speedup_percent, min_gain)) if best.probability is None else best.probability)


def never(bound: ApproachPrediction, min_gain: float, *, shared: bool) -> bool:
    """Is it certain that what no library exceeds is not enough?

    Parameters
    ----------
    shared
        Do ranks of a node share an adapter? The order of their messages there may then beat the bound by `IN_TURN`.
    """
    if bound.probability is None or bound.probability > 1 - CERTAIN:
        return False
    beaten = IN_TURN * bound.time_s / bound.iteration_s if shared else 0.0
    return bound.speedup_high_percent + 100 * beaten < 100 * min_gain


def certainty_of(probability: float) -> Certainty:
    """How sure it is; empty: undecided."""
    surest = max(probability, 1 - probability)
    return "certain" if surest >= CERTAIN else "likely" if surest >= LIKELY else ""


def verdict(low: float, high: float, least: float = MIN_GAIN) -> Verdict:
    """The verdict on the ends of a measured saving's 95 % interval; `least` is what is asked for, in their unit."""
    if low >= least:
        return "port"
    return "do not port" if high < least else "undecided"
