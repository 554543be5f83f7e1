"""The draws of C++ against a plain Philox with its known answers, and SciPy's quantiles."""

import numpy as np
import philox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri, stdtrit
from tables import table_of

from pready.model.common import normal
from pready.model.common._draws import normals, uniforms


@pytest.mark.parametrize(("counter", "key", "expected"), table_of("model/known")["philox"])
def test_known_answers_of_the_oracle(counter: list[int], key: tuple[int, int], expected: list[int]) -> None:
    a, b, c, d = (np.array([v], dtype=np.uint64) for v in counter)
    assert [int(w[0]) for w in philox.philox((a, b, c, d), key)] == expected


WORD = st.integers(0, 2**32 - 1)


@given(st.integers(0, 2**64 - 1), WORD, st.integers(0, 2**32 - 10), st.integers(1, 40), WORD)
def test_draws_are_the_oracles_bit_by_bit(seed: int, rank: int, first: int, n: int, stream: int) -> None:
    made = uniforms(seed, rank, first, 3, n, stream)
    assert np.array_equal(made, philox.uniforms(seed, rank, np.arange(first, first + 3), n, stream))
    assert ((made > 0) & (made < 1)).all()


def test_draws_are_uniform_and_unrelated() -> None:
    from scipy import stats

    u = uniforms(7, 0, 0, 20_000, 4)
    assert stats.kstest(u.ravel(), "uniform").pvalue > 1e-3
    assert stats.kstest(0.99 * u.ravel(), "uniform").pvalue < 1e-3  # the negative control
    assert np.abs(np.corrcoef(u.T) - np.eye(4)).max() < 0.03
    for other in (uniforms(8, 0, 0, 20_000, 4), uniforms(7, 1, 0, 20_000, 4)):
        assert abs(np.corrcoef(u.ravel(), other.ravel())[0, 1]) < 0.02


@given(st.floats(1e-300, 1 - 1e-16, exclude_max=True))
def test_quantiles_are_scipys(p: float) -> None:
    assert float(normals(np.array([p]))[0]) == pytest.approx(float(ndtri(p)), rel=1e-14, abs=1e-15)


@given(st.floats(-30, 8))
def test_below_is_the_distribution(z: float) -> None:
    assert normal.below(z) == pytest.approx(float(ndtr(z)), rel=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 9, 19, 39, 299])
def test_students_interval_is_scipys(freedom: int) -> None:
    # Beyond 2 the first term left out: (79 z^9 + 776 z^7 + 1482 z^5 - 1920 z^3 - 945 z) / 92160 / freedom^4, 0.81 of z.
    assert normal.student95(freedom) == pytest.approx(
        float(stdtrit(freedom, 0.975)), rel=0.82 / freedom**4 if freedom > 2 else 1e-12
    )
