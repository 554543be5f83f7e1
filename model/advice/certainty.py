"""How sure a verdict is: what it rests on, what would turn it, and what to measure next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pready.model.advice.case import Study, Ways
from pready.model.advice.sensitivity import sensitivity
from pready.model.result.prediction import Advice, Lever, Prediction
from pready.model.result.verdict import verdict_of

MOST_TURNS = 4
"""Most clauses of what would turn a verdict; of each input the one with the largest effect."""


def with_certainty(prediction: Prediction, study: Study, rivals: Sequence[Ways]) -> Prediction:
    """A prediction with its sensitivity, and advice that says how sure it is; `rivals` as of `sensitivity`."""
    advice = prediction.advice
    found = sensitivity(study, rivals if advice.verdict == "do not port" else (), advice.min_gain)
    unknown = [x for x in found.levers if x.kind == "unknown"]
    percents = [p for x in unknown for p in x.speedup_percent]
    best, likely = advice.best, any(x.turns and x.source in ("assumed", "not given") for x in unknown)
    sure = replace(
        advice,
        certainty="" if verdict_of(best, advice.min_gain) == "undecided" else "likely" if likely else "certain",
        probability=found.probability,
        rests_on=found.rests_on,
        turns_if=_turns(unknown, advice),
        between=(min([best.speedup_low_percent, *percents]), max([best.speedup_high_percent, *percents])),
        measure_next=_next(found.levers, advice),
    )
    return replace(prediction, advice=sure, sensitivity=found.levers)


def _turns(unknown: Sequence[Lever], advice: Advice) -> list[tuple[str, float]]:
    """Clauses with the saving there, the furthest beyond the threshold first."""
    least = 100 * advice.min_gain
    pays = advice.best.speedup_percent >= least
    turned = [
        max(((abs(p - least), s, p) for s, p in zip(x.steps, x.speedup_percent, strict=True) if (p >= least) != pays))
        for x in unknown
        if x.turns
    ]
    return [(said, percent) for _, said, percent in sorted(turned, reverse=True)]


def _next(levers: Sequence[Lever], advice: Advice) -> str:
    """The measurement that is worth most, if it may turn the verdict or decide it."""
    able = [x for x in levers if x.measure and x.worth_percent > 0 and x.source != "measured"]
    if advice.verdict != "undecided":
        able = [x for x in able if x.turns]
    return f"pready calibrate --measure {max(able, key=lambda x: x.worth_percent).measure}" if able else ""
