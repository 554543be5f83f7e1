"""Philox4x32-10 in NumPy, the oracle of what C++ draws (Salmon et al., https://doi.org/10.1145/2063384.2063405)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def uniforms(seed: int, rank: int, iterations: ArrayLike, n: int, stream: int = 0) -> NDArray[np.float64]:
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
