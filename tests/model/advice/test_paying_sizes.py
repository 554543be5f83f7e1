"""Where a port pays: from coarse to fine about the likeliest size, each judged as a prediction of it would."""

import os
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from coverage_of_intervals import what_if_fields

from pready.model.advice import best_way, paying_sizes
from pready.model.advice.best_way import _simplest, chosen, clear
from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BULK, BY_KEY, MANY, Approach
from pready.model.machine import machine as machines
from pready.model.toml.reading import validated
from pready.model.workload import workload as workloads
from pready.model.workload.workload import Workload

CASES = int(os.environ.get("PREADY_EXAMPLES", "1"))
WHAT_IFS = [what_if_fields(random.Random(f"pays-{n}")) for n in range(29, 29 + 4 * CASES)]
EXAMPLES = [("meluxina", "examples/halo3d.toml"), ("hpc3", "examples/laggard.toml")]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "given"), [*EXAMPLES, *WHAT_IFS], ids=lambda of: of if isinstance(of, str) else "")
def test_at_each_size_of_the_line_and_beside_it_the_verdict_is_that_of_a_prediction(name: str, given: Any) -> None:
    """By the way that is best there. The first of the what-ifs has a size within its line at which nothing pays."""
    on = machines.load(name)
    what = workloads.load(given) if isinstance(given, str) else validated(Workload, given, "what if")
    line = predict(on, what, whole=(), sizes=True).advice.pays
    assert line is not None
    ends = [what.buffer * 2.0**k for k in range(-40, 40)]
    ends = [size for size in ends if max(1024, what.n_partitions) <= size <= 2**30 or size == what.buffer]
    on_line = [any(size in some for some in line) for size in ends]
    for n, size in enumerate(ends):
        if size == what.buffer or any(on_line[max(n - 1, 0) : n + 2]):
            said = predict(on, what.at_buffer(size), whole=(), sizes=False).advice
            assert (said.verdict == "port") == on_line[n], (size, said.verdict, said.probability, line)


def found(chances: dict[int, float], low: int = -10, high: int = 10, other: float = 0.0) -> tuple[Any, list[int]]:
    """Runs of steps that pay, and the steps that were looked at."""
    asked = list[int]()

    def chance(step: int) -> float:
        asked.append(step)
        return chances.get(step, other)

    return paying_sizes.paying(chance, low, high), asked


def steps(first: int, last: int, chance: float = 1.0) -> dict[int, float]:
    return dict.fromkeys(range(first, last + 1), chance)


@pytest.mark.parametrize(
    ("chances", "runs"),
    [
        (steps(-3, 2), [(-3, 2)]),
        (steps(0, 0), [(0, 0)]),
        (steps(-10, 10), [(-10, 10)]),  # wherever it was looked
        (steps(-40, 40), [(-10, 10)]),
        (steps(5, 8, 0.8), [(5, 8)]),  # not this one
        (steps(-8, -1, 0.7) | steps(-6, -5), [(-6, -5)]),  # likelier towards it
        (steps(5, 10, 0.5) | {7: 0.6, 8: 0.8}, [(8, 8)]),
        (steps(-10, 10, 0.79), []),
        ({}, []),
        (steps(-2, 6, 0.83) | {2: 0.79}, [(-2, 1), (3, 6)]),  # close: looked at one by one
        (steps(-2, 6, 0.87), [(-2, 6)]),
    ],
)
def test_runs_about_the_likeliest_step(chances: dict[int, float], runs: list[tuple[int, int]]) -> None:
    said, asked = found(chances)
    assert said == runs
    assert len(asked) == len({*asked})  # each once
    assert len(asked) <= 15
    assert all(-10 <= step <= 10 for step in asked)


@pytest.mark.parametrize("low", range(-12, 1))
@pytest.mark.parametrize("high", [0, 1, 7, 12])
def test_any_run_about_this_buffer_is_found(low: int, high: int) -> None:
    for first, last in {(low, high), (low // 2, high // 2), (0, high // 3)}:
        assert found(steps(first, last), low, high)[0] == [(first, last)]


@pytest.mark.parametrize(
    ("found", "draws", "is_clear"),
    [(0.6, 16, True), (0.61, 16, False), (1.0, 16, True), (0.95, 16, False), (0.7, 64, True), (0.9, 64, True),
     (0.71, 64, False), (0.89, 64, False), (0.8, 10**6, False)],
)  # fmt: skip
def test_a_share_is_clear_two_standard_errors_from_likely(found: float, draws: int, is_clear: bool) -> None:
    """2 sqrt(0.8 × 0.2 / draws): 0.2 of 16, 0.1 of 64."""
    assert clear(found, draws) is is_clear


@pytest.mark.parametrize(("percent", "simplest"), [((5.0, 4.9), 2), ((5.0, 4.8999), 1), ((5.0, 0.5), 1)])
def test_of_ways_that_save_the_same_the_simplest(percent: tuple[float, float], simplest: int) -> None:
    rows: Any = [SimpleNamespace(approach=a) for a in (BULK, Approach(MANY, 16, 4), Approach(MANY, 2, 1))]
    savings: Any = SimpleNamespace(percent=np.array([[0.0], [percent[0]], [percent[1]]]))
    assert _simplest(savings, rows, [1, 2], 1000, 0.01) == simplest


@pytest.mark.parametrize(
    ("rma", "measured", "advised"), [((7.0, 8.0), True, 2), ((4.0, 20.0), True, 1), ((7.0, 8.0), False, 1)]
)
def test_rma_is_advised_where_it_was_measured_and_surely_saves_more(
    rma: tuple[float, float], measured: bool, advised: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(best_way, "unmeasured", lambda _: "" if measured else "MPI_Put")
    ways = BULK, Approach(MANY, 2, 1), BY_KEY["rma-single-active"].into(2)
    rows: Any = [SimpleNamespace(approach=a, available=True) for a in ways]
    percent = np.array([[0.0] * 64, [5.0] * 64, rma * 32])
    savings: Any = SimpleNamespace(percent=percent, runs=SimpleNamespace(machine=None))
    assert chosen(savings, rows, 1000, 0.01) == advised


def test_messages_are_of_the_advised_interface_on_the_vcis_that_save_most(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = dict[Approach, float]()
    likely = {Approach(MANY, 2, 2): 0.8, Approach(MANY, 8): 0.79, Approach(MANY, 16, 2): 0.9}
    monkeypatch.setattr(paying_sizes, "probability_of", lambda _, way, __: asked.setdefault(way, likely[way]))
    ways = {Approach(MANY, 2, 2): 5.0, Approach(MANY, 2, 1): 3.0, Approach(MANY, 8): 4.0, Approach(MANY, 4): 9.0}
    ways |= {BY_KEY["rma-single-active"].into(16): 9.0, Approach(MANY, 32): 9.0}
    ways |= {Approach(MANY, 16, 1): 3.0, Approach(MANY, 16, 2): 5.0}
    of: Any = None
    rows: Any = [SimpleNamespace(approach=a, speedup_percent=x, available=a.messages < 32) for a, x in ways.items()]
    rows[3].probability = 1.0
    assert paying_sizes.messages(of, rows, rows[3], 0.01) == [2, 4, 16]
    assert asked == likely
    rows[3].probability = 0.5
    assert paying_sizes.messages(of, rows, rows[3], 0.01) == [2, 16]
