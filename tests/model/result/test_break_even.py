"""Ranges of buffers end where predictions for those buffers change their verdict."""

import pytest

from pready.model.advice.paying_sizes import close
from pready.model.advice.predict import predict, runs_of, with_library
from pready.model.advice.savings import CHOICE, drawn_row
from pready.model.machine import machine as machines
from pready.model.result.break_even import Range, nearest
from pready.model.result.verdict import LIKELY
from pready.model.workload import workload as workloads


def test_both_ends_are_of_a_range() -> None:
    some = [Range(2, 3), Range(5, 6)]
    assert [size in some[0] for size in (1.9, 2, 3, 3.1)] == [False, True, True, False]
    assert [nearest(some, size) for size in (1, 3, 4, 6, 7)] == [some[0], some[0], some[1], some[1], None]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["laggard", "slow-link"])
def test_an_example_pays_where_its_own_prediction_says_so(name: str) -> None:
    """The verdict on the same way, predicted for other buffers, but where it is close."""
    what, machine = workloads.load(f"examples/{name}.toml"), machines.load("meluxina")
    made, seen = predict(machine, what), {True: 0, False: 0}
    for factor in (1 / 64, 1 / 8, 1, 16):
        there = what.changed(buffer=f"{factor * what.buffer:.0f} B")
        row = drawn_row(runs_of(with_library(machine)[0], there)[0], made.advised.approach)
        assert row.probability is not None
        if abs(row.probability - LIKELY) > close(CHOICE):
            said = any(there.buffer in r for r in made.advice.pays)
            assert (row.probability >= LIKELY) == said, (factor, row.probability, made.advice.pays)
            seen[said] += 1
    assert seen[True] >= 1
    assert seen[False] >= 1
