"""Claims in numbers and in words."""

from dataclasses import replace
from typing import Any

import pytest

from pready.validate.claims import summary
from pready.validate.claims.result import ClaimResult

CLAIM = ClaimResult(
    id="gillis2023/4.3-eta", source="gillis2023", where="section 4.3", says="gain up to 2.54", quantity="η", unit="1",
    expected=2.54, got=2.6, tolerance="±10 %", status="ok", basis="independent",
)  # fmt: skip
OFF = replace(CLAIM, got=60.0, expected=30.0, status="off")


def test_weak_claims_are_counted_apart() -> None:
    weak, fitted = replace(CLAIM, weak=True), replace(CLAIM, basis="fitted")
    claims = (CLAIM, weak, OFF, fitted)
    assert summary.able_to_fail(claims) == (1, 2)
    assert [summary.status(c) for c in claims] == ["ok", "weak", "off", "ok"]
    assert summary.figures(claims)["weak"] == 1


def test_deviation() -> None:
    assert [summary.deviation(2.0, got) for got in (2.1, 1.0)] == pytest.approx([0.05, -0.5])
    none: list[tuple[Any, Any]] = [(0.0, 1.0), (True, True), ("at most 2", 1.0), (2.0, None), (2.0, float("inf"))]
    assert {summary.deviation(expected, got) for expected, got in none} == {None}


def test_what_is_off_is_told_apart() -> None:
    """1.21688 and 1.21694 are both 1.217 in four digits, where a tolerance of 5e-5 tells them apart."""
    claim = replace(OFF, expected=1.21688, got=1.21694, unit="us")
    assert summary.pair(claim, claim.unit) == ("1.21688\N{NO-BREAK SPACE}us", "1.21694\N{NO-BREAK SPACE}us")
    assert summary.pair(replace(claim, status="ok"), "") == ("1.217", "1.217")


def test_numbers() -> None:
    numbers = {16384.0: "16384", 1.0: "1", 0.03125: "0.03125", 1.2e-9: "1.2e-09", 123456.7: "123500"}
    assert {x: summary.number(x, 4) for x in numbers} == numbers
