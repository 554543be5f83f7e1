"""Where a rendezvous begins, from OSU's latencies alone: found at the size, or not at all.

A made-up library: t(s) = t0 + a copy's start from `inline` on + G·s, and from `limit` on a handshake, with G smaller,
as nothing is copied any more. Libraries put the limit where copying takes about as long as asking, so G·limit is drawn
as 0.1 to 3 times t0, and a handshake is 1 to 2 times t0 (request and answer cross once each). The largest messages
move faster still, from a bend on, which is no handshake. Noise of 0.2 to 2 %, two decimals, powers of two, one value
each, as OSU prints.
"""

from collections.abc import Callable

import numpy as np
import pytest
from results_of_suites import latency
from results_of_suites import read as parse

from pready.calibrate.fit import fit

SEED = 20261121
SIZES = (0, *(1 << k for k in range(23)))
CASES = 100


def library(rng: np.random.Generator, *, step: bool) -> tuple[int, Callable[[int], float]]:
    """Of a made-up library: its limit, and the seconds that one message of a size takes."""

    def between(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    t0, limit = between(0.8e-6, 20e-6), 1 << int(rng.integers(12, 19))
    per_byte = t0 * between(0.1, 3) / limit
    inline, copy = 1 << int(rng.integers(5, 9)), t0 * rng.uniform(0.05, 0.3)
    eager = per_byte * (rng.uniform(1.0, 1.5) if step else 1.0)
    handshake = t0 * rng.uniform(1.0, 2.0) if step else 0.0
    faster = rng.uniform(0.6, 0.95)

    def time(size: int) -> float:
        t = t0 + (copy if size >= inline else 0.0)
        t += eager * size if size < limit else handshake + per_byte * size
        return t - max(size - 8 * limit, 0) * per_byte * (1 - faster)

    return limit, time


def begins_at(index: int, *, step: bool) -> tuple[int, float | None]:
    """The true limit, and the first size that is taken for a rendezvous."""
    rng = np.random.default_rng([SEED, index])
    limit, time = library(rng, step=step)
    noise = rng.uniform(0.002, 0.02)
    text = latency(lambda s: 1e6 * time(s) * (1 + noise * rng.standard_normal()), SIZES)
    found = fit(parse(text.encode()).observations, rng, draws=200)
    starts = [s.from_bytes for s in found.segments if s.protocol == "rendezvous"]
    return limit, min(starts, default=None)


@pytest.mark.thorough
def test_found_within_one_size() -> None:
    pairs = [begins_at(i, step=True) for i in range(CASES)]
    near = [found is not None and limit / 2 <= found <= limit * 2 for limit, found in pairs]
    assert sum(near) >= 95, [pair for pair, good in zip(pairs, near, strict=True) if not good]


@pytest.mark.thorough
def test_none_is_found_where_there_is_none() -> None:
    """The copy's start is a step, the bend raises t(0): neither is a handshake."""
    found = [begins_at(i, step=False)[1] for i in range(CASES)]
    assert sum(f is not None for f in found) <= 5, found
