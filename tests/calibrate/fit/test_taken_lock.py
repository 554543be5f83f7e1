"""The cost of a taken lock: known answers, and records of two MPI libraries on two cores."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pready.calibrate.fit import Contended, lock_cost
from pready.calibrate.machine.values.observations_of import contended
from pready.calibrate.measure.raw_file import read
from pready.calibrate.measure.schedule import CONTENDED_SIZES, CONTENDED_TOTALS

RECORDS = Path(__file__).parents[1] / "data"
FITTED_SIZES, FITTED_COUNTS = CONTENDED_SIZES, tuple(total // 2 for total in CONTENDED_TOTALS)


def point(threads: int, messages: int, hold: float, each: float, once: float = 0.0) -> Contended:
    """As the model has it: all but the first message wait for the lock, and pay for it."""
    excess = (threads * messages - 1) * each + once
    return Contended(threads, messages, threads * messages * hold + excess, excess)


@settings(deadline=None, max_examples=67)  # a first call may import
@given(st.floats(1e-7, 1e-5), st.floats(0, 1e-5), st.floats(0, 1e-4), st.integers(2, 16))
def test_recovers_what_each_pays_whatever_all_pay_once(hold: float, each: float, once: float, threads: int) -> None:
    found = lock_cost([point(threads, n, hold, each, once) for n in (2, 8, 24)])
    assert found.value == pytest.approx(each, rel=1e-6, abs=1e-12)


def test_one_length_has_no_line() -> None:
    found = lock_cost([point(2, 16, 2e-6, 1e-6), point(2, 16, 3e-6, 1.2e-6)])
    assert (found.value, found.low, found.high) == pytest.approx((1.1e-6, 1e-6, 1.2e-6))


def test_a_point_that_met_another_process_moves_little() -> None:
    points = [point(2, n, h, 1e-6) for n in (8, 32, 96) for h in (2e-6, 2.5e-6)]
    spoilt = [*points[:-1], Contended(2, 96, points[-1].team + 5e-3, points[-1].excess + 5e-3)]
    assert lock_cost(spoilt).value == pytest.approx(1e-6, rel=0.05)
    ordinary = np.polyfit([b.waiting for b in spoilt], [b.excess for b in spoilt], 1)[0]
    assert ordinary > 5e-6  # the control: a line of least squares follows the one


def test_faster_together_than_alone_is_no_contention() -> None:
    assert lock_cost([point(2, n, 2e-6, -0.5e-6) for n in (8, 32)]).value == 0


@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_other_sizes_and_counts_of_real_libraries_are_predicted(library: str) -> None:
    """Two threads on two cores of one machine, 1 Gbit/s, the receiver asleep (eight rounds, 2026-11-21)."""
    content = read(RECORDS / f"contention-{library}.jsonl")
    (key,) = content.environments
    records = [r for r in content.select("contention", key) if r["parameters"]["mechanism"] == "one"]

    def points(fitted: bool) -> list[Contended]:
        def among(of: dict[str, Any]) -> bool:
            return of["bytes"] in FITTED_SIZES and of["messages"] in FITTED_COUNTS

        return contended([r for r in records if among(r["parameters"]) == fitted])[2]

    fitted, others = points(True), points(False)
    each = lock_cost(fitted).value
    assert len(others) >= 6
    assert each > 0.2e-6  # a taken lock is no free one
    once = np.median([b.excess - each * b.waiting for b in fitted])
    errors = [(once + each * b.waiting - b.excess) / b.team for b in others]
    assert np.abs(errors).max() < 0.15
    # The control: without contention, a team would take as long as one thread for all.
    assert np.median([b.excess / b.team for b in others]) > 0.15
