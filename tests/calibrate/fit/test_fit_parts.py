"""The fit's parts, each against an answer derived by hand."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_fit import KIB, US, made_fit
from tables import table_of

from pready.calibrate.fit import Curve, Estimate, Observations, ThinDataError, Train, fit, refine_sizes
from pready.calibrate.fit.location import centre
from pready.calibrate.fit.loggp import _named, _thin, _threshold
from pready.calibrate.fit.results import Thin
from pready.calibrate.fit.sizes_to_measure import default_sizes
from pready.model.common.errors import PreadyError


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_centre_of_few_or_equal_repeats() -> None:
    rows = [[1.0, 2.0, 9.0, np.nan, np.nan], [4.0] * 5, [1, 2, 3, 4, 5], [1, 2, 3, 4, 9]]
    location, error = centre(np.array(rows))
    # Of the third 1 and 2 are 0.144 and 0.288 of 4.685 · 1.483 = 6.946, so that the error is
    # 6.946 · √(2 · (0.138² + 0.242²) · 5/4) / (1 + 2 · (0.878 + 0.537)); the fourth by four steps in plain Python.
    assert location.tolist() == pytest.approx([2.0, 4.0, 3.0, 2.5354109569])
    assert error.tolist() == pytest.approx([np.nan, 0, 0.7994720279, 0.7777846381], nan_ok=True)


def test_how_far_an_outlier_lies_is_all_the_same() -> None:
    """Beyond c times the spread it has no weight, nor a part in the error: 4.685 of 1.48 about a median of 3."""
    near, far = (centre(np.array([[1.0, 2, 3, 4, 5, x]])) for x in (20.0, 1e6))
    assert near == far


def test_a_machine_without_noise() -> None:
    """L 2 us, o_s 0.5, o_r 0.3, g 0.9 us, G 0.1 ns/B, n = 10, d = 5 us.

    PRTT(1,0,s) = 2·(o_s + L + G·s + o_r), PRTT(n,0,s) = PRTT(1,0,s) + 9·(g + G·s),
    PRTT(n,d,s) = PRTT(1,0,s) + 9·(o_s + d), delayed receives take 9·(d + o_r).
    """
    s = np.array([1.0, 100, 1000, 2000, 4000, 8000])
    one = 2 * (2.8e-6 + 1e-10 * s)
    observed = Observations(
        prtt_1=Curve.of(s, one),
        prtt_n=Train.of(s, one + 9 * (0.9e-6 + 1e-10 * s), 10),
        prtt_n_delay=Train.of(s, one + 9 * 5.5e-6, 10, 5e-6),
        receive=Train.of(s, np.full(6, 9 * 5.3e-6), 10, 5e-6),
    )
    (segment,) = fit(observed, np.random.default_rng(1)).segments
    for name, true in {"L": 2e-6, "o_s": 5e-7, "o_r": 3e-7, "g": 9e-7, "G": 1e-10}.items():
        assert getattr(segment, name).value == pytest.approx(true, rel=1e-6)


def test_two_sizes_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(ThinDataError, match="2 message sizes") as caught:
        fit(Observations(ping_pong=Curve.of([1, 2], [1e-6, 2e-6])), rng)
    assert 1024 in caught.value.measure_next
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sizes", "problem", "least", "others"),
    [
        ([1, 64, 8192], "3 message sizes were timed", 6, [s for s in default_sizes() if s not in (1, 64, 8192)]),
        ([1 << k for k in range(8)], "the segment from 0 B has 1 sizes of PRTT(n,0,s)", 2, [2, 5, 11, 25, 57, 128]),
    ],
)
def test_few_sizes_are_thin(
    sizes: list[int], problem: str, least: int, others: list[int], rng: np.random.Generator
) -> None:
    """One of a stream, in the second case."""
    s = np.array(sizes, float)
    found = fit(Observations(ping_pong=Curve.of(s, 1e-6 + 1e-9 * s), stream=Curve.of([1], [1e-6])), rng)
    assert found.segments[0].G.value == pytest.approx(1e-9, rel=1e-3)
    assert found.thin == Thin(problem, f"at least {least}", tuple(others))
    listed = ", ".join(map(str, others[:12]))
    assert found.notes[-1] == f"thin data: {problem} (wanted: at least {least}); measure next: {listed} B"


@pytest.mark.parametrize("case", table_of("calibrate/thin")["thin"], ids=lambda case: case["why"][:40])
def test_the_first_reason_not_to_trust_a_fit(case: dict[str, Any]) -> None:
    """95 % of the draws lie within 0.95 of `wide` from the fitted lines: a constant and a slope of each."""
    made = made_fit(case)
    fixed, slope = np.array([s.line for s in made.segments]).T
    time = replace(made.curves["time"], intercept=fixed[None], slope=slope[None])
    wide = np.linspace(-US, US, 41)[:, None, None] * case.get("wide", np.zeros((1, 2)))
    drawn = replace(time, intercept=fixed + wide[..., 0], slope=slope + wide[..., 1] / KIB)
    others = {case["curve"]: made.curves["gap"]} if "curve" in case else {}
    found = _thin([s.from_bytes for s in made.segments], {"time": time, **others}, drawn)
    assert (found and [found.problem, found.wanted, list(found.measure_next)]) == case.get("is")


def test_a_threshold_lies_in_all_but_a_twentieth_of_the_draws() -> None:
    """A cut is the first size behind the border, which lies above the size before."""
    grid = np.array([8.0, 16, 32, 64, 128])
    for beside, low, high in ((2, 32.0, 64.0), (5, 16.0, 128.0)):
        cuts = np.repeat([2, 3, 4], [beside, 100 - 2 * beside, beside])
        assert _threshold(grid, 3, cuts) == Estimate(64.0, low, high)


@pytest.mark.parametrize("case", table_of("calibrate/segments")["guessed"], ids=lambda case: case["why"][:40])
def test_a_handshake_is_guessed_from_what_small_messages_take(case: dict[str, Any]) -> None:
    segments = made_fit({"sizes": [1], "segments": case["segments"]}).segments
    nothing = np.zeros((1, len(segments)))
    found = _named(segments, np.array(case.get("fixed", nothing)), np.array(case.get("slope", nothing)))
    assert [s.protocol or "" for s in found] == case["protocols"]


def test_sizes_that_would_tell_most() -> None:
    """Three within a threshold's 100 to 1600 B; from 4 to 8 KiB for o_s, up to 1 MiB for G, where they are not known
    to 10 %; none that was measured."""
    sure, wide = (Estimate(1.0, 1 - half, 1 + half) for half in (0.09, 0.11))

    def asked(**values: Estimate) -> list[int]:
        segment = SimpleNamespace(from_bytes=4096.0, **{**dict.fromkeys(("L", "g", "o_s", "o_r", "G"), sure), **values})
        border = SimpleNamespace(low=100.0, high=1600.0)
        found: Any = SimpleNamespace(thresholds=[border], segments=[segment], sizes=np.array([8.0, 262144, 1 << 20]))
        return refine_sizes(found)

    assert asked() == asked(G=replace(wide, assumed=True)) == [200, 400, 800]
    assert asked(o_s=wide)[3:] == [round(4096 * 2 ** (i / 6)) for i in range(1, 6)]
    assert asked(G=wide)[3:] == [131072, 524288]


@pytest.mark.parametrize(("sizes", "times", "names"), table_of("calibrate/refused")["curves"])
def test_bad_curves_are_named(sizes: list[float], times: list[float], names: str) -> None:
    with pytest.raises(PreadyError, match=names):
        Curve.of(sizes, times)
