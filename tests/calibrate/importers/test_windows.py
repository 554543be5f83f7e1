"""Windows of messages with one answer: the gap is recovered, and so is the time of the window."""

import numpy as np
import pytest
from present import present

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.fit.windows import without_answers

SIZES = [1 << k for k in range(20)]
LATENCY, GAP, BYTE = 2e-6, 0.1e-6, 1e-10


def one_way(size: float) -> float:
    return LATENCY + BYTE * size


def gap(size: float) -> float:
    return GAP + BYTE * size


def each(size: float, window: int) -> float:
    """A message's share of a window: the last of `window` messages arrives, then 4 bytes go back."""
    return ((window - 1) * gap(size) + one_way(size) + one_way(4)) / window


def observed(window: int) -> Observations:
    return Observations(
        ping_pong=Curve.of(SIZES, [one_way(s) for s in SIZES]), stream=Curve.of(SIZES, [each(s, window) for s in SIZES])
    )


@pytest.mark.parametrize("window", [2, 16, 64, 1024])
def test_the_gap_is_recovered(window: int) -> None:
    made = observed(window)
    found, note = without_answers(made, window)
    assert [t[0] for t in present(found.stream).repeats] == pytest.approx([gap(s) for s in SIZES])
    assert f"windows of {window} messages" in note


@pytest.mark.parametrize(
    ("made", "window", "said"),
    [
        (observed(64), 0, ""),
        (observed(64), 1, ""),
        (Observations(stream=observed(64).stream), 64, "no ping-pong"),
        (
            Observations(
                ping_pong=Curve.of(SIZES, [*map(one_way, SIZES[:-1]), 1.0]),
                stream=Curve(np.array(SIZES, float), tuple(np.array([each(s, 64), 1.0]) for s in SIZES)),
            ),
            64,
            "other nodes",
        ),
    ],
    ids=["no answers", "an answer to each", "no ping-pong", "a window no longer than a message"],
)
def test_otherwise_nothing_is_taken_out_and_that_is_said(made: Observations, window: int, said: str) -> None:
    found, note = without_answers(made, window)
    assert found is made
    assert said in note
    assert bool(said) == bool(note)
