"""The inverse normal against SciPy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri, stdtrit

from pready.model.common import normal


@given(st.floats(1e-300, 1 - 1e-16, exclude_max=True))
def test_inverse_is_scipys(p: float) -> None:
    assert float(normal.inverse(p)) == pytest.approx(float(ndtri(p)), rel=1e-14, abs=1e-15)


@given(st.floats(-30, 8))
def test_below_is_the_distribution(z: float) -> None:
    assert normal.below(z) == pytest.approx(float(ndtr(z)), rel=1e-12)


@pytest.mark.parametrize("freedom", [3, 4, 7, 9, 19, 39, 299])
def test_students_interval_is_scipys(freedom: int) -> None:
    assert normal.student95(freedom) == pytest.approx(float(stdtrit(freedom, 0.975)), rel=0.2 / freedom**3)
