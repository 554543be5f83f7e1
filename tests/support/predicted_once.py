"""Tests of how a prediction is shown: the same one is computed once in a process."""

from collections.abc import Iterator
from typing import Any

import pytest

from pready.commands import predict as command
from pready.model.advice import explanation
from pready.model.advice import predict as predicting
from pready.whatif import predicted_rows

_COMPUTED = predicting.predict
_KEPT: list[tuple[Any, Any]] = []


def _once(*given: Any, **named: Any) -> Any:
    made = next((made for asked, made in _KEPT if asked == (given, named)), None)
    if made is None:
        made = _COMPUTED(*given, **named)
        _KEPT.append(((given, named), made))
    return made


@pytest.fixture
def predicted_once() -> Iterator[None]:
    """Every command's `predict` for this test."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (predicting, "predict"), (command, "predicted"), (explanation, "predict"), (predicted_rows, "predict")
        ):  # fmt: skip
            assert getattr(module, name) is _COMPUTED
            patch.setattr(module, name, _once)
        yield
