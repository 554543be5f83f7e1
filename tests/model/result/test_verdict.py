"""Verdicts by whole intervals, and ties: what cannot be told apart is one choice, the simplest to program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pready.model.approach.interfaces import BULK, BY_KEY, MANY, PERSISTENT, Approach
from pready.model.common.normal import student95
from pready.model.engine.rows import Saving, blocks_of, left_open
from pready.model.engine.simulation import Simulation
from pready.model.result.interval import enough, interval, steady
from pready.model.result.verdict import (
    INDISTINCT,
    MIN_GAIN,
    Stands,
    as_good,
    best_port,
    from_iterations,
    run_s,
    simplest,
    verdict,
)

RMA = BY_KEY["rma-single-active"].into(8)
ITERATIONS = 100
NOW = Stands(BULK, 1.0, 1.0, 1e-3, 0.0)


def stands(approach: Approach, saved: float, begin: float = 0.0) -> Stands:
    """Saves that share of 1 ms, before set-up."""
    return Stands(approach, 2.0, 2.0, (1 - saved) * 1e-3, begin)


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0.1, 4))
def test_a_verdict_needs_the_whole_interval(a: float, b: float, least: float) -> None:
    low, high = min(a, b), max(a, b)
    said = verdict(low, high, least)
    assert (said == "port") == (low >= least)
    assert (said == "do not port") == (high < least)


def test_ties_go_to_the_simplest_to_program() -> None:
    # 0.05 % of an iteration is not worth a window; 0.2 % is.
    close, far = (stands(MANY.into(8), 0.1 - d) for d in (0.5 * INDISTINCT, 2 * INDISTINCT))
    rma = stands(RMA, 0.1)
    assert best_port([rma, close], NOW, ITERATIONS) is close
    assert best_port([rma, far], NOW, ITERATIONS) is rma
    alone = stands(Approach(PERSISTENT), 0.1 - 0.5 * INDISTINCT)
    assert best_port([rma, close, alone], NOW, ITERATIONS) is alone
    # Of one interface, fewer VCIs, then fewer messages.
    few, more = stands(MANY.into(4), 0.1), stands(MANY.into(8, 8), 0.1)
    assert simplest([more, few], ITERATIONS) is few


def test_set_up_counts_in_a_tie() -> None:
    # A window of 1 ms is 1 % of the run of 100 iterations.
    rma, many = stands(RMA, 0.105, begin=1e-3), stands(MANY.into(8), 0.1)
    assert best_port([rma, many], NOW, ITERATIONS) is many
    assert best_port([rma, many], NOW, 100_000) is rma


@given(st.floats(0, 1e-2), st.floats(0, 1e-3), st.floats(-0.1, 0.9))
def test_from_so_many_iterations_on_and_not_before(begin: float, begin_now: float, saves: float) -> None:
    best, now = stands(RMA, saves, begin), replace(NOW, begin_s=begin_now)

    def saved(n: float) -> float:
        return 1 - run_s(best, n) / run_s(now, n)

    start = from_iterations(best, now)
    if start is None:
        assert all(saved(n) < MIN_GAIN + 1e-9 for n in (1e6, 1e9))
    else:
        assert saved(start) >= MIN_GAIN - 1e-9
        assert start == 1 or saved(start - 1) < MIN_GAIN + 1e-9


def test_what_intervals_do_not_tell_apart_is_one_choice() -> None:
    rma, many, part = stands(RMA, 0.12), stands(MANY.into(8), 0.1), stands(BY_KEY["part"].into(8), 0.05)
    apart = {many.approach: False, part.approach: True}
    first, *others = as_good(rma, [rma, many, part], lambda a, b: apart[b.approach])
    assert first is many
    assert others == [rma]
    # Of the best little is known: another, no harder to program than it, surely outdoes the simplest.
    less = {(part.approach, many.approach)}
    assert as_good(rma, [rma, many, part], lambda a, b: (a.approach, b.approach) in less) == [part, rma]
    # What is harder to program than the best does not: it would not be advised.
    less = {(rma.approach, many.approach)}
    assert as_good(part, [rma, many, part], lambda a, b: (a.approach, b.approach) in less) == [many, part, rma]
    # Control: told apart, the faster one stays.
    assert as_good(rma, [rma, many, part], lambda a, b: True) == [rma]


def saving(percent: float, draws: list[float]) -> Saving:
    return Saving(percent, np.array(draws), np.zeros(5), 1.0)


def test_draws_of_the_same_machine_tell_apart_what_intervals_alone_do_not() -> None:
    rng = np.random.default_rng(1)
    machines = rng.normal(0, 2, 30)  # what both share
    a, b = saving(10.0, list(10 + machines)), saving(9.5, list(9.5 + machines + rng.normal(0, 0.05, 30)))
    assert a.interval()[0] < b.percent < a.interval()[1]  # each by itself is as unsure as the other is far
    low, high = a.over(b)
    assert 0 < low < 0.5 < high
    # Control: of machines of their own, nothing is told apart.
    assert saving(10.0, list(10 + rng.normal(0, 2, 30))).over(b)[0] < 0


def test_an_interval_adds_what_arrivals_leave_open() -> None:
    # Draws with a standard deviation of 1, arrivals of ± 2: √(t² (1 + 1/n) + 2²).
    drawn = np.array([-1.0, 1.0] * 8)
    deviation = np.std(drawn, ddof=1)
    half = np.hypot(student95(15) * deviation * np.sqrt(1 + 1 / 16), 2.0)
    assert interval(drawn, 0.0, 2.0) == pytest.approx((-half, half))
    assert interval(np.array([3.0]), 3.0) == (3.0, 3.0)
    low, high = interval(np.array([3.0, 3.0]), 3.0, 0.3)
    assert (np.log(high / 3), np.log(3 / low)) == pytest.approx((0.1, 0.1))


def test_many_draws_are_ranked() -> None:
    # Of 39 draws one more falls outside the smallest and the largest in 2 of 40 cases.
    drawn = np.random.default_rng(1).permutation(np.arange(39.0) - 5)
    assert interval(drawn, 3.0) == (-5.0, 33.0)
    assert interval(np.arange(59.0) - 5, 3.0) == pytest.approx((-4.5, 52.5))  # rank 1.5 of 59, from below and above
    # A long tail on one side: each end is missed as often as the other; Student's t never misses the lower one.
    rng = np.random.default_rng(2)
    ends, truth = [interval(-rng.exponential(1, 99), -1.0) for _ in range(4000)], -rng.exponential(1, 4000)
    low, high = np.transpose(ends)
    assert np.mean(truth < low) == pytest.approx(0.025, abs=0.006)
    assert np.mean(truth > high) == pytest.approx(0.025, abs=0.006)


def test_means_of_iterations_are_as_sure_as_blocks_say() -> None:
    # Blocks of 4 of 40 iterations with a deviation of 1 each: the mean is known to 1 / √40, a run of 40 as much again.
    rng = np.random.default_rng(3)
    each = rng.normal(0, 1, (2000, 10, 4)).mean(axis=2)
    found = np.mean([left_open(b, 1.0) ** 2 for b in each])
    assert found == pytest.approx(student95(9) ** 2 / 40, rel=0.05)
    # Of a run as long as the simulated one: 95 % of the differences of two such means.
    other = rng.normal(0, 1 / np.sqrt(40), len(each))
    held = [abs(b.mean() - o) <= left_open(b, 2.0) for b, o in zip(each, other, strict=True)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)  # 1.96 deviations instead of t hold 92 %
    assert left_open(each[0], 2.0) == pytest.approx(left_open(each[0], 1.0) * np.sqrt(2))
    assert left_open(each[0][:1], 1.0) == 0.0


def test_blocks_are_means_of_iterations_in_order() -> None:
    from machines import ideal

    from pready.model.engine.simulation import simulate
    from pready.model.workload.workload import Workload

    w = Workload.model_validate(
        {"threads": 2, "buffer": "1 KiB", "pattern": "halo3d", "compute": {"time": "1 ms"},
         "arrivals": {"model": "normal by thread", "spread": 0.1}}
    )  # fmt: skip
    run: Simulation = simulate(ideal(), w, BULK, grid=(2, 2, 2), iterations=12)
    blocks = blocks_of(run, 5)
    assert blocks.shape == (5, 2)
    np.testing.assert_allclose(blocks[1, 1], run.iteration_s[2:4].mean())
    np.testing.assert_allclose(blocks_of(run, 50)[:, 0], run.communication_s)


def test_a_width_is_steady_from_as_many_draws_as_theory_says() -> None:
    # The standard error of a normal deviation is 1 / √(2 n) of it: 5 % from 200 draws on.
    rng = np.random.default_rng(2)
    for n, expected in ((100, 0), (400, 1)):
        assert np.mean([steady(rng.normal(0, 1, n)) for _ in range(200)]) == pytest.approx(expected, abs=0.05)
    assert steady(np.full(10, 3.0))
    assert not steady(rng.normal(0, 1, 10))


def until_enough(rng: np.random.Generator, draw: Callable[[int], np.ndarray], limit: float) -> tuple[int, float, float]:
    """As `pready.model.advice.advise.deep` draws."""
    drawn, n = draw(512), 64
    while True:
        low, high = interval(drawn[:n], float(np.median(drawn[:n])), signed=True)
        if n == 512 or enough(drawn[:n], low, high, limit):
            return n, low, high
        n *= 2


@pytest.mark.parametrize("limit", [2.0, 5.0, 20.0])
@pytest.mark.parametrize("tail", [False, True])
def test_who_stops_drawing_where_a_verdict_is_clear_misses_no_more(limit: float, tail: bool) -> None:
    # Normal draws, or a long tail on one side. Intervals are 4 and 7 wide; limits are in them, close, and far.
    rng = np.random.default_rng(5)

    def draw(n: int) -> np.ndarray:
        return 4 - rng.gumbel(0, 1.3, n) if tail else rng.normal(5, 1, n)

    found = [until_enough(rng, draw, limit) for _ in range(1500)]
    truth = draw(len(found))
    held = np.mean([low <= t <= high for (_, low, high), t in zip(found, truth, strict=True)])
    assert held == pytest.approx(0.95, abs=0.015)
    # Far away, few draws do; within, as many as make the width steady.
    assert (np.mean([n for n, _, _ in found]) < 70) == (abs(limit) > 10)


def test_draws_are_enough_where_nothing_turns() -> None:
    wide = np.random.default_rng(1).normal(0, 1, 64)
    assert not steady(wide)
    assert enough(wide, 2.0, 3.0, 1.0)
    assert not enough(wide, 1.9, 3.0, 1.0)
    assert enough(wide, -1.0, 0.0, 1.0)
    assert not enough(wide, -1.0, 0.1, 1.0)
    assert not enough(wide, 0.9, 1.1, 1.0)
    assert enough(np.full(64, 3.0), 0.9, 1.1, 1.0)
