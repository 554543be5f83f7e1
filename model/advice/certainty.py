"""How sure a verdict is: what it rests on, what would turn it, and what to measure next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pready.model.advice.case import Study, Ways
from pready.model.advice.sensitivity import sensitivity
from pready.model.result.prediction import Advice, ApproachPrediction, Lever, Prediction
from pready.model.result.verdict import verdict_of

MODEL_ERROR = 0.245
"""What times were off by on ten real machines, beyond what their files leave open, as half of a 95 % interval
(``pready validate fabrics``, docs/archive/model-error.md)."""
MOST_TURNS = 4
"""Most clauses of what would turn a verdict; of each input the one with the largest effect."""


def with_certainty(prediction: Prediction, study: Study, rivals: Sequence[Ways]) -> Prediction:
    """A prediction with its sensitivity, and advice that says how sure it is; `rivals` as of `sensitivity`."""
    advice = prediction.advice
    found = sensitivity(study, rivals if advice.verdict == "do not port" else (), advice.min_gain)
    unknown = [x for x in found.levers if x.kind == "unknown"]
    percents = [p for x in unknown for p in x.speedup_percent]
    best, undecided = advice.best, verdict_of(advice.best, advice.min_gain) == "undecided"
    off = [] if undecided else _model_off(best, prediction.bulk, advice)
    likely = bool(off) or any(x.turns and x.source in ("assumed", "not given") for x in unknown)
    sure = replace(
        advice,
        certainty="" if undecided else "likely" if likely else "certain",
        probability=found.probability,
        rests_on=found.rests_on,
        turns_if=[*_turns(unknown, advice), *off],
        between=(min([best.speedup_low_percent, *percents]), max([best.speedup_high_percent, *percents])),
        measure_next=_next(found.levers, advice) or ("pready prove" if off else ""),
    )
    return replace(prediction, advice=sure, sensitivity=found.levers)


def with_own_error(best: ApproachPrediction, now: ApproachPrediction) -> tuple[float, float]:
    """The saving's interval, in percent, with the model's own error of both exchanges, each by itself.

    To first order in T of 1 - (C + T) / (C + T_now), C the computing.
    """
    middle, left = best.speedup_percent, best.iteration_s / now.iteration_s
    own = 100 * MODEL_ERROR * math.hypot(best.transfer_s, left * now.transfer_s) / now.iteration_s
    return (
        middle - math.hypot(middle - best.speedup_low_percent, own),
        middle + math.hypot(best.speedup_high_percent - middle, own),
    )


def _model_off(best: ApproachPrediction, now: ApproachPrediction, advice: Advice) -> list[tuple[str, float]]:
    """A clause as of `_turns`, if the model's own error turns the verdict."""
    least, (low, high) = 100 * advice.min_gain, with_own_error(best, now)
    end = low if advice.verdict == "port" else high
    if (end >= least) == (advice.verdict == "port"):
        return []
    return [(f"the model's times were {100 * MODEL_ERROR:.2g} % off, as on real fabrics", end)]


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
