"""Where a rendezvous begins, and lines that are bent to what is known: tests/data/calibrate/borders.toml."""

from typing import Any

import pytest
from made_fit import KIB, UNITS, checked, made_fit
from tables import table_of

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.machine.values.protocol_borders import with_bridges, with_rendezvous, without_negative_lines
from pready.model.common.units import SI, Size
from pready.model.machine.path import Progress
from pready.model.machine.transports import Transport
from pready.model.toml.provenance import Value

TABLE = table_of("calibrate/borders")
ON_CALL = Value[Progress](value="on-call", source="assumed", why="made up")


def same(found: Fit, expect: list[dict[str, Any]]) -> None:
    """Each segment as said, and the draws of what has an interval around its value."""
    assert [s.from_bytes for s in found.segments] == [row["from"] for row in expect]
    for k, (s, row) in enumerate(zip(found.segments, expect, strict=True)):
        checked(s, {name: said for name, said in row.items() if name != "from"})
        for name, e in ((name, getattr(s, name)) for name in UNITS):
            drawn = Estimate.of(e.value, found.draws[name][:, k])
            assert (drawn.low + drawn.high) / 2 == pytest.approx(e.value, rel=1e-9, abs=1e-18), name


@pytest.mark.parametrize("case", TABLE["bridges"], ids=lambda case: case["why"][:40])
def test_a_border_between_sizes_far_apart_is_bridged(case: dict[str, Any]) -> None:
    same(with_bridges(made_fit(case)), case["expect"])


@pytest.mark.parametrize("case", TABLE["negative"], ids=lambda case: case["why"][:40])
def test_no_line_begins_below_zero(case: dict[str, Any]) -> None:
    notes: list[str] = []
    same(without_negative_lines(made_fit(case), notes), case["expect"])
    assert notes == case.get("notes", [])


@pytest.mark.parametrize("case", TABLE["borders"], ids=lambda case: case["why"][:40])
def test_where_a_rendezvous_begins(case: dict[str, Any]) -> None:
    low, default, high = (SI(size * KIB) for size in case.get("default", (8, 16, 64)))
    size = Value[Size](value=default, interval=(low, high), source="literature", why="made up")
    found, border = with_rendezvous(made_fit(case), Transport("made up", size, ON_CALL))
    assert border.words == case["says"]
    assert {at / KIB: p for at, p in border.candidates} == pytest.approx(dict(case["candidates"]), abs=1.5e-5)
    same(found, [{"from": start} for start in case.get("starts", [s.from_bytes for s in found.segments])])
    assert all((s.protocol == "rendezvous") == (s.from_bytes >= border.at) for s in found.segments)
    assert border.at in [s.from_bytes for s in found.segments]
