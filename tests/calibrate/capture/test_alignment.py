"""The same exchange on all ranks: whose times, places and receivers are written down."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tables import table_of

from pready.calibrate.capture.alignment import Aligned, aligned
from pready.calibrate.capture.exchanges import Group


def exchange(row: str, since: float) -> Group:
    begin, computing, took, place, sent, received = row.replace("-", "").split(" ")
    at, sizes = float(begin) + since, (each.split(":") for each in filter(None, sent.split(",")))
    return Group(
        at, at + float(took), ready=at, took=float(took), times=np.array(computing.split("/"), float),
        sent={int(to): int(size) for to, size in sizes}, way=((place, 0),) if place else (),
        received=Counter(map(int, filter(None, received.split(",")))),
    )  # fmt: skip


@pytest.mark.parametrize("case", table_of("calibrate/alignment")["cases"], ids=lambda case: case["says"])
def test_the_exchanges_of_a_step(case: dict[str, Any]) -> None:
    found = [
        [
            exchange(row, n * apart)
            for times, apart, rows in of
            for n in range(times)
            for row in rows.splitlines()
            if row
        ]
        for of in case["ranks"]
    ]
    ranks: Any = [SimpleNamespace(wall_s=wall) for wall in case["wall"]]
    made = aligned(ranks, found)
    number = {id(g): i for of in found for i, g in enumerate(of)}
    if made is None:
        assert "exchanges" not in case
        return
    assert [[[number[id(g)] for g in of] for of in each] for each in made.exchanges] == case["exchanges"]
    ends = [(begin, end) for begin, end in case["aligned"].pop("ends")]
    assert made == Aligned(made.exchanges, ends=ends, **{"lead": 0, **case["aligned"]})
