"""Intervals of several runs, and values at sizes that nobody measured: tests/data/calibrate/intervals.toml."""

from typing import Any

import numpy as np
import pytest
from made_fit import KIB, US, checked, made_machine
from tables import table_of

from pready.calibrate.fit.observations import Curve
from pready.calibrate.machine.values.intervals import widened, with_unmeasured
from pready.model.machine.machine import Machine

TABLE = table_of("calibrate/intervals")
ONE = [{"from": 0}]


def machine_of(case: dict[str, Any]) -> Machine:
    return made_machine({"sizes": [1], "segments": [{"L": 4, "o_r": 1, **row} for row in case.get("segments", ONE)]})


@pytest.mark.parametrize("case", TABLE["unmeasured"], ids=lambda case: case["why"][:40])
def test_what_is_assumed_at_sizes_that_nobody_measured(case: dict[str, Any]) -> None:
    notes: list[str] = []
    least, most = (size * KIB for size in case["measured"])
    before = machine_of(case)
    made = with_unmeasured(before, (least, most), case.get("streamed", 0) * KIB, case.get("fabric"), notes).inter
    assert ([s.from_ for s in made.segments], notes) == ([row["from"] for row in case["expect"]], case.get("notes", []))
    for s, row in zip(made.segments, case["expect"], strict=True):
        checked(s, {name: said for name, said in row.items() if name != "from"})
    link = made.link_bandwidth
    if "link" in case:
        assert [link.value, *(link.interval or ())] == pytest.approx([case["link"][k] for k in (1, 0, 2)])
        assert link.why == case["of_link"]
    else:
        assert link == before.inter.link_bandwidth


@pytest.mark.parametrize("case", TABLE["runs"], ids=lambda case: case["why"][:40])
def test_an_interval_is_as_wide_as_the_runs_lie_apart(case: dict[str, Any]) -> None:
    """Of three numbers the first and the last are those of a run of forty-one beyond each end of the interval."""
    runs = [np.repeat(times, [2, 37, 2] if len(times) == 3 else 1) * US for _, *times in case["of"]]
    made = widened(machine_of(case), Curve.of([size * KIB for size, *_ in case["of"]], runs))
    for s, row in zip(made.inter.segments, case["expect"], strict=True):
        checked(s, row)
