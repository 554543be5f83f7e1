"""Quantiles of Harrell and Davis: SciPy is the oracle, and intervals hold 95 %."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.stats.mstats import hdquantiles

from pready.model.approach.interfaces import BULK
from pready.model.result.interval import interval, median, quantile
from pready.model.result.prediction import ApproachPrediction

ENDS = ("time_{}_s", "eta_{}", "speedup_{}_percent")


@pytest.mark.parametrize("n", [32, 121])
@pytest.mark.parametrize("p", [0.025, 0.5, 0.975])
def test_as_scipy_says(n: int, p: float) -> None:
    drawn = np.random.default_rng(n).exponential(1, n)
    assert quantile(drawn, p) == pytest.approx(float(hdquantiles(drawn, [p])[0]), rel=2e-3)


def test_one_more_draw_lies_in_the_interval() -> None:
    rng = np.random.default_rng(1)
    found = [interval(rng.normal(0, 1, 121)) for _ in range(2000)]
    truth = rng.normal(0, 1, len(found))
    held = np.mean([low <= t <= high for (low, high), t in zip(found, truth, strict=True)])
    assert held == pytest.approx(0.95, abs=0.015)
    # Negative control: half as wide, they do not hold it.
    half = np.mean([abs(t - (lo + hi) / 2) <= (hi - lo) / 4 for (lo, hi), t in zip(found, truth, strict=True)])
    assert half < 0.75


def test_draws_that_are_all_the_same() -> None:
    assert interval(np.full(121, 3.0)) == pytest.approx((3.0, 3.0))
    assert median(np.arange(9.0)) == pytest.approx(4.0)
    # Of a row, an interval holds the value, too.
    zero = ApproachPrediction(BULK, *(len(fields(ApproachPrediction)) - 1) * [0])  # type: ignore[arg-type]
    for off, ends in ((-1.0, (-1.0, 0.0)), (0.0, (0.0, 0.0)), (1.0, (0.0, 1.0))):
        row = replace(zero, time_s=3 + off, eta=5 + off, speedup_percent=7 + off)
        row = row.with_draws(*(np.full(121, float(value)) for value in (3, 5, 7)))
        found = [[getattr(row, n.format(end)) for end in ("low", "high")] for n in ENDS]
        assert found == [[value + end for end in ends] for value in (3, 5, 7)]
    assert replace(zero, eta=4.0, time_s=3.0, begin_per_iteration_s=1.0).gain == 3  # a set-up of a third
