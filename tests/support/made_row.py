"""A row of a prediction, made up."""

from dataclasses import replace
from typing import Any

from pready.model.approach.interfaces import BY_KEY
from pready.model.result.prediction import ApproachPrediction


def row(key: str, messages: int = 1, vcis: int = 1, **more: Any) -> ApproachPrediction:
    """Of a way, of which nothing else is told: all of it is 0."""
    return replace(ApproachPrediction(BY_KEY[key].into(messages, vcis), messages, *15 * (0,)), **more)
