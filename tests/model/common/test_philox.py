"""Philox against the known answers of Random123, and what counters promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pready.model.common.philox import Words, philox, uniforms


def words(*values: int) -> tuple[Words, Words, Words, Words]:
    a, b, c, d = (np.array([v], dtype=np.uint64) for v in values)
    return a, b, c, d


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # kat_vectors of the Random123 distribution, "philox4x32 10"
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers(counter: tuple[int, ...], key: tuple[int, int], expected: tuple[int, ...]) -> None:
    assert tuple(int(w[0]) for w in philox(words(*counter), key)) == expected


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**31), st.integers(0, 10**6), st.integers(1, 40))
def test_draws_do_not_depend_on_chunking(seed: int, rank: int, first: int, n: int) -> None:
    together = uniforms(seed, rank, np.arange(first, first + 3), n)
    alone = np.concatenate([uniforms(seed, rank, [first + i], n + 5)[:, :n] for i in range(3)])
    assert np.array_equal(together, alone)
    assert ((together > 0) & (together < 1)).all()


def test_draws_are_uniform_and_unrelated() -> None:
    from scipy import stats

    u = uniforms(7, 0, np.arange(20_000), 4)
    assert stats.kstest(u.ravel(), "uniform").pvalue > 1e-3
    assert np.abs(np.corrcoef(u.T) - np.eye(4)).max() < 0.03
    for other in (uniforms(8, 0, np.arange(20_000), 4), uniforms(7, 1, np.arange(20_000), 4)):
        assert abs(np.corrcoef(u.ravel(), other.ravel())[0, 1]) < 0.02


def test_negative_control() -> None:
    from scipy import stats

    # The same test must see a generator whose draws are squeezed by one percent.
    u = uniforms(7, 0, np.arange(20_000), 4) * 0.99
    assert stats.kstest(u.ravel(), "uniform").pvalue < 1e-3
