"""Claims in numbers and in words."""

from dataclasses import replace
from types import SimpleNamespace as Of
from typing import Any, cast

import pytest
from tables import table_of

from pready.validate.claims import collection, summary
from pready.validate.claims.computed_once import DRAWS, Lab
from pready.validate.claims.result import ClaimResult
from pready.validate.claims.wrong_machines import WRONG_MACHINES

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


@pytest.mark.parametrize(("kind", "draws"), [("papers", 0), ("fabrics", DRAWS)])
def test_a_claim_is_held_against_the_model_then_against_wrong_machines(
    kind: Any, draws: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those that are independent and ok, one turns for a wrong machine; a change of all machines is none of them."""
    asked, half = [], WRONG_MACHINES["half the bandwidth"]
    wrong = [(4, of, 0) for of in WRONG_MACHINES.values()]
    told: dict[str, Any] = {
        "turns": ("independent", "ok"),
        "stays": ("independent", "ok"),
        "fit": ("fitted", "ok"),
        "off": ("independent", "off"),
    }

    def lab_of(lab: Lab) -> Any:
        return lab.seed, lab.change, lab.draws

    def result(source: str, claim: Any, lab: Lab, of: Any) -> ClaimResult:
        assert (of, lab_of(lab)) == (kind, (4, change, 0 if change else draws))
        basis, status = told[claim.id]
        return replace(CLAIM, id=claim.id, source=source, basis=basis, status=status)

    def turned(claim: Any, lab: Lab) -> bool:
        asked.append((claim.id, lab_of(lab)))
        return bool(claim.id == "turns" and lab.change is half)

    for name, made in (
        ("result", result),
        ("turned", turned),
        ("interval", lambda *_: (1.0, 2.0)),
        ("steepness", lambda *_: {}),
    ):
        monkeypatch.setattr(collection, name, made)
    sources: Any = {"a": Of(claims=[Of(id="turns"), Of(id="off")]), "b": Of(claims=[Of(id="fit"), Of(id="stays")])}
    claims, seen = collection.Claims(kind, ("a", "b"), cast("Any", None), sources), list[ClaimResult]()
    change: Any = None
    found = claims.validate(4, on_claim=seen.append)
    assert found == tuple(seen)
    ends = (1.0, 2.0) if draws else (None, None)
    assert [(c.source, c.id, c.weak, c.low, c.high) for c in found] == [
        (source, name, name == "stays", *ends)
        for source, name in (("a", "turns"), ("a", "off"), ("b", "fit"), ("b", "stays"))
    ]
    at = 1 + [*WRONG_MACHINES].index("half the bandwidth")
    assert asked == [("turns", of) for of in wrong[:at]] + [("stays", of) for of in wrong]
    assert [c.id for c in claims.validate(4, only=["b", "a/off"])] == ["off", "fit", "stays"]
    change, asked[:] = half, []
    assert {(c.low, c.weak) for c in claims.validate(4, change=half)} == {(None, False)}
    assert asked == []


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
    none: list[tuple[Any, Any]] = [
        (0.0, 1.0),
        (True, 1.0),
        (1.0, True),
        ("at most 2", 1.0),
        (2.0, None),
        (2.0, float("inf")),
    ]
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
