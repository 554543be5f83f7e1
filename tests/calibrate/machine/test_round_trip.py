"""A machine is asked for the data that it was made from; what it misses is named, worst first."""

import numpy as np
import pytest

from pready.calibrate.fit import Curve, Observations
from pready.calibrate.machine.round_trip import TOLERATED, between, round_trip
from pready.calibrate.machine.values.segments import one_way
from pready.model.machine.machine import load

MACHINE = load("meluxina")
SIZES = np.array([1 << k for k in range(0, 23, 2)], dtype=float)


def observed(off: dict[float, float]) -> Observations:
    """What the machine itself says, times `off` at some sizes."""
    times = [one_way(MACHINE, s) * off.get(s, 1.0) for s in SIZES]
    return Observations(ping_pong=Curve.of(SIZES, times), stream=Curve.of(SIZES, [between(MACHINE, s) for s in SIZES]))


def test_its_own_data_are_reproduced() -> None:
    found = round_trip(MACHINE, observed({}))
    assert (found.points, found.misses) == (2 * len(SIZES), ())
    assert found.line == f"reproduces the {2 * len(SIZES)} points that it was made from within 10 %"


def test_misses_are_named_worst_first() -> None:
    found = round_trip(MACHINE, observed({4096.0: 1.25, 65536.0: 0.5, 1.0: 1 + TOLERATED / 2}))
    assert [(what, size) for what, size, _ in found.misses] == [("a message", 65536.0), ("a message", 4096.0)]
    assert [error for _, _, error in found.misses] == pytest.approx([1.0, -0.2])
    assert found.line.endswith("a message at 64 KiB +100%, a message at 4 KiB -20%")


def test_pairs_of_a_node_share_its_adapter() -> None:
    """A machine without an adapter of its own reproduces k pairs at k times one's rate; half of that is a miss."""
    alone = MACHINE.model_copy(update={"adapter": None})
    window = 64

    def rate(size: float, share: float) -> float:
        time = (2 * window - 1) * between(alone, size) / 2 + one_way(alone, size) + one_way(alone, 4)
        return share * 2 * window / time

    for share, misses in ((1.0, 0), (0.5, len(SIZES))):
        pairs = {2: Curve.of(SIZES, [rate(s, share) for s in SIZES])}
        assert len(round_trip(alone, None, pairs).misses) == misses
