"""Ranges of buffers end where predictions for those buffers change their verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pytest
from any_workload import PROFILES
from any_workload import workloads as any_workload
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pready.model.advice.predict import evaluator, predict, with_library
from pready.model.common.arrays import Array
from pready.model.machine import machine as machines
from pready.model.result.break_even import CERTAIN, EXACT, OverSizes, Range
from pready.model.result.prediction import Prediction
from pready.model.result.verdict import verdict_of
from pready.model.workload import workload as workloads
from pready.model.workload.workload import Workload

LOWEST, HIGHEST = 32.0, 2.0**30
HARDLY = 0.01
"""So close to the limit, as a share of it, a simulation goes up and down from size to size."""
Share = Callable[[float], float]


def hill(top: float, middle: float, width: float) -> Share:
    """A parabola over the logarithm of the size, that is above 0.01 from middle / w to middle · w."""
    return lambda size: top - (top - 0.01) * (math.log(size / middle) / math.log(width)) ** 2


def over_sizes(look: Share, *borders: float, wrong: float = 0.0) -> tuple[OverSizes, list[float]]:
    """Of a known function, and which sizes were looked at; a glance at it is that much off."""
    asked: list[float] = []

    def glance(sizes: Sequence[float]) -> Array:
        return np.array([look(s) * (1 + wrong) for s in sizes])

    def counted(size: float) -> float:
        asked.append(size)
        return look(size)

    return OverSizes(glance, counted, 0.01, LOWEST, HIGHEST, borders), asked


@pytest.mark.parametrize("wrong", [-0.2, 0.0, 0.2])
def test_ends_are_those_of_the_look(wrong: float) -> None:
    share = hill(0.1, 2.0**20, 64)
    sizes, asked = over_sizes(share, wrong=wrong)
    (found,) = sizes.ranges()
    assert found.low == pytest.approx(2**14, rel=0.005)
    assert found.high == pytest.approx(2**26, rel=0.005)
    assert min(share(found.low), share(found.high)) >= 0.01  # an end that is named pays itself
    assert len(asked) < 25


def test_what_is_certain_is_looked_for_where_it_may_end() -> None:
    # With a lower bound of 0.7 of the value that is where the value is 0.01 / 0.7.
    share = hill(0.1, 2.0**20, 64)
    sizes, _ = over_sizes(share)
    asked = []

    def bounds(size: float) -> tuple[float, float]:
        asked.append(size)
        return share(size), 0.7 * share(size)

    (sure,) = sizes.certain(bounds, sizes.ranges(), {})
    ratio = 64 ** math.sqrt((0.1 - 0.01 / 0.7) / 0.09)
    assert 2**20 / ratio <= sure.low <= 1.05 * 2**20 / ratio
    assert 2**20 * ratio / 1.05 <= sure.high <= 2**20 * ratio
    assert len(asked) < 12


def test_nothing_is_certain() -> None:
    share = hill(0.1, 2.0**20, 64)
    sizes, _ = over_sizes(share)
    found = sizes.ranges()
    assert len(found) == 1
    assert sizes.certain(lambda s: (share(s), -1.0), found, {}) == []


def test_all_is_certain() -> None:
    sizes, asked = over_sizes(lambda _: 0.2)
    assert sizes.ranges() == [Range(0.0, math.inf)]
    assert sizes.certain(lambda s: (0.2, 0.15), sizes.ranges(), {}) == [Range(0.0, math.inf)]
    assert asked == [LOWEST, HIGHEST]


def test_a_jump_is_where_it_is() -> None:
    # Pays from 16 KiB on, but for 64 KiB to 1 MiB, with a fifth of uncertainty.
    def share(size: float) -> float:
        return 0.002 if size < 2**14 or 2**16 <= size < 2**20 else 0.05

    sizes, _ = over_sizes(share, 2.0**14, 2.0**16, 2.0**20)
    found = sizes.ranges()
    assert [(r.low, r.high) for r in found] == [(2**14, pytest.approx(2**16, rel=2e-6)), (2**20, math.inf)]
    assert sizes.certain(lambda s: (share(s), 0.8 * share(s)), found, {}) == found


def test_where_a_border_is_uncertain_nothing_beside_it_is_certain() -> None:
    # It pays up to 32 KiB, where bulk changes its protocol: somewhere between 16 and 64 KiB.
    def share(size: float) -> float:
        return 0.05 if size < 2**15 else -0.05

    def low(size: float) -> float:
        return 0.04 if size < 2**14 else -0.1

    sizes, _ = over_sizes(share, 2.0**15)
    (found,) = sizes.ranges()
    assert found.high == pytest.approx(2**15, rel=2e-6)
    (sure,) = sizes.certain(lambda s: (share(s), low(s)), [found], {2.0**10: (0.05, 0.04)})
    assert sure.low == 0.0
    assert sure.high == pytest.approx(2**14, rel=0.05)


def test_a_dip_into_doubt_splits_what_is_certain() -> None:
    # Between 2^15 and 2^25 bytes always above 0.01, and no more than twice that around 2^20.
    def share(size: float) -> float:
        return 0.012 + 0.004 * abs(math.log2(size) - 20) if 2**12 < size < 2**28 else 0.0

    sizes, _ = over_sizes(share, 2.0**12, 2.0**28)
    found = sizes.ranges()
    assert len(found) == 1
    first, second = sizes.certain(lambda s: (share(s), share(s) - 0.006), found, {2.0**24: (share(2**24), 0.022)})
    assert first.high == pytest.approx(2**19, rel=0.05)
    assert second.low == pytest.approx(2**21, rel=0.05)


def check(
    made: Prediction, profile: str, workload: Workload, at: Sequence[float], draws: int | None = None
) -> dict[str, int]:
    """The row of each size, predicted by itself, has the verdict that the ranges say; how often which."""
    advice, machine = made.advice, with_library(machines.load(profile), None)[0]  # which sets its contention
    engine: Any = made.engine
    best, seen = advice.best.approach, {"port": 0, "undecided": 0, "do not port": 0}
    for size in at:
        there = workload.at_buffer(size)
        evaluation = evaluator(machine, there, made.seed, engine, draws)[0]
        (row,) = evaluation.predict_all([best])
        verdict = verdict_of(row, advice.min_gain)
        limit = 100 * advice.min_gain
        if min(abs(x - limit) for x in (row.speedup_percent, row.speedup_low_percent)) < HARDLY * limit:
            continue
        sure, open_ = (any(size in r for r in ranges) for ranges in (advice.certain, advice.pays))
        said = "port" if sure else "undecided" if open_ else "do not port"
        where = (size, row.speedup_percent, row.speedup_low_percent, advice.pays, advice.certain)
        if said == "do not port":  # of the expected saving; its interval may reach above the limit
            assert row.speedup_percent < limit, where
        else:
            assert verdict == said, where
        seen[said] += 1
    return seen


def clear(made: Prediction, *others: float) -> list[float]:
    """Sizes inside and outside each end, and others, without those that are as close to an end as it is known."""
    ends = [
        (e, by)
        for ranges, by in ((made.advice.pays, EXACT), (made.advice.certain, CERTAIN))
        for e in (end for r in ranges for end in (r.low, r.high))
        if 0 < e < math.inf
    ]
    sizes = [*others, *(s for e, by in ends for s in (e / by**1.2, e * by**1.2))]
    return [
        s
        for s in sizes
        if made.workload["threads"] * made.workload["partitions_per_thread"] < s < HIGHEST
        and all(max(s / e, e / s) > by**1.1 for e, by in ends)
    ]


@pytest.mark.parametrize("name", [pytest.param("halo3d", marks=pytest.mark.thorough), "laggard", "slow-link"])
def test_an_example_pays_where_its_own_prediction_says_port(name: str) -> None:
    what = workloads.load(f"examples/{name}.toml")
    made = predict(machines.load("meluxina"), what)
    seen = check(made, "meluxina", what, clear(made, what.buffer, 0.98 * made.advice.pays[0].low))
    assert seen["port"] >= 2
    assert seen["do not port"] >= 1


@pytest.mark.thorough
@settings(max_examples=17, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(any_workload(), st.sampled_from(PROFILES), st.sampled_from([None, "timeline"]), st.floats(0, 1))
def test_whatever_pays_does_so_by_its_own_prediction(
    workload: Workload, profile: str, engine: Literal["timeline"] | None, where: float
) -> None:
    made = predict(machines.load(profile), workload, engine=engine, draws=6)
    anywhere = workload.n_partitions * (HIGHEST / workload.n_partitions) ** where
    check(made, profile, workload, clear(made, anywhere), draws=6)
