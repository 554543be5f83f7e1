"""`pready validate` as a user meets it; what it compares with is replaced by made-up findings."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from given import Capsys, Patch

from pready.cli import main
from pready.model.version import VERSION
from pready.validate import papers
from pready.validate.claims.result import ClaimResult

CLAIM = ClaimResult(
    id="gillis2023/4.3-eta", source="gillis2023", where="section 4.3, Fig. 8", says="gain up to 2.54", quantity="η",
    unit="1", expected=2.54, got=2.6, tolerance="±10 %", status="ok", basis="independent"
)  # fmt: skip
OFF = replace(CLAIM, id="gillis2023/4.2.1-contention", got=60.0, expected=30.0, status="off")
OUT = replace(CLAIM, id="jammer2022/V", source="jammer2022", status="out of scope", got=None, basis="")


@pytest.fixture
def claims(monkeypatch: Patch) -> Callable[..., None]:
    """Puts claims in the place of the papers'."""

    def use(*found: ClaimResult) -> None:
        def validate(seed: int = 0, *, on_claim: Callable[[ClaimResult], object]) -> tuple[ClaimResult, ...]:
            for claim in found:
                on_claim(claim)
            return found

        monkeypatch.setattr(papers, "validate", validate)

    return use


@pytest.mark.parametrize("last", [OUT, replace(OFF, known_off=True), OFF], ids=["nothing off", "known to be", "off"])
def test_exit_status(last: ClaimResult, claims: Callable[..., None], monkeypatch: Patch, capsys: Capsys) -> None:
    claims(*(found := (CLAIM, last)))
    monkeypatch.setattr("pready.commands.validate.LINE_EVERY_S", -1.0)
    assert main(["validate", "papers"]) == (last is OFF)
    said = [f"papers {claim.source}, {n} of ?" for n, claim in enumerate(found, 1)]
    assert capsys.readouterr().err.splitlines() == said


def test_json_is_one_object(claims: Callable[..., None], capsys: Capsys) -> None:
    claims(CLAIM, replace(OFF, got=float("inf")), OUT)
    assert main(["validate", "papers", "--json", "--seed", "9"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["version"], data["seed"]) == (VERSION, 9)
    assert data["summary"].items() >= {"sources": 2, "checked": 2, "ok": 1, "off": 1, "out_of_scope": 1}.items()
    keys = {"id", "source", "of", "where", "expected", "got", "tolerance", "status"}
    assert all(keys <= set(c) for c in data["claims"])
    assert [c["got"] for c in data["claims"]] == [2.6, None, None]
