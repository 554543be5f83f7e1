"""Straight lines: answers derived by hand, and many at once against one by one."""

import numpy as np
import pytest

from pready.calibrate.fit import lines
from pready.calibrate.fit.lines import HUBER_K, WORST, leverage, robust_line
from pready.model.common.arrays import Array


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_leverage_of_a_line_and_of_a_constant() -> None:
    """Weights 1, 1/4 and 1 of 9/4; squares of ±1/4 around the mean of 3.5 add up to 1/8. No line through one."""
    x, sigma = np.array([3.25, 3.5, 3.75]), np.array([1.0, 2, 1])
    assert leverage(x, sigma, sloped=False).tolist() == pytest.approx([4 / 9, 1 / 9, 4 / 9])
    assert leverage(x, sigma).tolist() == pytest.approx([17 / 18, 1 / 9, 17 / 18])
    assert leverage(x[:1], sigma[:1]).tolist() == [1]


def oracle(x: Array, y: Array, sigma: Array, sloped: bool, rounds: int) -> tuple[float, float, float]:
    """Huber's line through all points: intercept, slope, cost."""
    if not len(x):
        return 0.0, 0.0, 0.0
    weight = 1 / sigma**2
    a = b = 0.0
    for turn in range(rounds + 1):
        z = np.abs(y - a - b * x) / sigma
        w = weight if turn == 0 else weight * np.minimum(1, HUBER_K / np.maximum(z, 1e-300))
        mean, lever = np.average(x, weights=w), w * (x - np.average(x, weights=w))
        b = (lever * y).sum() / (lever * x).sum() if sloped and len(x) > 1 else 0.0
        a = np.average(y, weights=w) - b * mean
    z = np.abs(y - a - b * x) / sigma
    loss = np.where(z <= HUBER_K, z**2, np.minimum(2 * HUBER_K * z - HUBER_K**2, WORST))
    return a, b, float(loss.sum())


@pytest.mark.parametrize("sloped", [True, False])
@pytest.mark.parametrize("rounds", [0, 1, 4, 8])
def test_each_window_has_the_line_of_its_points(
    sloped: bool, rounds: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "AT_ONCE", 1000)  # in parts
    x, sigma = np.arange(90.0), rng.uniform(0.5, 2, 90)
    y = 3 + 0.2 * x + sigma * rng.standard_normal(90)
    y[::11] += 30
    first = rng.integers(0, 50, (41, 3))
    # Of each length three.
    windows = np.stack([first, first + np.arange(41)[:, None]], axis=-1).reshape(-1, 2)
    found = np.stack(robust_line(x, y, sigma, windows, sloped=sloped, rounds=rounds), axis=-1)
    for (first, end), made in zip(windows, found, strict=True):
        part = slice(first, end)
        expected = oracle(x[part], y[part], sigma[part], sloped, rounds)
        assert made == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_rows_have_their_own_points_and_windows(rng: np.random.Generator) -> None:
    x = np.geomspace(1, 1e6, 23)
    sigma = rng.uniform(0.5, 2, (6, 1)) * np.ones(23)
    y = 3 + 1e-5 * x + sigma * rng.standard_normal((4, 6, 23))
    windows = np.sort(rng.integers(0, 24, (4, 1, 5, 2)), axis=-1)
    found = robust_line(x, y, sigma, windows)
    assert found.cost.shape == (4, 6, 5)
    for i, j, k in np.ndindex(4, 6, 5):
        part = slice(*windows[i, 0, k])
        expected = oracle(x[part], y[i, j, part], sigma[j, part], True, 8)
        assert [v[i, j, k] for v in found] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_point_on_the_line_counts_in_full() -> None:
    """Its weight is a division by 0; of either sign."""
    for y in (np.zeros(3), np.full(3, -0.0), np.full(3, 2.0)):
        for sloped in (True, False):
            found = robust_line(np.arange(3.0), y, np.ones(3), sloped=sloped)
            assert [float(v) for v in found] == [y[0], 0, 0]


def test_cost_is_bounded() -> None:
    # A constant through ±1: off by one standard deviation each.
    two = robust_line(np.zeros(2), np.array([-1.0, 1]), np.ones(2), sloped=False)
    assert float(two.cost) == 2.0
    # Through four zeros and a point far off, which pulls by k: 4·m = k. Then 4·m² = k²/4, and WORST for that point.
    y = np.array([0.0, 0, 0, 0, 1e9])
    far = robust_line(np.zeros(5), y, np.ones(5), sloped=False, rounds=200)
    assert float(far.intercept) == pytest.approx(1.345 / 4)
    assert float(far.cost) == pytest.approx(9 + 1.345**2 / 4)
