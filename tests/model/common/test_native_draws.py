"""The draws of C++ against a plain Philox with its known answers, and SciPy's quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit
from tables import table_of

from pready.model.common import normal
from pready.model.common._draws import normals, uniforms

# The oracle: Philox4x32-10 in NumPy (Salmon et al., https://doi.org/10.1145/2063384.2063405).
Words = NDArray[np.uint64]  # 32-bit words, kept in 64 bits so that products do not overflow

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
ROUNDS = 10


def philox(counter: tuple[Words, Words, Words, Words], key: tuple[int, int]) -> tuple[Words, Words, Words, Words]:
    """Four 32-bit words per counter; the counter's arrays broadcast against each other."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (
            (p1 >> _SHIFT) ^ c1 ^ np.uint64(k0),
            p1 & _LOW,
            (p0 >> _SHIFT) ^ c3 ^ np.uint64(k1),
            p0 & _LOW,
        )
        k0, k1 = (k0 + _W0) & 0xFFFFFFFF, (k1 + _W1) & 0xFFFFFFFF
    return c0, c1, c2, c3


def plain_uniforms(seed: int, rank: int, iterations: ArrayLike, n: int, stream: int = 0) -> NDArray[np.float64]:
    """Draw k of an iteration comes from block k // 2 of the counter, shape (iterations, n)."""
    rows = np.asarray(iterations, dtype=np.uint64).reshape(-1, 1)
    blocks = np.arange((n + 1) // 2, dtype=np.uint64).reshape(1, -1)
    zero = np.zeros((1, 1), dtype=np.uint64)
    key = (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF)
    words = philox((blocks, rows, zero + np.uint64(rank), zero + np.uint64(stream)), key)
    pairs = np.stack([_unit(words[0], words[1]), _unit(words[2], words[3])], axis=-1)
    return np.ascontiguousarray(pairs.reshape(len(rows), -1)[:, :n])


def _unit(high: Words, low: Words) -> NDArray[np.float64]:
    """53 bits of two words, centred in their cell: neither 0 nor 1 can come out."""
    bits = (high << np.uint64(21)) | (low >> np.uint64(11))
    return np.asarray((bits.astype(np.float64) + 0.5) * 2.0**-53, dtype=np.float64)


@pytest.mark.parametrize(("counter", "key", "expected"), table_of("model/known")["philox"])
def test_known_answers_of_the_oracle(counter: list[int], key: tuple[int, int], expected: list[int]) -> None:
    a, b, c, d = (np.array([v], dtype=np.uint64) for v in counter)
    assert [int(w[0]) for w in philox((a, b, c, d), key)] == expected


WORD = st.integers(0, 2**32 - 1)


@given(st.integers(0, 2**64 - 1), WORD, st.integers(0, 2**32 - 10), st.integers(1, 40), WORD)
def test_draws_are_the_oracles_bit_by_bit(seed: int, rank: int, first: int, n: int, stream: int) -> None:
    made = uniforms(seed, rank, first, 3, n, stream)
    assert np.array_equal(made, plain_uniforms(seed, rank, np.arange(first, first + 3), n, stream))
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
