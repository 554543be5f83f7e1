"""What congestion does to a gain, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from tables import table_of

from pready.model.advice.predict import predict
from pready.model.machine.machine import load
from pready.model.result.prediction import Prediction
from pready.model.workload.workload import Workload
from pready.sst.congestion import Beside, beside, noted
from pready.sst.results import Times


def row(alone: float, here: float, half: float | None = 0.0) -> Beside:
    return Beside("Pt2Pt many", 4, 1.0, 1.0, alone, here, half)


def predicted() -> Prediction:
    w = Workload.model_validate({"name": "w", "threads": 2, "buffer": "1 MiB", "receiver": "waiting"})
    return predict(load("meluxina"), w, draws=0)


@pytest.mark.parametrize(("etas", "said"), table_of("sst/known")["congestion"])
def test_a_change_is_said_where_it_can_be_told(etas: list[float], said: str) -> None:
    found = row(etas[0], etas[1], etas[2] if len(etas) > 2 else None).said
    assert found.startswith(said)
    assert bool(found) == bool(said)


def times(*after: list[float]) -> Times:
    """Of iterations (rows) and ranks; the first row is the warm-up."""
    found = np.array([[0.0] * len(after[0]), *after])
    return Times(found, found, found, found, found)


def test_the_interval_is_students_of_what_the_same_iterations_say() -> None:
    p = predicted()
    two = replace(p, approaches=p.approaches[:2])
    # One router: η 2 in each iteration, whoever is late. Here bulk takes 10, 12 and 14: η 3, by iteration 2.5, 3, 3.5.
    alone = [times([8, 8], [2, 2], [4, 4]), times([4, 4], [1, 1], [2, 2])]
    here = [times([10, 10], [12, 12], [14, 14]), times([4, 4], [4, 4], [4, 4])]
    _, found = beside(alone, here, two, two)
    assert found.half == pytest.approx(4.303 * 0.5 / np.sqrt(3), rel=1e-3)


def test_bulk_changes_by_nothing() -> None:
    p = predicted()
    one = replace(p, approaches=p.approaches[:1])
    found = beside([times([1.0], [2.0])], [times([3.0], [9.0])], one, one)
    assert [r.half for r in found] == [pytest.approx(0)]
    assert [r.said for r in found] == [""]


def test_a_note_of_the_largest_change() -> None:
    p = predicted()
    assert noted(p, [row(1.2, 1.195), row(0.9, 0.5, 0.4)]) is p
    *before, said = noted(p, [row(1.2, 1.15), row(1.2, 1.05, 0.02)]).advice.warnings
    assert before == p.advice.warnings
    assert said == (
        "congestion takes some of the gain of Pt2Pt many, 4 transport partitions: η 1.20 on one router, 1.05 here, "
        "-0.15 (-0.17 to -0.13)"
    )
    assert noted(p, [row(1.0, 1.3)]).advice.warnings[-1].startswith("congestion favours Pt2Pt many, 4 transport")
