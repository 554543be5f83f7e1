"""What measuring says about a prediction: a decision, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pready.model.common.arrays import Array
from pready.model.common.normal import student95
from pready.model.result.prediction import Verdict
from pready.model.result.verdict import verdict, verdict_of

Finding = Literal[
    "kept", "saves less", "baseline off", "decided by measuring", "not kept", "too noisy to judge", "undecided"
]
MOST_ROUNDS = 100
"""More are not asked for."""
PROMISED = 0.5
"""Share of the predicted saving below which a verdict does not count as kept."""
SHARP = 0.5
"""Half-width of an interval over the saving that is asked for, below which a saving is close to it instead of noisy."""


@dataclass(frozen=True)
class Saving:
    """Share of today's iteration that a way saves, at most 1: the mean over rounds, and its 95 % interval."""

    value: float
    low: float
    high: float
    rounds: int
    deviation: float  # standard deviation of a round

    @property
    def half(self) -> float:
        """Half the interval's width, from its lower end: the upper one cannot lie beyond the whole iteration."""
        return self.value - self.low

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the interval; a loss is a positive share."""
        return (self.low, self.high) if self.value >= 0 else (-self.high, -self.low)


def saving_of(iterations: Array, today: Array) -> Saving:
    """The saving of a way whose rounds were measured beside today's.

    Parameters
    ----------
    iterations, today
        Shape (rounds,), at least 2: seconds of an iteration. Round i of both ran next to each other, so slow drift
        cancels.

    Returns
    -------
    The interval is that of Student's t over the rounds, cut at the whole iteration.
    """
    each = np.asarray(1 - iterations / today)
    n, value, deviation = len(each), float(each.mean()), float(each.std(ddof=1))
    half = _factor(n) * deviation
    return Saving(value, value - half, min(value + half, 1.0), n, deviation)


def _factor(rounds: int) -> float:
    return student95(rounds - 1) / float(np.sqrt(rounds))


def rounds_to_tell(saving: Saving, least: float) -> int | None:
    """Rounds after which the interval would leave the threshold out; None: more than `MOST_ROUNDS`."""
    distance = abs(saving.value - least)
    enough = (n for n in range(max(saving.rounds + 1, 3), MOST_ROUNDS + 1) if _factor(n) * saving.deviation < distance)
    return next(enough, None)


@dataclass(frozen=True)
class Judgement:
    """The findings on one way: what was predicted, what was measured, and whether one confirms the other."""

    finding: Finding
    predicted: Verdict
    measured: Verdict
    saving: Saving
    expected: tuple[float, float, float]  # the predicted saving and its interval
    least: float
    rounds: int | None = None  # rounds that would tell, where it was too noisy; None: no affordable number

    @property
    def contradicted(self) -> bool:
        """Does the measurement clearly say the opposite?"""
        return self.finding == "not kept"


def judge(
    expected: tuple[float, float, float],
    probability: float,
    saving: Saving,
    least: float,
    *,
    shared: bool = False,
    off: bool = False,
) -> Judgement:
    """Compare the predicted saving of the advised way with the measured one.

    Parameters
    ----------
    expected
        The saving, and the ends of its interval; shares of an iteration, like `least`, what is asked for.
    probability
        That enough is saved, as predicted.
    shared
        Ranks or threads shared cores: nothing is judged.
    off
        The baseline took another time than predicted: nothing is confirmed.
    """
    value, low, high = expected
    predicted, measured = verdict_of(probability), verdict(saving.low, saving.high, least)

    def found(finding: Finding, rounds: int | None = None) -> Judgement:
        return Judgement(finding, predicted, measured, saving, expected, least, rounds)

    if shared:
        return found("undecided")
    if measured == "undecided":
        if saving.half > SHARP * least:
            return found("too noisy to judge", rounds_to_tell(saving, least))
        return found("undecided")
    if predicted != measured:  # a likely verdict may turn out wrong within its interval
        apart = saving.high < low or high < saving.low
        return found("not kept" if apart and predicted != "undecided" else "decided by measuring")
    if off:
        return found("baseline off")
    return found("saves less" if measured == "port" and saving.value < PROMISED * value else "kept")
