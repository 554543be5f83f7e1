"""What a calibration measures: sizes, passes, and names that the benchmark knows."""

import pytest

from pready.calibrate.measure.catalogue import MEASUREMENTS
from pready.calibrate.measure.schedule import SINGLE_WINDOW, plan


def test_plan_covers_every_measurement_once_and_begins_with_the_coarse_pass() -> None:
    points = plan(threads=4)
    assert {point.measurement for point in points} == set(MEASUREMENTS)
    assert len(points) == len(set(points))
    assert points[0].measurement == "pingpong"
    first = [point.measurement for point in points[: len(points) // 6]]
    assert {"pingpong", "early", "prtt", "overlap"} <= set(first)


def test_plan_can_be_limited() -> None:
    assert {point.measurement for point in plan(threads=2, only=["prtt", "begin"])} == {"pingpong", "prtt", "begin"}
    pings, rma = (
        [p for p in plan(threads=2, only=["rma"]) if (p.measurement == "pingpong") == kind] for kind in (True, False)
    )
    assert 8 < len(pings) < 16  # without which nothing can be fitted
    assert {point.measurement for point in rma} == {"approach"}
    assert all(str(p.get("approach")).startswith("rma") for p in rma)
    with pytest.raises(ValueError, match=r"pong.*rma"):
        plan(threads=2, only=["pong"])
    with pytest.raises(ValueError, match="threads"):
        plan(threads=0)


def test_buffers_divide_by_any_number_of_threads() -> None:
    for threads in (1, 3, 7, 64):
        for point in (p for p in plan(threads=threads) if p.measurement == "approach"):
            size, own, theta = (int(str(point.get(name))) for name in ("bytes", "threads", "theta"))
            assert own <= threads
            assert size % (own * theta) == 0


def test_a_short_budget_leaves_a_whole_picture() -> None:
    """A fifth of the points: messages in a row of the last segment, progress, synchronisation, locks."""
    points = plan(threads=8)
    early = points[: len(points) // 5]
    assert len({p.get("bytes") for p in early if p.measurement == "prtt" and int(str(p.get("bytes"))) >= 1 << 16}) >= 3
    assert {p.get("bytes") for p in early if p.measurement == "overlap"} == {1 << 10, 1 << 20}
    assert {p.get("approach") for p in early if p.measurement == "approach"} >= {*SINGLE_WINDOW}
    assert 8 in {p.get("threads") for p in early if p.measurement == "contention"}
