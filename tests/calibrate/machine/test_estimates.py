"""Estimates as values of a machine file: their ends, and what is said where one is not above 0."""

import numpy as np
import pytest

from pready.calibrate.fit import Estimate
from pready.calibrate.machine.description import _library
from pready.calibrate.machine.values.estimates import TIME, assumed, between, positive, value
from pready.calibrate.machine.values.observations_of import Probes


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


def test_half_an_interval_and_no_cost_below_zero() -> None:
    of_draws = Estimate.of(400.0, np.arange(1001.0))
    assert (of_draws.value, of_draws.low, of_draws.high) == pytest.approx((400, 25, 975))  # 95 % of the draws
    assert Estimate(2.0, 1.0, 5.0).half_width == 2
    assert Estimate(-1.0, -2.0, 3.0).at_least_zero() == Estimate(0.0, 0.0, 3.0)


@pytest.mark.parametrize(
    ("early", "first", "said"),
    [
        (None, None, None), (True, True, "arrived early"), (True, None, "arrived early"),
        (False, False, "with the last"), (True, False, "arrived early, except in the first iteration"),
    ],
)  # fmt: skip
def test_what_a_library_sent_early(early: bool | None, first: bool | None, said: str | None) -> None:
    found = _library(Probes(early_send=early, early_first=first), {}).early_send
    assert found is None if said is None else found is not None and found.why.endswith(said)
