"""What congestion takes of a gain, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pready.model.advice.predict import predict
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload
from pready.sst.congestion_taken import Beside, beside, warned


def row(alone: float, here: float, half: float = 0.0) -> Beside:
    ranges = (alone - half, alone + half), (here - half, here + half)
    return Beside("Pt2Pt many", 4, 1.0, 1.0, alone, here, *ranges)


@pytest.mark.parametrize(
    ("alone", "here", "taken"),
    [(1.2, 1.1, 0.5), (1.2, 1.2, None), (1.2, 0.9, 1), (1.2, 1.3, None), (1.0, 1.1, None), (0.9, 0.8, None)],
)
def test_the_share_of_the_gain(alone: float, here: float, taken: float | None) -> None:
    assert row(alone, here).taken == (None if taken is None else pytest.approx((taken,) * 3))


def test_a_share_that_cannot_be_told_from_nothing_is_not_said() -> None:
    # η 1.17 to 1.23 and 1.07 to 1.13: 1 - 0.13 / 0.17 to 1 - 0.07 / 0.23.
    assert row(1.2, 1.1, 0.03).taken == pytest.approx((0.5, 1 - 0.13 / 0.17, 1 - 0.07 / 0.23))
    assert row(1.2, 1.1, 0.03).said == "50 % (24 to 70)"
    # 1.15 to 1.25 and 1.05 to 1.15 touch; 0.98 to 1.42 may be no gain at all.
    for blurred in (row(1.2, 1.1, 0.05), row(1.2, 1.0, 0.22)):
        assert (blurred.taken, blurred.said) == (None, "")


def test_a_warning_where_a_good_part_is_taken() -> None:
    w = Workload.model_validate({"name": "w", "threads": 2, "buffer": "1 MiB", "receiver": "waiting"})
    p = predict(load("meluxina"), w, draws=0)
    assert warned(p, [row(1.2, 1.19)]) is p
    assert warned(p, [row(0.9, 0.5)]) is p
    # The best on one router counts, even where it is no longer the best.
    (*before, said) = warned(p, [row(1.1, 1.1), row(1.2, 1.05)]).advice.warnings
    assert before == p.advice.warnings
    assert said == (
        "congestion takes 75 % (75 to 75) of the gain of Pt2Pt many, 4 transport partitions: η 1.20 on one router, "
        "1.05 here"
    )
    # More than all: the note and the table say the same.
    lost = row(1.2, 0.9)
    assert f"takes {lost.said} of the gain" in warned(p, [lost]).advice.warnings[-1]


def test_rows_are_the_same_approaches_side_by_side() -> None:
    w = Workload.model_validate({"name": "w", "threads": 2, "buffer": "1 MiB", "receiver": "waiting"})
    p = predict(load("meluxina"), w, draws=0)
    slower = replace(p, approaches=[replace(a, time_s=2 * a.time_s, eta=1.0) for a in p.approaches])
    for found, a in zip(beside(p, slower), p.approaches, strict=True):
        assert (found.name, found.time_alone_s, found.time_s) == (a.name, a.time_s, 2 * a.time_s)
        assert (found.eta_alone, found.eta) == (a.eta, 1.0)
