"""The form of the claims' files: what is refused, and how a value is held against what is expected."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tables import table_of

from pready.model.approach.interfaces import MANY
from pready.model.common.errors import PreadyError
from pready.validate.claims import checks, judge
from pready.validate.claims.answers.two_ranks import break_even
from pready.validate.claims.checks import CHECKS, answer
from pready.validate.claims.computed_once import Lab, MachineTable, changed
from pready.validate.claims.form import Bounds, Claim, Tolerance, merged, parsed
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
    with pytest.raises(PreadyError, match=message) as caught:
        parsed(paper(**changes, **dict.fromkeys(without)), "x.toml")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("x.toml: ")


def test_ids_are_unique() -> None:
    data = paper()
    data["claims"] *= 2
    with pytest.raises(PreadyError, match="id = 'gain' stands twice"):
        parsed(data, "x.toml")
    for name in PAPERS:
        assert load(name).name == name


def test_a_check_cannot_see_what_is_expected() -> None:
    # Whatever a claim expects, the value is the same.
    wrong = parsed(paper(expected=99.0), "x.toml").claims[0]
    found = judge.result("x", wrong, Lab())
    assert found.got == pytest.approx(8 / 3)
    assert found.status == "off"
    assert found.why == judge.UNEXPLAINED
    for name in CHECKS:
        assert "expected" not in name


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


def swept(**changes: Any) -> list[Any]:
    claim = Claim.model_validate(GOOD | {"over": {"threads": [8, 4, 16]}} | changes)
    return judge.computed(claim, claim.arguments, Lab())


def test_sweeps_comparisons_and_reductions() -> None:
    # η = N / (N - 2.5)
    etas = [8 / 5.5, 4 / 1.5, 16 / 13.5]
    assert swept() == pytest.approx(etas)
    assert swept(reduce="max") == pytest.approx([max(etas)])
    assert swept(reduce="mean") == pytest.approx([sum(etas) / 3])
    assert swept(reduce="increases", expected=True, tolerance=None) == [False]
    assert swept(than={"delay_rate": "0 us/MB"}) == pytest.approx(etas)
    assert swept(than={"threads": 4}, relation="percent less")[1] == pytest.approx(0)
    assert swept(than={"threads": 4}, relation="difference")[0] == pytest.approx(8 / 5.5 - 4 / 1.5)
    # the last point that keeps 90 % of the highest, 2.67
    assert swept(reduce="last high") == [4]
    claim = Claim.model_validate(GOOD | {"over": {"threads": [8, 4]}})
    lab: Any = SimpleNamespace(drawn=lambda: [Lab()])
    assert judge.interval(claim, lab) is None
    rising = {"over": {"delay_rate": ["1 us/MB", "2 us/MB"]}}
    assert swept(**rising, reduce="increases", expected=True, tolerance=None) == [True]


def test_words_have_no_ratio_and_no_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "answer", lambda name, given, lab: str(given["threads"]))
    assert judge.shown_values(swept()) == "8, 4, 16"
    with pytest.raises(PreadyError, match="claim gain: '8' and '4' are not numbers; valid: no `than`"):
        swept(than={"threads": 4})
    with pytest.raises(PreadyError, match=r"claim gain: reduce = 'max' of \['8', '4', '16'\]; valid: numbers"):
        swept(reduce="max")


@pytest.mark.parametrize(
    ("low", "high", "at"), [(1e5, 1e7, 1e5), (1.0, 1e7, 0.0), (3e6, 4e7, 3e6), (1e3, 1e5, math.inf)]
)
def test_break_even_is_where_the_range_of_the_buffer_or_the_next_begins(low: float, high: float, at: float) -> None:
    def gains(_: Any, sizes: list[float]) -> Any:
        return np.where((low <= np.array(sizes)) & (np.array(sizes) <= high), 1.1, 0.9)

    of: Any = SimpleNamespace(workload=SimpleNamespace(buffer=1e6, n_partitions=4), gain_over_sizes=gains)
    assert break_even(of, MANY.into(4)) == pytest.approx(at, rel=2e-3)


@pytest.mark.parametrize(("source", "said"), [(None, "gain: no"), ("file", "file: no")])
def test_an_error_names_its_file_else_the_check(source: str | None, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(a: Any, lab: Lab) -> Any:
        raise PreadyError("no", valid="yes", source=source)

    monkeypatch.setitem(CHECKS, "gain", refuses)
    monkeypatch.setattr(checks, "_read", lambda name, data: None)
    with pytest.raises(PreadyError, match=f"^{said}"):
        answer("gain", {}, Lab())


def test_units_of_a_claim() -> None:
    assert judge.factor("us/MB") == pytest.approx(1e-12)
    assert judge.factor("kB") == 1000
    assert judge.factor("") == judge.factor("%") == 1


def test_merging_goes_table_by_table() -> None:
    base = {"a": {"b": 1, "c": 2}, "d": 3}
    assert merged(base, {"a": {"c": 5}, "d": {"e": 1}}) == {"a": {"b": 1, "c": 5}, "d": {"e": 1}}
    assert base == {"a": {"b": 1, "c": 2}, "d": 3}


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


def test_stencils_are_counted_by_threads_and_directions() -> None:
    def counted(by: str, *threads: int) -> Any:
        return answer("communicators", {"threads": list(threads), "by": by}, Lab())

    # One thread: all 26 messages leave. 2 x 2 x 2: each of 8 threads has 26 - 7 neighbours outside.
    assert counted("counting", 1, 1, 1) == 26
    assert counted("counting", 2, 2, 2) == 8 * 19
    assert counted("counting", 4, 4, 4) == 728
    assert counted("formula", 4, 4, 4) == 808
