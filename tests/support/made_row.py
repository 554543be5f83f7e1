"""Rows of a prediction and of a what-if, made up."""

from dataclasses import replace
from typing import Any

from pready.model.approach.interfaces import BY_KEY
from pready.model.result.prediction import ApproachPrediction


def row(key: str, messages: int = 1, vcis: int = 1, **more: Any) -> ApproachPrediction:
    """Of a way, of which nothing else is told: all of it is 0."""
    return replace(ApproachPrediction(BY_KEY[key].into(messages, vcis), messages, *15 * (0,)), **more)


def point(buffer: str, library: str, key: str, saves: float, chance: float | None, **more: Any) -> dict[str, Any]:
    """A row of a what-if: an interval of 2 points, the verdict that its probability gives."""
    verdict = "port" if (chance or 0) >= 0.8 else "undecided" if (chance or 0) > 0.2 else "do not port"
    row: dict[str, Any] = {"workload": "w", "machine": "m", "buffer": buffer, "library": library, "name": f"by {key}"}
    for text, value, half in (("speedup{}_percent", saves, 1.0), ("eta{}", 1 + saves / 100, 0.01)):
        row |= {text.format(end): value + sign * half for end, sign in (("_low", -1), ("", 0), ("_high", 1))}
    return row | {"key": key, "probability": chance, "verdict": verdict, "best": True, "needs": ""} | more
