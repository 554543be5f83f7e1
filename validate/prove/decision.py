"""A proof in words: the decision first, then why predicted and measured differ."""

from __future__ import annotations

from pready.model.common.units import format_time
from pready.validate.prove.judgement import Judgement, Saving

DIFFERS = 0.05
"""Share of an iteration below which a difference is not explained."""


def percent(share: float) -> str:
    """With one digit; a minus where an iteration gets longer."""
    return f"{100 * share:z.1f} %"


def between(low: float, high: float) -> str:
    """An interval in per cent."""
    return f"{100 * low:z.1f} to {100 * high:z.1f} %"


def _saved(saving: Saving) -> str:
    by, told = percent(abs(saving.value)), f"({between(*saving.ends)} over {saving.rounds} rounds)"
    return f"saved {by} of an iteration {told}" if saving.value >= 0 else f"made an iteration {by} longer {told}"


def _more(rounds: int) -> str:
    return f"{rounds} more round{'s' * (rounds != 1)}"


def decision(way: str, judged: Judgement, shared: str, more: str, off: str = "") -> str:
    """The first line: what to do, what was measured and what was predicted.

    Parameters
    ----------
    way
        The advised way in words.
    shared
        Why nothing is judged: threads share cores, or did when they were captured; empty: each has its own.
    more
        Options that measure the rounds that would tell.
    off
        How the baseline differs from its prediction, which comes first; empty: it does not.
    """
    if off and not shared:
        return f"Not confirmed: {off}. {decision(way, judged, '', more)}"
    value, low, high = judged.expected
    asked = f"{100 * judged.least:g} % is asked for"
    predicted = f"{percent(value)} predicted ({between(low, high)})"
    measured = f"{way} {_saved(judged.saving)}; {predicted}"
    if shared:
        return f"Undecided: {shared}. {measured}."
    if judged.finding == "too noisy to judge":
        tells = (
            f"{_more(judged.rounds - judged.saving.rounds)} would tell: {more}"
            if judged.rounds is not None
            else "More rounds would not tell: the saving is too close to that for this machine's noise"
        )
        less = " It is clearly less than predicted." if judged.saving.high < low else ""
        return f"Too noisy to judge: {measured}, {asked}.{less} {tells}."
    if judged.finding == "undecided":
        return f"Undecided: {measured}; as much as is asked for, {100 * judged.least:g} %."
    head = "Port" if judged.measured == "port" else "Do not port"
    confirmed = {
        "kept": "The prediction is confirmed.",
        "baseline off": "The prediction is not confirmed.",
        "saves less": "It pays, but with less than half of what was predicted: the prediction is not confirmed.",
        "decided by measuring": f"The prediction alone did not tell ({judged.predicted}).",
        "not kept": f"The prediction said {judged.predicted}: it is wrong here.",
    }
    return f"{head}: {measured}; {asked}. {confirmed[judged.finding]}"


def off_by(measured_s: float, predicted: tuple[float, float, float], least: float) -> str:
    """How the baseline's iteration differs from its prediction; empty: by no more than its interval.

    Parameters
    ----------
    measured_s
        The median of the rounds.
    predicted
        Seconds, and the ends of the 95 % interval.
    least
        Share of an iteration that a port has to save: a smaller difference turns no verdict.
    """
    value, low, high = predicted
    if max(low - measured_s, measured_s - high) <= least * value:
        return ""
    said = f"{format_time(value)} predicted ({format_time(low)} to {format_time(high)})"
    return f"an iteration as today takes {format_time(measured_s)}, {said}"


def why(predicted_s: float, measured_s: float, computing_s: float, communication_s: float) -> str:
    """Why an iteration takes another time than predicted; empty where it does not.

    Parameters
    ----------
    predicted_s, measured_s
        Of an iteration.
    computing_s, communication_s
        Measured minus predicted, until the last partition is ready and after it.
    """
    off = measured_s - predicted_s
    if abs(off) < DIFFERS * predicted_s:
        return ""
    longer = "longer" if off > 0 else "shorter"
    parts = [
        f"{format_time(abs(each))} {'more' if each > 0 else 'less'} {what}"
        for each, what in ((computing_s, "computing"), (communication_s, "communication"))
        if abs(each) > 0.1 * abs(off)
    ]
    return f"an iteration is {format_time(abs(off))} {longer} than predicted: {', '.join(parts)}"
