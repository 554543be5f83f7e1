"""What a calibration measures: sizes, passes, and names that the benchmark knows."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pready.calibrate.benchmark_list import MEASUREMENTS
from pready.calibrate.measurement_plan import plan, sizes


def test_sizes_are_sorted_bounded_and_dense_where_protocols_change() -> None:
    found = sizes(1 << 20)
    assert found == sorted(set(found))
    assert found[0] == 1
    assert found[-1] == 1 << 20
    inside = [b / a for a, b in pairwise(found) if 256 <= a < 262144]
    assert max(inside) == 1.25


def test_plan_covers_every_measurement_once_and_begins_with_the_coarse_pass() -> None:
    points = plan(threads=4)
    assert {point.measurement for point in points} == set(MEASUREMENTS)
    assert len(points) == len(set(points))
    assert points[0].measurement == "pingpong"
    first = [point.measurement for point in points[: len(points) // 6]]
    assert {"pingpong", "early", "bandwidth", "prtt", "overlap"} <= set(first)


def test_plan_can_be_limited() -> None:
    assert {point.measurement for point in plan(threads=2, only=["prtt", "noise"])} == {"prtt", "noise"}
    with pytest.raises(ValueError, match="pong"):
        plan(threads=2, only=["pong"])
    with pytest.raises(ValueError, match="threads"):
        plan(threads=0)


def test_buffers_divide_by_any_number_of_threads() -> None:
    for threads in (1, 3, 7, 64):
        for point in plan(threads=threads, only=["approach"]):
            size, own, theta = point.get("bytes"), point.get("threads"), point.get("theta")
            assert isinstance(size, int)
            assert isinstance(own, int)
            assert isinstance(theta, int)
            assert own <= threads
            assert size % (own * theta) == 0
