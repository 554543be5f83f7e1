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
OUT, WEAK = replace(CLAIM, status="out of scope", basis="", expected=None, got=None), replace(CLAIM, weak=True)
HERE = replace(CLAIM, of="fabrics", source="alps", quantity="time one way", expected=2.0, got=2.5, low=2.5, high=2.5)


def test_statuses() -> None:
    claims = (CLAIM, WEAK, OFF, replace(OFF, known_off=True), replace(CLAIM, known_off=True))
    assert [summary.status(c) for c in claims] == ["ok", "weak", "off", "known off", "ok"]


@pytest.mark.parametrize(
    ("claims", "said", "able"),
    [
        ((CLAIM,), "1 of 1 checked claims of 1 paper agree, 0 do not.", "ok 1 of 1."),
        (
            (CLAIM, OFF, replace(OFF, known_off=True, source="jammer2022"), OUT, WEAK, replace(CLAIM, basis="fitted")),
            "3 of 5 checked claims of 2 papers agree, 2 do not (1 of them for a reason that is known); 1 are out of "
            "scope.",
            "ok 1 of 3; 1 more agrees whatever the machine (weak).",
        ),
        ((replace(HERE, basis="fitted"),), "1 of 1 measurements on 1 real machine agree, 0 do not.", ""),
        (
            (replace(HERE, weak=True), replace(HERE, weak=True, source="hawk")),
            "2 of 2 measurements on 2 real machines agree, 0 do not.",
            "ok 0 of 0; 2 more agree whatever the machine (weak).",
        ),
    ],
)
def test_a_headline_counts_weak_claims_apart(claims: tuple[ClaimResult, ...], said: str, able: str) -> None:
    assert summary.headline(claims) == [said, *([f"Independent and able to fail: {able}"] if able else [])]


def test_claims_of_machines_come_first_and_of_each_what_is_off() -> None:
    off = replace(HERE, status="off")
    assert summary.by_source([CLAIM, HERE, off]) == {"alps": [off, HERE], "gillis2023": [CLAIM]}
    assert [*summary.by_source([CLAIM, HERE])] == ["alps", "gillis2023"]


def test_figures_of_two_machines() -> None:
    """Both are off by 25 %, which no interval holds; a stream by 10 % within an interval up to 5 of 3.6."""
    stream = replace(HERE, quantity="bandwidth", expected=4.0, got=3.6, low=2.0, high=5.0, weak=True)
    word = replace(HERE, expected="yes", got="yes", basis="derived")
    numbers = {"error_percent": 25.0, "error_p90_percent": 25.0}
    one = {"measurements": 2, "within": 1, **numbers, "inside_percent": 0}
    error = {"measurements": 2, "model_error_percent": 25.0, "median_half_width_percent": 25}
    off, out = replace(HERE, source="hawk", status="off"), replace(OUT, of="fabrics")
    assert summary.figures([HERE, off, stream, word, out]) == {
        "sources": 3, "checked": 4, "ok": 3, "off": 1, "out_of_scope": 1, "weak": 1, "can_fail": 2, "can_fail_ok": 1,
        "measurements": 3, "within": 2, **numbers, "inside_percent": 33,
        "by_class": {
            "one message": error | {"inside_with_error_percent": 100},
            "stream": {"measurements": 1, "model_error_percent": 0.0, "inside_with_error_percent": 100,
                       "median_half_width_percent": 39},
        },
        "by_quantity": {
            "time one way": one,
            "bandwidth": {"measurements": 1, "within": 1, "error_percent": 10.0, "error_p90_percent": 10.0,
                          "inside_percent": 100},
        },
    }  # fmt: skip
    assert "by_class" not in summary.figures([HERE])  # of one machine


def test_deviation() -> None:
    assert [summary.deviation(2.0, got) for got in (2.1, 1.0)] == pytest.approx([0.05, -0.5])
    none: list[tuple[Any, Any]] = [(0.0, 1.0), (True, 1.0), (1.0, True), ("at most 2", 1.0), (2.0, None), (2.0, float("inf"))]
    assert {summary.deviation(expected, got) for expected, got in none} == {None}


def test_what_is_off_is_told_apart() -> None:
    """1.21681 and 1.21723 are both 1.217 in four digits, where a tolerance of 5e-5 tells them apart."""
    claim = replace(OFF, expected=1.21681, got=1.21723, unit="us")
    assert summary.pair(claim, claim.unit) == ("1.2168\N{NO-BREAK SPACE}us", "1.2172\N{NO-BREAK SPACE}us")
    assert summary.pair(replace(claim, status="ok"), "") == ("1.217", "1.217")
    assert summary.pair(replace(claim, expected=4 / 3, got=4 / 3 + 1e-12), "") == ("1.333333333",) * 2
    assert [summary.value(shown) for shown in (None, True, False, "at most 2", 2.0)] == [
        "-",
        "yes",
        "no",
        "at most 2",
        "2",
    ]
    assert summary.value(2.5, "1") == "2.5"


def test_numbers() -> None:
    numbers = {16384.0: "16384", 1.0: "1", 0.03125: "0.03125", 1.2e-9: "1.2e-09", 123456.7: "123500"}
    numbers |= {9999999.0: "9999999", 1e7: "1e+07", 12345678.9: "1.235e+07", 1e-4: "0.0001", 9.9e-5: "9.9e-05"}
    assert {x: summary.number(x, 4) for x in numbers} == numbers
