"""Ranges of buffers end where predictions for those buffers change their verdict."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pready.model.advice.paying_sizes import close
from pready.model.advice.predict import evaluator, predict, with_library
from pready.model.advice.savings import CHOICE, drawn_row
from pready.model.common.arrays import Array
from pready.model.machine import machine as machines
from pready.model.result.break_even import OverSizes
from pready.model.result.verdict import LIKELY
from pready.model.workload import workload as workloads

LOWEST, HIGHEST = 32.0, 2.0**30
HARDLY = 0.01
"""So close to the limit, as a share of it, a simulation goes up and down from size to size."""
Share = Callable[[float], float]


def hill(top: float, middle: float, width: float) -> Share:
    """A parabola over the logarithm of the size, that is above 0.01 from middle / w to middle · w."""
    return lambda size: top - (top - 0.01) * (math.log(size / middle) / math.log(width)) ** 2


def over_sizes(look: Share, *borders: float, wrong: float = 0.0) -> tuple[OverSizes, list[float]]:
    """Of a known function, and which sizes were looked at; a glance at it is that much off."""
    asked: list[float] = []

    def glance(sizes: Sequence[float]) -> Array:
        return np.array([look(s) * (1 + wrong) for s in sizes])

    def counted(size: float) -> float:
        asked.append(size)
        return look(size)

    return OverSizes(glance, counted, 0.01, LOWEST, HIGHEST, borders), asked


@pytest.mark.parametrize("wrong", [-0.2, 0.0, 0.2])
def test_ends_are_those_of_the_look(wrong: float) -> None:
    share = hill(0.1, 2.0**20, 64)
    sizes, asked = over_sizes(share, wrong=wrong)
    (found,) = sizes.ranges()
    assert found.low == pytest.approx(2**14, rel=0.005)
    assert found.high == pytest.approx(2**26, rel=0.005)
    assert min(share(found.low), share(found.high)) >= 0.01  # an end that is named pays itself
    assert len(asked) < 25


def test_a_jump_is_where_it_is() -> None:
    # Pays from 16 KiB on, but for 64 KiB to 1 MiB.
    def share(size: float) -> float:
        return 0.002 if size < 2**14 or 2**16 <= size < 2**20 else 0.05

    sizes, _ = over_sizes(share, 2.0**14, 2.0**16, 2.0**20)
    found = sizes.ranges()
    assert [(r.low, r.high) for r in found] == [(2**14, pytest.approx(2**16, rel=2e-6)), (2**20, math.inf)]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["laggard", "slow-link"])
def test_an_example_pays_where_its_own_prediction_says_so(name: str) -> None:
    """The verdict on the same way, predicted for other buffers, but where it is close."""
    what, machine = workloads.load(f"examples/{name}.toml"), machines.load("meluxina")
    made, seen = predict(machine, what), {True: 0, False: 0}
    for factor in (1 / 64, 1 / 8, 1, 16):
        there = what.changed(buffer=f"{factor * what.buffer:.0f} B")
        row = drawn_row(evaluator(with_library(machine)[0], there)[0], made.advised.approach)
        assert row.probability is not None
        if abs(row.probability - LIKELY) > close(CHOICE):
            said = any(there.buffer in r for r in made.advice.pays)
            assert (row.probability >= LIKELY) == said, (factor, row.probability, made.advice.pays)
            seen[said] += 1
    assert seen[True] >= 1
    assert seen[False] >= 1
