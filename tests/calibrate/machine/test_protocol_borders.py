"""Where a rendezvous begins, and lines that are bent to what is known: tests/data/calibrate/borders.toml."""

from typing import Any

import pytest
from made_fit import KIB, UNITS, checked, made_fit, made_machine
from present import present
from tables import table_of

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.machine.values.protocol_borders import (
    Border,
    with_border,
    with_bridges,
    with_rendezvous,
    without_negative_lines,
)
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


@pytest.mark.parametrize("seen", [True, False])
def test_a_machine_with_its_border(seen: bool) -> None:
    """Eager messages above 64 KiB are copied: a segment up to 65537 B has none of them."""
    starts = [{"from": 0}, *({"from": at + 1 / 1024} for at in (64, 64 + 1 / 1024))]
    asks = [{"from": at, "protocol": "rendezvous", "L": 9} for at in (128, 256)]
    border = Border(128 * KIB, 65 * KIB, 256 * KIB, seen, "made up", ((128 * KIB, 0.7654321), (256 * KIB, 0.2345679)))
    for first in ("short", "bcopy"):
        some = [s for s in starts if first == "short" or s is not starts[1]]
        made = with_border(made_machine({"sizes": [1], "segments": [*some, *asks]}), border).inter.segments
        kinds = [(s.protocol, s.begins is not None, s.O_s and s.O_s.value, s.O_r and s.O_r.value) for s in made]
        copies = [
            (first, False, *[None if first == "short" else 0.0] * 2),
            *[("bcopy", False, 0.0, 0.0)] * (len(some) - 1),
        ]
        assert kinds == [*copies, ("rendezvous", True, None, None), ("rendezvous", False, None, None)]
        begins = present(made[-2].begins)
        assert (begins.value, begins.interval) == (128 * KIB, (65 * KIB, 256 * KIB))
        assert begins.source == ("measured" if seen else "assumed")
        assert [c.weight for c in begins.candidates] == [0.765, 0.235]
