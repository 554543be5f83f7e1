"""A calibration finds from where on messages wait for progress before it measures anything finer."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pready.calibrate.machine import calibration
from pready.calibrate.measure.raw_file import Point
from pready.calibrate.measure.schedule import plan
from pready.calibrate.measure.session import Outcome

LIMIT = 64 << 10
"""Bytes up to which messages move by themselves: btl_tcp_eager_limit of Open MPI."""


@dataclass
class Benchmark:
    """Notes what it is asked for; `budget` points are measured."""

    budget: int = 10_000

    def __post_init__(self) -> None:
        self.asked: list[Point] = []

    def measure(self, points: list[Point], *_: object, **__: object) -> Outcome:
        new = [p for p in points if p not in self.asked]
        done, left = new[: self.budget], new[self.budget :]
        self.budget -= len(done)
        self.asked += done
        return Outcome("here", len(done), 0, len(left))

    def bracket(self, _: object) -> tuple[int, int] | None:
        sizes = [cast(int, p.get("bytes")) for p in self.asked if p.measurement == "overlap"]
        stalled = [size for size in sizes if size > LIMIT]
        return (max([8192, *(size for size in sizes if size <= LIMIT)]), min(stalled)) if stalled else None


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    made = Benchmark()
    monkeypatch.setattr(calibration, "measure", made.measure)
    monkeypatch.setattr(calibration, "stall_bracket", made.bracket)
    monkeypatch.setattr(calibration, "observations_of", SimpleNamespace(load=lambda _: None, probes=lambda *_: None))
    monkeypatch.setattr(calibration, "_asked_for", lambda *_: ([], True))
    return made


def run() -> Outcome:
    nothing = cast(Any, None)
    return calibration.run_measurements(nothing, nothing, Path("raw"), threads=2, budget_s=1.0, only=None)


def test_the_limit_is_bracketed_before_the_second_pass(benchmark: Benchmark) -> None:
    outcome = run()
    first = plan(threads=2, coarse=True)
    closer = [p for p in benchmark.asked[len(first) :][:10] if p.measurement == "overlap"]
    assert benchmark.asked[: len(first)] == first
    assert benchmark.asked[len(first) :][: len(closer)] == closer
    # 8 KiB to 1 MiB halves its logarithm each time.
    assert len(closer) == 6
    moving, stalled = benchmark.bracket(None) or (0, 0)
    assert moving <= LIMIT < stalled <= 1.1 * moving
    assert set(plan(threads=2)) <= set(benchmark.asked)
    assert outcome.measured == len(benchmark.asked)  # of all passes


def test_a_budget_that_is_spent_asks_for_nothing_closer(benchmark: Benchmark) -> None:
    benchmark.budget = len(plan(threads=2, coarse=True)) - 1
    run()
    assert len(benchmark.asked) == len(plan(threads=2, coarse=True)) - 1
