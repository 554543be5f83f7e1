"""Claims in numbers and in words."""

from dataclasses import replace
from typing import Any

import pytest
from tables import table_of

from pready.validate.claims import summary
from pready.validate.claims.result import ClaimResult

SUMMARIES = table_of("validate/summaries")
CLAIM = ClaimResult(
    id="gillis2023/4.3-eta", source="gillis2023", where="section 4.3", says="gain up to 2.54", quantity="η", unit="1",
    expected=2.54, got=2.6, tolerance="±10 %", status="ok", basis="independent",
)  # fmt: skip
OFF = replace(CLAIM, got=60.0, expected=30.0, status="off")
HERE = replace(CLAIM, of="fabrics", source="alps", quantity="time one way", expected=2.0)


def test_statuses() -> None:
    claims = (CLAIM, replace(CLAIM, weak=True), OFF, replace(OFF, known_off=True), replace(CLAIM, known_off=True))
    assert [summary.status(c) for c in claims] == ["ok", "weak", "off", "known off", "ok"]


def made(of: str, changes: list[dict[str, Any]]) -> list[ClaimResult]:
    return [replace(HERE if of == "fabrics" else CLAIM, **each) for each in changes]


@pytest.mark.parametrize("case", SUMMARIES["headlines"], ids=lambda case: case["said"])
def test_a_headline_counts_weak_claims_apart(case: dict[str, Any]) -> None:
    able = [f"Independent and able to fail: {case['able']}"] if "able" in case else []
    assert summary.headline(made(case["of"], case["claims"])) == [case["said"], *able]


def test_claims_of_machines_come_first_and_of_each_what_is_off() -> None:
    off = replace(HERE, status="off")
    assert summary.by_source([CLAIM, HERE, off]) == {"alps": [off, HERE], "gillis2023": [CLAIM]}
    assert [*summary.by_source([CLAIM, HERE])] == ["alps", "gillis2023"]


def test_figures_of_two_machines() -> None:
    assert summary.figures(made("fabrics", SUMMARIES["figures"]["claims"])) == SUMMARIES["figures"]["said"]
    assert "by_class" not in summary.figures([HERE])  # of one machine


def test_deviation() -> None:
    assert [summary.deviation(2.0, got) for got in (2.1, 1.0)] == pytest.approx([0.05, -0.5])
    none: Any = ((0.0, 1.0), (True, 1.0), (1.0, True), ("at most 2", 1.0), (2.0, None), (2.0, float("inf")))
    assert {summary.deviation(expected, got) for expected, got in none} == {None}


def test_what_is_off_is_told_apart() -> None:
    """1.21681 and 1.21723 are both 1.217 in four digits, where a tolerance of 5e-5 tells them apart."""
    claim = replace(OFF, expected=1.21681, got=1.21723, unit="us")
    assert summary.pair(claim, claim.unit) == ("1.2168\N{NO-BREAK SPACE}us", "1.2172\N{NO-BREAK SPACE}us")
    assert summary.pair(replace(claim, status="ok"), "") == ("1.217", "1.217")
    assert summary.pair(replace(claim, expected=4 / 3, got=4 / 3 + 1e-12), "") == ("1.333333333",) * 2
    shown = {None: "-", True: "yes", False: "no", "at most 2": "at most 2", 2.0: "2"}
    assert {of: summary.value(of) for of in shown} == shown
    assert summary.value(2.5, "1") == "2.5"


def test_numbers() -> None:
    numbers = {16384.0: "16384", 1.0: "1", 0.03125: "0.03125", 1.2e-9: "1.2e-09", 123456.7: "123500"}
    numbers |= {9999999.0: "9999999", 1e7: "1e+07", 12345678.9: "1.235e+07", 1e-4: "0.0001", 9.9e-5: "9.9e-05"}
    assert {x: summary.number(x, 4) for x in numbers} == numbers
