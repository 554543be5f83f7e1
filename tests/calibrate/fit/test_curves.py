"""Curves, their lines and the draws of these, each against an answer derived by hand."""

from typing import Any

import numpy as np
import pytest
from tables import table_of

from pready.calibrate.fit.bootstrap import draw_lines, fit_lines
from pready.calibrate.fit.changepoints import cuts, penalty
from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.calibrate.fit.series import Series, derive
from pready.model.common.arrays import Array

TABLE = table_of("calibrate/curves")


@pytest.mark.parametrize("case", TABLE["curves"])
def test_each_curve_of_single_times(case: dict[str, dict[str, Any]]) -> None:
    of: dict[str, Any] = {
        name: (Curve if len(rest) == 2 else Train).of(*rest) for name, rest in case["observed"].items()
    }
    found = derive(Observations(**of))
    assert found.keys() == case["found"].keys()
    for name, values in case["found"].items():
        assert (found[name].name, np.isnan(found[name].noise)) == (name, True)
        for part, wanted in zip(("size", "value", "sigma"), values, strict=True):
            assert getattr(found[name], part) == pytest.approx(np.array(wanted, float), rel=1e-6), (name, part)


@pytest.mark.parametrize(("copies", "reach"), [(1, 10), (10, 3)])
def test_neighbours_share_their_noise(copies: int, reach: int) -> None:
    """Times on a line, of 1 to 5 and then 1, 2, 3, 4 and 9 parts: error and middle of these are known (`centre`).

    At the five last sizes, timed once, it is that of the neighbours, and beyond these the median of all.
    """
    middle, error = np.array([3, 2.5354109569]), np.array([0.7994720279, 0.7777846381])
    which, times, count = np.arange(25) // 14, 10 + np.arange(30.0), 5 * copies
    rows = np.array([[1, 2, 3, 4, 5], [1, 2, 3, 4, 9]])[which] / middle[which, None] * times[:25, None]
    each = np.append((error / middle)[which] * np.sqrt(4 * count / (count - 1)), np.full(5, np.nan))
    near = [each[max(0, i - reach) : i + reach + 1] for i in range(30)]
    shared = np.array([np.nan if np.isnan(of).all() else np.nanmedian(of) for of in near])
    shared = np.nan_to_num(shared, nan=float(np.nanmedian(shared)))
    repeats = [*np.tile(rows, copies), *times[25:, None]]
    found = derive(Observations(ping_pong=Curve.of(np.arange(30), repeats)))["time"]
    assert found.value == pytest.approx(times)
    assert found.sigma == pytest.approx(0.5 * times * shared / np.sqrt([*[count] * 25, *[1] * 5]), rel=1e-6)
    assert found.noise == pytest.approx(np.median(shared))
    half, whole = (Curve.of([1, 2], some) for some in (repeats[:2], repeats[23:25]))
    assert derive(Observations(ping_pong=half, prtt_1=whole))["time"].noise == pytest.approx(min(each[0], each[24]))


class Drawn:
    """Draws that are known: the same multiple of chi-squared, and residuals with these numbers; `asked`: of what."""

    def __init__(self, times: float, picked: Array) -> None:
        self.times, self.picked, self.asked = times, picked, list[tuple[Any, ...]]()

    def chisquare(self, freedom: int, shape: tuple[int, ...]) -> Array:
        self.asked.append((freedom, *shape))
        return np.full(shape, self.times * freedom)

    def integers(self, low: int, end: int, shape: tuple[int, ...]) -> Any:
        self.asked.append((low, end, *shape))
        return np.broadcast_to(self.picked[: shape[1]], shape)


def test_lines_of_a_segment_and_of_draws() -> None:
    """Two lines without noise; and two constants, of which 5 points are off by -3, -1, 0, 1 and 3 errors of 2, and
    one is not: the median is 1/√(4/5), so that it is 1.658 times as large. Draws take half of the first one's.
    """
    x = np.arange(1.0, 13)
    time = Series("time", x, np.where(x < 7, 10 + x, 2 + 3 * x), np.full(12, 0.01), np.nan)
    gap = Series("gap", x[[0, 3, 9]], 1 + x[[0, 3, 9]], np.full(3, 0.01), np.nan)
    send = Series("send", x[[0, 1, 2, 3, 4, 7]], np.array([4.0, 8, 10, 12, 16, 20]), np.full(6, 2.0), np.nan)
    lines = {series.name: fit_lines(series, x, [6]) for series in (time, send, gap)}
    rng: Any = Drawn(4, np.zeros(12, int))
    drawn, cuts = draw_lines(lines, x, [6], rng, 2)
    assert cuts.tolist() == [[6], [6]]
    assert rng.asked == [(8, 2, 1), (0, 12, 2, 12), (4, 2, 1), (0, 6, 2, 6), (2, 2, 1), (0, 3, 2, 3)]
    wider, down = 2 * 1.4826022 / 0.8**0.5, 6 / 2 / 0.8**0.5
    for name, points, sloped, made, of_draws, slope, sigma in (
        ("time", [6, 6], (True, True), [10, 2], [10, 2], [1, 3], np.full(12, 0.01)),
        ("send", [5, 1], (False, False), [10, 20], [10 - down, 20 - down], [0, 0], np.full(6, wider)),
    ):
        for found, lows in ((lines[name], [made]), (drawn[name], [of_draws] * 2)):
            assert (found.points.tolist(), found.sloped) == (points, sloped)
            assert found.intercept == pytest.approx(np.array(lows))
            assert found.slope == pytest.approx(np.array([slope] * len(lows)))
            assert found.series.sigma == pytest.approx(sigma)
    assert lines["time"].residuals == pytest.approx(np.zeros(12))
    assert lines["send"].residuals == pytest.approx(np.array([-0.6, -0.2, 0, 0.2, 0.6, 0]))
    alone = Series("send", send.size[:5], send.value[:5], send.sigma[:5], np.nan)
    assert fit_lines(alone, x, []).series.sigma == pytest.approx(np.full(5, wider))


@pytest.mark.parametrize(
    ("cut", "jump", "moved"), [(10, 14, 13), (10, 6, 7), (10, 12, 12), (4, 3, 3), (4, 2, 4), (16, 17, 17), (16, 18, 16)]
)
def test_a_threshold_moves_by_three_sizes_at_most(cut: int, jump: int, moved: int) -> None:
    """Of 20, three of which a segment has at least: where the draw jumps, from one residual to the other."""
    x = np.arange(20.0)
    time = fit_lines(Series("time", x, 50 + x + (-1) ** x, np.ones(20), np.nan), x, [cut])
    rng: Any = Drawn(1, np.where(x < jump, 8, 9))
    assert draw_lines({"time": time}, x, [cut], rng, 1)[1].tolist() == [[moved]]


@pytest.mark.parametrize(("name", "points", "low", "slope", "sloped", "off"), TABLE["overheads"]["sloped"])
def test_an_overhead_grows_where_the_data_insist(
    name: str, points: int, low: float, slope: float, sloped: bool, off: float
) -> None:
    x = np.arange(1.0, points + 1)
    y = low + slope * x + off * np.resize([1, -1, -1, 1], points)
    found = fit_lines(Series(name, x, y, np.ones(points), np.nan), x, [])
    assert (found.sloped, found.series.sigma.tolist()) == ((sloped,), [1] * points)


def test_a_segment_has_three_sizes_of_the_time_curve() -> None:
    """Two lines without noise, of which the second is 90 errors above; and what a third line must gain."""
    for before, after, found in ((3, 3, [3]), (3, 2, []), (2, 3, [])):
        x = np.arange(1.0, before + after + 1)
        value = 100 + x + np.where(x > before, 90, 0)
        time = Series("time", x, value, np.ones(len(x)), np.nan)
        assert cuts({"time": time}, x) == found
    assert penalty({"time": time, "gap": time}) == pytest.approx(5 * np.log(10))
