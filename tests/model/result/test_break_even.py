"""Ranges of buffers end where predictions for those buffers change their verdict."""

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
from pready.model.result.break_even import EXACT, OverSizes
from pready.model.result.prediction import Prediction
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


def test_a_jump_is_where_it_is() -> None:
    # Pays from 16 KiB on, but for 64 KiB to 1 MiB.
    def share(size: float) -> float:
        return 0.002 if size < 2**14 or 2**16 <= size < 2**20 else 0.05

    sizes, _ = over_sizes(share, 2.0**14, 2.0**16, 2.0**20)
    found = sizes.ranges()
    assert [(r.low, r.high) for r in found] == [(2**14, pytest.approx(2**16, rel=2e-6)), (2**20, math.inf)]


def check(made: Prediction, profile: str, workload: Workload, at: Sequence[float]) -> dict[bool, int]:
    """Of each size the way saves enough, by a prediction of that size with the machine at its values, as the ranges
    say; how often, and how often not."""
    advice, machine = made.advice, with_library(machines.load(profile), None)[0]
    engine: Any = made.engine
    best, limit, seen = advice.best.approach, 100 * advice.min_gain, {True: 0, False: 0}

    def saved_and_share(there: Workload) -> tuple[float, float]:
        now, row = evaluator(machine, there, made.seed, engine, 0)[0].predict_all([there.baseline, best])
        return row.speedup_percent, now.time_s / now.iteration_s

    here, share_here = saved_and_share(workload)
    off = advice.best.speedup_percent - here
    for size in at:
        there, share = saved_and_share(workload.at_buffer(size))
        saved = there + min(off * there / here if here else math.inf, off * share / share_here, key=abs)
        if abs(saved - limit) < HARDLY * limit:
            continue
        said = any(size in r for r in advice.pays)
        assert (saved > limit) == said, (size, saved, advice.pays)
        seen[said] += 1
    return seen


def clear(made: Prediction, *others: float) -> list[float]:
    """Sizes inside and outside each end, and others, without those that are as close to an end as it is known."""
    ends = [e for r in made.advice.pays for e in (r.low, r.high) if 0 < e < math.inf]
    sizes = [*others, *(s for e in ends for s in (e / EXACT**1.2, e * EXACT**1.2))]
    return [
        s
        for s in sizes
        if made.workload["threads"] * made.workload["partitions_per_thread"] < s < HIGHEST
        and all(max(s / e, e / s) > EXACT**1.1 for e in ends)
    ]


@pytest.mark.parametrize("name", [pytest.param("halo3d", marks=pytest.mark.thorough), "laggard", "slow-link"])
def test_an_example_pays_where_its_own_prediction_says_so(name: str) -> None:
    what = workloads.load(f"examples/{name}.toml")
    made = predict(machines.load("meluxina"), what)
    seen = check(made, "meluxina", what, clear(made, what.buffer, 0.98 * made.advice.pays[0].low))
    assert seen[True] >= 2
    assert seen[False] >= 1


@pytest.mark.thorough
@settings(max_examples=17, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(any_workload(), st.sampled_from(PROFILES), st.sampled_from([None, "timeline"]), st.floats(0, 1))
def test_whatever_pays_does_so_by_its_own_prediction(
    workload: Workload, profile: str, engine: Literal["timeline"] | None, where: float
) -> None:
    made = predict(machines.load(profile), workload, engine=engine, draws=6)
    anywhere = workload.n_partitions * (HIGHEST / workload.n_partitions) ** where
    check(made, profile, workload, clear(made, anywhere))
