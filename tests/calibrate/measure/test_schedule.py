"""What a calibration measures: sizes, passes, and names that the benchmark knows."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, product
from typing import Any

import pytest
from tables import table_of

from pready.calibrate.measure.catalogue import MEASUREMENTS
from pready.calibrate.measure.missing import TELLS, lacking, most_threads
from pready.calibrate.measure.raw_file import Content, Point
from pready.calibrate.measure.schedule import GROUPS, plan


def expanded(name: str, *factors: list[dict[str, list[Any]]]) -> Iterator[Point]:
    """Of each factor every table, with every combination of its values; a list among them is one value."""
    each = [[dict(zip(t, some, strict=True)) for t in tables for some in product(*t.values())] for tables in factors]
    for parts in product(*each):
        given = {key: tuple(v) if isinstance(v, list) else v for part in parts for key, v in part.items()}
        yield Point.of(name, **given)


def test_what_a_calibration_measures() -> None:
    wanted = list(dict.fromkeys(chain.from_iterable(expanded(*row) for row in table_of("calibrate/plans")["plan"])))
    assert plan(threads=3) == wanted
    assert {point.measurement for point in wanted} == set(MEASUREMENTS)
    assert plan(threads=3, coarse=True) == wanted[: wanted.index(Point.of("pingpong", bytes=2, mode="isend"))]


def test_an_empty_file_lacks_the_plan_of_two_threads() -> None:
    wanted = Counter(point.measurement for point in plan(threads=2))
    assert lacking(Content(), "e") == tuple(
        f"{n} of {n} points of {name} were not measured ({TELLS[name]}): it is assumed" for name, n in wanted.items()
    )
    one = {"k": {"environment": "e", "record": {"parameters": {}}}}
    assert [most_threads(Content(points=of), "e") for of in ({}, one)] == [1, 1]


def test_plan_can_be_limited() -> None:
    assert {point.measurement for point in plan(threads=2, only=["prtt", "begin"])} == {"pingpong", "prtt", "begin"}
    asked = plan(threads=2, only=["rma"])
    pings, rma = ([p for p in asked if (p.measurement == "pingpong") == kind] for kind in (True, False))
    assert 8 < len(pings) < 16  # without which nothing can be fitted
    assert {point.measurement for point in rma} == {"approach"}
    assert all(str(p.get("approach")).startswith("rma") for p in rma)
    said = rf"^measure = \['pong'\] is not valid; valid: {', '.join([*MEASUREMENTS, *GROUPS])}$"
    with pytest.raises(ValueError, match=said):
        plan(threads=2, only=["pong"])
    with pytest.raises(ValueError, match="threads"):
        plan(threads=0)
    for team, messages in ((1, set()), (96, {2}), (48, {2, 4})):  # two for each thread at least
        own = [p for p in plan(threads=team) if p.measurement == "contention" and p.get("threads") == team]
        assert {p.get("messages") for p in own} == messages
