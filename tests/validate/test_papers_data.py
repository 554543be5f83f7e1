"""The form of the claims' files: what is refused, and how a value is held against what is expected."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from machines import ideal
from tables import table_of

from pready.calibrate.machine.values.estimates import TIME, exact, with_fields
from pready.model.approach.interfaces import MANY
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Layout
from pready.model.machine.machine import Machine
from pready.model.machine.machine import load as load_machine
from pready.model.workload.workload import Workload
from pready.validate.claims import judge
from pready.validate.claims.checks import CHECKS
from pready.validate.claims.computed_once import ApproachTable, Lab, MachineTable, changed
from pready.validate.claims.form import Bounds, Claim, Tolerance, merged, parsed
from pready.validate.claims.result import ClaimResult
from pready.validate.claims.wrong_machines import WRONG_MACHINES
from pready.validate.fabrics.kinds import KINDS
from pready.validate.papers import PAPERS, load

GAIN = {"threads": 4, "partitions_per_thread": 1, "delay_rate": "100 us/MB", "bandwidth": "25 GB/s"}
GOOD: dict[str, Any] = {"id": "gain", "where": "4.3", "says": "A gain.", "quantity": "η", "expected": 2.67}
GOOD |= {"tolerance": {"absolute": 0.005, "why": "two decimals"}, "basis": "derived"}
GOOD |= {"check": "gain", "arguments": GAIN}


def paper(**changes: Any) -> dict[str, Any]:
    claim = {k: v for k, v in (GOOD | changes).items() if v is not None}
    return {"name": "x", "title": "X", "claims": [claim]}


def test_a_good_claim_is_read_and_computed() -> None:
    claim = parsed(paper(), "x.toml").claims[0]
    found = judge.result("x", claim, Lab())
    assert found.got == pytest.approx(8 / 3)  # 4 / (4 - 100e-12 * 25e9)
    assert (found.status, found.tolerance, found.why) == ("ok", "± 0.005", "two decimals")


@pytest.mark.parametrize(("changes", "without", "message"), table_of("validate/claims")["refused"])
def test_bad_claims_are_one_clear_line(changes: dict[str, Any], without: list[str], message: str) -> None:
    with pytest.raises(PreadyError) as caught:
        parsed(paper(**changes, **dict.fromkeys(without)), "x.toml")
    assert str(caught.value) == message


def test_ids_are_unique() -> None:
    data = paper()
    data["claims"] *= 2
    with pytest.raises(PreadyError, match="id = 'gain' stands twice"):
        parsed(data, "x.toml")
    for name in PAPERS:
        assert load(name).name == name


def test_every_check_is_used() -> None:
    used = {c.check for p in PAPERS for c in load(p).claims} | {kind.check for kind in KINDS.values()}
    assert set(CHECKS) <= used


@pytest.mark.parametrize(("expected", "tolerance", "inside", "outside"), table_of("validate/claims")["verdicts"])
def test_verdicts(expected: Any, tolerance: dict[str, float], inside: list[Any], outside: list[Any]) -> None:
    wanted = Bounds(**expected) if isinstance(expected, dict) else expected
    given = Tolerance(**tolerance, why="x") if tolerance else None
    assert judge.verdict(wanted, inside, given) == "ok"
    for value in outside:
        assert judge.verdict(wanted, [*inside, value], given) == "off"


def answered(name: str, given: dict[str, Any], lab: Any) -> Any:
    """A check that answers x, or what `of` says of x, and the number of the lab."""
    return given.get("of", {}).get(given["x"], given["x"]) if isinstance(lab, Lab) else lab


PLAIN: dict[str, Any] = {"id": "gain", "where": "4", "says": "A", "quantity": "η", "basis": "derived"}
PLAIN |= {"check": "gain", "arguments": {"x": 10.0}, "expected": 10, "tolerance": GOOD["tolerance"] | {"absolute": 0.5}}
FOUND: dict[str, Any] = {"where": "4", "says": "A", "quantity": "η", "basis": "derived", "status": "ok"}
FOUND |= {"expected": 10.0, "got": 10.0, "tolerance": "± 0.5", "why": "two decimals"}


def plain(changes: dict[str, Any]) -> Claim:
    return Claim.model_validate({k: v for k, v in (PLAIN | changes).items() if v != ""})


@pytest.mark.parametrize("case", table_of("validate/judged")["claims"])
def test_a_claim_beside_its_value(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "answer", answered)
    claim, shown = plain(case["claim"]), case["shown"]
    wanted = ClaimResult(id="x/gain", source="x", of="fabrics", unit=claim.unit, **FOUND | shown)
    found = judge.result("x", claim, Lab(), "fabrics")
    assert replace(found, got=wanted.got) == wanted
    assert found.got == (pytest.approx(wanted.got) if isinstance(wanted.got, float) else wanted.got)
    assert judge.turned(claim, Lab()) == (wanted.status == "off")


def test_what_no_model_addresses_has_no_value() -> None:
    claim = plain(dict.fromkeys(("expected", "tolerance", "basis", "check"), "") | {"out_of_scope": "a photograph"})
    nothing = {"expected": None, "got": None, "tolerance": "", "status": "out of scope", "basis": "", "unit": ""}
    wanted = ClaimResult(id="x/gain", source="x", **FOUND | nothing | {"why": "a photograph"})
    assert judge.result("x", claim, Lab()) == wanted


def swept(**changes: Any) -> list[Any]:
    claim = Claim.model_validate(GOOD | {"over": {"threads": [8, 4, 16]}} | changes)
    return judge.computed(claim, Lab())


def test_words_have_no_ratio_and_no_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "answer", lambda name, given, lab: str(given["threads"]))
    with pytest.raises(PreadyError, match="claim gain: '8' and '4' are not numbers; valid: no `than`"):
        swept(than={"threads": 4})
    with pytest.raises(PreadyError, match=r"claim gain: reduce = 'max' of \['8', '4', '16'\]; valid: numbers"):
        swept(reduce="max")


def test_units_of_a_claim() -> None:
    assert judge.factor("us/MB") == pytest.approx(1e-12)
    assert judge.factor("kB") == 1000
    assert judge.factor("") == judge.factor("%") == 1


def test_merging_goes_table_by_table() -> None:
    base = {"a": {"b": 1, "c": 2}, "d": 3}
    assert merged(base, {"a": {"c": 5}, "d": {"e": 1}}) == {"a": {"b": 1, "c": 5}, "d": {"e": 1}}
    assert base == {"a": {"b": 1, "c": 2}, "d": 3}


def test_what_claims_share_is_made_once_for_all_draws() -> None:
    """The values as they stand, and two draws: one exchange from rest, whose ends are those of one iteration."""
    shape = {"threads": 4, "buffer": "1 MiB", "compute": {"time": "1 ms"}}
    what, lab, table = Workload.model_validate(shape), Lab(draws=2), MachineTable(profile="meluxina")
    every = {"interface": "many", "transport_partitions": "all"}
    assert ApproachTable.model_validate(every | {"aggregate": "512 KiB"}).of(what) == MANY.into(2)
    way = ApproachTable.model_validate(every).of(what)
    assert way == MANY.into(4)
    for wrong, said in (({"interface": "man"}, "interface = 'man' is unknown"), ({"transport_partitions": 3}, "= 3")):
        with pytest.raises(PreadyError, match=said):
            ApproachTable.model_validate(every | wrong).of(what)
    labs = [lab, *lab.drawn()]
    assert [of.draw for of in labs] == [0, 1, 2]
    runs = lab.ranks(table, what, 1, Layout((2,)))
    last = [float(of.means(runs, (way,)).ends[0]) for of in labs]
    assert last == [of.ends(runs, (way,)).max() for of in labs]
    assert len({*last}) == 3
    by_values = Lab()
    assert by_values.means(by_values.ranks(table, what, 1, Layout((2,))), (way,)).ends == last[0]


def test_a_claim_can_change_a_machine() -> None:
    lab = Lab()
    plain = lab.machine(MachineTable(profile="meluxina"))
    other = lab.machine(MachineTable(profile="meluxina", set={"inter.segments.2.o_s": "1 us", "progress": "thread"}))
    assert other.inter.segments[2].o_s.value == 1e-6
    assert other.inter.segments[2].o_s.interval is None
    assert other.progress.value == "thread"
    assert plain.inter.segments[2].o_s.value == pytest.approx(1.79e-6)
    for path in ("inter.segments.9.o_s", "threads.contention", "colour"):
        with pytest.raises(PreadyError, match="valid: a"):
            changed(plain, path.split("."), "1 us")
    with pytest.raises(PreadyError, match="progress"):
        changed(plain, ["progress"], "sometimes")


@pytest.mark.parametrize(("name", "factors"), table_of("validate/claims")["wrong"].items())
@pytest.mark.parametrize("put", [exact(TIME, 4e-6, "one"), ideal(put=4e-6).one_sided.put], ids=["value", "curve"])
def test_a_wrong_machine_is_wrong_in_one_kind_of_term(name: str, factors: dict[str, float], put: Any) -> None:
    meluxina = load_machine("meluxina")
    made = with_fields(meluxina, one_sided=with_fields(meluxina.one_sided, put=put))

    def numbers(machine: Machine) -> dict[str, Any]:
        items: list[tuple[str, Any]] = [*machine.values()]
        found = {label: getattr(item, "time", None) or item.value for label, item in items}
        return {label: np.atleast_1d(value) for label, value in found.items() if not isinstance(value, str)}

    before, after = numbers(made), numbers(WRONG_MACHINES[name](made))
    wanted = {label: value * factors.get(label.rpartition(".")[2], 1) for label, value in before.items()}
    assert {label: value.tolist() for label, value in after.items()} == {
        label: pytest.approx(value.tolist(), rel=1e-9) for label, value in wanted.items()
    }
    assert {label.rpartition(".")[2] for label in before} >= {*factors}
