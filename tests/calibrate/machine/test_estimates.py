"""Estimates as values of a machine file: their ends, and what is said where one is not above 0."""

import pytest

from pready.calibrate.fit import Estimate
from pready.calibrate.machine.values.estimates import TIME, assumed, between, positive, value


def test_ends() -> None:
    guess = assumed(TIME, 6e-6, "a guess", 3)
    assert (guess.value, guess.source) == (6e-6, "assumed")
    assert guess.interval == pytest.approx((2e-6, 18e-6))
    for low, high in ((1e-6, 2e-6), (4e-6, 5e-6)):  # of a value outside of its interval
        assert value(TIME, Estimate(3e-6, low, high), "w").interval == (min(low, 3e-6), max(high, 3e-6))
    assert between([1e-6, 2e-6, 6e-6], "w").interval == (1e-6, 6e-6)
    assert between([1e-6, 2e-6, 6e-6], "w").value == pytest.approx(3e-6)


def test_what_is_not_above_zero_is_said() -> None:
    notes: list[str] = []
    assert positive(TIME, Estimate(2e-6, 1e-6, 3e-6), "w", notes, "g").interval == (1e-6, 3e-6)
    assert not notes
    cut = positive(TIME, Estimate(2e-6, 0.0, 3e-6), "w", notes, "g")
    assert cut.source == "measured"
    assert cut.interval == pytest.approx((2e-9, 3e-6))
    none = positive(TIME, Estimate(0.0, -1e-6, 3e-6), "w", notes, "g")
    assert (none.value, none.interval, none.why) == (0.0, None, "w; not distinguishable from 0")
    assert [note.split("; ")[-1] for note in notes] == ["cut off at 0.001 of the value", "taken as 0"]
    unknown = positive(TIME, Estimate(2e-6, 0.0, 3e-6, assumed=True), "w", [], "g")
    assert unknown.source == "assumed"
    assert unknown.interval == pytest.approx((2e-9, 3e-6))
    assert positive(TIME, Estimate(0.0, 0.0, 3e-6, assumed=True), "w", [], "g").interval is None
